"""Controller of the picker: connects its dialog with library, Hub, downloads and judgement.

The dialog and its pages live while it is open; the judgement, the models and an awaited download
outlive it. A pair whose files arrive after the dialog was closed is offered by a notice.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot

from paceline.catalog.judge.curated import CuratedPair
from paceline.catalog.judge.pairing import Remedy
from paceline.catalog.judge.speed import reading_for
from paceline.catalog.models import Models
from paceline.chat.pair import Pair
from paceline.errors import UserError
from paceline.gui.context import AppContext
from paceline.gui.kit.dialogs import DialogOwner
from paceline.gui.kit.file_dialogs import FileChooser
from paceline.gui.kit.notices import Notice
from paceline.gui.models.candidates import Candidate, MachineFacts, MainButton, Picks, main_button
from paceline.gui.models.downloads.controller import DownloadsController, PairFetcher
from paceline.gui.models.lists.hub_page import HubPage
from paceline.gui.models.lists.hub_search import HubSearch
from paceline.gui.models.lists.installed_page import InstalledPage
from paceline.gui.models.lists.library import LibraryController
from paceline.gui.models.lists.offers import Offer
from paceline.gui.models.lists.recommended_page import RecommendedPage
from paceline.gui.models.load_checks import first_parts
from paceline.gui.models.picker.dialog import PickerBuilder, PickerDialog
from paceline.gui.models.picker.pair_judgement import PairJudgement
from paceline.gui.models.picker.pair_pane import PairPane
from paceline.gui.state.current_devices import CurrentDevices, Room, RoomPlanner
from paceline.params import TargetHead

_DRAFT_STEP = 2


class PickerController(DialogOwner[PickerDialog]):
    """One dialog at a time; main thread."""

    load_requested = Signal(object)
    """Pair of local files"""
    model_requested = Signal(str)
    """Path of a model to be loaded with its last settings"""

    def __init__(
        self,
        context: AppContext,
        *,
        models: Models,
        library: LibraryController,
        downloads: DownloadsController,
        hub: HubSearch,
        devices: CurrentDevices,
    ) -> None:
        super().__init__(context.window)
        self._library = library
        self._devices = devices
        self._notifications = context.notices
        self._pair = context.pair
        self._file, self._folder = FileChooser(self), FileChooser(self)
        self._file.chosen.connect(library.open_file)
        self._add_folder = context.settings.setting("model_folders").add
        self._folder.chosen.connect(self._add_folder)
        self._hub = hub
        planner = devices.planner or RoomPlanner(models)
        self.judgement = PairJudgement(models, planner, self)
        """Knowledge about the pair being picked."""
        self._builder = PickerBuilder(
            (
                partial(InstalledPage, library),
                lambda: RecommendedPage(models.curated),  # not before a list is wanted
                partial(HubPage, hub),
                partial(PairPane, self.judgement),
            ),
            partial(PickerDialog, downloads=downloads.model, parent=context.window),
            context.window,
        )
        self._fetcher = PairFetcher(models, downloads, context.background, self)
        self.picks = Picks()
        """The present picks."""
        self._button = MainButton("wait", "")
        self._goes_on = False
        self._room = Room()
        devices.changed.connect(self._on_room)
        devices.read.connect(self._on_room)
        context.pair.changed.connect(self._on_pair)
        self._fetcher.ready.connect(self._on_fetched)
        self._fetcher.changed.connect(self._show)
        library.refreshed.connect(self._on_library)
        context.notices.posted.connect(self._on_notice)
        hub.token_failed.connect(self._on_token_failed)
        hub.changed.connect(self._on_reach)
        library.opened.connect(self._take)
        library.refused.connect(self._show_problem)

    # ------------------------------------------------------------------------------- from outside

    def prepare(self) -> None:
        """Prepare for `open` when there is time."""
        self._builder.prepare()

    def open(self, step: int = 1) -> None:
        """Show the dialog at a step; an open one changes to it."""
        if self.dialog is None:
            self._open_dialog()
        self._on_step(step)

    def show_recommended(self, pair: CuratedPair | None = None) -> None:
        """Show the recommended pairs, and go to one of them."""
        self.open()
        if self.dialog is not None:
            self.dialog.show_recommended()
            if pair is not None:
                self.dialog.recommended.show_pair(pair)

    def close(self) -> None:
        """Close the dialog and stop all requests; nothing runs afterwards."""
        super().close()
        self._builder.discard()
        self._fetcher.stop()
        self.judgement.close()

    # ---------------------------------------------------------------------------------- the dialog

    def _open_dialog(self) -> None:
        dialog = self.own(self._builder.take())
        self._pane = dialog.pane
        self._connect(dialog)
        self._room = Room()
        self._devices.watch(is_watched=True)
        self._on_room()
        self._on_pair()
        self._on_reach()
        self.picks = Picks()
        pair = self._pair.state.pair
        if pair is not None:
            drafter = self._library.candidate(pair.files[1]) if len(pair.files) > 1 else None
            if drafter is not None:
                head = pair.drafting.kind if isinstance(pair.drafting, TargetHead) else ""
                drafter = replace(drafter, head=head)
            self.picks = Picks(
                target=self._library.candidate(pair.target.path),
                draft=drafter,
                uses_head=pair.drafting is not None,
            )
            self._pane.show_pair(pair)
        self._pane.show_picks(self.picks)
        dialog.open()
        dialog.installed.search.setFocus()

    def _connect(self, dialog: PickerDialog) -> None:
        for page in dialog.pages:
            page.picked.connect(self._take)
            page.confirmed.connect(self._on_confirmed)
        dialog.installed.recommended_wanted.connect(dialog.show_recommended)
        dialog.installed.chosen.connect(self._on_chosen)
        dialog.installed.open_button.clicked.connect(self._on_open)
        dialog.installed.folder_button.clicked.connect(self._on_add_folder)
        dialog.dropped.connect(self._on_dropped)
        dialog.folders_dropped.connect(self._on_folders_dropped)
        self._library.set_visible(True)
        self._pane.changed.connect(self._show)
        self._pane.remedy_taken.connect(self._on_remedy)
        dialog.steps.group.idClicked.connect(self._on_step)
        dialog.steps.draft_wanted.connect(self._on_draft_wanted)
        dialog.online.clicked.connect(self._on_online)
        dialog.tabs.currentChanged.connect(self._on_page)
        dialog.main.clicked.connect(self._on_main)

    @Slot()
    def _on_open(self) -> None:
        if self.dialog is not None:
            kinds = self.tr("GGUF models (*.gguf);;All files (*)")
            self._file.ask_file(self.dialog, self.tr("Open a model"), kinds)

    @Slot()
    def _on_add_folder(self) -> None:
        if self.dialog is not None:
            self._folder.ask_folder(self.dialog, self.tr("Add a folder with models"))

    @Slot(list)
    def _on_dropped(self, paths: list[str]) -> None:
        models = first_parts(paths)
        if len(models) == 1:
            self._library.open_file(models[0])
        else:
            self._show_problem(self.tr("Drop one model at a time, for the step shown."))

    @Slot(list)
    def _on_folders_dropped(self, folders: list[str]) -> None:
        for folder in folders:
            self._add_folder(folder)

    @Slot(str, str)
    def _show_problem(self, text: str, hint: str = "") -> None:
        if self.dialog is not None:
            self.dialog.show_problem(text, hint)

    @Slot(object)
    def _on_token_failed(self, error: UserError) -> None:
        self._show_problem(error.message, error.hint)

    @Slot()
    def _on_finished(self) -> None:
        super()._on_finished()
        self._devices.watch(is_watched=False)
        self._library.set_visible(False)
        self._hub.stop()
        self.judgement.ask(None)
        self._builder.prepare()

    @Slot()
    def _on_room(self) -> None:
        """Plan with the present free memory; small changes are ignored."""
        engine, room = self._devices.description, self._devices.room
        if self.dialog is None or engine is None:
            return
        self._pane.form.show_engine(engine)  # the judgement follows the devices itself
        self._pane.show_reading(self._machine.reading)
        if not room.is_about(self._room):
            self._room = room
            self.judgement.set_room(room)

    @Slot()
    def _on_pair(self) -> None:
        if self.dialog is not None:
            self._pane.show_loaded(self._pair.state)

    @property
    def _machine(self) -> MachineFacts:
        devices, room = self._devices, self._room
        n_free = devices.planner.n_free(room) if devices.planner else room.n_free
        reading = reading_for(devices.reading, room.devices)
        return MachineFacts(n_free, room.has_gpu, reading)

    @Slot()
    def _on_reach(self) -> None:
        if self.dialog is not None:
            self.dialog.show_reach(self._hub.out_of_reach)

    @Slot()
    def _on_online(self) -> None:
        if self._hub.out_of_reach == "offline":
            self._hub.go_online()
        else:
            self._hub.ask_again()
        self.judgement.ask_again()

    # ---------------------------------------------------------------------------------------- picks

    def _set(self, picks: Picks) -> None:
        before, self.picks = self.picks, picks
        if replace(before, step=picks.step) != picks:
            self._pane.show_picks(picks)
        self._show()

    @Slot()
    def _show(self) -> None:
        """Show the picks and the main button."""
        if self.dialog is None:
            return
        plan = self.judgement.judgement.plan
        warning = self._fetcher.problem if self._is_waited_for else ""
        if not warning and plan is not None and not plan.fits:
            warning = self.tr("This may not fit into the memory.")
        self._button = main_button(
            self.picks,
            obstacle=self._pane.obstacle(),
            warning=warning,
            is_looking=self._pane.is_looking,
            is_downloading=self._fetcher.is_busy and self._is_waited_for,
        )
        self.dialog.show_picks(self.picks, self._button, self._machine)
        if self._goes_on and self._button.todo != "wait":
            self._goes_on = False
            self.dialog.main.setFocus(Qt.FocusReason.TabFocusReason)

    @property
    def _is_waited_for(self) -> bool:
        """Return whether the picks are the pair being downloaded."""
        wanted, pair = self._fetcher.wanted, self._pane.pair()
        return wanted is not None and pair is not None and wanted.files == pair.files

    @Slot(object)
    def _take(self, offer: Offer) -> bool:
        """Pick the models of a row; return whether that is possible."""
        if self.dialog is None:  # an opened file arrived too late
            return False
        self._goes_on = False
        picks = offer.picked(self.picks)
        if picks is not None:
            self._set(picks)
        elif offer.model is not None and not (offer.problem or offer.is_locked):
            self._show_problem(offer.model.problem)  # a head, in the step of the target
        return picks is not None

    @Slot(object)
    def _on_confirmed(self, offer: Offer) -> None:
        """Focus the main button once it is enabled; it must not be pressed by accident."""
        if self._take(offer):
            self._goes_on = True
            self._show()

    @Slot(object)
    def _on_chosen(self, offer: Offer) -> None:
        """Load the first model that matches the typed words; in the second step, pick it."""
        if self.picks.step == _DRAFT_STEP or offer.model is None:
            self._on_confirmed(offer)
        elif self.dialog is not None and offer.picked(self.picks) is not None:
            self.dialog.accept()
            self.model_requested.emit(offer.model.reference)

    @Slot()
    def _on_draft_wanted(self) -> None:
        self._on_step(_DRAFT_STEP)

    @Slot(object)
    def _on_remedy(self, remedy: Remedy) -> None:
        target = self._library.candidate(remedy.target) if remedy.target else self.picks.target
        draft = self._library.candidate(remedy.draft) if remedy.draft else None
        picks = replace(self.picks, target=target)
        self._set(picks.with_draft(draft, uses_head=not remedy.strategy))
        self._goes_on = True  # the button with the focus is gone
        self._show()

    @Slot()
    def _on_library(self) -> None:
        """Update the picks by facts that the library found later."""
        if self.dialog is not None:
            target, draft = map(self._seen_now, (self.picks.target, self.picks.draft))
            self._set(replace(self.picks, target=target, draft=draft))

    def _seen_now(self, candidate: Candidate | None) -> Candidate | None:
        if candidate is None or Path(candidate.reference) not in self._library.offers:
            return candidate
        return replace(self._library.candidate(candidate.reference), head=candidate.head)

    @Slot(int)
    def _on_step(self, step: int) -> None:
        self._set(replace(self.picks, step=2 if step == _DRAFT_STEP else 1, row=""))
        self._begin_page()

    @Slot()
    def _on_page(self) -> None:
        """Close the open row: the main button must refer to something visible."""
        self._set(replace(self.picks, row=""))
        self._begin_page()

    def _begin_page(self) -> None:
        if (dialog := self.dialog) is not None:
            dialog.page.begin(takes_focus=not dialog.tabs.tabBar().hasFocus())

    @Slot()
    def _on_main(self) -> None:
        if self._button.todo == "files" and self.dialog is not None:
            self.dialog.show_page(self.dialog.hub)
            self.dialog.hub.open_repository(self.picks.leads_to)
            return
        pair = self._pane.pair()
        if pair is None:
            return
        if self._button.todo == "download":
            self._fetcher.fetch(pair)
        elif self._button.todo == "load":
            self._load(pair)

    def _load(self, pair: Pair) -> None:
        if self.dialog is not None:
            self.dialog.accept()
        self.load_requested.emit(pair)

    @Slot(object)
    def _on_fetched(self, pair: Pair) -> None:
        self._library.refresh()
        if self.dialog is not None and self._is_waited_for:
            self._load(pair)
            return
        words = self.tr("The pair that you picked is downloaded.")
        self._fetcher.offer(pair, words, self.load_requested.emit)

    @Slot(object)
    def _on_notice(self, notice: Notice) -> None:
        """Show failures here as well: the window below the dialog takes no clicks."""
        if notice.level == "error":
            self._show_problem(notice.message, notice.hint)
