"""Figures in words: the line below a reply, the headline of the panel. Pure functions.

A speed without speculation is only ever an estimate, from plain steps in between; where there is
none, nothing is said about it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QCoreApplication

if TYPE_CHECKING:
    from paceline.chat.reply import Reply
    from paceline.gui.viewmodels.metrics import StepMetrics
    from paceline.messages import TurnStats

OFF = "off"
PAYS_FROM, COSTS_BELOW = 1.05, 0.95
"""Ratios between these are called even: single runs scatter by about that much."""


Tone = Literal["gain", "even", "loss"]


def _tr(text: str) -> str:
    return QCoreApplication.translate("Figures", text)


@dataclass(frozen=True, slots=True)
class Headline:
    """The large figures of the panel; empty texts where nothing is known."""

    speed: str = ""
    plain: str = ""
    ratio: str = ""
    sentence: str = ""
    tone: Tone = "gain"


def speed_text(tokens_per_s: float) -> str:
    """A speed with three significant digits or so."""
    return f"{tokens_per_s:.0f}" if tokens_per_s >= 100 else f"{tokens_per_s:.1f}"


def ratio_text(ratio: float) -> str:
    """A ratio of two speeds."""
    return f"{ratio:.2f}×"


def ratio_tone(ratio: float) -> Tone:
    """What a ratio means; wherever one is shown, this decides its colour."""
    if ratio >= PAYS_FROM:
        return "gain"
    return "even" if ratio >= COSTS_BELOW else "loss"


def percent_text(rate: float) -> str:
    """A rate of 0..1 in percent, with a thin space that does not break."""
    return f"{rate * 100:.0f}\u202f%"


def seconds_text(seconds: float) -> str:
    """Seconds with one decimal, below a tenth with two."""
    return f"{seconds:.1f}" if seconds >= 0.095 else f"{seconds:.2f}"


def duration_text(seconds: float) -> str:
    """A short time with its unit: microseconds, milliseconds or seconds."""
    milliseconds = seconds * 1000
    if milliseconds < 0.095:
        return f"{seconds * 1e6:.0f}\u202fµs"
    if milliseconds >= 1000:
        n_decimals = 2 if seconds < 10 else 1 if seconds < 100 else 0
        return f"{seconds:.{n_decimals}f}\u202fs"
    return f"{milliseconds:.1f}\u202fms" if milliseconds < 100 else f"{milliseconds:.0f}\u202fms"


def stats_line(reply: Reply, decided: str = "") -> str:
    """The one line below a finished reply; empty before the end.

    Speed and an even ratio are in ``<b>``, a gain in ``<em>``, a loss in ``<del>``. What Auto
    decided stands behind the acceptance.
    """
    stats = reply.stats
    if stats is None:
        return ""
    parts = [_bold(_tr("{} t/s").format(speed_text(stats.tokens_per_s)))]
    plain = reply.plain_tokens_per_s
    if plain:
        parts.append(_tr("plain ≈ {}").format(speed_text(plain)))
        if stats.n_drafted or asks_drafter(reply):
            ratio = stats.tokens_per_s / plain
            tag = {"gain": "em", "even": "b", "loss": "del"}[ratio_tone(ratio)]
            parts.append(f"<{tag}>{ratio_text(ratio)}</{tag}>")
    if stats.acceptance_rate is not None:
        parts.append(
            _tr("{} of {} drafted accepted").format(
                percent_text(stats.acceptance_rate), stats.n_drafted - stats.n_discarded
            )
        )
    if decided:
        parts.append(decided)
    if reply.first_token_s is not None:
        parts.append(_tr("first token {} s").format(seconds_text(reply.first_token_s)))
    end = {
        "cancelled": _tr("stopped"),
        "length": _tr("token limit reached"),
        "context": _tr("context full"),
    }.get(reply.reason or "")
    return " · ".join([*parts, end] if end else parts)


def asks_drafter(reply: Reply) -> bool:
    """Whether the reply's strategy asks anybody for drafts."""
    return reply.strategy.split(":")[0] != OFF


def _bold(text: str) -> str:
    return f"<b>{text}</b>"


def stats_details(reply: Reply) -> str:
    """Everything behind the line, one figure per row."""
    stats = reply.stats
    if stats is None:
        return ""
    rows = [
        _tr("strategy {}, seed {}").format(reply.strategy, reply.seed),
        _tr("{} tokens in {:.2f} s, {} steps").format(
            stats.n_generated, stats.decode_s, stats.n_steps
        ),
        _tr("prompt: {} tokens ({} reused), {:.2f} s").format(
            stats.n_prompt, stats.n_reused, stats.prefill_s
        ),
    ]
    if stats.mean_committed_per_step is not None:
        rows.append(_tr("{:.2f} tokens per step").format(stats.mean_committed_per_step))
    rows.extend(_drafter_rows(stats))
    if stats.n_discarded:
        rows.append(
            _tr("{} drafted behind the end of the reply, never judged").format(stats.n_discarded)
        )
    return "\n".join([*rows, *reply.notes])


def _drafter_rows(stats: TurnStats) -> list[str]:
    return [
        _tr("{}: {} of {} tokens accepted, {:.2f} s spent on drafting").format(
            drafter.drafter, drafter.tokens_accepted, drafter.tokens, drafter.draft_s
        )
        for drafter in stats.by_drafter
        if drafter.tokens
    ]


def headline(
    metrics: StepMetrics,
    title: str,
    plain: float | None,
    stats: TurnStats | None,
    *,
    asks: bool = False,
) -> Headline:
    """The large figures: of the finished reply if there are `stats`, else of this moment.

    Args:
        metrics: The reply's steps.
        title: What the drafter in force is called.
        plain: Speed without speculation, if anybody knows it.
        stats: The figures of the finished reply.
        asks: Whether a drafter is asked in every step, even if it never drafts.
    """
    speed = stats.tokens_per_s if stats is not None else metrics.tokens_per_s
    if speed is None:
        return Headline()
    rate = metrics.acceptance_rate
    ratio = speed / plain if plain and (metrics.n_drafted or asks) else None
    return Headline(
        speed_text(speed),
        _tr("plain ≈ {}").format(speed_text(plain)) if plain and ratio is not None else "",
        ratio_text(ratio) if ratio is not None else "",
        _sentence(metrics, title, ratio, rate)
        if rate is not None or not asks
        else _silent(title, ratio),
        tone="gain" if ratio is None else ratio_tone(ratio),
    )


def _silent(title: str, ratio: float | None) -> str:
    if ratio is not None and ratio < COSTS_BELOW:
        words = _tr("{} was asked but never sure enough: it costs more than it gives here.")
    else:
        words = _tr("{} was asked but never sure enough: nothing was drafted.")
    return words.format(title)


def _sentence(metrics: StepMetrics, title: str, ratio: float | None, rate: float | None) -> str:
    if rate is None:
        return _tr("Plain decoding: one token per step, nothing was drafted.")
    # The first token is the prefill's, no step's.
    per_step = (metrics.n_tokens - 1) / max(metrics.n_steps, 1)
    facts = _tr("{:.1f} tokens per step, {} accepted.").format(per_step, percent_text(rate))
    if ratio is None:
        return f"{title}: {facts}"
    verdict = {
        "gain": _tr("{} pays here:"),
        "even": _tr("{} breaks even here:"),
        "loss": _tr("{} costs more than it gives here:"),
    }[ratio_tone(ratio)]
    return f"{verdict.format(title)} {facts}"
