"""What can be set in the settings dialog: one value each, kept in one place.

Most of it has a place already: an action of a menu, a box of the panel, the look. A `Preference` is
a door to that place, so that menu, panel and dialog cannot disagree; what has none is kept here.
Main thread.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal, Slot

from paceline.gui.scale import BASE_PX
from paceline.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import SignalInstance
    from PySide6.QtGui import QAction
    from PySide6.QtWidgets import QAbstractButton

    from paceline.gui.appearance import Appearance
    from paceline.gui.library_controller import LibraryController
    from paceline.gui.main_window import MainWindow


class Preference(QObject):
    """One value that can be read, changed, and put back to its default."""

    changed = Signal()

    def __init__(self, default: object, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.default = default

    @property
    def value(self) -> Any:
        """What it is now."""
        raise NotImplementedError

    def set_value(self, value: Any) -> None:
        """Change it; `changed` tells everybody when it is really another one."""
        raise NotImplementedError


class Kept(Preference):
    """A value that has no other place."""

    def __init__(self, value: object, default: object, parent: QObject | None = None) -> None:
        super().__init__(default, parent)
        self._value = value

    @property
    def value(self) -> Any:
        """What it is now."""
        return self._value

    def set_value(self, value: Any) -> None:
        """Change it."""
        if value != self._value:
            self._value = value
            self.changed.emit()


class Linked(Preference):
    """A value that somebody else keeps."""

    def __init__(
        self,
        read: Callable[[], Any],
        write: Callable[[Any], None],
        told: SignalInstance,
        default: object,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(default, parent)
        self._read, self._write = read, write
        told.connect(self._on_told)

    @property
    def value(self) -> Any:
        """What it is now."""
        return self._read()

    def set_value(self, value: Any) -> None:
        """Have it changed."""
        if value != self._read():
            self._write(value)

    @Slot()
    def _on_told(self) -> None:
        self.changed.emit()


class Preferences(QObject):
    """All of them; `changed` tells that one which has no other place is to be saved."""

    changed = Signal()

    def __init__(
        self,
        settings: Settings,
        *,
        appearance: Appearance,
        window: MainWindow,
        library: LibraryController | None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        usual = Settings()
        self._appearance = appearance
        look = appearance.settings_changed
        self.theme = Linked(self._mode, appearance.set_mode, look, usual.theme, self)
        self.font_px = Linked(self._font_px, appearance.set_font_px, look, BASE_PX, self)
        self.motion = Linked(self._motion, appearance.set_motion, look, usual.motion, self)
        actions = window.actions_
        self.token_colours = self._switch(actions.token_colours, is_on=usual.token_colours)
        self.offline = self._switch(actions.offline, is_on=usual.hub_offline)
        self.learns = self._switch(window.panel.learning.switch, is_on=usual.remember_drafts)
        loading = window.panel.loading
        self.engine_host = Linked(
            loading.host, loading.choose_host, loading.host_requested, usual.engine_host, self
        )
        self.folders: Linked | None = None
        """None: there is no library of models behind this window."""
        if library is not None:
            self.folders = Linked(
                library.current_folders, library.set_folders, library.folders_changed, (), self
            )
        self.kernels = self._kept(settings.kernels, usual.kernels)
        self.language = self._kept(settings.language, usual.language)
        self.send_key = self._kept(settings.send_key, usual.send_key)
        cuts = window.panel.sampling.cuts
        cuts.setChecked(settings.cuts_long_chats)
        self.cuts_long_chats = self._switch(cuts, is_on=usual.cuts_long_chats)
        self.opens_last_chat = self._kept(settings.opens_last_chat, usual.opens_last_chat)

    def fill(self, settings: Settings) -> Settings:
        """Return the settings with everything that is kept or known here."""
        return replace(
            settings,
            font_px=self._appearance.font_px,
            motion=self._appearance.motion,
            kernels=self.kernels.value,
            language=self.language.value,
            send_key=self.send_key.value,
            cuts_long_chats=self.cuts_long_chats.value,
            opens_last_chat=self.opens_last_chat.value,
        )

    def _switch(self, switch: QAction | QAbstractButton, *, is_on: bool) -> Linked:
        return Linked(switch.isChecked, switch.setChecked, switch.toggled, is_on, self)

    def _kept(self, value: object, default: object) -> Kept:
        kept = Kept(value, default, self)
        kept.changed.connect(self.changed)
        return kept

    def _mode(self) -> str:
        return self._appearance.mode

    def _font_px(self) -> int:
        return self._appearance.font_px

    def _motion(self) -> str:
        return self._appearance.motion
