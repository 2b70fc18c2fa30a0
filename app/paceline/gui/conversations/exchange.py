"""Export of chats to files and the clipboard, and import from files, for the menu and the sidebar.

Files are made and written in the background. Records are read from the store on the main thread,
one reply between two events, so that a long chat never freezes the window.

Files to import, ours and those of other programs, are chosen, or dropped on the window; they are
read and checked in the background, and their chats are stored on the main thread, one between two
events.
"""

from __future__ import annotations

import dataclasses
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QLocale, QObject, Slot
from PySide6.QtGui import QGuiApplication

from paceline import __version__
from paceline.chat.exchange.chat_json import dumped, to_json
from paceline.chat.exchange.imported import ImportedChat, LeftOut
from paceline.chat.exchange.page import PageLook, to_html
from paceline.chat.exchange.reading import MAX_FILE_BYTES, read_chats
from paceline.chat.exchange.words import Sourcing, Words, to_markdown
from paceline.conversation import Conversation, Folder, Origin, numbered
from paceline.errors import UserError
from paceline.gui.context import AppContext
from paceline.gui.conversations.sidebar import Sidebar
from paceline.gui.kit.background import Slices
from paceline.gui.kit.file_dialogs import FileChooser, reveal, write_made
from paceline.gui.kit.notices import Action
from paceline.gui.kit.translation import local, translator
from paceline.gui.look.colours import CODE_COLOURS, DARK, LIGHT
from paceline.gui.state.chat_lines import title_text
from paceline.gui.state.figures import cut_words
from paceline.gui.state.sources import Sources
from paceline.run_record import RunRecord
from paceline.sentence import joined

Kind = Literal["markdown", "plain-markdown", "json", "html"]
_SUFFIXES: dict[Kind, str] = {
    "markdown": "md", "plain-markdown": "md", "html": "html", "json": "json",
}  # fmt: skip
EXCHANGE = "exchange"
"""Topic of failures; the next import or export resolves it."""
_MAX_STEM_CHARS = 60
_MAX_NAMED = 5
"""Maximum number of files and chats named in one notice."""
_CHATS_PER_WRITE = 100
"""Number of imported chats after which the import waits for the disk."""
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)


