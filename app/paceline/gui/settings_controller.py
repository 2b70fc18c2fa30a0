"""Opens the settings, and carries the ones that act elsewhere to where they act."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from paceline.gui.widgets.settings.dialog import SettingsDialog

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from paceline.gui.appearance import Appearance
    from paceline.gui.icons import Icons
    from paceline.gui.learning_controller import LearningController
    from paceline.gui.main_window import MainWindow
    from paceline.gui.preferences import Preferences
    from paceline.gui.theme import Theme


class SettingsController(QObject):
    """Owns the dialog while it is open; main thread."""

    settings_changed = Signal()
    """Something that is remembered was changed"""

    def __init__(
        self,
        preferences: Preferences,
        *,
        appearance: Appearance,
        learning: LearningController,
        places: Sequence[tuple[str, Path]],
        icons: Icons,
        window: MainWindow,
    ) -> None:
        super().__init__(window)
        self._preferences = preferences
        self._appearance = appearance
        self._learning = learning
        self._places = tuple(places)
        self._icons = icons
        self._window = window
        self.dialog: SettingsDialog | None = None
        window.actions_.settings.triggered.connect(self.open)
        appearance.themes.changed.connect(self._on_theme)
        learning.obstacle_changed.connect(self._on_obstacle)
        preferences.changed.connect(self.settings_changed)
        preferences.send_key.changed.connect(self._on_send_key)
        self._on_send_key()

    @Slot()
    def open(self) -> None:
        """Show the dialog, or bring it to the front."""
        if self.dialog is None:
            dialog = SettingsDialog(
                self._preferences,
                places=self._places,
                icons=self._icons,
                theme=self._appearance.themes.current,
                parent=self._window,
            )
            dialog.forget_wanted.connect(self._on_forget)
            dialog.finished.connect(self._on_finished)
            dialog.privacy.set_obstacle(self._learning.obstacle)
            self.dialog = dialog
            dialog.open()
        self.dialog.raise_()
        self.dialog.activateWindow()

    def close(self) -> None:
        """Close the dialog with the window."""
        if self.dialog is not None:
            self.dialog.reject()

    @Slot()
    def _on_finished(self) -> None:
        self.dialog = None

    @Slot()
    def _on_forget(self) -> None:
        if self.dialog is not None:
            self._learning.ask_to_forget(self.dialog)

    @Slot(str)
    def _on_obstacle(self, reason: str) -> None:
        if self.dialog is not None:
            self.dialog.privacy.set_obstacle(reason)

    @Slot()
    def _on_send_key(self) -> None:
        key = self._preferences.send_key.value
        self._window.chat_pane.composer.edit.set_send_key(key)
        self._window.chat_pane.chat.set_send_key(key)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        if self.dialog is not None:
            self.dialog.set_theme(theme)
