"""Chats from files: chosen, or dropped on the window; ours and those of other programs.

Files are read and checked in the background. What is in them is kept on the main thread, one chat
between two events.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from paceline.chat.exchange.reading import MAX_FILE_BYTES, ImportedChat, read_chats
from paceline.errors import UserError
from paceline.gui.file_chooser import FileChooser

if TYPE_CHECKING:
    from paceline.chat.session import ChatSession
    from paceline.gui.background import Background
    from paceline.gui.main_window import MainWindow
    from paceline.gui.notifications import Notifications


class ImportController(QObject):
    """One dialog at a time; files queue up."""

    def __init__(
        self,
        *,
        session: ChatSession,
        window: MainWindow,
        background: Background,
        notifications: Notifications,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._window = window
        self._background = background
        self._notifications = notifications
        self.files = FileChooser(self)
        self.files.files_chosen.connect(self.import_files)
        self._put = _Putting(session, self._on_put, self._notifications.user_error, self)
        window.actions_.import_chats.triggered.connect(self.ask_import)
        window.sidebar.import_requested.connect(self.ask_import)
        window.drop_zones.chats_dropped.connect(self.import_files)

    @Slot()
    def ask_import(self) -> None:
        """Ask which files are to be imported."""
        kinds = ";;".join((self.tr("Chats (*.json *.jsonl)"), self.tr("All files (*)")))
        self.files.ask_files(self._window, self.tr("Import chats"), kinds)

    @Slot(list)
    def import_files(self, paths: Sequence[str]) -> None:
        """Import the chats in these files; the last one is shown."""
        if paths:
            self.files.remember(paths[0])
            self._background.start(
                partial(_read, tuple(paths)), self._on_read, self._notifications.user_error
            )

    def _on_read(self, result: object) -> None:
        assert isinstance(result, tuple)
        chats, errors = result
        others = self.tr("{} more files could not be imported either.")
        self._notifications.user_errors(errors, others)
        self._put.start(chats)

    def _on_put(self, chats: Sequence[ImportedChat]) -> None:
        n_left_out = sum(chat.n_left_out for chat in chats)
        if len(chats) == 1:
            title = chats[0].conversation.title
            message = self.tr("Imported “{}”.").format(title)
        else:
            message = self.tr("Imported {} chats.").format(len(chats))
        if n_left_out:
            more = self.tr("Left out: {} messages of the system or of tools.")
            message += " " + more.format(n_left_out)
        self._notifications.tell(message)


class _Putting(QObject):
    """Keeps imported chats, one between two events; the last one of a file is shown."""

    def __init__(
        self,
        session: ChatSession,
        done: Callable[[Sequence[ImportedChat]], None],
        failed: Callable[[UserError], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._done = done
        self._failed = failed
        self._waiting: list[ImportedChat] = []
        self._put: list[ImportedChat] = []
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._next)

    def start(self, chats: Sequence[ImportedChat]) -> None:
        """Keep these behind those that are still waiting."""
        self._waiting.extend(chats)
        if self._waiting:
            self._timer.start(0)

    @Slot()
    def _next(self) -> None:
        chat = self._waiting.pop(0)
        is_last = not self._waiting
        if is_last:
            self._timer.stop()
        try:
            self._session.import_conversation(chat.conversation, chat.records, shows=is_last)
        except UserError as error:
            self._failed(error)
        else:
            self._put.append(chat)
        if is_last and self._put:
            put, self._put = self._put, []
            self._done(put)


def _read(paths: tuple[str, ...]) -> tuple[list[ImportedChat], list[UserError]]:
    chats: list[ImportedChat] = []
    errors: list[UserError] = []
    for path in map(Path, paths):
        try:
            with path.open("rb") as file:
                chats += read_chats(file.read(MAX_FILE_BYTES + 1), path.name)
        except UserError as error:
            errors.append(error)
        except OSError as error:
            why = error.strerror or str(error)
            errors.append(
                UserError(
                    "chat-unreadable",
                    f"“{path.name}” cannot be read ({why}).",
                    "Check who may read it.",
                )
            )
    return chats, errors
