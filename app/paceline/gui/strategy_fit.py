"""Keeps the strategy usable with the loaded pair, without overriding what the user chose.

A strategy that needs a draft model gives way when a pair without one is loaded, since every reply
would be refused. It comes back with the next draft model, unless something else was chosen
meanwhile: before the load, or while it was under way. Auto always stays: without a draft model it
drafts by lookups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from paceline.gui.viewmodels.choices import choice_of

if TYPE_CHECKING:
    from paceline.chat.pair import PairState
    from paceline.gui.viewmodels.pair import PairModel
    from paceline.gui.viewmodels.speculation import SpeculationModel


class StrategyFit(QObject):
    """Fits the strategy when a pair is ready; main thread."""

    def __init__(
        self, speculation: SpeculationModel, pair: PairModel, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._speculation = speculation
        self._set_aside: str | None = None
        speculation.drafter_changed.connect(self._on_chosen)
        pair.changed.connect(self._on_pair_changed)

    @Slot()
    def _on_chosen(self) -> None:
        """A strategy was chosen: from now on that is what is wanted."""
        self._set_aside = None

    @Slot(object)
    def _on_pair_changed(self, state: PairState) -> None:
        if state.status != "ready":
            return
        has_draft = state.draft is not None
        speculation = self._speculation
        current = speculation.current
        if not has_draft and current.needs_draft_model:
            lookups = [info for info in speculation.members if info.family == "lookup"]
            stand_in = choice_of(lookups).name if lookups else speculation.usual("lookup") or "off"
            speculation.choose(stand_in)
            self._set_aside = current.name
        elif has_draft and self._set_aside is not None:
            speculation.choose(self._set_aside)
