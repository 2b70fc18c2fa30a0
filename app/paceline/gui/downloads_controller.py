"""Between the downloads, which run on threads of their own, and the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from paceline.catalog.words import file_size
from paceline.gui.notifications import ask_to_delete
from paceline.gui.viewmodels.downloads import title

if TYPE_CHECKING:
    from PySide6.QtWidgets import QDialog, QWidget

    from paceline.catalog.download.downloads import Downloads
    from paceline.catalog.download.values import DownloadRequest, DownloadState
    from paceline.gui.notifications import Notifications
    from paceline.gui.viewmodels.downloads import DownloadsModel
    from paceline.gui.widgets.downloads_panel import DownloadsPanel

USE = "use-download"
"""How the actions begin that a notice offers; the download's id follows."""
DOWNLOADS = "downloads"
"""Topic of notices about downloads."""

_ASK_FROM_BYTES = 100_000_000
"""What has arrived is deleted with a download; more than this nobody wants to lose by a slip."""


class DownloadsController(QObject):
    """Passes wishes down and states up; main thread."""

    use_requested = Signal(str)
    """The path of a downloaded model that is to be used."""
    ended = Signal(object)
    """`DownloadState` of a download that is done or has failed just now."""
    _arrived = Signal(object)

    def __init__(
        self,
        downloads: Downloads,
        model: DownloadsModel,
        *,
        notifications: Notifications,
        window: QWidget,
    ) -> None:
        """Show what earlier runs have left.

        Args:
            downloads: Carries them out.
            model: Shows them.
            notifications: Where their ends are told.
            window: Parent of dialogs, and of this.
        """
        super().__init__(window)
        self._downloads = downloads
        self._model = model
        self._notifications = notifications
        self._window = window
        self._is_closed = False
        self._heard: dict[str, str] = {}
        self.dialog: QDialog | None = None
        self._doomed = ""
        # A signal, because the listener is called on worker threads.
        self._arrived.connect(self._on_arrived)
        model.show_all(downloads.states())
        downloads.set_listener(self._arrived.emit)

    def connect_to(self, panel: DownloadsPanel) -> None:
        """Listen to a list of downloads; there may be several."""
        panel.wanted.connect(self.do)

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
        """Carry out what a button of a row stands for."""
        state = self._model.state_of(download)
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

    @Slot(str)
    def on_action(self, name: str) -> None:
        """Do what a notice of this controller offered."""
        kind, _, download = name.partition(" ")
        if kind == USE:
            self.do("use", download)

    def close(self) -> None:
        """Listen no more; the downloads themselves are closed by their owner."""
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
        self._doomed = state.id
        self.dialog = ask_to_delete(
            self._window,
            self.tr("Give up this download?"),
            self.tr("The {} of “{}” that have arrived are deleted.").format(
                file_size(state.n_done), title(state)
            ),
            self.tr("Give it up"),
        )
        self.dialog.accepted.connect(self._on_cancel)
        self.dialog.finished.connect(self._on_dialog_finished)

    @Slot()
    def _on_cancel(self) -> None:
        self._downloads.cancel(self._doomed)
        self._show_all()

    @Slot()
    def _on_dialog_finished(self) -> None:
        self.dialog = None

    def _show_all(self) -> None:
        self._model.show_all(self._downloads.states())

    @Slot(object)
    def _on_arrived(self, state: DownloadState) -> None:
        if self._is_closed:
            return
        is_new = self._model.state_of(state.id) is None
        if is_new and all(state.id != known.id for known in self._downloads.states()):
            return  # a late word about a download that was forgotten meanwhile
        self._model.show(state)
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
            self._notifications.tell(
                self.tr("“{}” is downloaded.").format(name),
                action=f"{USE} {state.id}",
                text=self.tr("Use it"),
                topic=DOWNLOADS,
            )
        elif state.status == "failed":
            message = self.tr("“{}” was not downloaded: {}").format(name, state.problem)
            self._notifications.error(message, state.hint, topic=DOWNLOADS)
        else:
            message = self.tr("“{}” had to pause: {}").format(name, state.problem)
            self._notifications.warn(message, state.hint, topic=DOWNLOADS)
