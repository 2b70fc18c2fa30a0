"""Settings of the prompt cache, passed to the parts that keep it. Main thread."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from paceline.chat.pair import PairLoader
from paceline.chat.remembered.chat_states import ChatStates
from paceline.files import used_bytes
from paceline.gui.kit.background import Background
from paceline.gui.state.settings_store import SettingsStore
from paceline.settings import state_storage

_NAMES = ("keeps_states", "states_disk_mb", "states_memory_mb")


class PromptCache(QObject):
    """Passes the settings to the loader; switching the cache off deletes all of it.

    Limits apply from the next load on.
    """

    switched = Signal()
    """The cache was switched on or off; the models have to be loaded again."""
    measured = Signal(object)
    """Bytes of its files, after `measure`"""

    def __init__(
        self,
        store: SettingsStore,
        loader: PairLoader,
        states: ChatStates,
        folder: Path,
        background: Background,
    ) -> None:
        """Follow the settings.

        Args:
            store: The settings.
            loader: Loads models with these settings.
            states: Requests that states be dropped.
            folder: Folder of the files.
            background: Measures the folder's size.
        """
        super().__init__(store)
        self._store, self._loader, self._states = store, loader, states
        self._folder, self._background = folder, background
        store.changed.connect(self._on_changed)
        self._pass_settings()

    def _pass_settings(self) -> None:
        self._loader.states = state_storage(self._store.settings, self._folder)

    @Slot(str)
    def _on_changed(self, name: str) -> None:
        if name not in _NAMES:
            return
        self._pass_settings()
        if name == "keeps_states":
            if self._loader.states is None:
                self.forget()
            self.switched.emit()

    @Slot()
    def forget(self) -> None:
        """Delete the whole cache, in memory and on disk."""
        self._states.drop_all()

    @Slot()
    def measure(self) -> None:
        """Measure the size on disk."""
        self._background.start(partial(used_bytes, self._folder), self.measured.emit)
