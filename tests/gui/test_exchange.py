"""Export, import and attachments in the whole window, around a scripted engine."""

from __future__ import annotations

import json
import stat
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QFileDialog

from gui.fake_client import FakeClient
from paceline.conversation import Folder
from paceline.errors import UserError
from paceline.gui.conversations.exchange import file_stem
from paceline.gui.state.chat_lines import second_line
from paceline.storage.disk import Disk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytestqt.qtbot import QtBot

    from paceline.conversation import Conversation
    from paceline.gui.kit.notices import Notice
    from paceline.gui.program import Program
    from paceline.run_record import RunRecord
    from paceline.storage.changes import Change


@pytest.fixture
def talked(program: Program, client: FakeClient) -> Program:
    """A window with a chat whose only reply has drafted tokens."""
    program.chat.send("What is <b>new</b>?")
    client.start_turn()
    client.step("Not ", 0)
    client.step("much.", 1)
    client.finish_turn("Not much.")
    return program


def choose(qtbot: QtBot, dialog: QFileDialog | None, *paths: Path, kind: str = "") -> None:
    """Do in a dialog what a user does."""
    assert dialog is not None
    if kind:
        (name,) = (name for name in dialog.nameFilters() if kind in name)
        dialog.selectNameFilter(name)
        dialog.filterSelected.emit(name)
    dialog.filesSelected.emit([str(path) for path in paths])
    dialog.close()


def export(qtbot: QtBot, program: Program, path: Path, kind: str) -> None:
    program.window.actions_.export_chat.trigger()
    choose(qtbot, program.exchange.files.dialog, path, kind=kind)
    qtbot.waitUntil(path.exists)


def test_a_chat_goes_out_and_comes_back_with_its_runs(
    talked: Program, tmp_path: Path, qtbot: QtBot, notices: list[Notice]
) -> None:
    shown = talked.shown
    before = shown.conversation
    reply = shown.full_reply(before.path()[1].message_id)
    file = tmp_path / "out" / "chat.json"
    export(qtbot, talked, file, "import it again")
    qtbot.waitUntil(lambda: bool(notices))
    assert notices[-1].message == "Exported as chat.json."
    assert notices[-1].action is not None
    assert notices[-1].action.text == "Show folder"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    talked.window.actions_.import_chats.trigger()
    choose(qtbot, talked.imports.files.dialog, file)
    qtbot.waitUntil(lambda: shown.id != before.conversation_id)
    after = shown.conversation
    assert [(m.role, m.text, m.created_s) for m in after.path()] == [
        (m.role, m.text, m.created_s) for m in before.path()
    ]
    again = shown.full_reply(after.path()[1].message_id)
    assert again is not None
    assert reply is not None
    assert (again.steps, again.stats, again.seed) == (reply.steps, reply.stats, reply.seed)
    assert len(talked.session.summaries) == 2
    view = talked.window.chat_pane.chat.reply_view(after.path()[1].message_id)
    assert view is not None
    assert view.drafters, "the colours came with it"
    qtbot.waitUntil(lambda: "Imported" in notices[-1].message)


def test_a_chat_for_reading(talked: Program, tmp_path: Path, qtbot: QtBot) -> None:
    """Contents of the files are tested with `chat.exchange`."""
    talked.window.actions_.export_chat.trigger()
    dialog = talked.exchange.files.dialog
    assert dialog is not None
    assert Path(dialog.selectedFiles()[0]).name == "What is b new b.md"
    dialog.filterSelected.emit(dialog.nameFilters()[3])
    assert Path(dialog.selectedFiles()[0]).name == "What is b new b.json"
    dialog.close()
    for name, kind, words, not_words in (
        ("a.md", "Markdown (", "tokens/s", "<html"),
        ("b.md", "without figures", "Not much.", "tokens/s"),
        ("a.html", "Web page", 'class="m" title="guess of Draft model', "<script"),
        ("typed.json", "Web page", '"paceline-chat"', "<html"),  # the typed ending decides
    ):
        export(qtbot, talked, tmp_path / name, kind)
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert words in text
        assert not_words not in text
    talked.window.sidebar.copy_requested.emit(talked.shown.id)
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text().endswith("Not much.\n"))


def test_a_folder_that_takes_no_files_is_reported_until_an_export_succeeds(
    talked: Program, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "file").write_text("no folder")
    bar, name = talked.window.chat_pane.errors, talked.shown.id
    talked.exchange.export(name, tmp_path / "file" / "chat.md", "markdown")
    qtbot.waitUntil(lambda: "“chat.md” could not be saved" in bar.text.text())
    talked.exchange.export(name, tmp_path / "chat.md", "markdown")
    qtbot.waitUntil(lambda: bar.text.text() == "Exported as chat.md.")


