"""What a plot says in words: about one bar, and about a whole reply. Pure functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from paceline.gui.viewmodels.control_words import step_decision
from paceline.gui.viewmodels.figures import speed_text

if TYPE_CHECKING:
    from paceline.gui.viewmodels.metrics import StepFacts, StepMetrics, StepWindow
    from paceline.gui.viewmodels.sources import Sources
    from paceline.messages import DraftCount, TurnStats


def _tr(text: str) -> str:
    return QCoreApplication.translate("PlotWords", text)


def step_words(facts: StepFacts, sources: Sources) -> str:
    """One step, a line per drafter."""
    lines = [_tr("Step {}, tokens committed: {}").format(facts.step, facts.n_tokens)]
    drafted = [count for count in facts.counts if count.n_drafted]
    lines += [_count_words(count, sources) for count in drafted]
    if not drafted:
        lines.append(_tr("Nothing was drafted"))
    if facts.tokens_per_s > 0:
        lines.append(_tr("{} tokens per second").format(speed_text(facts.tokens_per_s)))
    if facts.decision is not None:
        lines.append(step_decision(facts.decision))
    return "\n".join(lines)


def _count_words(count: DraftCount, sources: Sources) -> str:
    words = _tr("{}: {} of {} drafted tokens accepted").format(
        sources.title(count.drafter), count.n_accepted, count.n_drafted
    )
    if count.n_discarded:
        words += _tr(", {} never judged").format(count.n_discarded)
    return words


def place_words(window: StepWindow, place: int) -> str:
    """Several steps that share a place."""
    first = window.first + place * window.per_place + 1
    return "\n".join(
        (
            _tr("Steps {} to {}").format(first, first + window.per_place - 1),
            _tr("{:.1f} of {:.1f} drafted tokens accepted per step").format(
                window.accepted[place], window.drafted[place]
            ),
            _tr("{} tokens per second").format(speed_text(window.tokens_per_s[place])),
        )
    )


def spoken(metrics: StepMetrics, sources: Sources, stats: TurnStats | None) -> str:
    """A whole reply in one sentence, for those who hear it."""
    parts = [
        _tr("{}: {} of {} drafted tokens accepted").format(
            sources.title(drafter), tally.accepted, tally.drafted
        )
        for drafter, tally in metrics.tallies.items()
    ] or [_tr("Nothing was drafted")]
    speed = stats.tokens_per_s if stats is not None else metrics.tokens_per_s
    if speed:
        parts.append(_tr("{} tokens per second").format(speed_text(speed)))
    if stats is not None and stats.speedup is not None:
        parts.append(_tr("{:.2f} times plain").format(stats.speedup.ratio))
    return ", ".join(parts)
