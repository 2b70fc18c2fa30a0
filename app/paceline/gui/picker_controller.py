"""Opens the dialog that picks a pair, and goes between it and everything that is known of models.

The dialog and its pages live while it is open; the judgement, the lists and a download that is
waited for outlive it. So a pair whose files arrive later is offered by a notice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, Slot

from paceline.gui.downloads_controller import DOWNLOADS
from paceline.gui.pair_fetcher import PairFetcher
from paceline.gui.picker_files import PickerFiles
from paceline.gui.picker_hub import PickerHub
from paceline.gui.picker_parts import PickerBuilder
from paceline.gui.viewmodels.pair_judgement import PairJudgement
from paceline.gui.viewmodels.picks import MainButton, Picks, main_button
from paceline.gui.viewmodels.suited import of_path

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from paceline.catalog.models import Models
    from paceline.catalog.verdict import Remedy
    from paceline.gui.background import Background
    from paceline.gui.current_devices import CurrentDevices
    from paceline.gui.downloads_controller import DownloadsController
    from paceline.gui.hub_controller import HubController
    from paceline.gui.icons import Icons
    from paceline.gui.library_controller import LibraryController
    from paceline.gui.notifications import Notice, Notifications
    from paceline.gui.theme import Theme, ThemeController
    from paceline.gui.viewmodels.candidates import Candidate
    from paceline.gui.viewmodels.downloads import DownloadsModel
    from paceline.gui.viewmodels.hub_results import HubResults
    from paceline.gui.viewmodels.library import LibraryModel
    from paceline.gui.widgets.picker.dialog import PickerDialog
    from paceline.params import ModelParams

LOAD_FETCHED = "load-fetched"
"""Name of the action that a notice offers when a pair has arrived behind a closed dialog."""

_DRAFT_STEP = 2


class PickerController(QObject):
    """One dialog at a time; main thread."""

    load_requested = Signal(object, object, str)
    """Target, draft model or None, both `ModelParams` of files that are here; and the strategy
    that goes with them, or an empty text"""
    online_chosen = Signal()
    """The user has left the offline mode."""

    def __init__(
        self,
        *,
        models: Models,
        library: LibraryController,
        entries: LibraryModel,
        downloads: DownloadsController,
        states: DownloadsModel,
        hub: HubController,
        results: HubResults,
        devices: CurrentDevices,
        background: Background,
        notifications: Notifications,
        themes: ThemeController,
        icons: Icons,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._models = models
        self._library = library
        self._entries = entries
        self._states = states
        self._files = PickerFiles(models, library, entries, background, self)
        self._hub = PickerHub(models, hub, self._free_bytes, self)
        self._devices = devices
        self._notifications = notifications
        self._icons = icons
        self._judgement = PairJudgement(models, self)
        self._builder = PickerBuilder(
            models=models,
            entries=entries,
            results=results,
            states=states,
            judgement=self._judgement,
            themes=themes,
            icons=icons,
            window=window,
        )
        self._fetcher = PairFetcher(models, downloads, states, background, self)
        self._loaded: tuple[ModelParams, ModelParams | None] | None = None
        self._fetched: tuple[ModelParams, ModelParams | None] | None = None
        self._strategy = self._strategy_of_wanted = ""
        self._picks = Picks()
        self._button = MainButton("wait", "")
        self.dialog: PickerDialog | None = None
        devices.changed.connect(self._on_room)
        self._fetcher.ready.connect(self._on_fetched)
        self._fetcher.changed.connect(self._show)
        themes.changed.connect(self._on_theme)
        notifications.posted.connect(self._on_notice)
        self._files.taken.connect(self._on_picked)
        self._hub.online_chosen.connect(self.online_chosen)

    # ------------------------------------------------------------------------------- from outside

    def show_loaded(self, target: ModelParams | None, draft: ModelParams | None) -> None:
        """Know what is loaded: the dialog begins with it."""
        self._loaded = (target, draft) if target is not None else None

    @property
    def judgement(self) -> PairJudgement:
        """What is known of the pair being picked."""
        return self._judgement

    @property
    def picks(self) -> Picks:
        """What is picked so far."""
        return self._picks

    def prepare(self) -> None:
        """Make ready for `open` when there is time."""
        self._builder.prepare()

    def open(self, step: int = 1) -> None:
        """Show the dialog at the first or the second step; one that is open changes to it."""
        if self.dialog is None:
            self._open_dialog()
        self._on_step(step)

    def close(self) -> None:
        """Close the dialog and stop asking; behind this nothing runs any more."""
        if self.dialog is not None:
            self.dialog.reject()
        self._builder.discard()
        self._fetcher.stop()
        self._judgement.close()

    @Slot(str)
    def on_action(self, name: str) -> None:
        """Do what a notice of this controller offered."""
        if name == LOAD_FETCHED and self._fetched is not None:
            (target, draft), self._fetched = self._fetched, None
            self.load_requested.emit(target, draft, self._strategy_of_wanted)

    # ---------------------------------------------------------------------------------- the dialog

    def _open_dialog(self) -> None:
        parts = self._builder.take()
        self._installed, self._recommended = parts.installed, parts.recommended
        self._hub_page, self._pane = parts.hub, parts.pane
        self._pairs = parts.pairs
        self.dialog = parts.dialog
        self.dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._connect(self.dialog)
        self._devices.watch(is_watched=True)
        self._on_room()
        self._picks = Picks()
        if self._loaded is not None:
            target, draft = self._loaded
            self._picks = Picks(
                target=self._of_path(target.path),
                draft=self._of_path(draft.path) if draft else None,
                is_decided=True,
            )
            self._pane.show_params(target, draft)
        self._show_pair()
        self.dialog.open()
        self._installed.search.setFocus()

    def _connect(self, dialog: PickerDialog) -> None:
        installed, recommended, hub = self._installed, self._recommended, self._hub_page
        for page in (installed, recommended, hub):
            page.picked.connect(self._on_picked)
            page.confirmed.connect(self._on_confirmed)
        installed.recommended_wanted.connect(dialog.show_recommended)
        recommended.pair_picked.connect(self._on_pair_picked)
        self._files.serve(dialog)
        self._hub.serve(dialog)
        self._pane.changed.connect(self._show)
        self._pane.remedy_taken.connect(self._on_remedy)
        dialog.step_chosen.connect(self._on_step)
        dialog.tab_shown.connect(self._on_tab)
        dialog.main_clicked.connect(self._on_main)
        dialog.gone.connect(self._on_gone)

    @Slot()
    def _on_gone(self) -> None:
        self.dialog = None
        self._strategy = ""
        self._devices.watch(is_watched=False)
        self._files.leave()
        self._hub.leave()
        self._judgement.ask(None, None)
        self._builder.prepare()

    @Slot()
    def _on_room(self) -> None:
        """Let plans be of what is free now."""
        engine = self._devices.description
        if self.dialog is not None and engine is not None:
            self._pane.show_engine(engine)
            self._judgement.set_room(self._devices.room)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self._icons.set_theme(theme)
        if self.dialog is not None:
            self.dialog.set_theme(theme, self._icons)
            self._pane.set_theme(theme)

    # ------------------------------------------------------------------------------- what is picked

    def _set(self, picks: Picks) -> None:
        before, self._picks = self._picks, picks
        if replace(before, step=picks.step) != picks:
            self._strategy = ""
            self._show_pair()
        self._show()

    def _show_pair(self) -> None:
        """Have the pair judged."""
        self._pane.show_target(self._picks.target)
        self._pane.show_draft(self._picks.draft, is_decided=self._picks.is_decided)

    @Slot()
    def _show(self) -> None:
        """Show what is picked, and what the main button would do now."""
        if self.dialog is None:
            return
        plan = self._judgement.judgement.plan
        warning = self._fetcher.problem if self._is_waited_for else ""
        if not warning and plan is not None and not plan.fits:
            warning = self.tr("This may not fit into the memory.")
        self._button = main_button(
            self._picks,
            obstacle=self._pane.obstacle(),
            warning=warning,
            is_downloading=self._fetcher.is_busy and self._is_waited_for,
        )
        self.dialog.show_picks(self._picks, self._button, self._free_bytes())

    @property
    def _is_waited_for(self) -> bool:
        """Whether what is picked now is what is being downloaded."""
        wanted = self._fetcher.wanted
        return wanted is not None and _references(*wanted) == _references(*self._pane.params())

    def _free_bytes(self) -> int:
        """Bytes that a model may take, all devices together; 0: nobody knows."""
        return self._devices.room.n_free

    @Slot(object)
    def _on_picked(self, candidate: Candidate | None) -> None:
        if self._picks.step == _DRAFT_STEP:
            self._set(self._picks.with_draft(candidate))
        elif candidate is not None:
            self._set(self._picks.with_target(candidate))

    @Slot(object, object)
    def _on_pair_picked(self, target: Candidate, draft: Candidate) -> None:
        self._set(replace(self._picks, target=target, draft=draft, is_decided=True))

    @Slot()
    def _on_confirmed(self) -> None:
        """Go on: to the second step, or to the main button, which is not pressed by accident."""
        if self._picks.step != _DRAFT_STEP and not self._picks.is_decided:
            self._on_step(_DRAFT_STEP)
        elif self.dialog is not None:
            self.dialog.main.setFocus(Qt.FocusReason.TabFocusReason)

    @Slot(object)
    def _on_remedy(self, remedy: Remedy) -> None:
        target = self._of_path(remedy.target) if remedy.target else self._picks.target
        draft = self._of_path(remedy.draft) if remedy.draft else None
        self._set(replace(self._picks, target=target, draft=draft, is_decided=True))
        self._strategy = remedy.strategy

    def _of_path(self, reference: str) -> Candidate:
        return of_path(reference, self._entries)

    @Slot(int)
    def _on_step(self, step: int) -> None:
        self._set(replace(self._picks, step=2 if step == _DRAFT_STEP else 1))
        self._begin_page()

    @Slot(object)
    def _on_tab(self) -> None:
        self._begin_page()

    def _begin_page(self) -> None:
        if self.dialog is not None and self.dialog.page is self._hub_page:
            self._hub_page.begin()

    @Slot()
    def _on_main(self) -> None:
        if self._button.todo == "next":
            self._on_step(_DRAFT_STEP)
            return
        target, draft = self._pane.params()
        if target is None:
            return
        if self._button.todo == "download":
            self._strategy_of_wanted = self._strategy
            self._fetcher.fetch(target, draft)
        elif self._button.todo == "load":
            self._load(target, draft, self._strategy)

    def _load(self, target: ModelParams, draft: ModelParams | None, strategy: str) -> None:
        if self.dialog is not None:
            self.dialog.accept()
        self.load_requested.emit(target, draft, strategy)

    @Slot(object, object)
    def _on_fetched(self, target: ModelParams, draft: ModelParams | None) -> None:
        self._library.refresh()
        self._notifications.settled.emit(DOWNLOADS)  # that one file has come is no news any more
        if self.dialog is not None and self._is_waited_for:
            self._load(target, draft, self._strategy_of_wanted)
            return
        self._fetched = (target, draft)
        self._notifications.tell(
            self.tr("The pair that you picked is downloaded."),
            action=LOAD_FETCHED,
            text=self.tr("Load pair"),
            topic=DOWNLOADS,
        )

    @Slot(object)
    def _on_notice(self, notice: Notice) -> None:
        """Show failures here as well: the window behind the dialog takes no clicks."""
        if self.dialog is not None and notice.level == "error":
            self.dialog.show_problem(f"{notice.message} {notice.hint}".strip())


def _references(target: ModelParams | None, draft: ModelParams | None) -> tuple[str, str]:
    return target.path if target else "", draft.path if draft else ""