def test_a_private_chat_goes_out_by_the_users_own_act(
    program: Program, client: FakeClient, tmp_path: Path, qtbot: QtBot, notices: list[Notice]
) -> None:
    program.shown.new(private=True)
    assert not program.window.actions_.export_chat.isEnabled(), "it is empty"
    program.chat.send("A secret")
    client.reply("Indeed.")
    export(qtbot, program, tmp_path / "p.md", "Markdown (")
    qtbot.waitUntil(lambda: bool(notices))
    assert notices[-1].message == "Exported as p.md. The private chat itself is still not stored."


def test_an_imported_chat_is_distinguished_from_one_with_its_title_and_has_its_folder(
    talked: Program, tmp_path: Path, qtbot: QtBot
) -> None:
    session, file = talked.session, tmp_path / "chat.json"
    session.put_folder(Folder("f", "Work", "Be brief."))
    (old,) = session.summaries
    session.move(old.conversation_id, "f")
    talked.exchange.export(old.conversation_id, file, "json")
    qtbot.waitUntil(file.is_file)
    session.put_folder(Folder("f", "Work", "Be long."))
    for n in (2, 3):
        talked.imports.import_files([str(file)])
        qtbot.waitUntil(lambda n=n: len(session.summaries) == n)
    folders = {folder.folder_id: folder for folder in session.conversations.folders.all}
    assert len(folders) == 2
    found = [(s.title, folders[s.folder_id].name) for s in session.summaries]
    copies = [(f"{old.title} ({n})", "Work (2)") for n in (2, 3)]
    assert sorted(found) == [(old.title, "Work"), *copies]
    assert any("from Paceline" in second_line(each, 0.0) for each in session.summaries)


def chats_named(*names: str) -> str:
    """The text of a file with these chats, each of one message."""
    message = {"id": "a", "parent": None, "role": "user", "content": "Hi", "type": "text"}
    return json.dumps([{"conv": {"id": "c", "name": n}, "messages": [message]} for n in names])


def test_good_files_are_imported_and_the_others_reported(
    program: Program, tmp_path: Path, qtbot: QtBot, notices: list[Notice]
) -> None:
    good, bad, gone = tmp_path / "good.json", tmp_path / "bad.json", tmp_path / "gone.json"
    good.write_text(chats_named("From elsewhere", "From elsewhere"))
    bad.write_text("{")
    program.imports.import_files([str(bad), str(good), str(gone)])
    qtbot.waitUntil(lambda: len(notices) == 2)
    assert notices[0].message.startswith("“bad.json”: It is not JSON (line 1). “gone.json” cannot")
    assert notices[1].message == "Imported 2 chats."
    titles = [s.title for s in program.session.summaries]
    assert titles == ["From elsewhere", "From elsewhere (2)"]
    assert program.shown.conversation.title == "From elsewhere (2)"
    bad.write_text(chats_named("Mended"))
    program.imports.import_files([str(bad)])
    errors = program.window.chat_pane.errors
    qtbot.waitUntil(lambda: errors.text.text() == "Imported “Mended”.")


def test_damaged_chats_of_a_file_are_named_and_what_is_lost_of_the_others_is_said(
    program: Program, tmp_path: Path, qtbot: QtBot, notices: list[Notice]
) -> None:
    def chat(name: str, parent: str, role: str) -> dict[str, Any]:
        other = {"id": "s", "parent": None, "role": role, "content": "Text"}
        asked = {"id": "a", "parent": parent, "role": "user", "content": "Hi"}
        return {"conv": {"name": name, "currNode": "a"}, "messages": [other, asked]}

    broken = [chat(f"Bad {n}", "gone", "system") for n in range(7)]
    file = tmp_path / "all.json"
    file.write_text(json.dumps([chat("Whole", "s", "tool"), *broken]))
    program.imports.import_files([str(file)])
    qtbot.waitUntil(lambda: len(notices) == 2)
    for n in range(5):
        words = f"Chat {n + 2} of 8 in “all.json”, “Bad {n}”: The chat is damaged"
        assert words in notices[0].message
    assert "2 more could not be imported either." in notices[0].hint
    assert notices[1].message == (
        "Imported “Whole”. Left out: calls of tools and their results (1)."
    )


