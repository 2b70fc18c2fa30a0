"""Controller between the downloads, which run on their own threads, and the window.

All files of a pair can be requested: missing ones are downloaded, then the pair is ready. Only the
last requested pair counts; downloads of an earlier one continue and are shown in the list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QWidget

from paceline.catalog.download.downloads import Downloads
from paceline.catalog.download.record import OVER, Download, DownloadRequest
from paceline.catalog.hub.values import parse_reference
from paceline.catalog.models import Models
from paceline.chat.pair import Pair
from paceline.errors import UserError
from paceline.gui.kit.background import Background
from paceline.gui.kit.notices import Action, Notifications, ask_to_delete
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local_size
from paceline.gui.models.downloads.model import (
    DownloadsModel,
    Step,
    amount_and_pace,
    line,
    steps,
    title,
    together,
)
from paceline.params import moved

DOWNLOADS = "downloads"
"""Topic of notices about downloads."""

_ASK_FROM_BYTES = 100_000_000
"""Bytes above which cancelling, which deletes received data, needs a confirmation."""


class DownloadsController(QObject):
    """Carries out the buttons' actions, and shows the state of downloads; main thread."""

    use_requested = Signal(str)
    """Path of a downloaded model to be used"""
    ended = Signal(object)
    """`Download` that has just finished or failed"""
    _reported = Signal(object)

    def __init__(
        self,
        downloads: Downloads,
        notifications: Notifications,
        window: QWidget,
    ) -> None:
        """Show the downloads of earlier sessions.

        Args:
            downloads: Carries out downloads.
            notifications: Receives reports of their ends.
            window: Parent of dialogs, and of this.
        """
        super().__init__(window)
        self._downloads = downloads
        self.model = DownloadsModel(self)
        """State of the downloads for the widgets."""
        self.notices = notifications
        """Receiver of notices about finished downloads."""
        self._window = window
        self._is_closed = False
        self._show()
        # A signal, because the listener is called on worker threads.
        self._reported.connect(self._on_reported)
        downloads.set_listener(self._reported.emit)

    def add(self, request: DownloadRequest) -> str:
        """Begin a download, or resume the same one; return its id.

        Raises:
            UserError: A file's name is not safe.
        """
        download = self._downloads.add(request)
        self._show()
        return download

    @Slot(str, str)
    def do(self, step: str, id_: str) -> None:
        """Carry out the action of a row's button."""
        download = self.model.find(id_)
        if download is None:
            return
        match step:
            case "pause":
                self._downloads.pause(id_)
            case "resume":
                self._downloads.resume(id_)
            case "retry" if download.status == "cancelled":
                self._downloads.forget(id_)
                self._downloads.add(download.request)
            case "retry":
                self._downloads.resume(id_)
            case "cancel" if download.n_done < _ASK_FROM_BYTES:
                self._downloads.cancel(id_)
            case "cancel":
                ask_to_delete(
                    self._window,
                    self.tr("Give up this download?"),
                    self.tr("The {} of “{}” that have arrived are deleted.").format(
                        local_size(download.n_done), title(download)
                    ),
                    self.tr("Give it up"),
                    partial(self._downloads.cancel, id_),
                )
            case "forget":
                self._downloads.forget(id_)
            case "use":
                self.use_requested.emit(download.path)
        self._show()

    def cancel(self, download: str) -> None:
        """Cancel a download and delete the received data, without a confirmation."""
        self._downloads.cancel(download)
        self._show()

    def close(self) -> None:
        """Stop listening; the owner of the downloads closes them."""
        self._is_closed = True
        self._downloads.set_listener(None)

    # ----------------------------------------------------------------------------------- private

    def _show(self) -> None:
        self.model.show(self._downloads.states())

    @Slot(object)
    def _on_reported(self, now: Download) -> None:
        """Show all downloads, and report one that has ended."""
        if self._is_closed:
            return
        self._show()
        if self.model.find(now.id) is None:
            return  # the download was removed meanwhile
        if now.status == "done" or now.problem:
            self._report(now)
        if now.status in ("done", "failed"):
            self.ended.emit(now)

    def _report(self, now: Download) -> None:
        name = title(now)
        if now.status == "done":
            use = Action(self.tr("Use it"), partial(self.do, "use", now.id))
            self.notices.inform(
                self.tr("“{}” is downloaded.").format(name),
                action=use if "use" in steps(now) else None,
                topic=DOWNLOADS,
            )
        elif now.status == "failed":
            message = self.tr("“{}” was not downloaded: {}").format(name, said(now.problem))
            self.notices.error(message, now.hint, topic=DOWNLOADS)
        else:
            message = self.tr("“{}” had to pause: {}").format(name, said(now.problem))
            self.notices.warn(message, now.hint, topic=DOWNLOADS)


