"""Connects the downloads, which run on their own threads, with the window.

All files of a pair can be fetched: missing ones are downloaded, then the pair is ready. Only the
pair that was asked for last counts; downloads of an earlier one go on, and are shown in the list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QWidget

from paceline.catalog.download.downloads import Downloads
from paceline.catalog.download.journal import DownloadRequest, DownloadState
from paceline.catalog.fetching import file_here, request_for
from paceline.catalog.hub.values import is_reference, parse_reference
from paceline.catalog.models import Models
from paceline.chat.pair import Pair
from paceline.errors import UserError
from paceline.gui.kit.background import Background
from paceline.gui.kit.notices import Action, Notifications, ask_to_delete
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local_size, translator
from paceline.gui.models.downloads.model import DownloadsModel, steps, title

DOWNLOADS = "downloads"
"""Topic of notices about downloads."""

_ASK_FROM_BYTES = 100_000_000
"""Cancelling deletes what has arrived; above this size the user is asked first."""


class DownloadsController(QObject):
    """Carries out what buttons ask for, and shows the states; main thread."""

    use_requested = Signal(str)
    """The path of a downloaded model that is to be used."""
    ended = Signal(object)
    """`DownloadState` of a download that is done or has failed just now."""
    _arrived = Signal(object)

    def __init__(
        self,
        downloads: Downloads,
        notifications: Notifications,
        window: QWidget,
    ) -> None:
        """Show what earlier runs have left.

        Args:
            downloads: Carries them out.
            notifications: Where their ends are reported.
            window: Parent of dialogs, and of this.
        """
        super().__init__(window)
        self._downloads = downloads
        self.model = DownloadsModel(self)
        """How they stand, for the widgets"""
        self._notifications = notifications
        self._window = window
        self._is_closed = False
        self._heard: dict[str, str] = {}
        # A signal, because the listener is called on worker threads.
        self._arrived.connect(self._on_arrived)
        self.model.show_all(downloads.states())
        downloads.set_listener(self._arrived.emit)

    def add(self, request: DownloadRequest) -> str:
        """Begin a download, or queue it; returns its id.

        Raises:
            UserError: A file's name is not safe.
        """
        download = self._downloads.add(request)
        self._show_all()
        return download

    @Slot(str, str)
    def do(self, step: str, download: str) -> None:
        """Carry out the step of a row's button."""
        state = self.model.state_of(download)
        if state is None:
            return
        match step:
            case "pause":
                self._downloads.pause(download)
            case "resume":
                self._downloads.resume(download)
            case "retry":
                self._retry(state)
            case "cancel":
                self._cancel(state)
            case "forget":
                self._downloads.forget(download)
            case "use":
                self.use_requested.emit(state.path)
        self._show_all()

    def close(self) -> None:
        """Stop listening; the downloads are closed by their owner."""
        self._is_closed = True
        self._downloads.set_listener(None)

    # ----------------------------------------------------------------------------------- private

    def _retry(self, state: DownloadState) -> None:
        if state.status == "cancelled":
            self._downloads.forget(state.id)
            self._downloads.add(state.request)
        else:
            self._downloads.resume(state.id)

    def _cancel(self, state: DownloadState) -> None:
        if state.n_done < _ASK_FROM_BYTES:
            self._downloads.cancel(state.id)
            return
        ask_to_delete(
            self._window,
            self.tr("Give up this download?"),
            self.tr("The {} of “{}” that have arrived are deleted.").format(
                local_size(state.n_done), title(state)
            ),
            self.tr("Give it up"),
            partial(self._give_up, state.id),
        )

    def _give_up(self, download: str) -> None:
        self._downloads.cancel(download)
        self._show_all()

    def _show_all(self) -> None:
        self.model.show_all(self._downloads.states())

    @Slot(object)
    def _on_arrived(self, state: DownloadState) -> None:
        if self._is_closed:
            return
        is_new = self.model.state_of(state.id) is None
        if is_new and all(state.id != known.id for known in self._downloads.states()):
            return  # late: the download was removed meanwhile
        self.model.show(state)
        # The list may know it already, from the answer to a button.
        is_news = state.status != self._heard.get(state.id)
        self._heard[state.id] = state.status
        if is_news and (state.status == "done" or state.problem):
            self._tell(state)
        if is_news and state.status in ("done", "failed"):
            self.ended.emit(state)

    def _tell(self, state: DownloadState) -> None:
        name = title(state)
        if state.status == "done":
            use = Action(self.tr("Use it"), partial(self.do, "use", state.id))
            self._notifications.tell(
                self.tr("“{}” is downloaded.").format(name),
                action=use if "use" in steps(state) else None,
                topic=DOWNLOADS,
            )
        elif state.status == "failed":
            message = self.tr("“{}” was not downloaded: {}").format(name, said(state.problem))
            self._notifications.error(message, state.hint, topic=DOWNLOADS)
        else:
            message = self.tr("“{}” had to pause: {}").format(name, said(state.problem))
            self._notifications.warn(message, state.hint, topic=DOWNLOADS)


