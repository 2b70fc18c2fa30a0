"""What a benchmark can compare here: strategies that are usual, the rest, and why some cannot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from paceline.gui.viewmodels.bench_titles import PLAIN, title_of
from paceline.gui.viewmodels.choices import GROUPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paceline.gui.viewmodels.speculation import SpeculationModel

USUAL = (PLAIN, "auto", "draft:n_max=3", "draft:n_max=8", "suffix", "suffix+draft")
"""Ticked at first."""
LENGTHS = (1, 2, 4, 6, 12)
"""Further lengths of drafts, behind the fold."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("BenchChoices", text)


@dataclass(frozen=True, slots=True)
class Contender:
    """One strategy that can be ticked.

    Attributes:
        strategy: Its text.
        title: What it is called.
        summary: What it does, in a sentence.
        is_usual: Whether it stands above the fold.
        obstacle: Why it cannot be measured here; empty: it can.
    """

    strategy: str
    title: str
    summary: str
    is_usual: bool
    obstacle: str = ""

    @property
    def is_needed(self) -> bool:
        """Whether everything is compared with it."""
        return self.strategy == PLAIN


def contenders(
    speculation: SpeculationModel, *, can_rollback: bool = True
) -> tuple[Contender, ...]:
    """Return everything that can be compared, the usual ones first.

    Args:
        speculation: Knows the strategies and the one that is chosen now.
        can_rollback: Whether the loaded target can take tokens back.
    """
    found: dict[str, bool] = {}
    for strategy in USUAL:
        found.setdefault(strategy, True)
    found.setdefault(speculation.strategy, True)
    for strategy in _further(speculation):
        found.setdefault(strategy, False)
    return tuple(
        _contender(speculation, strategy, is_usual=is_usual, can_rollback=can_rollback)
        for strategy, is_usual in found.items()
        if speculation.knows(strategy)
    )


def _further(speculation: SpeculationModel) -> Iterator[str]:
    yield "draft:n_max=auto"
    for length in LENGTHS:
        yield f"draft:n_max={length}"
    for group in GROUPS:
        for choice in speculation.choices(group):
            yield choice.name


def _contender(
    speculation: SpeculationModel, strategy: str, *, is_usual: bool, can_rollback: bool
) -> Contender:
    choice = speculation.choice_of_text(strategy)
    obstacle = ""
    if strategy != PLAIN:
        obstacle = speculation.obstacle(choice.name)
        if not can_rollback:
            obstacle = _tr("This target cannot take tokens back, so nothing can be drafted for it.")
    title = title_of(strategy)
    if strategy == speculation.strategy and strategy not in USUAL:
        title = _tr("{}, as in the panel").format(title)
    return Contender(strategy, title, _summary(speculation, strategy), is_usual, obstacle)


def _summary(speculation: SpeculationModel, strategy: str) -> str:
    if strategy == PLAIN:
        return _tr("Everything is compared with this, so it is always measured.")
    return speculation.choice_of_text(strategy).summary
