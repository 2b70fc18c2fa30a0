"""The settings in force: read, changed and saved in this one place. Main thread.

Menus, boxes of the panel and the settings dialog show the same values and cannot disagree, since
each of them reads the store, writes to it, and follows its `changed`.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractButton

from paceline.settings import Settings, check_settings, save_settings

SAVE_AFTER_MS = 1500
"""A dragged slider is saved when it rests, not at every pixel."""

_logger = logging.getLogger(__name__)


class SettingsStore(QObject):
    """Holder of a frozen `Settings`; writes it to its file a moment after the last change.

    Attributes:
        settings: All of them.
    """

    changed = Signal(str)
    """The field of this name has changed."""
    saving = Signal()
    """The file is about to be written: the last chance to record values without change signals,
    such as the size of the window."""

    def __init__(self, settings: Settings, file: Path, parent: QObject) -> None:
        super().__init__(parent)
        self.settings = settings
        self._file = file
        self._each: dict[str, Setting] = {}
        self._save_soon = QTimer(self, singleShot=True, interval=SAVE_AFTER_MS)
        self._save_soon.timeout.connect(self.save)

    def value(self, name: str) -> Any:
        """Return the value of a field of `Settings`."""
        return getattr(self.settings, name)

    def set(self, name: str, value: Any) -> None:
        """Change one field; see `update`."""
        self.update(**{name: value})

    def update(self, **values: Any) -> None:
        """Change fields of `Settings` together, and save them soon.

        Raises:
            ValueError: A value is out of range; nothing was changed.
        """
        new = replace(self.settings, **values)
        changed = [name for name in values if getattr(new, name) != self.value(name)]
        if not changed:
            return
        check_settings(new)
        self.settings = new
        self.save_soon()
        for name in changed:
            self.changed.emit(name)

    def setting(self, name: str) -> Setting:
        """Return a field as an object; the same name always gives the same object."""
        if name not in self._each:
            self._each[name] = Setting(self, name)
        return self._each[name]

    @Slot()
    def save_soon(self) -> None:
        """Save after `SAVE_AFTER_MS` without another change."""
        self._save_soon.start()

    @Slot()
    def save(self) -> None:
        """Write the file now; a folder that cannot be written costs only the settings."""
        self.saving.emit()
        self._save_soon.stop()
        try:
            save_settings(self._file, self.settings)
        except OSError as error:
            _logger.warning("the settings are not saved: %s", error)


class Setting(QObject):
    """One field of the store, for controls that show and change it."""

    changed = Signal()
    _switched = Signal(bool)

    def __init__(self, store: SettingsStore, name: str) -> None:
        super().__init__(store)
        self._store, self._name = store, name
        store.changed.connect(self._on_changed)

    @property
    def value(self) -> Any:
        """Present value."""
        return self._store.value(self._name)

    @property
    def default(self) -> Any:
        """Value in a new installation."""
        return getattr(Settings(), self._name)

    @Slot(object)
    def set_value(self, value: Any) -> None:
        """Set the value; `changed` is emitted if it differs from the present one."""
        self._store.set(self._name, value)

    @Slot(str)
    def add(self, text: str) -> None:
        """Add a text to a setting that is a tuple of texts, unless it is empty or already there."""
        if text and text not in self.value:
            self.set_value((*self.value, text))

    def bind(self, switch: QAction | QAbstractButton) -> None:
        """Let a switch show and change the setting, as long as both live."""
        switch.setChecked(bool(self.value))
        switch.toggled.connect(self.set_value)
        self._switched.connect(switch.setChecked)

    @Slot(str)
    def _on_changed(self, name: str) -> None:
        if name == self._name:
            self._switched.emit(bool(self.value))
            self.changed.emit()
