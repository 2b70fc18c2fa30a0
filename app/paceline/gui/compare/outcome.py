"""The outcome of two replies to one prompt: their speeds, and where their texts differ.

Pure functions. The ratio is that of the tokens per second in both columns, so that readers can
verify it. Its interval covers the machine's variation alone: every step of both replies is known,
and steps of one width should take the same time.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Sequence

from paceline.chat.reply import Reply
from paceline.figures import MIN_GAIN_STEPS, Speedup
from paceline.gui.kit.translation import translator
from paceline.gui.state.figures import ratio_text
from paceline.messages import StepCommitted

_N_STRETCHES = 8
"""Number of parts of a reply whose times are compared, since a machine slows down for whole
stretches rather than for single steps."""
_DRIFT, _BUSY_DRIFT = 0.02, 0.15
"""Standard errors of the drift in speed from one reply to the next, beyond the scatter of their
steps, for a quiet and for a busy machine."""
_Z_95 = 1.96

_tr = translator("Outcome")


def outcome_words(left: Reply, right: Reply) -> str:
    """Return one line about two finished replies; empty if one of them has no text."""
    if not (left.traces and right.traces):
        return ""
    return ", ".join(filter(None, (_speed_words(left, right), _text_words(left, right))))


def speedup(left: Reply, right: Reply) -> Speedup | None:
    """Return the speed of the right reply over that of the left one, or None if that is unknown.

    A reply may be too short for it.
    """
    one, other = left.stats, right.stats
    if one is None or other is None or not (one.tokens_per_s and other.tokens_per_s):
        return None
    # Without drafts, each token is a step.
    if min(len(left.traces), len(right.traces)) < MIN_GAIN_STEPS:
        return None
    ratio = other.tokens_per_s / one.tokens_per_s
    drift = _BUSY_DRIFT if _is_busy(left, right) else _DRIFT
    error = math.hypot(drift, _scatter(left.steps), _scatter(right.steps))
    factor = math.exp(_Z_95 * error)
    return Speedup(ratio, ratio / factor, ratio * factor)


def _is_busy(*replies: Reply) -> bool:
    return any(reply.stats is not None and reply.stats.machine_busy for reply in replies)


def first_difference(left: str, right: str) -> int | None:
    """Return the index of the first differing character of two texts, or None if they are equal."""
    if left == right:
        return None
    n_most = min(len(left), len(right))
    return next((at for at in range(n_most) if left[at] != right[at]), n_most)


def begin_of_word(text: str, at: int) -> int:
    """Return the start of the word around a character."""
    while 0 < at <= len(text) and not text[at - 1].isspace():
        at -= 1
    return at


def _scatter(steps: Sequence[StepCommitted]) -> float:
    """Return the standard error of the total time of the steps, relative to it."""
    by_width = defaultdict(list)
    for step in steps:
        by_width[sum(count.n_drafted for count in step.drafted)].append(step.total_s)
    usual = {width: statistics.fmean(times) for width, times in by_width.items()}
    late = [step.total_s - usual[sum(count.n_drafted for count in step.drafted)] for step in steps]
    size = -(-len(late) // _N_STRETCHES) or 1
    sums = [sum(late[at : at + size]) for at in range(0, len(late), size)]
    total = sum(step.total_s for step in steps)
    return math.hypot(*sums) / total if total > 0 else 0.0


def _speed_words(left: Reply, right: Reply) -> str:
    speed = speedup(left, right)
    if speed is None:
        return _tr("too short to compare speeds")
    if speed.verdict == "even" and _is_busy(left, right):
        return _tr("≈ 1× as fast (busy machine)")
    if speed.verdict == "even":
        return _tr("≈ 1× as fast")
    if left.text == right.text:
        return _tr("{} as fast").format(ratio_text(speed.ratio))
    return _tr("{} as many tokens per second").format(ratio_text(speed.ratio))


def _text_words(left: Reply, right: Reply) -> str:
    at = first_difference(left.text, right.text)
    if at is None:
        is_same = _tokens(left) == _tokens(right)
        return _tr("the same text") if is_same else _tr("the same text in other tokens")
    shorter = min((left, right), key=lambda reply: len(reply.text))
    if at == len(shorter.text) and shorter.reason == "cancelled":
        return _tr("the same text as far as both go")
    return _tr("the texts differ from word {} on").format(n_words_before(left.text, at) + 1)


def _tokens(reply: Reply) -> list[int]:
    return [trace.token for trace in reply.traces]


def n_words_before(text: str, at: int) -> int:
    """Return the number of words that end before the word at a character."""
    return len(text[: begin_of_word(text, at)].split())
