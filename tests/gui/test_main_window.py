"""The window with a scripted engine: chatting, panes, models, notices, keys, settings."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QAccessible, QDragEnterEvent, QDragLeaveEvent, QDropEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from gui.fake_client import FakeClient, undrafted, without_plain
from paceline.conversation import Conversation, Message
from paceline.gui.chat.messages.reply_view import ReplyView
from paceline.gui.conversations.found_list import FoundChat, FoundView
from paceline.gui.conversations.model import ID_ROLE, SUBTITLE_ROLE
from paceline.gui.kit.labels import without_soft_breaks
from paceline.gui.kit.rows import ROW
from paceline.gui.look.current import look
from paceline.gui.models.load_checks import first_parts
from paceline.gui.state import figures
from paceline.messages import (
    DropStates,
    EngineDied,
    LoadFailed,
    LoadPair,
    LoadProgressed,
    PrefillProgressed,
    StartTurn,
    StateOwner,
    StateStorage,
    TurnFailed,
    TurnStarted,
)
from paceline.params import file_of, params_of
from paceline.settings import Settings, WindowSettings, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from paceline.gui.kit.file_dialogs import FileChooser
    from paceline.gui.program import Program


def write(program: Program, text: str, qtbot: QtBot) -> None:
    """Type into the composer and press Enter."""
    edit = program.window.chat_pane.composer.edit
    qtbot.keyClicks(edit, text)
    qtbot.keyClick(edit, Qt.Key.Key_Return)


def replies(program: Program) -> list[ReplyView]:
    """The replies of the shown path."""
    path = program.shown.conversation.path()
    views = (program.window.chat_pane.chat.reply_view(m.message_id) for m in path)
    return [view for view in views if view is not None]


def rows(program: Program) -> list[int]:
    """The rows of the list that are chats and no headings."""
    model = program.window.sidebar.list.model()
    return [row for row in range(model.rowCount()) if model.index(row, 0).data(ID_ROLE)]


def titles(program: Program) -> list[str]:
    model = program.window.sidebar.list.model()
    return [str(model.index(row, 0).data()) for row in rows(program)]


# ------------------------------------------------------------------------------------------- chat


def test_a_message_is_typed_sent_and_answered(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    write(program, "What is a list?", qtbot)
    assert client.last(StartTurn).prompt.messages[-1].text == "What is a list?"
    assert "Stop" in program.window.chat_pane.composer.button.text()
    client.reply("A **sequence**.")
    assert [view.plain_text for view in replies(program)] == ["A sequence."]
    assert "Send" in program.window.chat_pane.composer.button.text()


def test_the_line_below_a_reply(program: Program, client: FakeClient, qtbot: QtBot) -> None:
    program.chat.send("Hello?")
    client.reply("Hi")
    (reply,) = (program.shown.reply(m.message_id) for m in program.shown.conversation.path()[1:])
    assert reply is not None
    reply.first_token_s = 0.4
    line = figures.stats_line(reply)
    for tag in ("<b>", "</b>", "<em>", "</em>"):
        line = line.replace(tag, "")
    assert line.replace("\u202f", " ") == ("41.2 t/s · 1.9×")
    details = figures.stats_details(reply).replace("\u202f", " ")
    for fact in ("alone about 22 t/s", "71 % of 312 guesses were right", "first token 0.4 s"):
        assert fact in details
    assert "8 drafted after the end of the reply" in figures.stats_details(reply)
    assert reply.stats is not None
    reply.stats = without_plain()
    assert "alone" not in figures.stats_details(reply)
    assert "71\u202f% of 312" in figures.stats_details(reply)
    reply.stats = undrafted()
    assert "right" not in figures.stats_details(reply)
    assert "nothing drafted" in figures.stats_details(reply)


def test_escape_stops_the_reply(program: Program, client: FakeClient, qtbot: QtBot) -> None:
    write(program, "Hello?", qtbot)
    client.start_turn()
    client.step("Half", 0)
    qtbot.keyClick(program.window.chat_pane.composer.edit, Qt.Key.Key_Escape)
    assert client.cancelled == [client.last(StartTurn)]
    client.finish_turn("Half")
    assert replies(program)[-1].plain_text == "Half"


def test_the_stop_key_is_free_while_there_is_nothing_to_stop(
    program: Program, client: FakeClient
) -> None:
    stop, regenerate = program.window.actions_.stop, program.window.actions_.regenerate
    assert not stop.isEnabled()
    program.chat.send("Hello?")
    assert stop.isEnabled()
    assert not regenerate.isEnabled()
    client.reply("Hi")
    assert not stop.isEnabled()
    assert regenerate.isEnabled()


def test_a_long_wait_for_the_first_token_is_told_and_runs_down(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    program.chat.send("Hello?")
    (view,) = replies(program)
    client.emit(TurnStarted(4100, 2048, 7, expected_s=900.0))
    assert view.status_text == "", "a short wait is not worth a word"
    line = "Reading 2,048 of 4,100 tokens · 2,048 were warm · about 15 min left"
    qtbot.waitUntil(lambda: view.status_text == line)
    client.emit(PrefillProgressed(4100, 4100))
    assert view.status_text.startswith("Reading 4,100 of 4,100 tokens")
    client.step("H", 0)
    assert view.status_text == ""
    client.finish_turn("Hi")


def test_notes_about_the_turn_stand_with_its_figures(program: Program, client: FakeClient) -> None:
    program.chat.send("Hello?")
    client.emit(TurnStarted(10, 0, 7, ("ChatML is used.",)))
    reply = program.session.active
    client.finish_turn("Hi")
    assert reply is not None
    assert "ChatML is used." in figures.stats_details(reply)


def test_a_model_without_marks_may_write_of_them_while_it_writes(
    program: Program, client: FakeClient
) -> None:
    text = "Three tags:\n<think>\n<reasoning>\n</think>\nand more."
    program.chat.send("Which tags?")
    client.emit(TurnStarted(10, 0, 7, knows_marks=False))
    client.step(text)
    reply = program.session.active
    assert reply is not None
    view = program.window.chat_pane.chat.reply_view(reply.message_id)
    assert view is not None
    view.flush()
    assert not view.parts.reasoning
    client.finish_turn(text)
    view.flush()
    assert not view.parts.reasoning


def test_a_message_before_the_models_are_there_waits_and_says_so(
    make_program: Callable[..., Program], client: FakeClient, qtbot: QtBot
) -> None:
    program = make_program()
    write(program, "Hello?", qtbot)
    assert client.all(StartTurn) == []
    client.emit(LoadProgressed("target", 0.42))
    assert "42 %" in program.window.model_bar.pill.text()
    client.finish_load()
    assert client.last(StartTurn).prompt.messages[-1].text == "Hello?"
    client.reply("Hi")
    assert replies(program)[-1].plain_text == "Hi"


def test_regenerating_replaces_what_is_shown(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    program.chat.send("Hello?")
    client.reply("One")
    program.window.actions_.regenerate.trigger()
    client.reply("Two")
    assert [view.plain_text for view in replies(program)] == ["Two"]


def test_a_failed_turn_is_told_in_its_reply(program: Program, client: FakeClient) -> None:
    program.chat.send("Hello?")
    client.start_turn()
    client.step("Half", 0)
    client.emit(TurnFailed("decode", "The decode failed.", "Load the models again."))
    view = replies(program)[-1]
    assert any("The decode failed." in label.text() for label in view.findChildren(QLabel))
    assert view.plain_text == "Half"
    assert program.chat.send("Again?")


def test_a_reply_goes_on_behind_another_chat(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    program.chat.send("First?")
    client.start_turn()
    client.step("Ha", 0)
    first = program.shown.id
    program.window.actions_.new_chat.trigger()
    client.step("lf", 1)
    assert replies(program) == []
    program.shown.show(first)
    client.step(" and more", 2)
    client.finish_turn("Half and more")
    assert [view.plain_text for view in replies(program)] == ["Half and more"]


# ------------------------------------------------------------------------------------ conversations


def test_a_message_in_another_chat_stays_while_the_first_one_is_answered(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    session, shown = program.session, program.shown
    composer = program.window.chat_pane.composer
    program.chat.send("Long question")
    client.start_turn()
    first = shown.id
    assert composer.elsewhere.isHidden(), "it can be seen"
    shown.new()
    write(program, "Next", qtbot)
    assert (composer.text, len(client.all(StartTurn))) == ("Next", 1)
    words = composer.elsewhere.label.text()
    assert words == "A reply is being written in “Long question”."
    session.rename(first, "Another title")
    assert "“Another title”" in composer.elsewhere.label.text()
    composer.elsewhere.button.click()
    assert shown.id == first
    assert composer.elsewhere.isHidden()
    shown.new()
    assert (composer.text, composer.elsewhere.isHidden()) == ("Next", False)
    session.rename(first, "<b>" + "long" * 20)
    words = composer.elsewhere.label.text()
    assert composer.elsewhere.label.textFormat() is Qt.TextFormat.PlainText
    assert without_soft_breaks(words) != words, "it can be broken into lines"
    assert "“<b>longlong" in without_soft_breaks(words)
    client.finish_turn("Long answer.")
    assert composer.elsewhere.isHidden()
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    assert client.last(StartTurn).prompt.messages[-1].text == "Next"


@pytest.mark.parametrize(("private", "title"), [(False, "New chat"), (True, "Private chat")])
def test_a_chat_without_a_title_that_is_written_in_is_named_elsewhere(
    program: Program, client: FakeClient, private: bool, title: str
) -> None:
    session = program.session
    chat = Conversation("c", private=private).add(Message.of_text("q", None, "user", "Hi"))
    untitled = replace(chat.add(Message.of_text("r", "q", "assistant", "Hello")), title="")
    program.shown.show_copy(session.conversations.add_copy(untitled, {}))
    program.chat.continue_reply()
    client.start_turn()
    program.shown.new()
    words = program.window.chat_pane.composer.elsewhere.label.text()
    assert words == f"A reply is being written in “{title}”."
    sidebar = program.window.sidebar
    sidebar.delete_requested.emit(session.summaries[0].conversation_id)
    assert sidebar.undo_bar.words.text() == f"Deleted “{title}”"


def test_conversations_are_listed_newest_first_without_statistics(
    program: Program, client: FakeClient
) -> None:
    for text in ("First", "Second"):
        program.window.actions_.new_chat.trigger()
        program.chat.send(text)
        client.reply("Hi")
    assert sorted(titles(program)) == ["First", "Second"]
    index = program.window.sidebar.list.model().index(rows(program)[0], 0)
    subtitle = str(index.data(SUBTITLE_ROLE))
    assert subtitle == "now"


def test_the_search_finds_titles_and_messages(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    for text, answer in (("Apples", "They are GREEN"), ("Pears", "They are yellow")):
        program.window.actions_.new_chat.trigger()
        program.chat.send(text)
        client.reply(answer)
    sidebar = program.window.sidebar
    for words, found in (
        ("pear", {"Pears"}),
        ("green", {"Apples"}),
        ("they yellow", {"Pears"}),
        ("nothing like it", set()),
    ):
        with qtbot.waitSignal(sidebar.finder.search_wanted):
            sidebar.search.setText(words)
        model = sidebar.findChild(FoundView).model()
        hits = [model.index(row, 0).data(ROW) for row in range(model.rowCount())]
        assert {hit.title for hit in hits if isinstance(hit, FoundChat)} == found
    sidebar.search.clear()
    assert len(titles(program)) == 2


def test_a_chat_is_chosen_renamed_deleted_and_brought_back(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    program.chat.send("Old title")
    client.reply("Hi")
    sidebar = program.window.sidebar
    model = sidebar.list.model()
    (row,) = rows(program)
    assert model.setData(model.index(row, 0), "New title")
    assert titles(program) == ["New title"]
    assert not model.setData(model.index(row, 0), "  ")
    sidebar.list.setFocus()
    sidebar.list.setCurrentIndex(model.index(row, 0))
    sidebar.menu.delete.trigger()
    assert titles(program) == []
    assert replies(program) == []
    assert not sidebar.undo_bar.isHidden()
    program.window.activateWindow()
    qtbot.waitUntil(program.window.isActiveWindow)
    before = QApplication.focusWidget()
    assert before is not None
    qtbot.keyClick(before, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: titles(program) == ["New title"])
    assert [view.plain_text for view in replies(program)] == ["Hi"]
    assert sidebar.undo_bar.isHidden()


def test_a_row_opens_its_chat_by_mouse_and_by_enter(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    for text in ("First", "Second"):
        program.window.actions_.new_chat.trigger()
        program.chat.send(text)
        client.reply(text)
    chats = program.window.sidebar.list
    for number in (1, 0):
        place = chats.visualRect(chats.model().index(rows(program)[number], 0))
        qtbot.mouseClick(
            chats.viewport(), Qt.MouseButton.LeftButton, pos=place.bottomLeft() + QPoint(20, -10)
        )
        assert program.shown.conversation.title == titles(program)[number]
    chats.setCurrentIndex(chats.model().index(rows(program)[1], 0))
    qtbot.keyClick(chats, Qt.Key.Key_Return)
    assert program.shown.conversation.title == titles(program)[1]


# ------------------------------------------------------------------------------------------ models


def bar(program: Program) -> str:
    return QAccessible.queryAccessibleInterface(program.window.model_bar).text(
        QAccessible.Text.Name
    )


def test_the_demo_pair_is_loaded_at_the_start(
    make_program: Callable[..., Program], client: FakeClient
) -> None:
    program = make_program()
    command = client.last(LoadPair)
    assert Path(command.target.path).name == "paceline-demo-target-q8_0.gguf"
    draft = params_of(command.drafting)
    assert draft is not None
    assert Path(draft.path).name == "paceline-demo-draft-q8_0.gguf"
    assert "loading" in bar(program)
    client.finish_load("A note.")
    assert bar(program) == (
        "paceline-demo-target-q8_0 drafted by paceline-demo-draft-q8_0 see note"
    )


@pytest.fixture
def ggufs(tmp_path: Path) -> dict[str, str]:
    """Files that look like models, and one that does not."""
    made = {}
    for name, size in (("large", 200), ("small", 20)):
        path = tmp_path / f"{name}.gguf"
        path.write_bytes(b"GGUF" + b"\0" * size)
        made[name] = str(path)
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(b"<html>")
    return {**made, "wrong": str(wrong), "missing": str(tmp_path / "missing.gguf")}


def loads(client: FakeClient) -> list[tuple[str, str | None]]:
    return [
        (Path(c.target.path).stem, Path(file_of(c.drafting)).stem or None)
        for c in client.all(LoadPair)
    ]


def choose(chooser: FileChooser, path: str) -> None:
    """Take a file in the dialog that is open; none: leave it."""
    dialog = chooser.dialog
    assert dialog is not None
    if path:
        dialog.filesSelected.emit([path])
    dialog.reject()
    assert not chooser.is_open


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_models_are_opened_from_the_menu(
    program: Program, client: FakeClient, ggufs: dict[str, str], qtbot: QtBot
) -> None:
    program.window.actions_.open_target.trigger()
    choose(program.models.target_file, ggufs["large"])
    qtbot.waitUntil(lambda: loads(client)[-1] == ("large", None))  # the demo draft fits no other
    client.finish_load()
    assert bar(program).startswith("large ready")
    program.window.actions_.open_draft.trigger()
    choose(program.models.draft_file, ggufs["small"])
    qtbot.waitUntil(lambda: loads(client)[-1] == ("large", "small"))
    client.finish_load()
    assert bar(program) == "large drafted by small ready"
    program.window.actions_.no_draft.trigger()
    assert loads(client)[-1] == ("large", None)
    client.finish_load()
    program.window.actions_.demo_pair.trigger()
    assert loads(client)[-1][0].startswith("paceline-demo-target")


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_dialog_that_is_left_changes_nothing(program: Program, client: FakeClient) -> None:
    n_loads = len(loads(client))
    program.window.actions_.open_target.trigger()
    choose(program.models.target_file, "")
    program.window.actions_.open_draft.trigger()
    choose(program.models.draft_file, "")
    assert len(loads(client)) == n_loads


@pytest.mark.parametrize("name", ["wrong", "missing"])
def test_a_file_that_is_no_model_costs_nothing(
    program: Program, client: FakeClient, ggufs: dict[str, str], qtbot: QtBot, name: str
) -> None:
    n_loads = len(loads(client))
    program.models.open_target(ggufs[name])
    errors = program.window.chat_pane.errors
    qtbot.waitUntil(lambda: not errors.isHidden())
    assert name in errors.text.text()
    assert len(loads(client)) == n_loads
    program.chat.send("Hello?")
    client.reply("Hi")
    assert replies(program)[-1].plain_text == "Hi"
    qtbot.mouseClick(errors.close_button, Qt.MouseButton.LeftButton)
    assert errors.isHidden()


def test_a_failed_load_falls_back_and_says_so(
    program: Program, client: FakeClient, ggufs: dict[str, str], qtbot: QtBot
) -> None:
    program.models.open_target(ggufs["large"])
    qtbot.waitUntil(lambda: loads(client)[-1][0] == "large")
    client.emit(LoadFailed("broken", "The file is broken.", "Download it again."))
    text = program.window.chat_pane.errors.text.text()
    assert "The file is broken. Download it again." in text
    assert "from before" in text
    assert loads(client)[-1][0].startswith("paceline-demo-target")
    client.finish_load()
    assert program.window.model_bar.pill.text() == "ready"
    assert program.speculation.current.name == "draft"


def test_notes_about_the_models_are_shown_but_never_hide_an_error(
    program: Program, client: FakeClient
) -> None:
    errors = program.window.chat_pane.errors
    program.window.actions_.reload.trigger()
    client.finish_load("The draft model's context is short.")
    assert "context is short" in errors.text.text()
    assert errors.property("tone") == "lookup"
    program.notices.error("It failed.")
    program.window.actions_.reload.trigger()
    client.finish_load("The draft model's context is short.")
    assert errors.text.text() == "It failed."


def test_a_draft_that_does_not_fit_can_be_left_out(
    program: Program, client: FakeClient, ggufs: dict[str, str], qtbot: QtBot
) -> None:
    program.models.open_both([ggufs["small"], ggufs["large"]])
    qtbot.waitUntil(lambda: loads(client)[-1] == ("large", "small"))
    client.emit(LoadFailed("vocabulary-mismatch", "They do not fit.", ""))
    client.finish_load()
    qtbot.mouseClick(program.window.chat_pane.errors.action, Qt.MouseButton.LeftButton)
    assert loads(client)[-1] == ("large", None)


def test_when_nothing_can_be_loaded_the_chat_stays_readable_and_it_can_be_tried_again(
    make_program: Callable[..., Program], client: FakeClient, qtbot: QtBot
) -> None:
    program = make_program()
    client.emit(LoadFailed("broken", "Broken.", "Reinstall."))
    assert "not loaded" in bar(program)
    n_loads = len(loads(client))
    qtbot.mouseClick(program.window.chat_pane.errors.action, Qt.MouseButton.LeftButton)
    assert len(loads(client)) == n_loads + 1


def test_a_dead_engine_keeps_the_text_and_starts_again_with_one_click(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    program.chat.send("Hello?")
    client.start_turn()
    client.step("Half", 0)
    client.emit(EngineDied("The engine was killed.", "It starts again."))
    assert replies(program)[-1].plain_text == "Half"
    errors = program.window.chat_pane.errors
    assert "killed" in errors.text.text()
    assert program.window.model_bar.pill.text() == "engine ended"
    n_loads = len(loads(client))
    qtbot.mouseClick(errors.action, Qt.MouseButton.LeftButton)
    assert len(loads(client)) == n_loads + 1
    client.finish_load()
    assert program.chat.send("Again?")


# ------------------------------------------------------------------------------------ drag and drop


def drop(program: Program, x: int, *paths: str) -> bool:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(path) for path in paths])
    window, where = program.window, QPoint(x, 300)
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    action = Qt.DropAction.CopyAction
    enter = QDragEnterEvent(where, action, data, buttons, keys)
    enter.ignore()
    QApplication.sendEvent(window, enter)
    if not enter.isAccepted():
        return False
    assert not window.drop_zones.isHidden()
    QApplication.sendEvent(window, QDropEvent(QPointF(where), action, data, buttons, keys))
    assert window.drop_zones.isHidden()
    return True


def test_a_model_is_dropped_on_the_place_it_should_take(
    program: Program, client: FakeClient, ggufs: dict[str, str], qtbot: QtBot
) -> None:
    assert drop(program, 100, ggufs["large"])
    qtbot.waitUntil(lambda: loads(client)[-1] == ("large", None))
    client.finish_load()
    assert drop(program, program.window.width() - 100, ggufs["small"])
    qtbot.waitUntil(lambda: loads(client)[-1] == ("large", "small"))


def test_of_two_dropped_models_the_larger_one_is_the_target(
    program: Program, client: FakeClient, ggufs: dict[str, str], qtbot: QtBot
) -> None:
    assert drop(program, 100, ggufs["small"], ggufs["large"])
    qtbot.waitUntil(lambda: loads(client)[-1] == ("large", "small"))


def test_the_parts_of_a_split_model_are_one_model(
    program: Program, client: FakeClient, tmp_path: Path, qtbot: QtBot
) -> None:
    parts = [str(tmp_path / f"big-0000{n}-of-00003.gguf") for n in (2, 1, 3)]
    for path, size in zip(parts, (900, 5, 900), strict=True):
        Path(path).write_bytes(b"GGUF" + b"\0" * size)
    small = tmp_path / "small.gguf"
    small.write_bytes(b"GGUF" + b"\0" * 100)
    assert first_parts(parts) == first_parts(parts[2:]) == [parts[1]]
    assert first_parts([f"{tmp_path}/gone-0000{n}-of-00003.gguf" for n in (2, 3)]) == [
        f"{tmp_path}/gone-00002-of-00003.gguf"
    ]
    assert drop(program, 100, *parts, str(small))
    qtbot.waitUntil(lambda: loads(client)[-1] == ("big-00001-of-00003", "small"))


def test_other_files_are_attached_and_no_models(program: Program, tmp_path: Path) -> None:
    assert drop(program, 100, str(tmp_path / "picture.png"))
    assert program.window.drop_zones.isHidden()


@pytest.mark.parametrize("below", ["", "deeper"])
def test_a_folder_with_models_is_looked_into_from_now_on(
    program: Program, tmp_path: Path, below: str
) -> None:
    folder, notes = tmp_path / "models", tmp_path / "notes"
    (folder / below).mkdir(parents=True)
    (folder / below / "wolf.gguf").write_bytes(b"GGUF")
    notes.mkdir()
    (notes / "a.txt").write_text("a")
    assert drop(program, 100, str(folder), str(notes))
    assert program.settings.value("model_folders") == (str(folder),)


def test_leaving_hides_the_zones(program: Program, ggufs: dict[str, str]) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(ggufs["large"])])
    event = QDragEnterEvent(
        QPoint(9, 99), Qt.DropAction.CopyAction, data,
        Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    QApplication.sendEvent(program.window, event)
    QApplication.sendEvent(program.window, QDragLeaveEvent())
    assert program.window.drop_zones.isHidden()


# ------------------------------------------------------------------------------------- window, keys


def test_a_pane_takes_the_other_one_s_place_where_there_is_no_room_for_both(
    program: Program,
) -> None:
    window, panes = program.window, program.window.panes
    window.resize(640, 700)
    for name, other in (("panel", "sidebar"), ("sidebar", "panel"), ("panel", "sidebar")):
        panes.toggle(name)
        assert panes.is_shown(name)
        assert not panes.is_shown(other)
        assert panes.splitter.minimumSizeHint().width() <= 640
    window.resize(1300, 700)
    assert panes.is_shown("sidebar"), "it was not the user who closed it"


@pytest.mark.parametrize("width", [640, 1024, 1366, 1367, 1600, 1601])
def test_messages_and_composer_are_equally_wide(
    program: Program, client: FakeClient, qtbot: QtBot, width: int
) -> None:
    program.chat.send("Hello?")
    client.reply("Hi")
    window, pane = program.window, program.window.chat_pane
    window.resize(width, 700)

    def edges(widget: QWidget) -> tuple[int, int]:
        left = widget.mapTo(pane, QPoint()).x()
        return left, left + widget.width()

    qtbot.waitUntil(lambda: edges(replies(program)[-1]) == edges(pane.composer))


@pytest.mark.parametrize(
    ("width", "sidebar", "panel"),
    [(1440, True, True), (1000, False, True), (900, False, True), (760, False, False)],
)
def test_panes_give_way_in_a_narrow_window_and_come_back(
    program: Program, qtbot: QtBot, width: int, sidebar: bool, panel: bool
) -> None:
    window = program.window
    window.resize(width, 600)
    assert (window.panes.is_shown("sidebar"), window.panes.is_shown("panel")) == (sidebar, panel)
    assert window.width() == width
    assert window.chat_pane.width() >= 320
    window.resize(1440, 900)
    assert (window.panes.is_shown("sidebar"), window.panes.is_shown("panel")) == (True, True)
    assert window.panel.width() < 420


def test_a_pane_that_is_asked_for_is_shown_in_a_narrow_window_too(program: Program) -> None:
    window = program.window
    window.resize(900, 600)
    window.actions_.sidebar.trigger()
    assert window.panes.is_shown("sidebar")
    assert window.actions_.sidebar.isChecked()
    window.actions_.sidebar.trigger()
    window.resize(1440, 900)
    assert not window.panes.is_shown("sidebar")


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("new_chat", "Ctrl+N"),
        ("search", "Ctrl+Shift+F"),
        ("quit", "Ctrl+Q"),
        ("flip_theme", "Ctrl+Shift+L"),
        ("sidebar", "Ctrl+B"),
        ("stop", "Esc"),
    ],
)
def test_the_keys_are_the_promised_ones(program: Program, name: str, keys: str) -> None:
    assert getattr(program.window.actions_, name).shortcut() == QKeySequence(keys)


def test_no_key_is_taken_twice(program: Program) -> None:
    keys = [a.shortcut().toString() for a in program.window.actions() if not a.shortcut().isEmpty()]
    assert sorted(set(keys)) == sorted(keys)


def test_find_opens_the_list_and_takes_the_keyboard(program: Program, qtbot: QtBot) -> None:
    program.window.resize(900, 600)
    program.window.activateWindow()
    program.window.actions_.search.trigger()
    assert program.window.panes.is_shown("sidebar")
    qtbot.waitUntil(program.window.sidebar.search.hasFocus)


def test_the_theme_is_flipped_and_chosen(program: Program, qapp: QApplication) -> None:
    actions = program.window.actions_
    before = look.theme
    actions.flip_theme.trigger()
    assert look.theme is not before
    assert look.theme.window in qapp.styleSheet()
    assert [a.data() for a in actions.themes.actions() if a.isChecked()] == [look.mode]
    actions.flip_theme.trigger()
    assert look.theme is before


def test_token_colours_are_switched(program: Program, client: FakeClient) -> None:
    program.chat.send("Hello?")
    client.reply("Hi")
    action = program.window.actions_.token_colours
    assert action.isChecked()
    action.trigger()
    assert not program.settings.settings.token_colours


def test_everything_that_takes_the_keyboard_has_a_name(program: Program) -> None:
    window = program.window
    window.panel.open_only(["drafters"])
    nameless = []
    for widget in window.findChildren(QWidget):
        takes_keys = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
        is_part = widget.objectName().startswith("qt_") or widget.focusProxy() is not None
        if not takes_keys or is_part or not widget.isVisibleTo(window):
            continue
        interface = QAccessible.queryAccessibleInterface(widget)
        if not interface.text(QAccessible.Text.Name):
            nameless.append((type(widget).__name__, widget.objectName(), widget.parent()))
    assert nameless == []


# ----------------------------------------------------------------------------- settings, closing


def test_the_window_is_remembered(
    make_program: Callable[..., Program], client: FakeClient, paceline_home: Path
) -> None:
    program = make_program()
    program.window.actions_.panel.trigger()
    program.window.panel.open_only(["drafters"])
    program.window.panel.show_tab("chat")
    program.window.actions_.flip_theme.trigger()
    program.window.close()
    assert client.is_closed
    loaded = load_settings(paceline_home / "config" / "settings.json")
    assert loaded.put_aside is None
    assert loaded.settings.window.panel_visible is False
    assert loaded.settings.window.open_sections == ("drafters",)
    assert loaded.settings.theme == look.mode
    again = make_program(loaded.settings)
    assert not again.window.panes.is_shown("panel")
    assert again.window.panel.open_sections == ("drafters",)
    assert again.window.panel.tab == loaded.settings.window.panel_tab == "chat"


def test_broken_geometry_is_harmless(make_program: Callable[..., Program]) -> None:
    program = make_program(Settings(window=WindowSettings(geometry="!!! no base64 !!!")))
    assert program.window.isVisible()


def test_changes_are_saved_soon(
    make_program: Callable[..., Program], paceline_home: Path, qtbot: QtBot
) -> None:
    program = make_program()
    file = paceline_home / "config" / "settings.json"
    program.speculation.choose("off")
    qtbot.waitUntil(file.exists, timeout=5000)
    assert json.loads(file.read_text(encoding="utf-8"))["strategies"] == ["off"]


def test_settings_that_could_not_be_read_are_told(
    make_program: Callable[..., Program], tmp_path: Path
) -> None:
    program = make_program(put_aside=tmp_path / "settings.unusable-1.json")
    assert "settings.unusable-1.json" in program.window.chat_pane.errors.text.text()


def test_states_of_chats_are_kept_and_dropped_in_the_users_folder(
    make_program: Callable[..., Program], client: FakeClient, paceline_home: Path
) -> None:
    folder = paceline_home / "cache" / "states"
    program = make_program()
    program.start()
    client.finish_load()
    program.chat.send("Hello?")
    chat = program.shown.id
    assert client.last(LoadPair).states == StateStorage(folder=str(folder))
    assert client.last(StartTurn).owner == StateOwner(chat)
    kept = folder / "a model" / chat.encode().hex() / "a block"
    kept.parent.mkdir(parents=True)
    kept.touch()
    client.drops_states = False
    program.session.remove(chat)
    assert client.last(DropStates) == DropStates((chat,), str(folder))
    assert kept.exists()
    program.window.close()
    assert not kept.exists()


def test_a_folder_that_cannot_be_written_costs_only_the_settings(
    make_program: Callable[..., Program],
    paceline_home: Path,
    allow_warnings: Callable[[str], None],
) -> None:
    allow_warnings("the settings are not saved")
    program = make_program()
    paceline_home.mkdir(exist_ok=True)
    (paceline_home / "config").write_text("a file in the way")
    program.window.close()
    (paceline_home / "config").unlink()


def test_closing_tells_when_everything_is_put_away(
    make_program: Callable[..., Program], client: FakeClient, qtbot: QtBot
) -> None:
    program = make_program()
    client.finish_load()
    program.chat.send("Hello?")
    client.start_turn()
    with qtbot.waitSignal(program.ended) as ended:
        program.window.actions_.quit.trigger()
    assert ended.args == [True]
    assert client.is_closed
