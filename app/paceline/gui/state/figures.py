"""Figures in words: the line below a reply, the headline of the panel, a row per drafter.

Pure functions. The speed of plain decoding is always the engine's estimate, and `TurnStats.verdict`
decides what may be said of the ratio; without drafts there is none. While a reply grows, the
figures come from its steps; calls and seconds are known when it ends. The words about drafters are
llama.cpp's (`common/speculative.cpp`): calls, drafts, tokens, accepted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from paceline import sizes
from paceline.chat.auto_words import Titles, phase_words
from paceline.chat.decisions import Phase, drafting
from paceline.chat.reply import Reply
from paceline.engine.draft import grammar_drafter
from paceline.engine.draft.strategy import short_text
from paceline.figures import Kept, KernelUse, SpeedupVerdict
from paceline.gui.kit.card import Row
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import known_size, local, translator, with_signs, with_unit
from paceline.gui.state.metrics import StepMetrics, Tally
from paceline.gui.state.sources import Kind, Sources
from paceline.messages import DrafterStats, FinishReason, Strategy, TurnStats
from paceline.run_record import ModelRecord, RunRecord

OFF = "off"
_GUESSED_SIZE = re.compile(r" (?:\?|\d[\dx.]*)[KMBT](?= |$)")

_tr = translator("Figures")


@dataclass(frozen=True, slots=True)
class Headline:
    """Large figures of the panel; texts are empty where nothing is known.

    `asker` is the program whose reply they describe, or empty for a reply of the shown chat.
    """

    speed: str = ""
    plain: str = ""
    ratio: str = ""
    sentence: str = ""
    tone: SpeedupVerdict = "even"
    asker: str = ""


def speed_text(tokens_per_s: float) -> str:
    """Return a speed with about three significant digits."""
    return f"{local(tokens_per_s):.{0 if tokens_per_s >= 100 else 1}f}"


def ratio_text(ratio: float) -> str:
    """Return a ratio of two speeds as text."""
    return with_signs(sizes.ratio_text(ratio))


def interval_text(low: float, high: float) -> str:
    """Return the 95 % confidence interval of a ratio as text."""
    return f"{local(low):.2f}–{local(high):.2f}×"


def percent_text(rate: float) -> str:
    """Return a rate of 0..1 in percent, with a thin non-breaking space."""
    return with_unit(sizes.percent_text(rate))


def seconds_text(seconds: float) -> str:
    """Return seconds with one decimal, or two below a tenth."""
    return f"{local(seconds):.{1 if seconds >= 0.095 else 2}f}"


def duration_text(seconds: float) -> str:
    """Return a short time with its unit: microseconds, milliseconds or seconds."""
    return with_unit(sizes.short_time(seconds))


@dataclass(frozen=True, slots=True)
class ShownGain:
    """Speed relative to plain decoding, as shown everywhere; texts are empty if none is shown.

    Attributes:
        text: The ratio, or "≈ 1×" where it is too small to notice or may be either gain or loss.
        tone: Its colour.
        plain: The estimated speed of plain decoding, where there is a gain or a loss.
    """

    text: str = ""
    tone: SpeedupVerdict = "even"
    plain: str = ""


def gain_of(stats: TurnStats | None, *, judges: bool = True) -> ShownGain:
    """Return a reply's gain.

    Args:
        stats: Its figures so far, or None.
        judges: Whether a loss is shown.
    """
    verdict = stats.verdict if stats is not None else None
    if stats is None or stats.speedup is None or verdict is None:
        return ShownGain()
    if verdict == "loss" and not judges:
        return ShownGain()
    if verdict == "even":
        return ShownGain(about_one())
    plain = stats.plain_tokens_per_s or 0.0
    text = with_signs(sizes.short_ratio(stats.speedup.ratio))
    rounded = f"{local(plain):.{0 if plain >= 10 else 1}f}"
    return ShownGain(text, verdict, _tr("alone about {}").format(rounded))


def about_one() -> str:
    """Return the text for a ratio that is neither a gain nor a loss."""
    return "≈ 1×"


def stats_line(reply: Reply, *, judges: bool = True) -> str:
    """Return the line below a finished reply: its speed and its gain; empty without figures.

    It also names tokens that were read again, since the first token waited for them. The speed is
    in ``<b>``, a gain in ``<em>``, a loss in ``<del>``.
    """
    speed = speed_of(reply)
    if speed is None:  # stopped before its first token
        return ""
    parts = ["<b>{}</b>".format(_tr("{} t/s").format(speed_text(speed)))]
    gain = gain_of(reply.stats, judges=judges)
    if gain.text:
        tag = {"gain": "em", "even": "", "loss": "del"}[gain.tone]
        parts.append(f"<{tag}>{gain.text}</{tag}>" if tag else gain.text)
    reread = reply.stats.reread if reply.stats is not None else None
    if reread is not None:
        parts.append(_tr("{:,} tokens read again").format(local(reread.n_tokens)))
    return " · ".join(parts)


def speed_of(written: Reply | RunRecord) -> float | None:
    """Return tokens per second, from the steps of a reply that broke off; None without any."""
    if written.stats is not None:
        return written.stats.tokens_per_s if written.stats.n_generated else None
    seconds = sum(step.total_s for step in written.last_part)
    n_tokens = sum(len(step.tokens) for step in written.last_part)
    return n_tokens / seconds if seconds > 0 and n_tokens > 1 else None


def edited_words() -> str:
    """Return the words for a reply that the user has edited."""
    return _tr("Edited by you.")


def cut_words() -> dict[FinishReason, str]:
    """Return the reasons for a truncated reply in words, with the limit of tokens."""
    return {
        "length": _tr("Cut off at the limit of {} tokens."),
        "context": _tr("Cut off: the context is full."),
        "cancelled": _tr("Stopped before its end."),
    }


def asks_drafter(reply: Reply) -> bool:
    """Return whether the reply's strategy uses any drafter."""
    return reply.strategy != Strategy.of(OFF)


