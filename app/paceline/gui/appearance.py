"""How the whole program looks: fonts and their size, theme, motion, and the menu for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication

from paceline.gui import motion
from paceline.gui.scale import BASE_PX
from paceline.gui.theme import (
    Theme,
    ThemeController,
    ThemeMode,
    apply_basics,
    apply_sheet,
    apply_theme,
    install_fonts,
)
from paceline.settings import HIGHEST_FONT_PX, LOWEST_FONT_PX

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtGui import QAction

    from paceline.gui.actions import Actions
    from paceline.gui.main_window import MainWindow
    from paceline.settings import Motion, Settings


class Appearance(QObject):
    """Dresses the application, and again when the user or the desktop wants another look."""

    settings_changed = Signal()
    """Something that is remembered was changed"""
    motion_changed = Signal(bool)
    """Whether motion is to be avoided from now on"""

    def __init__(self, settings: Settings, resources: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._actions: Actions | None = None
        self._window: MainWindow | None = None
        self._font_px = settings.font_px
        # A held key asks for many sizes, and dressing a window takes a while: only the last counts.
        self._resize = QTimer(self)
        self._resize.setSingleShot(True)
        self._resize.setInterval(0)
        self._resize.timeout.connect(self._on_resize)
        self._motion: Motion = settings.motion
        install_fonts(resources / "fonts")
        motion.choose(settings.motion)
        self.themes = ThemeController(settings.theme, self)
        if isinstance(app := QApplication.instance(), QApplication):
            apply_basics(app, self.themes.current, self._font_px)
        self.themes.changed.connect(self._on_theme_changed)

    def connect_to(self, window: MainWindow) -> None:
        """Dress this window, which is built, and do what its menu asks for."""
        if isinstance(app := QApplication.instance(), QApplication):
            apply_sheet(app, self.themes.current)
        window.chat_pane.chat.set_motion(motion.reduces())
        self.motion_changed.connect(window.chat_pane.chat.set_motion)
        self._window = window
        self._actions = actions = window.actions_
        actions.flip_theme.triggered.connect(self._on_flip_theme)
        actions.themes.triggered.connect(self._on_theme_chosen)
        actions.larger.triggered.connect(self._on_larger)
        actions.smaller.triggered.connect(self._on_smaller)
        actions.normal_size.triggered.connect(self._on_normal_size)
        self._show_choices()

    @property
    def mode(self) -> ThemeMode:
        """The theme that was chosen: "system", "light" or "dark"."""
        return self.themes.mode

    @property
    def font_px(self) -> int:
        """Size of running text in device-independent pixels."""
        return self._font_px

    @property
    def motion(self) -> Motion:
        """Whether things move: "system", "full" or "reduced"."""
        return self._motion

    def set_mode(self, mode: ThemeMode) -> None:
        """Choose another theme."""
        if mode != self.themes.mode:
            self.themes.set_mode(mode)
            self._show_choices()
            self.settings_changed.emit()

    def set_font_px(self, size: int) -> None:
        """Choose another size of text; what is out of range becomes the nearest that is not."""
        size = max(LOWEST_FONT_PX, min(size, HIGHEST_FONT_PX))
        if size != self._font_px:
            self._font_px = size
            self._resize.start()
            self._show_choices()
            self.settings_changed.emit()

    def set_motion(self, mode: Motion) -> None:
        """Choose whether things move."""
        if mode != self._motion:
            self._motion = mode
            motion.choose(mode)
            self.motion_changed.emit(motion.reduces())
            self.settings_changed.emit()

    def _dress(self, theme: Theme) -> None:
        if isinstance(app := QApplication.instance(), QApplication):
            apply_theme(app, theme, self._font_px)

    def _show_choices(self) -> None:
        if self._actions is None:
            return
        for action in self._actions.themes.actions():
            action.setChecked(action.data() == self.themes.mode)
        self._actions.larger.setEnabled(self._font_px < HIGHEST_FONT_PX)
        self._actions.smaller.setEnabled(self._font_px > LOWEST_FONT_PX)
        self._actions.normal_size.setEnabled(self._font_px != BASE_PX)

    @Slot()
    def _on_flip_theme(self) -> None:
        self.set_mode("light" if self.themes.current.is_dark else "dark")

    @Slot("QAction*")
    def _on_theme_chosen(self, action: QAction) -> None:
        self.set_mode(action.data())

    @Slot()
    def _on_larger(self) -> None:
        self.set_font_px(self._font_px + 1)

    @Slot()
    def _on_smaller(self) -> None:
        self.set_font_px(self._font_px - 1)

    @Slot()
    def _on_normal_size(self) -> None:
        self.set_font_px(BASE_PX)

    @Slot()
    def _on_resize(self) -> None:
        self.themes.changing.emit()
        self.themes.changed.emit(self.themes.current)  # who keeps a font asks for it again

    @Slot(object)
    def _on_theme_changed(self, theme: Theme) -> None:
        self._dress(theme)
        if self._window is not None:
            self._window.set_theme(theme)
