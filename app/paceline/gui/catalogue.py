"""Everything of the window that stands on `catalog.models`: library, Hub, downloads, the picker.

Made together and closed together. A window without it (`Program` was given no `Models`) chats as
well; its menus about models are then those of files alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from paceline.gui.downloads_controller import DownloadsController
from paceline.gui.hub_controller import HubController
from paceline.gui.library_controller import LibraryController
from paceline.gui.picker_controller import PickerController
from paceline.gui.viewmodels.downloads import DownloadsModel
from paceline.gui.viewmodels.hub_results import HubResults
from paceline.gui.viewmodels.library import LibraryModel
from paceline.gui.widgets.downloads_button import DownloadsButton
from paceline.gui.widgets.downloads_dialog import DownloadsDialog

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.catalog.curated import CuratedPair
    from paceline.catalog.models import Models
    from paceline.chat.pair import PairState
    from paceline.gui.background import Background
    from paceline.gui.current_devices import CurrentDevices
    from paceline.gui.icons import Icons
    from paceline.gui.main_window import MainWindow
    from paceline.gui.models_controller import ModelsController
    from paceline.gui.notifications import Notifications
    from paceline.gui.theme import Theme, ThemeController
    from paceline.gui.viewmodels.pair import PairModel
    from paceline.gui.viewmodels.speculation import SpeculationModel
    from paceline.params import ModelParams


class Catalogue(QObject):
    """Main thread; asks nothing before somebody opens something."""

    folders_changed = Signal()
    """The user's own folders, which the settings keep"""

    def __init__(
        self,
        models: Models,
        *,
        loads: ModelsController,
        pair: PairModel,
        speculation: SpeculationModel,
        devices: CurrentDevices,
        folders: Sequence[str],
        background: Background,
        notifications: Notifications,
        themes: ThemeController,
        icons: Icons,
        window: MainWindow,
    ) -> None:
        super().__init__(window)
        self._models = models
        self._loads = loads
        self._pair = pair
        self._devices = devices
        self._speculation = speculation
        self._window = window
        self._themes = themes
        self._entries = LibraryModel(self)
        self.states = DownloadsModel(self)
        self.library = LibraryController(
            models.library,
            self._entries,
            notifications=notifications,
            window=window,
            is_loaded=self._is_loaded,
            folders=folders,
        )
        self.downloads = DownloadsController(
            models.downloads, self.states, notifications=notifications, window=window
        )
        results = HubResults(self)
        self.hub = HubController(models.hub, results, self)
        self.picker = PickerController(
            models=models,
            library=self.library,
            entries=self._entries,
            downloads=self.downloads,
            states=self.states,
            hub=self.hub,
            results=results,
            devices=devices,
            background=background,
            notifications=notifications,
            themes=themes,
            icons=icons,
            window=window,
        )
        self.downloads_dialog: DownloadsDialog | None = None
        self.button = DownloadsButton(self.states, themes.current)
        window.top_bar.add_widget(self.button)
        self.button.clicked.connect(self.show_downloads)
        self.library.folders_changed.connect(self._on_folders)
        self.downloads.use_requested.connect(loads.open_target)
        # The folder of downloads may be new, and is not watched then.
        self.downloads.ended.connect(self.library.refresh)
        self.picker.load_requested.connect(self._on_picked)
        self.picker.online_chosen.connect(self._on_online)
        pair.changed.connect(self._on_pair_changed)
        window.chat_pane.errors.action_requested.connect(self._on_action)
        themes.changed.connect(self._on_theme)
        actions = window.actions_
        for action in (
            actions.choose_models, actions.choose_draft, actions.downloads, actions.offline
        ):  # fmt: skip
            action.setVisible(True)
        actions.offline.toggled.connect(self._on_offline)
        actions.choose_models.triggered.connect(self._on_choose_models)
        actions.choose_draft.triggered.connect(self._on_choose_draft)
        actions.downloads.triggered.connect(self.show_downloads)
        self.picker.prepare()

    @property
    def entries(self) -> LibraryModel:
        """The models on this computer, as far as they are known."""
        return self._entries

    @property
    def curated(self) -> tuple[CuratedPair, ...]:
        """The pairs that are shipped as a list; raises UserError when it cannot be read."""
        return self._models.curated

    def close(self) -> None:
        """Stop asking, pause downloads, end the helper process; a few seconds at the most."""
        if self.downloads_dialog is not None:
            self.downloads_dialog.reject()
        self.downloads.close()
        self.picker.close()
        self.hub.close()
        self._models.close()
        self.library.close()  # its scan ends at once when the inspector has

    @Slot()
    def show_downloads(self) -> None:
        """Open the list of downloads, or bring it to the front."""
        if self.downloads_dialog is None:
            dialog = DownloadsDialog(self.states, self._themes.current, self._window)
            self.downloads.connect_to(dialog.panel)
            dialog.finished.connect(self._on_downloads_closed)
            self.downloads_dialog = dialog
            dialog.show()
        self.downloads_dialog.raise_()
        self.downloads_dialog.activateWindow()

    def _is_loaded(self, file: Path) -> bool:
        """Whether the engine has a file open."""
        pair = self._pair.state.pair
        models = (pair.target, pair.draft) if pair is not None else ()
        return any(model is not None and Path(model.path) == file for model in models)

    @Slot(object)
    def _on_pair_changed(self, state: PairState) -> None:
        pair = state.pair
        self.picker.show_loaded(pair.target if pair else None, pair.draft if pair else None)
        engine = self._devices.description
        if state.status == "loading" and engine is not None and engine.supports_gpu:
            self._models.inspector.rest()  # its dry runs take some of the GPU's memory

    @Slot(object, object, str)
    def _on_picked(self, target: ModelParams, draft: ModelParams | None, strategy: str) -> None:
        self._loads.load_models(target, draft)
        if strategy:
            self._speculation.use(strategy)

    @Slot(str)
    def _on_action(self, name: str) -> None:
        """Do what a notice of these controllers offered."""
        self.downloads.on_action(name)
        self.picker.on_action(name)

    @Slot()
    def _on_downloads_closed(self) -> None:
        self.downloads_dialog = None

    @Slot(bool)
    def _on_offline(self, is_offline: bool) -> None:  # noqa: FBT001
        self._models.offline = is_offline
        self.hub.set_offline(is_offline)

    @Slot()
    def _on_online(self) -> None:
        switch = self._window.actions_.offline
        if switch.isChecked():
            switch.setChecked(False)
        else:  # HF_HUB_OFFLINE kept the Hub away, for which nobody has pressed the switch
            self._on_offline(False)  # noqa: FBT003

    @Slot()
    def _on_choose_models(self) -> None:
        self.picker.open(1)

    @Slot()
    def _on_choose_draft(self) -> None:
        self.picker.open(2)

    @Slot(tuple)
    def _on_folders(self, folders: tuple[str, ...]) -> None:
        self._models.use_folders([Path(folder) for folder in folders])
        self.folders_changed.emit()

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self.button.set_theme(theme)
        if self.downloads_dialog is not None:
            self.downloads_dialog.panel.set_theme(theme)