class ExchangeController(QObject):
    """Export: one dialog and one chat at a time. `ImportController` imports."""

    def __init__(self, context: AppContext, sidebar: Sidebar, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._session = context.session
        self._background = context.background
        self._notices = context.notices
        self._id = ""
        self._written = Path()
        self._was_private = False
        self.files = FileChooser(self)
        self.files.chosen.connect(self._on_chosen)
        self._gathering = Slices(self)
        context.actions.export_chat.triggered.connect(self.ask_export)
        sidebar.export_requested.connect(self.ask_export_of)
        sidebar.copy_requested.connect(self.copy)
        context.shown.path_changed.connect(self._update)
        context.signals.started.connect(self._update)
        self._update()

    # ---------------------------------------------------------------------------- exporting

    @Slot()
    def ask_export(self) -> None:
        """Ask for a place to export the shown chat to."""
        self.ask_export_of(self._context.shown.id)

    @Slot(str)
    def ask_export_of(self, conversation_id: str) -> None:
        """Ask for a place to export a chat to; the kind of file is chosen there."""
        if self.files.is_open or self._gathering.is_busy:
            return
        try:
            conversation, _ = self._session.conversations.with_records(conversation_id)
        except UserError as error:
            self._notices.user_error(error)
            return
        self._id = conversation_id
        name = f"{file_stem(conversation.title)}.md"
        kinds = ";;".join(self._filters())
        self.files.ask_place(self._context.window, self.tr("Export the chat"), name, kinds)
        if self.files.dialog is not None:
            self.files.dialog.filterSelected.connect(self._on_filter)

    def _filters(self) -> list[str]:
        """Return the filters in the order of the kinds."""
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
        """Change the name's ending to that of this kind of file."""
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
        """Collect the data for this kind of file."""
        try:
            conversation, records = self._session.conversations.with_records(conversation_id)
        except UserError as error:
            self._notices.user_error(error)
            return
        names: list[str] = []
        if kind == "json":
            names = [name for name in conversation.messages if name in records]
        elif kind == "html":
            names = [m.message_id for m in conversation.path() if m.message_id in records]
        self._gathering.start(self._gather(conversation, dict(records), names, done))

    def _gather(
        self,
        conversation: Conversation,
        records: dict[str, RunRecord],
        names: Sequence[str],
        done: Callable[[Conversation, dict[str, RunRecord]], None],
    ) -> Iterator[None]:
        chats, chat_id = self._session.conversations, conversation.conversation_id
        for name in names:
            steps = chats.steps_of(chat_id, name)
            records[name] = replace(records[name], steps=steps)
            yield
        done(conversation, records)

    def _write(
        self, path: Path, kind: Kind, conversation: Conversation, records: dict[str, RunRecord]
    ) -> None:
        self._written = path
        self._was_private = conversation.private
        make = self._maker(kind, conversation, records)
        write = partial(write_made, path, make)
        self._notices.resolved.emit(EXCHANGE)
        failed = partial(self._notices.user_error, topic=EXCHANGE)
        self._background.start(write, self._on_written, failed)

    def _maker(
        self, kind: Kind, conversation: Conversation, records: dict[str, RunRecord]
    ) -> Callable[[], str]:
        """Return a function that makes the file's content; it is called in another thread."""
        if kind == "json":
            folder = self._session.conversations.folders.get(conversation.folder_id)
            return partial(_json, conversation, records, folder)
        if kind == "html":
            look, now_s = page_look(self._context.live.sources), time.time()
            return partial(to_html, conversation, records, look, version=__version__, now_s=now_s)
        words, figures = export_words(), kind == "markdown"
        return partial(to_markdown, conversation, records, words=words, with_figures=figures)

    @Slot(object)
    def _on_written(self, name: object) -> None:
        message = self.tr("Exported as {}.").format(name)
        if self._was_private:
            message += " " + self.tr("The private chat itself is still not stored.")
        show = Action(self.tr("Show folder"), partial(reveal, self._written))
        self._notices.inform(message, action=show)

    @Slot(str)
    def copy(self, conversation_id: str) -> None:
        """Copy a chat to the clipboard as Markdown."""
        if not self._gathering.is_busy:
            self._collect(conversation_id, "plain-markdown", self._copy)

    def _copy(self, conversation: Conversation, records: dict[str, RunRecord]) -> None:
        make = self._maker("plain-markdown", conversation, records)
        self._background.start(make, self._on_copied, self._notices.user_error)

    @Slot(object)
    def _on_copied(self, text: object) -> None:
        QGuiApplication.clipboard().setText(str(text))
        self._notices.inform(self.tr("The chat is in the clipboard, as Markdown."))

    # ------------------------------------------------------------------------------- within

    @Slot()
    def _update(self) -> None:
        has_messages = bool(self._context.shown.conversation.messages)
        self._context.actions.export_chat.setEnabled(has_messages)


def file_stem(title: str) -> str:
    """Return a file name for a chat that every system accepts."""
    words = " ".join(re.sub(r"[^\w .,()+=-]", " ", title).split())[:_MAX_STEM_CHARS].strip(" .")
    return f"chat {words}" if _RESERVED.fullmatch(words) else words or "chat"


def _json(
    conversation: Conversation, records: Mapping[str, RunRecord], folder: Folder | None
) -> str:
    return "".join(dumped(to_json(conversation, records, __version__, folder)))


# --------------------------------------------------------- words and colours of exported files


_tr = translator("Export")


def export_words() -> Words:
    """Headings and lines of exported files."""
    texts = {f.name: _tr(f.default) for f in dataclasses.fields(Words) if type(f.default) is str}
    return Words(**texts, cuts=cut_words(), local=local)


def page_look(sources: Sources) -> PageLook:
    """Return the colours and fonts of exported pages."""
    language = QLocale().bcp47Name().split("-")[0]  # "en" for the locale "C", too
    sourcing = Sourcing(sources.titles, sources.models)
    light, dark = (dataclasses.asdict(theme) | CODE_COLOURS[theme.name] for theme in (LIGHT, DARK))
    return PageLook(light, dark, sourcing, export_words(), language)


class ImportController(QObject):
    """Import: one dialog at a time; files queue up."""

    def __init__(self, context: AppContext, sidebar: Sidebar, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._notices = context.notices
        self.files = FileChooser(self)
        self.files.files_chosen.connect(self.import_files)
        self._waiting: list[ImportedChat] = []
        self._putting = Slices(self, pause_ms=1)
        context.actions.import_chats.triggered.connect(self.ask_import)
        sidebar.import_action.triggered.connect(self.ask_import)

    @Slot()
    def ask_import(self) -> None:
        """Ask for files to import."""
        kinds = ";;".join((self.tr("Chats (*.json *.jsonl)"), self.tr("All files (*)")))
        self.files.ask_files(self._context.window, self.tr("Import chats"), kinds)

    @Slot(list)
    def import_files(self, paths: Sequence[str]) -> None:
        """Import the chats in these files; the last one is shown."""
        if paths:
            self.files.remember(paths[0])
            self._notices.resolved.emit(EXCHANGE)
            self._context.background.start(
                partial(_read, tuple(paths)), self._on_read, self._notices.user_error
            )

    def _on_read(self, result: object) -> None:
        assert isinstance(result, tuple)
        chats, errors = result
        others = self.tr("{} more could not be imported either.")
        self._notices.user_errors(_merged(errors), others, topic=EXCHANGE)
        self._waiting += chats
        if not self._putting.is_busy:
            self._putting.start(self._put())

    def _put(self) -> Iterator[None]:
        put, last_id, chats = [], "", self._context.session.conversations
        titles = {summary.title for summary in chats.summaries}
        while self._waiting:
            chat = self._waiting.pop(0)
            try:
                made = self._placed(chat, titles)
                last_id = chats.add_copy(made, chat.records, chat.system_prompt)
                put.append(chat)
            except UserError as error:
                self._notices.user_error(error)
            except Exception:  # noqa: BLE001  told as any other; the rest goes on
                sys.excepthook(*sys.exc_info())
            if self._waiting:
                yield
            if not self._waiting or len(put) % _CHATS_PER_WRITE == 0:
                # The next read would wait for all writes so far, and the window with it.
                mark = chats.mark()
                while not chats.is_written(mark):
                    yield
        if put:
            self._notices.attempt(self._context.shown.show_copy, last_id)
            self._report(put)

    def _placed(self, chat: ImportedChat, titles: set[str]) -> Conversation:
        """Return a chat in its folder, which is created if necessary, with a unique title.

        The chat names the program of its origin; a title that is taken gets a number.
        """
        made, folder_id = chat.conversation, ""
        session = self._context.session
        if chat.folder is not None and chat.folder.name.strip():
            folders = session.conversations.folders.all
            wanted = chat.folder
            same = (f for f in folders if f.instructions == wanted.instructions.strip())
            numbers = f"{wanted.name} ("
            named = (f for f in same if f.name == wanted.name or f.name.startswith(numbers))
            folder = next(named, None)
            if folder is None:
                names = [f.name for f in folders]
                name = numbered(wanted.name, names) if wanted.name in names else wanted.name
                folder = replace(wanted, folder_id=session.conversations.new_id(), name=name)
                session.put_folder(folder)
            folder_id = folder.folder_id
        if made.title in titles:
            made = made.renamed(numbered(made.title, titles))
        titles.add(made.title)
        return replace(made, folder_id=folder_id, origin=Origin(program=chat.program))

    def _report(self, chats: Sequence[ImportedChat]) -> None:
        left_out = Counter[LeftOut]()
        for chat in chats:
            left_out.update(chat.left_out)
        if len(chats) == 1:
            message = self.tr("Imported “{}”.").format(title_text(chats[0].conversation))
        else:
            message = self.tr("Imported {} chats.").format(len(chats))
        if left_out:
            words = self._left_out_words()
            parts = (f"{words[kind]} ({local(n)})" for kind, n in sorted(left_out.items()))
            message += " " + self.tr("Left out: {}.").format(", ".join(parts))
        self._notices.inform(message)

    def _left_out_words(self) -> dict[LeftOut, str]:
        return {
            "drafts": self.tr("messages that were not sent"),
            "files": self.tr("files without their text"),
            "images": self.tr("pictures"),
            "notes": self.tr("notes"),
            "other": self.tr("parts of an unknown kind"),
            "recordings": self.tr("sound and films"),
            "system": self.tr("messages of the system"),
            "tools": self.tr("calls of tools and their results"),
        }


def _merged(errors: Sequence[UserError]) -> list[UserError]:
    """Merge the first few errors into one that names each file and chat."""
    if len(errors) < 2:
        return list(errors)
    messages = joined([error.message for error in errors[:_MAX_NAMED]])
    return [UserError(errors[0].code, messages, errors[0].hint), *errors[_MAX_NAMED:]]


def _read(paths: tuple[str, ...]) -> tuple[list[ImportedChat], list[UserError]]:
    chats: list[ImportedChat] = []
    errors: list[UserError] = []
    for path in map(Path, paths):
        try:
            with path.open("rb") as file:
                raw = file.read(MAX_FILE_BYTES + 1)
            found = read_chats(raw, path.name)
            chats += found.whole
            errors += found.damaged
        except UserError as error:
            errors.append(error)
        except OSError as error:
            errors.append(
                UserError(
                    "chat-unreadable",
                    "“{name}” cannot be read ({why}).",
                    "Check who may read it.",
                    name=path.name,
                    why=error.strerror or error,
                )
            )
    return chats, errors