def stats_details(reply: Reply, *, judges: bool = True) -> str:
    """Return all figures of a reply, one per row, for the tool tip of its line."""
    stats = reply.stats
    if stats is None:
        return ""
    rows = []
    if reply.first_token_s is not None:
        rows.append(_tr("first token {} s").format(seconds_text(reply.first_token_s)))
    gain = gain_of(stats, judges=judges)
    if gain.plain and stats.speedup is not None:
        rows.append(
            _tr("{} t/s, {} as fast in 95 of 100 such replies").format(
                gain.plain, interval_text(stats.speedup.low, stats.speedup.high)
            )
        )
    if stats.acceptance_rate is not None:
        rows.append(
            _tr("{} of {} guesses were right").format(
                percent_text(stats.acceptance_rate), stats.n_drafted - stats.n_discarded
            )
        )
    elif asks_drafter(reply) and not stats.n_drafted:
        rows.append(_tr("nothing drafted"))
    if stats.machine_busy:
        rows.append(_tr("machine busy"))
    rows += [
        _tr("strategy {}, seed {}").format(short_text(reply.strategy), reply.seed),
        _tr("tokens: {}, steps: {}, {:.2f} s").format(
            stats.n_generated, stats.n_steps, local(stats.decode_s)
        ),
        _tr("prompt: {} tokens ({} reused), {:.2f} s").format(
            stats.n_prompt, stats.n_reused, local(stats.prefill_s)
        ),
    ]
    if stats.reread is not None:
        rows.append(said(stats.reread.words))
    if reply.n_parts > 1:
        rows.append(_tr("continued: part {} of the reply has these figures").format(reply.n_parts))
    if stats.mean_committed_per_step is not None:
        rows.append(_tr("{:.2f} tokens per step").format(local(stats.mean_committed_per_step)))
    if stats.kept is not None:
        rows.append(kept_words(stats.kept))
    rows.extend(_drafter_rows(stats))
    if stats.n_discarded:
        rows.append(
            _tr("{} drafted after the end of the reply, never judged").format(stats.n_discarded)
        )
    return "\n".join([*rows, *reply.notes])


def kept_words(kept: Kept) -> str:
    """Describe what a reply kept of its previous version, before and after the first insertion."""
    words = _tr("kept {} of the {} tokens of the earlier reply").format(kept.n_kept, kept.n_earlier)
    if kept.n_before == kept.n_earlier:
        return words
    n_after = kept.n_earlier - kept.n_before
    return _tr("{}: {} of {} before the first insertion or omission, {} of {} after it").format(
        words, kept.n_kept_before, kept.n_before, kept.n_kept - kept.n_kept_before, n_after
    )


def _drafter_rows(stats: TurnStats) -> list[str]:
    return [
        _tr("{}: {} of {} guesses were right, {:.2f} s spent on drafting").format(
            drafter.drafter, drafter.tokens_accepted, drafter.tokens, local(drafter.draft_s)
        )
        for drafter in stats.by_drafter
        if drafter.tokens
    ]


def headline(
    metrics: StepMetrics,
    reply: Reply,
    phase: Phase | None,
    title: Titles,
    *,
    judges: bool = True,
) -> Headline:
    """Return the large figures of a growing or finished reply.

    Args:
        metrics: The reply's steps.
        reply: The reply.
        phase: Auto's phase; None with another strategy.
        title: Names drafters.
        judges: Whether a loss may be shown.
    """
    stats = reply.stats
    speed = stats.tokens_per_s if stats is not None else metrics.tokens_per_s
    if speed is None or (stats is not None and not stats.n_steps):
        return Headline()
    rate = metrics.whole.acceptance_rate
    if phase is None and rate is not None:
        used = tuple(name for name in metrics.tallies if name != grammar_drafter.INFO.id)
        # The first token comes from the prefill, not from a step.
        per_step = (metrics.n_tokens - 1) / max(metrics.n_steps, 1)
        phase = drafting(used or tuple(metrics.tallies), per_step, rate, stats)
    if phase is not None:
        words = said(phase_words(phase, title, judges=judges))
    elif asks_drafter(reply):
        words = _tr("Nothing was drafted: no guess was sure enough.")
    else:
        words = _tr("Without drafts: one token per step.")
    gain = gain_of(stats, judges=judges)
    return Headline(speed_text(speed), gain.plain, gain.text, words, gain.tone)


