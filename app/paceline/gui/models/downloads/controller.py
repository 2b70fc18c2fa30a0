"""Connects the downloads, which run on their own threads, with the window.

All files of a pair can be fetched: missing ones are downloaded, then the pair is ready. Only the
pair that was asked for last counts; downloads of an earlier one go on, and are shown in the list.
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
"""Cancelling deletes what has arrived; above this size the user is asked first."""


class DownloadsController(QObject):
    """Carries out what buttons ask for, and shows how downloads stand; main thread."""

    use_requested = Signal(str)
    """The path of a downloaded model that is to be used."""
    ended = Signal(object)
    """`Download` that is done or has failed just now."""
    _heard = Signal(object)

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
        self.notices = notifications
        """Takes the ends of downloads"""
        self._window = window
        self._is_closed = False
        self._show()
        # A signal, because the listener is called on worker threads.
        self._heard.connect(self._on_heard)
        downloads.set_listener(self._heard.emit)

    def add(self, request: DownloadRequest) -> str:
        """Begin a download, or go on with the same one; returns its id.

        Raises:
            UserError: A file's name is not safe.
        """
        download = self._downloads.add(request)
        self._show()
        return download

    @Slot(str, str)
    def do(self, step: str, id_: str) -> None:
        """Carry out the step of a row's button."""
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
        """Give a download up and delete what has arrived, without a question."""
        self._downloads.cancel(download)
        self._show()

    def close(self) -> None:
        """Stop listening; the downloads are closed by their owner."""
        self._is_closed = True
        self._downloads.set_listener(None)

    # ----------------------------------------------------------------------------------- private

    def _show(self) -> None:
        self.model.show(self._downloads.states())

    @Slot(object)
    def _on_heard(self, now: Download) -> None:
        """Show all as they stand, and report what has ended."""
        if self._is_closed:
            return
        self._show()
        if self.model.find(now.id) is None:
            return  # late: the download was removed meanwhile
        if now.status == "done" or now.problem:
            self._report(now)
        if now.status in ("done", "failed"):
            self.ended.emit(now)

    def _report(self, now: Download) -> None:
        name = title(now)
        if now.status == "done":
            use = Action(self.tr("Use it"), partial(self.do, "use", now.id))
            self.notices.tell(
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
    """Waits for one pair at a time; main thread."""

    ready = Signal(object)
    """Pair, with the paths of files that are here"""
    changed = Signal()
    """It began or stopped waiting, or a download failed."""
    progressed = Signal()
    """`progress` and `line` are different."""

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
        """The pair that is waited for, as it was asked for."""
        self.problem = ""
        self._paths: dict[str, str] = {}
        self._coming: dict[str, str] | None = None
        """The download of each file that is not here; None: that is being looked up."""
        self._downloading: tuple[str, ...] = ()
        """All downloads for it, those that have ended, too"""
        # Queued, so that a download's end is reported elsewhere first.
        downloads.model.changed.connect(self._on_downloads, Qt.ConnectionType.QueuedConnection)

    @property
    def is_busy(self) -> bool:
        """Whether a pair is on its way, and nothing went wrong."""
        return self.wanted is not None and not self.problem

    @property
    def is_paused(self) -> bool:
        """Say whether what is downloaded for the pair waits for `resume`."""
        return any(download.status == "paused" for download in self._its_downloads)

    @property
    def progress(self) -> int:
        """Return how much of what is downloaded for the pair is there, in thousandths."""
        return together(self._its_downloads)

    @property
    def line(self) -> str:
        """Return how the pair's downloads stand, in one line; empty before they begin."""
        found = self._its_downloads
        if self.problem or not found:
            return self.problem
        return line(found[0]) if len(found) == 1 else amount_and_pace(found)

    @property
    def _its_downloads(self) -> list[Download]:
        found = map(self._downloads.model.find, self._downloading)
        return [download for download in found if download is not None]

    def fetch(self, pair: Pair) -> None:
        """Fetch this pair, in place of one that was waited for."""
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
        """Wait for a pair of which an earlier run has left downloads; else do nothing.

        Args:
            pair: Its paths are references that name files.
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
        """Let downloads stand; what has arrived stays."""
        self._do("pause")

    def resume(self) -> None:
        """Go on where `pause`, or an earlier run, has left off."""
        self._do("resume")

    @Slot()
    def pause_or_resume(self) -> None:
        """Do what the button beside a download is for."""
        if self.is_paused:
            self.resume()
        else:
            self.pause()

    def offer(self, pair: Pair, words: str, load: Callable[[Pair], None]) -> None:
        """Tell that a pair is here, with a button that loads it once."""
        self._load_offered = partial(load, pair)
        action = Action(self.tr("Load pair"), self._on_load_offered)
        self._downloads.notices.tell(words, action=action, topic=DOWNLOADS)

    def stop(self) -> None:
        """Stop waiting; running downloads go on."""
        self._want(None)

    def cancel(self) -> None:
        """Stop waiting, and give up what is being downloaded; a file that is complete stays."""
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
        """Follow these downloads, by the file that each brings."""
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
        """Look how the downloads stand that are waited for."""
        if self.wanted is None or self._coming is None:
            return
        problem = ""
        for file, id_ in tuple(self._coming.items()):
            download = self._downloads.model.find(id_)
            if download is None or download.status == "cancelled":
                self.stop()
                return
            if download.status == "done":  # it may be removed from the list
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
        self._downloads.notices.settled.emit(DOWNLOADS)  # that one file came is no news now
        self.ready.emit(found)  # `wanted` is still this pair
        if self.wanted is pair:
            self.stop()

    def _set_problem(self, problem: str) -> None:
        if problem != self.problem:
            self.problem = problem
            self.changed.emit()
