"""Chats to files and to the clipboard, for the menu and the sidebar.

Files are made and written in the background. What the store has is asked for on the main thread,
one reply between two events, so that a long chat never holds up the window.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtGui import QGuiApplication

from paceline import __version__
from paceline.chat.exchange.chat_json import dumped, to_json
from paceline.chat.exchange.markdown import to_markdown
from paceline.chat.exchange.page import to_html
from paceline.errors import UserError
from paceline.gui.file_chooser import FileChooser
from paceline.gui.reveal import reveal
from paceline.gui.save_file import write_made
from paceline.gui.viewmodels.export_words import export_words, page_look

if TYPE_CHECKING:
    from paceline.chat.session import ChatSession
    from paceline.conversation import Conversation
    from paceline.gui.background import Background
    from paceline.gui.main_window import MainWindow
    from paceline.gui.notifications import Notifications
    from paceline.gui.viewmodels.chat import ChatSignals
    from paceline.gui.viewmodels.sources import Sources
    from paceline.run_record import RunRecord

SHOW_EXPORT = "show-export"
"""Name of the action that the notice of an export offers."""

Kind = Literal["markdown", "plain-markdown", "json", "html"]
_SUFFIXES: dict[Kind, str] = {
    "markdown": "md", "plain-markdown": "md", "html": "html", "json": "json",
}  # fmt: skip
_MAX_STEM = 60
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)


class ExchangeController(QObject):
    """Exports: one dialog and one chat at a time. `ImportController` is the way back."""

    def __init__(
        self,
        *,
        session: ChatSession,
        signals: ChatSignals,
        sources: Sources,
        window: MainWindow,
        background: Background,
        notifications: Notifications,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._sources = sources
        self._window = window
        self._background = background
        self._notifications = notifications
        self._id = ""
        self._written = Path()
        self._was_private = False
        self.files = FileChooser(self)
        self.files.chosen.connect(self._on_chosen)
        self._gather = _Gathering(session, self)
        actions = window.actions_
        actions.export_chat.triggered.connect(self.ask_export)
        window.sidebar.export_requested.connect(self.ask_export_of)
        window.sidebar.copy_requested.connect(self.copy)
        window.chat_pane.errors.action_requested.connect(self._on_action)
        signals.shown.connect(self._update)
        signals.started.connect(self._update)
        self._update()

    # ---------------------------------------------------------------------------- exporting

    @Slot()
    def ask_export(self) -> None:
        """Ask where the shown chat is to be exported."""
        self.ask_export_of(self._session.current.conversation_id)

    @Slot(str)
    def ask_export_of(self, conversation_id: str) -> None:
        """Ask where a chat is to be exported; the kind of file is chosen there."""
        if self.files.is_open or self._gather.is_busy:
            return
        try:
            conversation, _ = self._session.kept(conversation_id)
        except UserError as error:
            self._notifications.user_error(error)
            return
        self._id = conversation_id
        name = f"{file_stem(conversation.title)}.md"
        kinds = ";;".join(self._filters())
        self.files.ask_place(self._window, self.tr("Export the chat"), name, kinds)
        if self.files.dialog is not None:
            self.files.dialog.filterSelected.connect(self._on_filter)

    def _filters(self) -> list[str]:
        """In the order of the kinds."""
        return [
            self.tr("Markdown (*.md)"),
            self.tr("Markdown without figures (*.md)"),
            self.tr("Web page with token colours (*.html)"),
            self.tr("Everything, to import it again (*.json)"),
        ]

    def _kind(self, chosen: str) -> Kind:
        return list(_SUFFIXES)[self._filters().index(chosen)]

    @Slot(str)
    def _on_filter(self, chosen: str) -> None:
        """Let the name end as this kind of file does."""
        dialog = self.files.dialog
        if dialog is None:
            return
        suffix = _SUFFIXES[self._kind(chosen)]
        dialog.setDefaultSuffix(suffix)
        names = dialog.selectedFiles()
        if names and Path(names[0]).suffix.lstrip(".") in _SUFFIXES.values():
            dialog.selectFile(Path(names[0]).with_suffix(f".{suffix}").name)

    @Slot(str)
    def _on_chosen(self, path: str) -> None:
        assert self.files.dialog is not None
        kind = self._kind(self.files.dialog.selectedNameFilter())
        by_name = Path(path).suffix.lstrip(".").lower()
        if by_name != _SUFFIXES[kind] and by_name in _SUFFIXES.values():
            kind = next(k for k, suffix in _SUFFIXES.items() if suffix == by_name)
        self.export(self._id, Path(path), kind)

    def export(self, conversation_id: str, path: Path, kind: Kind) -> None:
        """Write a chat to a file."""
        self._collect(conversation_id, kind, partial(self._write, path, kind))

    def _collect(
        self,
        conversation_id: str,
        kind: Kind,
        done: Callable[[Conversation, dict[str, RunRecord]], None],
    ) -> None:
        """Gather what this kind of file needs."""
        try:
            conversation, records = self._session.kept(conversation_id)
        except UserError as error:
            self._notifications.user_error(error)
            return
        names: list[str] = []
        if kind == "json":
            names = [name for name in conversation.messages if name in records]
        elif kind == "html":
            names = [m.message_id for m in conversation.path() if m.message_id in records]
        self._gather.start(conversation, records, names, done)

    def _write(
        self, path: Path, kind: Kind, conversation: Conversation, records: dict[str, RunRecord]
    ) -> None:
        self._written = path
        self._was_private = conversation.private
        make = self._maker(kind, conversation, records)
        write = partial(write_made, path, make)
        self._background.start(write, self._on_written, self._notifications.user_error)

    def _maker(
        self, kind: Kind, conversation: Conversation, records: dict[str, RunRecord]
    ) -> Callable[[], bytes]:
        """What makes the file's content; called in another thread."""
        match kind:
            case "json":
                return partial(_json, conversation, records)
            case "html":
                look = page_look(self._sources)
                return partial(_html, partial(to_html, conversation, records, look))
        return partial(
            _text,
            partial(
                to_markdown,
                conversation,
                records,
                words=export_words(),
                with_figures=kind == "markdown",
            ),
        )

    @Slot(object)
    def _on_written(self, name: object) -> None:
        message = self.tr("Exported as {}.").format(name)
        if self._was_private:
            message += " " + self.tr("The private chat itself is still not stored.")
        self._notifications.tell(message, action=SHOW_EXPORT, text=self.tr("Show folder"))

    @Slot(str)
    def _on_action(self, name: str) -> None:
        if name == SHOW_EXPORT:
            reveal(self._written)

    @Slot(str)
    def copy(self, conversation_id: str) -> None:
        """Put a chat into the clipboard, as Markdown."""
        if not self._gather.is_busy:
            self._collect(conversation_id, "plain-markdown", self._copy)

    def _copy(self, conversation: Conversation, records: dict[str, RunRecord]) -> None:
        make = self._maker("plain-markdown", conversation, records)
        self._background.start(make, self._on_copied, self._notifications.user_error)

    @Slot(object)
    def _on_copied(self, text: object) -> None:
        assert isinstance(text, bytes)
        QGuiApplication.clipboard().setText(text.decode())
        self._notifications.tell(self.tr("The chat is in the clipboard, as Markdown."))

    # ------------------------------------------------------------------------------- within

    @Slot()
    def _update(self) -> None:
        self._window.actions_.export_chat.setEnabled(bool(self._session.current.messages))