_tr = translator("PairFetcher")


class PairFetcher(QObject):
    """Waits for one pair at a time; main thread."""

    ready = Signal(object)
    """Pair, with the paths of files that are here"""
    changed = Signal()
    """It began or stopped waiting, or a download failed."""

    def __init__(
        self,
        models: Models,
        downloads: DownloadsController,
        background: Background,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._models = models
        self._downloads = downloads
        self._states = downloads.model
        self._background = background
        self._question = 0
        self.wanted: Pair | None = None
        """The pair that is waited for, as it was asked for."""
        self._paths: dict[str, str] = {}
        self._waiting: dict[str, str] = {}
        self._is_found = False
        self.problem = ""
        # Queued, so that a download's end is reported elsewhere first.
        downloads.model.changed.connect(self._on_states, Qt.ConnectionType.QueuedConnection)

    @property
    def is_busy(self) -> bool:
        """Whether a pair is on its way, and nothing went wrong."""
        return self.wanted is not None and not self.problem

    def fetch(self, pair: Pair) -> None:
        """Fetch this pair, in place of one that was waited for."""
        self._question += 1
        self.wanted = pair
        self._paths, self._waiting, self.problem = {}, {}, ""
        self._is_found = False
        question = self._question
        find = partial(_find, self._models, pair.files, lambda: question != self._question)
        self._background.start(
            find, partial(self._on_found, question), partial(self._on_not_found, question)
        )
        self.changed.emit()

    def stop(self) -> None:
        """Stop waiting; running downloads go on."""
        self._question += 1
        self.wanted, self._waiting, self.problem = None, {}, ""
        self.changed.emit()

    # ----------------------------------------------------------------------------------- private

    def _on_found(self, question: int, found: dict[str, str | DownloadRequest]) -> None:
        if question != self._question:
            return
        for reference, what in found.items():
            if isinstance(what, DownloadRequest):
                self._waiting[self._begin(what)] = reference
            else:
                self._paths[reference] = what
        self._is_found = True  # not before: adding a download changes the states
        self._on_states()

    def _on_not_found(self, question: int, error: UserError) -> None:
        if question == self._question:
            self._fail(said(error.message, error.hint))

    def _begin(self, request: DownloadRequest) -> str:
        """Return the id of a download of this, under way by now."""
        for state in self._states.states:
            if state.request == request and state.status not in ("done", "cancelled"):
                if state.status in ("paused", "failed"):
                    self._downloads.do("resume", state.id)
                return state.id
        return self._downloads.add(request)

    @Slot()
    def _on_states(self) -> None:
        """Check the downloads' states."""
        if self.wanted is None or not self._is_found:
            return
        states = {download: self._states.state_of(download) for download in self._waiting}
        if any(state is None or state.status == "cancelled" for state in states.values()):
            self.stop()
            return
        for download, state in states.items():
            if state is not None and state.status == "done":
                self._paths[self._waiting.pop(download)] = state.path
        failed = [s for s in states.values() if s is not None and s.status == "failed"]
        if failed:
            self._fail(_why(failed[0]))
        elif self.problem:
            self._fail("")  # it was resumed
        if not self._waiting:
            self._finish(self.wanted)

    def _finish(self, pair: Pair) -> None:
        paths, draft = self._paths, pair.draft
        found = replace(
            pair,
            target=replace(pair.target, path=paths[pair.target.path]),
            draft=replace(draft, path=paths[draft.path]) if draft is not None else None,
            mtp=paths[pair.head_file] if pair.head_file else pair.mtp,
        )
        self.ready.emit(found)  # `wanted` is still this pair
        if self.wanted is pair:
            self.stop()

    def _fail(self, problem: str) -> None:
        if problem != self.problem:
            self.problem = problem
            self.changed.emit()


def _find(
    models: Models, references: Sequence[str], is_stopped: Callable[[], bool]
) -> dict[str, str | DownloadRequest]:
    """Tell for each reference where its file is, or what to download; runs in the background.

    Raises:
        HubError: The Hub cannot be reached, or has no such file.
    """
    found: dict[str, str | DownloadRequest] = {}
    for reference in references:
        found[reference] = reference
        if is_reference(reference):
            remote = parse_reference(reference)
            here = file_here(remote, models.models_folder, models.places())
            found[reference] = (
                str(here)
                if here is not None
                else request_for(models.hub, remote, models.models_folder, is_stopped)
            )
    return found


def _why(state: DownloadState) -> str:
    return said(state.problem, state.hint) or _tr("The download failed.")
