"""Connects the downloads, which run on their own threads, with the window."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from paceline.gui.kit.notices import Action, ask_to_delete
from paceline.gui.models.downloads.model import DownloadsModel, steps, title
from paceline.sizes import readable_size

if TYPE_CHECKING:
    from PySide6.QtWidgets import QDialog, QWidget

    from paceline.catalog.download.downloads import Downloads
    from paceline.catalog.download.journal import DownloadRequest, DownloadState
    from paceline.gui.kit.notices import Notifications

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
        self.dialog: QDialog | None = None
        self._doomed = ""
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
        self._doomed = state.id
        self.dialog = ask_to_delete(
            self._window,
            self.tr("Give up this download?"),
            self.tr("The {} of “{}” that have arrived are deleted.").format(
                readable_size(state.n_done), title(state)
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
            message = self.tr("“{}” was not downloaded: {}").format(name, state.problem)
            self._notifications.error(message, state.hint, topic=DOWNLOADS)
        else:
            message = self.tr("“{}” had to pause: {}").format(name, state.problem)
            self._notifications.warn(message, state.hint, topic=DOWNLOADS)