class PairFetcher(QObject):
    """Fetches one pair at a time; main thread."""

    ready = Signal(object)
    """Pair with the paths of local files"""
    changed = Signal()
    """Waiting began or ended, or a download failed."""
    progressed = Signal()
    """`progress` or `line` has changed."""

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
        self._background = background
        self._load_offered: Callable[[], None] | None = None
        self._question = 0
        self.wanted: Pair | None = None
        """The awaited pair, as it was requested."""
        self.problem = ""
        self._paths: dict[str, str] = {}
        self._coming: dict[str, str] | None = None
        """The download of each missing file, or None while these are being looked up."""
        self._downloading: tuple[str, ...] = ()
        """Ids of all downloads for it, finished ones included."""
        # Queued, so that the end of a download is reported elsewhere first.
        downloads.model.changed.connect(self._on_downloads, Qt.ConnectionType.QueuedConnection)

    @property
    def is_busy(self) -> bool:
        """Return whether a pair is being fetched without failures."""
        return self.wanted is not None and not self.problem

    @property
    def is_paused(self) -> bool:
        """Return whether the pair's downloads are paused."""
        return any(download.status == "paused" for download in self._its_downloads)

    @property
    def progress(self) -> int:
        """Received part of the pair's downloads, in thousandths."""
        return together(self._its_downloads)

    @property
    def line(self) -> str:
        """State of the pair's downloads in one line; empty before they begin."""
        found = self._its_downloads
        if self.problem or not found:
            return self.problem
        return line(found[0]) if len(found) == 1 else amount_and_pace(found)

    @property
    def _its_downloads(self) -> list[Download]:
        found = map(self._downloads.model.find, self._downloading)
        return [download for download in found if download is not None]

    def fetch(self, pair: Pair) -> None:
        """Fetch this pair, in place of an earlier one."""
        self._want(pair)
        question, models = self._question, self._models

        def find() -> list[Path | DownloadRequest]:
            return [
                models.file_or_request(file, lambda: question != self._question)
                for file in pair.files
            ]

        self._background.start(
            find, partial(self._on_found, question), partial(self._on_not_found, question)
        )

    def take_up(self, pair: Pair) -> None:
        """Wait for a pair with downloads of an earlier session; else do nothing.

        Args:
            pair: The pair; its paths are references that name files.
        """
        kept = {
            (each.request.repo, each.request.revision, each.request.files[0]): each.id
            for each in self._downloads.model.downloads
            if each.status not in OVER
        }
        named = {file: parse_reference(file) for file in pair.files}
        left = {f: kept.get((name.repo, name.revision, name.path)) for f, name in named.items()}
        coming = {file: id_ for file, id_ in left.items() if id_ is not None}
        if len(coming) == len(named):
            self._want(pair)
            self._expect(coming)

    def pause(self) -> None:
        """Pause the downloads; received data stays."""
        self._do("pause")

    def resume(self) -> None:
        """Resume after `pause`, or after an earlier session."""
        self._do("resume")

    @Slot()
    def pause_or_resume(self) -> None:
        """Pause or resume: the action of the button beside a download."""
        if self.is_paused:
            self.resume()
        else:
            self.pause()

    def offer(self, pair: Pair, words: str, load: Callable[[Pair], None]) -> None:
        """Report that a pair is available, with a button that loads it once."""
        self._load_offered = partial(load, pair)
        action = Action(self.tr("Load pair"), self._on_load_offered)
        self._downloads.notices.inform(words, action=action, topic=DOWNLOADS)

    def stop(self) -> None:
        """Stop waiting; running downloads continue."""
        self._want(None)

    def cancel(self) -> None:
        """Stop waiting and cancel the downloads; complete files stay."""
        coming = self._coming or {}
        self._want(None)
        for id_ in coming.values():
            self._downloads.cancel(id_)

    # ----------------------------------------------------------------------------------- private

    def _on_load_offered(self) -> None:
        load, self._load_offered = self._load_offered, None
        if load is not None:
            load()

    def _want(self, pair: Pair | None) -> None:
        self._question += 1
        self.wanted, self.problem, self._coming, self._downloading = pair, "", None, ()
        self.changed.emit()

    def _on_found(self, question: int, found: list[Path | DownloadRequest]) -> None:
        if question != self._question or self.wanted is None:
            return
        self._paths, coming = {}, {}
        for file, what in zip(self.wanted.files, found, strict=True):
            if isinstance(what, DownloadRequest):
                coming[file] = self._downloads.add(what)
            else:
                self._paths[file] = str(what)
        self._expect(coming)

    def _expect(self, coming: dict[str, str]) -> None:
        """Follow these downloads, given by the file of each."""
        self._coming, self._downloading = coming, tuple(coming.values())
        self._on_downloads()

    def _do(self, step: Step) -> None:
        for id_ in tuple((self._coming or {}).values()):
            self._downloads.do(step, id_)

    def _on_not_found(self, question: int, error: UserError) -> None:
        if question == self._question:
            self._set_problem(said(error.message, error.hint))

    @Slot()
    def _on_downloads(self) -> None:
        """Update the state of the awaited downloads."""
        if self.wanted is None or self._coming is None:
            return
        problem = ""
        for file, id_ in tuple(self._coming.items()):
            download = self._downloads.model.find(id_)
            if download is None or download.status == "cancelled":
                self.stop()
                return
            if download.status == "done":  # a finished download may be removed from the list
                self._paths[file] = download.path
                del self._coming[file]
            elif download.status == "failed" or download.problem:  # a full disk pauses
                problem = problem or line(download)
        self._set_problem(problem)
        self.progressed.emit()
        if not self._coming:
            self._finish(self.wanted)

    def _finish(self, pair: Pair) -> None:
        paths = self._paths
        found = replace(
            pair,
            target=replace(pair.target, path=paths[pair.target.path]),
            drafting=moved(pair.drafting, paths.__getitem__),
        )
        self._downloads.notices.resolved.emit(
            DOWNLOADS
        )  # the pair replaces the news about its file
        self.ready.emit(found)  # `wanted` is still this pair
        if self.wanted is pair:
            self.stop()

    def _set_problem(self, problem: str) -> None:
        if problem != self.problem:
            self.problem = problem
            self.changed.emit()
