"""Figures in words: the line below a reply, the headline of the panel. Pure functions.

What plain decoding would have given is the engine's estimate alone (`TurnStats`), and a ratio is a
gain or a loss only where its interval says so; nothing drafted, no ratio.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

if TYPE_CHECKING:
    from paceline.chat.reply import Reply
    from paceline.figures import Speedup, SpeedupVerdict
    from paceline.gui.viewmodels.metrics import StepMetrics
    from paceline.messages import TurnStats

OFF = "off"


def _tr(text: str) -> str:
    return QCoreApplication.translate("Figures", text)


@dataclass(frozen=True, slots=True)
class Headline:
    """The large figures of the panel; empty texts where nothing is known."""

    speed: str = ""
    plain: str = ""
    ratio: str = ""
    sentence: str = ""
    tone: SpeedupVerdict = "even"


def speed_text(tokens_per_s: float) -> str:
    """A speed with three significant digits or so."""
    return f"{tokens_per_s:.0f}" if tokens_per_s >= 100 else f"{tokens_per_s:.1f}"


def ratio_text(ratio: float) -> str:
    """A ratio of two speeds."""
    return f"{ratio:.2f}×"


def interval_text(low: float, high: float) -> str:
    """Between which ratios the true one is, in 95 of 100 cases."""
    return f"{low:.2f}–{high:.2f}×"


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
    """The one line below a finished reply; empty where it has no figures.

    Speed is in ``<b>``, a gain in ``<em>``, a loss in ``<del>``; a ratio that may be either is as
    grey as the rest. What Auto decided stands behind the acceptance.
    """
    stats = reply.stats
    if stats is None:
        return ""
    parts = [_bold(_tr("{} t/s").format(speed_text(stats.tokens_per_s)))]
    speedup = stats.speedup
    if speedup is not None:
        parts.append(_tr("plain ≈ {}").format(speed_text(stats.plain_tokens_per_s or 0.0)))
        tag = {"gain": "em", "even": "", "loss": "del"}[speedup.verdict]
        ratio = ratio_text(speedup.ratio)
        parts.append(f"<{tag}>{ratio}</{tag}>" if tag else ratio)
    elif asks_drafter(reply) and not stats.n_drafted:
        parts.append(_tr("nothing drafted"))
    if stats.machine_busy:
        parts.append(_tr("machine busy"))
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
    if stats.speedup is not None:
        low, high = stats.speedup.low, stats.speedup.high
        rows.append(
            _tr("{} of plain decoding's speed, in 95 of 100 such replies").format(
                interval_text(low, high)
            )
        )
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
    metrics: StepMetrics, title: str, stats: TurnStats | None, *, asks: bool = False
) -> Headline:
    """The large figures of a reply, so far or in the end.

    Args:
        metrics: The reply's steps.
        title: What the drafter in force is called.
        stats: The reply's figures; None before the first ones, and where it failed.
        asks: Whether a drafter is asked in every step, even if it never drafts.
    """
    if stats is not None and not stats.n_steps:
        return Headline()
    speed = stats.tokens_per_s if stats is not None else metrics.tokens_per_s
    if speed is None:
        return Headline()
    rate = metrics.acceptance_rate
    speedup = stats.speedup if stats is not None else None
    plain = stats.plain_tokens_per_s if stats is not None else None
    return Headline(
        speed_text(speed),
        _tr("plain ≈ {}").format(speed_text(plain)) if plain and speedup is not None else "",
        ratio_text(speedup.ratio) if speedup is not None else "",
        _sentence(metrics, title, speedup, rate)
        if rate is not None or not asks
        else _tr("{} was asked but never sure enough: nothing was drafted.").format(title),
        tone=speedup.verdict if speedup is not None else "even",
    )


def _sentence(metrics: StepMetrics, title: str, speedup: Speedup | None, rate: float | None) -> str:
    if rate is None:
        return _tr("Plain decoding: one token per step, nothing was drafted.")
    # The first token is the prefill's, no step's.
    per_step = (metrics.n_tokens - 1) / max(metrics.n_steps, 1)
    facts = _tr("{:.1f} tokens per step, {} accepted.").format(per_step, percent_text(rate))
    if speedup is None:
        return f"{title}: {facts}"
    verdict = {
        "gain": _tr("{} pays here:"),
        "even": _tr("{} gives about as much as it costs here:"),
        "loss": _tr("{} costs more than it gives here:"),
    }[speedup.verdict]
    return f"{verdict.format(title)} {facts}"
