"""Controller of the settings: opens them, and applies them to menus and the look."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtGui import QAction

from paceline import logs
from paceline.catalog.models import Models
from paceline.gui.context import AppContext
from paceline.gui.kit.dialogs import DialogOwner
from paceline.gui.look.current import look
from paceline.gui.look.scale import BASE_PX
from paceline.gui.settings.forms import SettingsPage
from paceline.gui.settings.pages import SettingsDialog
from paceline.gui.state.actions import Actions
from paceline.gui.state.settings_store import SettingsStore
from paceline.paths import Paths
from paceline.settings import MAX_FONT_PX, MIN_FONT_PX


class SettingsController(DialogOwner[SettingsDialog]):
    """Owner of the dialog; main thread."""

    def __init__(
        self,
        context: AppContext,
        paths: Paths,
        *,
        models: Models | None,
        further: Callable[[], Sequence[SettingsPage]],
    ) -> None:
        """Connect the menu.

        Args:
            context: The settings and the window.
            paths: The folders that the dialog shows.
            models: The catalogue of models, or None.
            further: Returns the pages of other features.
        """
        super().__init__(context.window)
        self._context = context
        self._paths = paths
        self._models = models
        self._further = further
        context.actions.settings.triggered.connect(self.open)

    @Slot()
    def open(self) -> None:
        """Show the dialog, or bring it to the front."""
        if self.dialog is None:
            dialog = SettingsDialog(
                self._context.settings,
                places=self._places(),
                models=self._models,
                background=self._context.background,
                further=self._further(),
                parent=self._context.window,
            )
            self.own(dialog).open()
        self.bring_to_front()

    def open_page(self, kind: type[SettingsPage]) -> None:
        """Show the dialog with the page of this kind."""
        self.open()
        if self.dialog is not None:
            self.dialog.show_page(kind)

    def _places(self) -> tuple[tuple[str, Path], ...]:
        """Return the program's folders with their names."""
        log = logs.current_file()
        places = (
            (self.tr("Chats"), self._paths.data_dir),
            (self.tr("Settings"), self._paths.config_dir),
            (self.tr("Measurements"), self._paths.cache_dir),
            (self.tr("Prompt cache"), self._paths.states_dir),
        )
        return places if log is None else (*places, (self.tr("Log"), log.parent))


class Appearance(QObject):
    """Applies changed settings to the look; main thread."""

    def __init__(self, store: SettingsStore, actions: Actions, parent: QObject) -> None:
        super().__init__(parent)
        self._store = store
        self._actions = actions
        # A held key requests many sizes, and styling a window takes a while: only the last one
        # counts.
        self._resize = QTimer(self, singleShot=True, interval=0)
        self._resize.timeout.connect(self._on_resize)
        store.changed.connect(self._on_changed)
        actions.flip_theme.triggered.connect(self._on_flip_theme)
        actions.themes.triggered.connect(self._on_theme_chosen)
        actions.larger.triggered.connect(self._on_larger)
        actions.smaller.triggered.connect(self._on_smaller)
        actions.normal_size.triggered.connect(self._on_normal_size)
        self._show_choices()

    def _show_choices(self) -> None:
        theme, size = self._store.value("theme"), self._store.value("font_px")
        for action in self._actions.themes.actions():
            action.setChecked(action.data() == theme)
        self._actions.larger.setEnabled(size < MAX_FONT_PX)
        self._actions.smaller.setEnabled(size > MIN_FONT_PX)
        self._actions.normal_size.setEnabled(size != BASE_PX)

    @Slot(str)
    def _on_changed(self, name: str) -> None:
        put_on: dict[str, Callable[[Any], None]] = {
            "theme": look.set_mode,
            "motion": look.set_motion,
            "wraps_code": look.set_code_wrap,
            "token_colours": look.set_token_colours,
            "chat_width": look.set_chat_width,
            "density": look.set_density,
        }
        if name in put_on:
            put_on[name](self._store.value(name))
        elif name == "font_px":
            self._resize.start()
        self._show_choices()

    @Slot()
    def _on_resize(self) -> None:
        look.set_font_px(self._store.value("font_px"))

    @Slot()
    def _on_flip_theme(self) -> None:
        self._store.set("theme", "light" if look.theme.is_dark else "dark")

    @Slot("QAction*")
    def _on_theme_chosen(self, action: QAction) -> None:
        self._store.set("theme", action.data())

    @Slot()
    def _on_larger(self) -> None:
        self._resize_by(1)

    @Slot()
    def _on_smaller(self) -> None:
        self._resize_by(-1)

    @Slot()
    def _on_normal_size(self) -> None:
        self._store.set("font_px", BASE_PX)

    def _resize_by(self, step: int) -> None:
        size = self._store.value("font_px") + step
        self._store.set("font_px", max(MIN_FONT_PX, min(size, MAX_FONT_PX)))
