"""What the next reply is generated with: the strategy, the model's prompting, and the switches.

All of it is state that others keep; here it becomes one value. Main thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject

from paceline.chat.pair import PairState
from paceline.chat.reply import TurnOptions
from paceline.gui.state.pair import PairModel
from paceline.gui.state.settings_store import SettingsStore
from paceline.gui.state.speculation import SpeculationModel
from paceline.params import Prompting
from paceline.settings import ModelPrompting


class NextReply(QObject):
    """Makes the `TurnOptions` of the next reply; what a user changed last is in them at once."""

    def __init__(
        self,
        speculation: SpeculationModel,
        settings: SettingsStore,
        pair: PairModel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._speculation, self._settings, self._pair = speculation, settings, pair

    def options(self) -> TurnOptions:
        """Return them for the pair that is loaded now."""
        return TurnOptions(
            strategy=self._speculation.strategy,
            remember=self._settings.value("learns_from_chats"),
            cuts=self._settings.value("cuts_long_chats"),
            prompting=kept_for(self._settings.value("promptings"), names_of(self._pair.state)),
        )


def kept_for(kept: Sequence[ModelPrompting], names: Sequence[str]) -> Prompting:
    """Return what is kept for a target of one of these names; the defaults where nothing is."""
    found = (each.prompting for name in names for each in kept if each.target == name)
    return next(found, Prompting())


def names_of(state: PairState) -> tuple[str, ...]:
    """Return what a target's choices are kept under: its id, or, before that, its file name."""
    if state.target is None:
        return ()
    return tuple(filter(None, (state.target.file_id, Path(state.target.path).name)))
