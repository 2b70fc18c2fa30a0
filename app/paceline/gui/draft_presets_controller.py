"""Brings back the strategy that was used last with a pair, and keeps named ones for it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from paceline.errors import UserError
from paceline.gui.viewmodels.draft_presets import DraftPresets, key_of
from paceline.gui.widgets.name_dialog import NameDialog

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from paceline.chat.pair import PairState
    from paceline.gui.notifications import Notifications
    from paceline.gui.viewmodels.chat import ChatSignals
    from paceline.gui.viewmodels.pair import PairModel
    from paceline.gui.viewmodels.speculation import SpeculationModel
    from paceline.gui.widgets.draft_preset_menu import DraftPresetButton
    from paceline.settings import Settings


class DraftPresetsController(QObject):
    """A strategy counts as used when it is chosen for a loaded pair, or a reply begins with it."""

    def __init__(
        self,
        *,
        settings: Settings,
        button: DraftPresetButton,
        speculation: SpeculationModel,
        pair: PairModel,
        signals: ChatSignals,
        notifications: Notifications,
        window: QWidget,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.presets = DraftPresets(settings.draft_presets, self)
        self._speculation = speculation
        self._pair = pair
        self._notifications = notifications
        self._window = window
        self._renamed = ""
        self._meanwhile = ""
        self.dialog: NameDialog | None = None
        button.set_presets(self.presets, self._strategy)
        button.chosen.connect(self._on_chosen)
        button.save_as_wanted.connect(self._on_save_as)
        button.rename_wanted.connect(self._on_rename)
        button.delete_wanted.connect(self.presets.delete)
        speculation.strategy_changed.connect(self._on_strategy)
        signals.started.connect(self._remember)
        pair.changed.connect(self._on_pair)
        self._on_pair(pair.state)

    def close(self) -> None:
        """Close what is open, with the window."""
        if self.dialog is not None:
            self.dialog.reject()

    def _strategy(self) -> str:
        return self._speculation.strategy

    @Slot(object)
    def _on_pair(self, state: PairState) -> None:
        is_ready = state.status == "ready" and state.pair is not None
        key = key_of(state.pair) if is_ready and state.pair is not None else None
        if key == self.presets.pair:
            return
        self.presets.set_pair(key)
        if key is None:
            self._meanwhile = ""
            return
        wanted = self._meanwhile or self.presets.last
        if wanted and wanted != self._speculation.strategy:
            self._use(wanted, self.tr("The strategy that was used last with this pair is “{}”."))
        if self._meanwhile:
            self._remember()

    @Slot()
    def _on_strategy(self) -> None:
        if self.presets.pair is not None:
            self._remember()
        elif self._pair.state.status == "loading":
            self._meanwhile = self._speculation.strategy  # meant for what is being loaded

    @Slot()
    def _remember(self) -> None:
        strategy = self._speculation.strategy
        if not self._speculation.obstacle(self._speculation.current.name):
            self.presets.remember(strategy)

    def _use(self, strategy: str, words: str) -> None:
        model = self._speculation
        if model.knows(strategy) and model.obstacle(model.choice_of_text(strategy).name):
            return  # it waits for its draft model
        try:
            model.use(strategy)
        except UserError as error:
            self._notifications.warn(
                words.format(strategy) + " " + self.tr("It cannot be used here."), str(error)
            )

    @Slot(str)
    def _on_chosen(self, name: str) -> None:
        strategy = self.presets.strategy_of(name)
        if strategy:
            self._use(strategy, self.tr("The preset holds “{}”."))

    def _ask(self, title: str, action: str, name: str) -> NameDialog:
        obstacle = partial(self.presets.obstacle, but=name)
        self.dialog = NameDialog(title, action, obstacle, name, self._window)
        self.dialog.finished.connect(self._on_finished)
        self.dialog.open()
        return self.dialog

    @Slot()
    def _on_finished(self) -> None:
        self.dialog = None

    @Slot()
    def _on_save_as(self) -> None:
        dialog = self._ask(self.tr("Save draft settings for this pair"), self.tr("Save"), "")
        dialog.named.connect(self._on_named)

    @Slot(str)
    def _on_named(self, name: str) -> None:
        self.presets.save_as(name, self._speculation.strategy)

    @Slot(str)
    def _on_rename(self, name: str) -> None:
        self._renamed = name
        dialog = self._ask(self.tr("Rename the preset"), self.tr("Rename"), name)
        dialog.named.connect(self._on_renamed)

    @Slot(str)
    def _on_renamed(self, name: str) -> None:
        self.presets.rename(self._renamed, name)