class _Gathering(QObject):
    """Reads the steps of replies, one reply between two events."""

    def __init__(self, session: ChatSession, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._waiting: list[str] = []
        self._chat: Conversation | None = None
        self._records: dict[str, RunRecord] = {}
        self._done: Callable[[Conversation, dict[str, RunRecord]], None] | None = None
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._next)

    @property
    def is_busy(self) -> bool:
        """Whether a chat is being gathered."""
        return self._chat is not None

    def start(
        self,
        chat: Conversation,
        records: Mapping[str, RunRecord],
        names: Sequence[str],
        done: Callable[[Conversation, dict[str, RunRecord]], None],
    ) -> None:
        """Read the steps of these replies, then call `done` with the chat and its records."""
        self._chat, self._records, self._done = chat, dict(records), done
        self._waiting = list(reversed(names))
        self._timer.start(0)

    @Slot()
    def _next(self) -> None:
        if self._waiting:
            name = self._waiting.pop()
            self._records[name] = replace(self._records[name], steps=self._session.steps_of(name))
            return
        self._timer.stop()
        chat, done = self._chat, self._done
        self._chat = self._done = None
        if chat is not None and done is not None:
            done(chat, self._records)


def file_stem(title: str) -> str:
    """A name for a chat's file, which every system takes."""
    words = " ".join(re.sub(r"[^\w .,()+=-]", " ", title).split())[:_MAX_STEM].strip(" .")
    return f"chat {words}" if _RESERVED.fullmatch(words) else words or "chat"


def _json(conversation: Conversation, records: Mapping[str, RunRecord]) -> bytes:
    pieces = dumped(to_json(conversation, records, __version__))
    return "".join(pieces).encode(errors="replace")


def _html(make: Callable[..., str]) -> bytes:
    return make(version=__version__, now_s=time.time()).encode(errors="replace")


def _text(make: Callable[[], str]) -> bytes:
    return make().encode(errors="replace")
