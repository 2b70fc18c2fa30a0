"""Where models come from and where they run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paceline.gui.widgets.settings.controls import ChoiceField, SwitchRow
from paceline.gui.widgets.settings.folder_list import FolderList
from paceline.gui.widgets.settings.page import SettingRow, SettingsPage

if TYPE_CHECKING:
    from PySide6.QtGui import QIcon
    from PySide6.QtWidgets import QWidget

    from paceline.gui.preferences import Preferences


class ModelsPage(SettingsPage):
    """Folders, the Hub, the engine."""

    def __init__(
        self, preferences: Preferences, icon: QIcon, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.set_title(self.tr("Models"))
        self.folders: FolderList | None = None
        self._all = preferences
        self._icon = icon

    def _fill(self) -> None:
        preferences = self._all
        if preferences.folders is not None:
            files = self.section(self.tr("Model files"))
            self.folders = FolderList(preferences.folders, self._icon)
            folders = SettingRow(
                self.tr("Folders to look in"),
                self.tr(
                    "Besides the folders of Paceline, Ollama, LM Studio and the Hugging Face "
                    "cache, which are found by themselves."
                ),
                self.folders,
                is_wide=True,
            )
            self.add(files, folders, (folders.label.text(), "gguf"), preferences.folders)
        hub = self.section(self.tr("Hugging Face Hub"))
        offline = SwitchRow(
            self.tr("Work offline"),
            self.tr("The Hub is not asked for anything. Everything on this computer works."),
            preferences.offline,
        )
        self.add(hub, offline, (offline.box.text(), "internet network"), preferences.offline)
        engine = self.section(self.tr("Engine"))
        host = SettingRow(
            self.tr("The engine runs in"),
            self.tr(
                "In a process of its own a crash of llama.cpp costs one reply; in the window's "
                "process it ends the window. The models are loaded again."
            ),
            ChoiceField(
                (
                    ("process", self.tr("Its own process")),
                    ("thread", self.tr("The window's process")),
                ),
                preferences.engine_host,
            ),
        )
        self.add(engine, host, (host.label.text(), "llama.cpp thread"), preferences.engine_host)
        kernels = SettingRow(
            self.tr("CPU kernels"),
            self.tr(
                "Paceline's own compute several tokens at once faster, as far as they have "
                "passed a test on this computer. Automatic takes them unless the variable "
                "PACELINE_KERNELS says otherwise. The models are loaded again."
            ),
            ChoiceField(
                (
                    ("auto", self.tr("Automatic")),
                    ("own", self.tr("Own")),
                    ("stock", self.tr("llama.cpp's")),
                ),
                preferences.kernels,
            ),
        )
        self.add(engine, kernels, (kernels.label.text(), "cpu processor"), preferences.kernels)

    def set_icon(self, icon: QIcon) -> None:
        """Use another theme's icon for what takes a folder away."""
        self._icon = icon
        if self.folders is not None:
            self.folders.set_icon(icon)
