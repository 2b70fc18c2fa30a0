"""The wait for the first token: progress of the prompt, and the estimated rest.

Progress is reported in pieces of hundreds of tokens, each of which may take seconds. Between two
reports the remaining time counts down.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from paceline.messages import PrefillProgressed, TurnStarted
from paceline.sentence import joined, sentence
from paceline.sizes import duration

SHOWN_AFTER_S = 0.5
"""Seconds after which a wait is shown."""
_MIN_WARM_TOKENS = 16
"""Warm tokens from which they are mentioned: nearly every prompt shares a few with the last one."""
_PRIOR_TOKENS = 64
"""Weight of the last prompt's speed in the estimate, in tokens of this prompt."""
_MAX_GROWTH = 2.0
"""Upper bound of the time per remaining token, relative to the tokens read last."""
_MAX_ERROR_FACTOR, _MAX_ERROR_S = 1.25, 2.0
"""Factor and seconds by which an estimate may be too short before it is raised; both must be
exceeded."""


class _Mark(NamedTuple):
    clock_s: float
    n_done: int


class PromptWait:
    """Follows a prompt that is read.

    Args:
        started: The event that begins the prompt.
        clock_s: Now, on the clock that all methods are given: monotonic seconds.

    Attributes:
        n_total: Tokens of the prompt.
        n_warm: Tokens that were in the context or the prompt cache already.
        n_done: Tokens in the context, warm ones included.
    """

    def __init__(self, started: TurnStarted, clock_s: float) -> None:
        self.n_total, self.n_warm = started.n_prompt, started.n_reused
        self.n_done = self.n_warm
        self._began_s = clock_s
        self._marks = [_Mark(clock_s, self.n_done)]
        self._usual_s = started.expected_s / max(self.n_total - self.n_done, 1)
        self._ends_s = clock_s + started.expected_s if started.expected_s else math.inf
        self._most_s = math.inf

    def grow(self, event: PrefillProgressed, clock_s: float) -> None:
        """Update the progress."""
        told = self.left_s(clock_s)
        self.n_done, self.n_total = event.n_done, event.n_total
        if self.n_done < self._marks[-1].n_done:  # it is read anew, after a decode that failed
            self.n_warm = min(self.n_warm, self.n_done)
            self._marks.clear()
        self._marks.append(_Mark(clock_s, self.n_done))
        if len(self._marks) < 2:
            return
        left_s = self._rest_s()
        self._ends_s = clock_s + left_s
        is_held = (
            told is not None
            and len(self._marks) > 2
            and left_s < _MAX_ERROR_FACTOR * told + _MAX_ERROR_S
        )
        self._most_s = told if is_held and told is not None else math.inf

    def _rest_s(self) -> float:
        """Return the estimated seconds for the rest, by the times so far.

        A token takes longer the more there are before it, so the growth counts as well.
        """
        first, last, middle = self._marks[0], self._marks[-1], self._marks[len(self._marks) // 2]
        n_left = self.n_total - last.n_done
        trust = _PRIOR_TOKENS if self._usual_s else 0
        seconds = last.clock_s - first.clock_s + trust * self._usual_s
        each_s = seconds / max(last.n_done - first.n_done + trust, 1)
        if len(self._marks) > 4:
            before = (middle.clock_s - first.clock_s) / max(middle.n_done - first.n_done, 1)
            since = (last.clock_s - middle.clock_s) / max(last.n_done - middle.n_done, 1)
            growth = 2 * (since - before) / max(last.n_done - first.n_done, 1)
            # From the middle of the tokens read last to the middle of the remaining ones.
            there = since + growth * (self.n_total - middle.n_done) / 2
            each_s = min(max(there, since), _MAX_GROWTH * since)
        return n_left * each_s

    def left_s(self, clock_s: float) -> float | None:
        """Return the remaining seconds, which grow only if the estimate was far too short.

        None if nothing is known of its speed.
        """
        left_s = min(self._ends_s - clock_s, self._most_s)
        has_begun = len(self._marks) > 1
        if math.isinf(left_s) or (left_s <= 0 and not has_begun):
            return None
        return max(left_s, 0.0)

    def read_s(self, clock_s: float) -> float:
        """Return the seconds since the reading began."""
        return clock_s - self._began_s

    def words(self, clock_s: float, after_s: float = SHOWN_AFTER_S) -> str:
        """Return a line about it; empty before it has taken `after_s` seconds.

        ``Reading 3,200 of 4,100 tokens · 2,048 were warm · about 6 s left``.
        """
        if self.read_s(clock_s) < after_s:
            return ""
        parts = [
            sentence(
                "Reading {n_done:,} of {n_total:,} tokens", n_done=self.n_done, n_total=self.n_total
            )
        ]
        if self.n_warm >= _MIN_WARM_TOKENS:
            parts.append(sentence("{n_warm:,} were warm", n_warm=self.n_warm))
        left_s = self.left_s(clock_s)
        if left_s is not None:
            parts.append(sentence("about {time} left", time=duration(math.ceil(left_s))))
        return joined(parts, " · ")