def test_a_chat_that_cannot_be_kept_is_reported(
    program: Program, tmp_path: Path, qtbot: QtBot, notices: list[Notice],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def refuse(*_: object) -> str:
        raise UserError("x", "The disk is full.", "Make room.")

    monkeypatch.setattr(program.session.conversations, "add_copy", refuse)
    file = tmp_path / "chat.json"
    file.write_text(chats_named("One"))
    program.imports.import_files([str(file)])
    qtbot.waitUntil(lambda: bool(notices))
    assert [(n.message, n.hint) for n in notices] == [("The disk is full.", "Make room.")]


def test_an_unexpected_error_with_one_chat_keeps_no_other_one_waiting(
    program: Program, tmp_path: Path, qtbot: QtBot, notices: list[Notice],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    file = tmp_path / "chats.json"
    file.write_text(chats_named("First", "Second", "Third"))
    chats = program.session.conversations
    import_it = chats.add_copy

    def fail_once(chat: Conversation, records: Mapping[str, RunRecord], prompt: str) -> str:
        if chat.title == "Third":
            raise RuntimeError("a fault")
        return import_it(chat, records, prompt)

    monkeypatch.setattr(chats, "add_copy", fail_once)
    with qtbot.captureExceptions() as errors:
        program.imports.import_files([str(file)])
        qtbot.waitUntil(lambda: bool(notices))
    assert [str(error) for _, error, _ in errors] == ["a fault"]
    assert notices[-1].message == "Imported 2 chats."
    model = program.window.sidebar.model
    listed = {row.data() for row in map(model.index, range(model.rowCount()))}
    assert {"First", "Second"} <= listed, "at once"
    assert "Third" not in listed
    assert program.shown.conversation.title == "Second"


def drop(program: Program, x: int, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    action, none = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier
    left = Qt.MouseButton.LeftButton
    enter = QDragEnterEvent(QPoint(x, 300), action, data, left, none)
    QApplication.sendEvent(program.window, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(program.window, QDropEvent(QPointF(x, 300), action, data, left, none))


def test_a_dropped_json_is_imported_at_the_left_and_attached_at_the_right(
    talked: Program, tmp_path: Path, qtbot: QtBot
) -> None:
    file = tmp_path / "chat.json"
    export(qtbot, talked, file, "import it again")
    drop(talked, 100, file)
    qtbot.waitUntil(lambda: len(talked.session.summaries) == 2)
    drop(talked, talked.window.width() - 100, file)
    composer = talked.window.chat_pane.composer
    qtbot.waitUntil(lambda: [a.name for a in composer.attachments] == ["chat.json"])


def test_what_cannot_be_attached_is_reported_and_the_rest_is_attached(
    program: Program, tmp_path: Path, qtbot: QtBot, notices: list[Notice]
) -> None:
    good, picture = tmp_path / "good.py", tmp_path / "picture.png"
    good.write_text("x")
    picture.write_bytes(b"\x89PNG\r\n")
    composer = program.window.chat_pane.composer
    program.window.actions_.attach.trigger()
    choose(qtbot, program.attachments.files.dialog, picture, good, tmp_path)
    qtbot.waitUntil(lambda: len(composer.attachments) == 1)
    assert notices[-1].message == "“picture.png” is a picture, not text."
    assert notices[-1].hint.endswith("1 more files could not be attached either.")
    composer.edit.files_pasted.emit([str(good)] * 16)
    assert "A message can have 16 files; these would be 17." in notices[-1].message


@pytest.mark.parametrize(
    ("title", "stem"),
    [
        ("Why: a/b\\c?", "Why a b c"),
        ("con", "chat con"),
        ("  ..  ", "chat"),
        ("x" * 200, "x" * 60),
        ("Größe 日本", "Größe 日本"),
    ],
)
def test_a_title_makes_a_file_name(title: str, stem: str) -> None:
    assert file_stem(title) == stem


def test_an_import_is_shown_when_it_is_written(
    make_program: Callable[..., Program],
    paceline_home: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write, may_write, writes = Disk.write, threading.Event(), threading.Event()

    def waits(disk: Disk, changes: Sequence[Change], *, durable: bool) -> None:
        writes.set()
        may_write.wait(20)
        write(disk, changes, durable=durable)

    monkeypatch.setattr(Disk, "write", waits)
    program = make_program(chats_file=paceline_home / "data" / "chats.db", engine=FakeClient())
    file = paceline_home / "one.json"
    file.write_text(chats_named("Imported"))
    program.imports.import_files([str(file)])
    qtbot.waitUntil(writes.is_set)
    for _ in range(20):
        QApplication.processEvents()
    assert program.shown.conversation.title == ""
    may_write.set()
    qtbot.waitUntil(lambda: program.shown.conversation.title == "Imported")
