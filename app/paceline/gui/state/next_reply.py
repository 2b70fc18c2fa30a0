"""The options of the next reply: strategy, settings, the model's prompting, switches.

Other modules keep this state; here it becomes one value. Main thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from paceline.chat.pair import PairState
from paceline.chat.reply import TurnOptions
from paceline.gui.state.pair import PairModel
from paceline.gui.state.settings_store import SettingsStore
from paceline.gui.state.shown_chat import ShownChat
from paceline.gui.state.speculation import SpeculationModel
from paceline.params import Prompting
from paceline.settings import ModelPrompting


class NextReply(QObject):
    """Maker of the next reply's `TurnOptions`, which include the user's latest changes at once."""

    changed = Signal()
    """The options may have changed."""

    def __init__(
        self,
        shown: ShownChat,
        speculation: SpeculationModel,
        settings: SettingsStore,
        pair: PairModel,
    ) -> None:
        super().__init__(shown)
        self._shown, self._speculation = shown, speculation
        self._settings, self._pair = settings, pair
        for signal in (shown.path_changed, shown.settings_changed, pair.changed):
            signal.connect(self._on_changed)
        speculation.strategy_changed.connect(self._on_changed)
        for name in ("learns_from_chats", "cuts_long_chats", "promptings"):
            settings.setting(name).changed.connect(self._on_changed)

    @Slot()
    def _on_changed(self) -> None:
        self.changed.emit()

    def options(self) -> TurnOptions:
        """Return the options for the shown chat with the pair that is loaded now."""
        return TurnOptions(
            strategy=self._speculation.strategy,
            settings=self._shown.sent_settings,
            remember=self._settings.value("learns_from_chats"),
            cuts=self._settings.value("cuts_long_chats"),
            prompting=kept_for(self._settings.value("promptings"), names_of(self._pair.state)),
        )


def kept_for(kept: Sequence[ModelPrompting], names: Sequence[str]) -> Prompting:
    """Return the stored choices for a target of one of these names, or the defaults."""
    found = (each.prompting for name in names for each in kept if each.target == name)
    return next(found, Prompting())


def names_of(state: PairState) -> tuple[str, ...]:
    """Return the names that store a target's choices: its id and, before that, its file name."""
    if state.target is None:
        return ()
    return tuple(filter(None, (state.target.file_id, Path(state.target.path).name)))
