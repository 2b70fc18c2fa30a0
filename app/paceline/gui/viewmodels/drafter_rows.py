"""Per drafter of a reply: what it gave, in words. Pure functions over metrics and statistics.

While a reply grows, the figures come from its steps; calls and seconds are known when it ends.
The words are llama.cpp's (`common/speculative.cpp`): calls, drafts, tokens, and what was accepted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from paceline.gui.viewmodels.figures import duration_text, percent_text

if TYPE_CHECKING:
    from paceline.gui.viewmodels.metrics import StepMetrics, Tally
    from paceline.gui.viewmodels.sources import Kind, Sources
    from paceline.messages import DrafterStats, TurnStats


@dataclass(frozen=True, slots=True)
class DrafterRow:
    """One drafter.

    Attributes:
        drafter_id: Its id.
        title: What it is called.
        kind: Its colour.
        figures: Accepted and drafted tokens.
        rate: Acceptance in percent; empty when nothing was judged.
        details: llama.cpp's statistics, one group per line.
        per_position: Accepted tokens by their place in the draft.
    """

    drafter_id: str
    title: str
    kind: Kind
    figures: str
    rate: str
    details: tuple[str, ...]
    per_position: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DrafterFacts:
    """One drafter of a run for a table; a text is empty where nothing is known.

    Attributes:
        drafter_id: Its id.
        title: What it is called.
        tokens: Accepted and drafted tokens.
        rate: Accepted of the judged tokens, in percent.
        drafts: Drafts of which something was accepted, and all.
        calls: How often it was asked.
        seconds: What all its calls took.
        per_draft: What one call for a draft took.
    """

    drafter_id: str
    title: str
    tokens: str
    rate: str
    drafts: str
    calls: str
    seconds: str
    per_draft: str


def _tr(text: str) -> str:
    return QCoreApplication.translate("DrafterRows", text)


def drafter_rows(
    metrics: StepMetrics, stats: TurnStats | None, sources: Sources
) -> tuple[DrafterRow, ...]:
    """One row per drafter that drafted or, once the reply has ended, that was asked."""
    finished = {} if stats is None else {s.drafter: s for s in stats.by_drafter if s.n_draft}
    ids = [*metrics.tallies, *(name for name in finished if name not in metrics.tallies)]
    return tuple(_row(name, metrics.tallies.get(name), finished.get(name), sources) for name in ids)


def drafter_facts(
    metrics: StepMetrics, stats: TurnStats | None, sources: Sources
) -> tuple[DrafterFacts, ...]:
    """The same drafters for a table."""
    finished = {s.drafter: s for s in stats.by_drafter} if stats is not None else {}
    return tuple(
        _facts(row, metrics.tallies.get(row.drafter_id), finished.get(row.drafter_id))
        for row in drafter_rows(metrics, stats, sources)
    )


def _facts(row: DrafterRow, tally: Tally | None, stats: DrafterStats | None) -> DrafterFacts:
    drafts = ""
    if tally is not None:
        drafts = _tr("{} of {}").format(tally.drafts_accepted, tally.drafts)
    calls = seconds = per_draft = ""
    if stats is not None:
        calls = f"{stats.n_draft:,}"
        seconds = duration_text(stats.begin_s + stats.draft_s + stats.accept_s)
        per_draft = duration_text(stats.draft_s / stats.n_draft) if stats.n_draft else ""
    tokens = row.figures if tally is not None else ""
    return DrafterFacts(
        row.drafter_id, row.title, tokens, row.rate, drafts, calls, seconds, per_draft
    )


def _row(
    drafter_id: str, tally: Tally | None, stats: DrafterStats | None, sources: Sources
) -> DrafterRow:
    figures, rate = _tr("no drafts"), ""
    per_position: tuple[int, ...] = ()
    if tally is not None:
        figures = _tr("{} of {}").format(tally.accepted, tally.drafted)
        rate = "" if tally.acceptance_rate is None else percent_text(tally.acceptance_rate)
        per_position = tuple(tally.per_position)
    return DrafterRow(
        drafter_id,
        sources.title(drafter_id),
        sources.kind(drafter_id),
        figures,
        rate,
        _finished(stats) if stats is not None else _growing(tally),
        stats.accepted_per_position if stats is not None else per_position,
    )


def _growing(tally: Tally | None) -> tuple[str, ...]:
    if tally is None:
        return ()
    drafts = _tr("drafts {}, accepted {}").format(tally.drafts, tally.drafts_accepted)
    tokens = _tr("tokens {}, accepted {}").format(tally.drafted, tally.accepted)
    return drafts, tokens


def _finished(stats: DrafterStats) -> tuple[str, ...]:
    return (
        _tr("calls: begin {}, draft {}, accept {}").format(
            stats.n_begin, stats.n_draft, stats.n_accept
        ),
        _tr("drafts {}, accepted {}").format(stats.drafts, stats.drafts_accepted),
        _tr("tokens {}, accepted {}").format(stats.tokens, stats.tokens_accepted),
        _tr("time: begin {}, draft {}, accept {}").format(
            duration_text(stats.begin_s),
            duration_text(stats.draft_s),
            duration_text(stats.accept_s),
        ),
    )
