"""Finding, downloading and picking models: library, Hub, downloads, picker.

Its parts need `catalog.models`, and are made and closed together. A window without `Models` works
without this feature; its menus then offer only files.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Slot

from paceline import starter
from paceline.catalog.judge.curated import CuratedPair
from paceline.catalog.local.library import LibraryEntry
from paceline.catalog.models import Models
from paceline.chat.pair import PairState
from paceline.gui.context import AppContext
from paceline.gui.kit.dialogs import DialogOwner
from paceline.gui.models.controller import ModelsController
from paceline.gui.models.downloads.controller import DownloadsController
from paceline.gui.models.downloads.getting import PairGetter, first_model
from paceline.gui.models.downloads.panel import DownloadsButton, DownloadsDialog
from paceline.gui.models.lists.hub_search import HubSearch
from paceline.gui.models.lists.library import LibraryController
from paceline.gui.models.picker.controller import PickerController
from paceline.gui.state.current_devices import CurrentDevices


class Catalogue(DialogOwner[DownloadsDialog]):
    """Makes the parts and connects them; main thread.

    No request is sent before a list is opened.
    """

    def __init__(
        self,
        context: AppContext,
        models: Models,
        *,
        loads: ModelsController,
        devices: CurrentDevices,
    ) -> None:
        """Make the lists and the controllers.

        Args:
            context: The program's parts.
            models: Access to the catalogue of models; closed here.
            loads: Loads the picked models.
            devices: The devices that models can be put on.
        """
        super().__init__(context.window)
        self._context = context
        self._models = models
        self._loads = loads
        self._devices = devices
        notices, window = context.notices, context.window
        self.library = LibraryController(
            models.library,
            notices,
            window,
            is_loaded=self._is_loaded,
        )
        self.downloads = DownloadsController(models.downloads, notices, window)
        self.hub = HubSearch(models.hub, self, inspector=models.inspector)
        self.picker = PickerController(
            context,
            models=models,
            library=self.library,
            downloads=self.downloads,
            hub=self.hub,
            devices=devices,
        )
        self.getting = PairGetter(
            context,
            models,
            self.downloads,
            loads.load_models,
            self.tr("The recommended pair is downloaded."),
        )
        """Downloads and loads the recommended pair."""
        self.getting_first = PairGetter(
            context,
            models,
            self.downloads,
            loads.load_first,
            self.tr("{} is downloaded.").format(starter.NAME),
        )
        """Downloads and loads the first model if this computer has none."""
        self.getting_first.take_up(first_model())
        self.button = DownloadsButton(self.downloads.model)
        """Button for the top bar that shows the running downloads."""
        self.button.clicked.connect(self.show_downloads)
        context.settings.setting("model_folders").changed.connect(self._on_folders)
        context.settings.setting("download_folder").changed.connect(self._on_folders)
        context.settings.setting("hub_proxy").changed.connect(self._on_proxy)
        self.downloads.use_requested.connect(loads.open_target)
        # The folder of downloads may be new and then is not watched yet.
        self.downloads.ended.connect(self.library.refresh)
        self.picker.load_requested.connect(loads.load)
        self.picker.model_requested.connect(loads.load_installed)
        self.hub.online_wanted.connect(self._on_online)
        context.pair.changed.connect(self._on_pair_changed)
        actions = context.actions
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
    def entries(self) -> tuple[LibraryEntry, ...]:
        """Known models on this computer."""
        return self.library.entries

    @property
    def curated(self) -> tuple[CuratedPair, ...]:
        """Curated pairs of the program; raises UserError when their list cannot be read."""
        return self._models.curated

    @property
    def is_looking(self) -> bool:
        """Return whether the folders of models are being scanned."""
        return self.library.is_busy

    def scan(self) -> None:
        """Scan the folders of models in the background."""
        self.library.refresh()

    def show_recommended(self, pair: CuratedPair | None = None) -> None:
        """Show the recommended pairs, and go to one of them."""
        self.picker.show_recommended(pair)

    def close(self) -> None:
        """Stop requests, pause downloads, end the inspector's process; takes a few seconds."""
        super().close()
        self.getting.stop()
        self.getting_first.stop()
        self.downloads.close()
        self.picker.close()
        self.hub.close()
        self._models.close()
        self.library.close()  # last: its scan ends as soon as the inspector has ended

    @Slot()
    def show_downloads(self) -> None:
        """Open the list of downloads, or bring it to the front."""
        if self.dialog is None:
            dialog = self.own(DownloadsDialog(self.downloads.model, self._context.window))
            dialog.panel.wanted.connect(self.downloads.do)
            dialog.show()
        self.bring_to_front()

    def _is_loaded(self, file: Path) -> bool:
        """Return whether the engine has a file open."""
        pair = self._context.pair.state.pair
        return pair is not None and file in map(Path, pair.files)

    @Slot(object)
    def _on_pair_changed(self, state: PairState) -> None:
        engine = self._devices.description
        if state.status == "loading" and engine is not None and engine.supports_gpu:
            self._models.inspector.rest()  # its dry runs take some of the GPU's memory

    @Slot(bool)
    def _on_offline(self, is_offline: bool) -> None:  # noqa: FBT001
        self.hub.set_offline(is_offline)

    @Slot()
    def _on_online(self) -> None:
        switch = self._context.actions.offline
        if switch.isChecked():
            switch.setChecked(False)
        else:  # HF_HUB_OFFLINE had switched the Hub off, while the action was not checked
            self._on_offline(False)  # noqa: FBT003

    @Slot()
    def _on_choose_models(self) -> None:
        self.picker.open(1)

    @Slot()
    def _on_choose_draft(self) -> None:
        self.picker.open(2)

    @Slot()
    def _on_proxy(self) -> None:
        self._models.hub.proxy = self._context.settings.value("hub_proxy")

    @Slot()
    def _on_folders(self) -> None:
        settings = self._context.settings
        self._models.use_folders([Path(folder) for folder in settings.value("model_folders")])
        chosen = settings.value("download_folder")
        self._models.models_folder = Path(chosen or self._models.download_folders[-1])
        self.library.refresh()