# ------------------------------------------------------------------------------------- drafters


@dataclass(frozen=True, slots=True)
class DrafterRow:
    """One drafter of a reply in words; texts are empty where nothing is known.

    Attributes:
        drafter_id: Its id.
        title: Its name for users.
        kind: Its colour.
        rate: Accepted share of the judged tokens, in percent.
        details: Statistics as in llama.cpp, one group per line.
        per_position: Accepted tokens by their position in the draft.
        tokens: Accepted and drafted tokens; empty if it never drafted.
        drafts: Number of drafts with accepted tokens, and of all drafts.
        calls: Number of calls.
        seconds: Time of all its calls.
        per_draft: Time of one call.
    """

    drafter_id: str
    title: str
    kind: Kind
    rate: str
    details: tuple[str, ...]
    per_position: tuple[int, ...]
    tokens: str = ""
    drafts: str = ""
    calls: str = ""
    seconds: str = ""
    per_draft: str = ""


def drafter_rows(
    metrics: StepMetrics, stats: TurnStats | None, sources: Sources
) -> tuple[DrafterRow, ...]:
    """Return a row per drafter that drafted or, once the reply has ended, that was called."""
    finished = {} if stats is None else {s.drafter: s for s in stats.by_drafter if s.n_draft}
    ids = dict.fromkeys((*metrics.tallies, *finished))
    return tuple(_row(name, metrics.tallies.get(name), finished.get(name), sources) for name in ids)


def _row(
    drafter_id: str, tally: Tally | None, stats: DrafterStats | None, sources: Sources
) -> DrafterRow:
    """Return a row; where both are known, steps take precedence over the final figures."""
    known = [each for each in (tally, stats) if each is not None]
    drafted, counted = known[0], known[-1]
    details = [
        _tr("drafts {}, with a right guess {}").format(counted.drafts, counted.drafts_accepted),
        _tr("guesses {}, right {}").format(counted.tokens, counted.tokens_accepted),
    ]
    calls = seconds = per_draft = ""
    if stats is not None:
        parts_s = stats.begin_s, stats.draft_s, stats.accept_s
        details = [
            _tr("calls: begin {}, draft {}, accept {}").format(
                stats.n_begin, stats.n_draft, stats.n_accept
            ),
            *details,
            _tr("time: begin {}, draft {}, accept {}").format(*map(duration_text, parts_s)),
        ]
        calls, seconds = f"{local(stats.n_draft):,}", duration_text(sum(parts_s))
        per_draft = duration_text(stats.draft_s / stats.n_draft)
    rate = tally.acceptance_rate if tally is not None else None
    share = _tr("{} of {}")
    return DrafterRow(
        drafter_id,
        sources.full_title(drafter_id),
        sources.kind(drafter_id),
        "" if rate is None else percent_text(rate),
        tuple(details),
        tuple(counted.accepted_per_position),
        share.format(drafted.tokens_accepted, drafted.tokens) if drafted.tokens else "",
        share.format(drafted.drafts_accepted, drafted.drafts) if drafted.tokens else "",
        calls,
        seconds,
        per_draft,
    )


# --------------------------------------------------------------------------------------- models


def kernel_words(uses: Sequence[KernelUse]) -> str:
    """Name the kernels that computed, with their types of weights."""
    parts = []
    for by, words in (("own", _tr("own ({})")), ("stock", _tr("llama.cpp's ({})"))):
        kinds = [use.kind for use in uses if use.by == by]
        names = [_tr("attention") if kind == "attention" else kind.upper() for kind in kinds]
        if names:
            parts.append(words.format(", ".join(names)))
    return "; ".join(parts)


def model_rows(model: ModelRecord) -> tuple[Row, ...]:
    """Return the known facts about a model."""
    size = known_size(model.size_bytes)
    threads = ""
    if model.n_threads:
        threads = _tr("{} for one token, {} for more").format(
            model.n_threads, model.n_threads_batch or model.n_threads
        )
    rows = (
        (_tr("File"), model.file),
        (_tr("Model"), ", ".join(filter(None, (_description(model), size)))),
        (_tr("Parameters"), _count(model.n_params)),
        (_tr("Context"), _tr("{:,} tokens").format(local(model.n_ctx)) if model.n_ctx else ""),
        (_tr("Threads"), threads),
        (_tr("GPU layers"), str(model.n_gpu_layers)),
        (_tr("Fingerprint"), model.fingerprint),
    )
    return tuple(row for row in rows if row[1])


def _description(model: ModelRecord) -> str:
    """Return llama.cpp's description without the size, which it guesses from the layers."""
    return _GUESSED_SIZE.sub("", model.description) or model.architecture


def _count(n: int) -> str:
    if n < 1_000_000:
        return f"{local(n):,}" if n else ""
    power = min(int(math.log10(n)) // 3, 4)
    return f"{local(n / 1000**power):.3g} {('', '', 'M', 'B', 'T')[power]}"
