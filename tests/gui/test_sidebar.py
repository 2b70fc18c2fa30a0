"""The list of chats: what a row's menu and keys ask for, and what becomes of it in the window."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QMimeData, QModelIndex, QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QContextMenuEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu

from paceline.conversation import ConversationSummary, Folder
from paceline.gui.conversations.folders import FolderChoice, FolderEditor
from paceline.gui.conversations.groups import ARCHIVE
from paceline.gui.conversations.model import (
    CHAT_MIME,
    ID_ROLE,
    SUBTITLE_ROLE,
    ConversationList,
)
from paceline.gui.conversations.sidebar import UNDO_MS, Sidebar
from paceline.gui.conversations.tags import TagEditor
from paceline.gui.look.colours import LIGHT
from paceline.messages import StartTurn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.conversations.chat_finder import ChatList
    from paceline.gui.program import Program

# Every window has a smallest size and asks for the keyboard.
pytestmark = [
    pytest.mark.qt_log_ignore("This plugin does not support"),
]

NOW = time.time()
Key = Qt.Key
LEFT = Qt.MouseButton.LeftButton
CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def two_chats(program: Program, client: FakeClient) -> Program:
    for text, answer in (("Apples", "They are green"), ("Pears", "They are yellow")):
        program.window.actions_.new_chat.trigger()
        program.chat.send(text)
        client.reply(answer)
    return program


@pytest.fixture
def sidebar(qtbot: QtBot) -> Sidebar:
    made = Sidebar(ConversationList(now=lambda: NOW))
    qtbot.addWidget(made)
    made.model.set_summaries(
        (
            ConversationSummary("a", "Apples", NOW, NOW - 5, tags=("work",)),
            ConversationSummary("b", "Pears", NOW, NOW - 9),
            ConversationSummary("p", "Plums", NOW, NOW - 12, private=True),
        )
    )
    made.select("a")
    made.resize(248, 500)
    made.show()
    qtbot.waitExposed(made)
    made.activateWindow()
    return made


@pytest.fixture
def asked(sidebar: Sidebar) -> list[tuple[object, ...]]:
    """Everything that the sidebar asks for, by the signal's name."""
    seen: list[tuple[object, ...]] = []
    for name, signal in {
        "new": sidebar.new_button.clicked,
        "private": sidebar.private_action.triggered,
        "chosen": sidebar.finder.chosen,
        "rename_requested": sidebar.model.rename_requested,
        "pin_requested": sidebar.pin_requested,
        "tag_requested": sidebar.tag_requested,
        "delete_requested": sidebar.delete_requested,
        "undo_requested": sidebar.undo_bar.wanted,
        "export_requested": sidebar.export_requested,
        "copy_requested": sidebar.copy_requested,
        "import_requested": sidebar.import_action.triggered,
    }.items():
        signal.connect(lambda *what, name=name: seen.append((name, *what)))
    return seen


@pytest.fixture
def _closes_menus() -> Iterator[None]:
    yield
    for widget in QApplication.topLevelWidgets():
        if isinstance(widget, QMenu):
            widget.close()


def ids(program: Program) -> list[str]:
    return [summary.title for summary in program.session.summaries]


def selected(program: Program) -> str:
    return str(program.window.sidebar.list.currentIndex().data(ID_ROLE) or "")


def shown(program: Program) -> str:
    return program.shown.id


def row(sidebar: Sidebar, conversation_id: str) -> QPoint:
    """The middle of a chat's title."""
    model = sidebar.list.model()
    found = next(
        model.index(at, 0)
        for at in range(model.rowCount())
        if model.index(at, 0).data(ID_ROLE) == conversation_id
    )
    sidebar.list.scrollTo(found)
    return sidebar.list.visualRect(found).topLeft() + QPoint(30, 14)


# ---------------------------------------------------------------------------------- by keyboard


def test_rows_are_reached_and_opened_by_keyboard(
    sidebar: Sidebar, qtbot: QtBot, asked: list[tuple[object, ...]]
) -> None:
    sidebar.finder.focus_search()
    qtbot.keyClick(sidebar.search, Key.Key_Down)
    assert sidebar.list.hasFocus()
    qtbot.keyClick(sidebar.list, Key.Key_Down)
    qtbot.keyClick(sidebar.list, Key.Key_Return)
    assert asked == [("chosen", "b")]
    qtbot.keyClick(sidebar.list, Key.Key_Home)
    assert sidebar.list.current_id == "a"  # and not the heading
    qtbot.keyClick(sidebar.list, Key.Key_Up)
    assert sidebar.search.hasFocus()


def title_editor(sidebar: Sidebar, qtbot: QtBot) -> QLineEdit:
    """Begin to edit the title of the current chat."""
    sidebar.list.take_focus()
    qtbot.keyClick(sidebar.list, Key.Key_F2)
    editor = sidebar.list.findChild(QLineEdit)
    assert editor is not None
    return editor


def test_a_title_is_edited_in_place(
    sidebar: Sidebar, qtbot: QtBot, asked: list[tuple[object, ...]]
) -> None:
    editor = title_editor(sidebar, qtbot)
    assert editor.text() == "Apples"
    editor.setText("Green apples")
    qtbot.keyClick(editor, Key.Key_Return)
    qtbot.waitUntil(lambda: bool(asked))
    assert asked == [("rename_requested", "a", "Green apples")]


def test_a_title_that_is_being_written_outlives_a_change_of_the_old_one(
    sidebar: Sidebar, qtbot: QtBot, asked: list[tuple[object, ...]]
) -> None:
    editor = title_editor(sidebar, qtbot)
    qtbot.keyClicks(editor, "Pears")
    old = sidebar.model.summary("a")
    assert old is not None
    sidebar.model.update_summary(replace(old, title="A title by the model"))
    qtbot.keyClick(editor, Key.Key_Return)
    qtbot.waitUntil(lambda: bool(asked))
    assert asked == [("rename_requested", "a", "Pears")]


def test_pages_of_the_list_end_on_chats(sidebar: Sidebar, qtbot: QtBot) -> None:
    """Every second row is a heading here."""
    day = 86_400.0
    sidebar.model.set_summaries(
        tuple(ConversationSummary(f"c{at}", "T", 1.0, NOW - at * 40 * day) for at in range(30))
    )
    sidebar.list.take_focus()
    for key in (Key.Key_End, Key.Key_PageUp, Key.Key_PageUp, Key.Key_PageDown, Key.Key_Up):
        before = sidebar.list.current_id
        qtbot.keyClick(sidebar.list, key)
        assert sidebar.list.current_id not in ("", before)


def test_keys_of_the_list_delete_pin_and_tag(
    sidebar: Sidebar, qtbot: QtBot, asked: list[tuple[object, ...]]
) -> None:
    sidebar.list.take_focus()
    qtbot.keyClick(sidebar.list, Key.Key_Delete)
    qtbot.keyClick(sidebar.list, Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    assert asked == [("delete_requested", "a"), ("pin_requested", "a", True)]
    qtbot.keyClick(sidebar.list, Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    editor = sidebar.findChild(TagEditor)
    assert editor is not None
    editor.reject()


@pytest.mark.usefixtures("_closes_menus")
def test_the_menu_opens_by_key_by_mouse_and_by_its_sign(
    sidebar: Sidebar, qtbot: QtBot, asked: list[tuple[object, ...]]
) -> None:
    view = sidebar.list

    def menus() -> list[QMenu]:
        return [menu for menu in view.findChildren(QMenu) if menu.isVisible()]

    sidebar.select("b")
    by_key = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(), QPoint())
    QApplication.sendEvent(view.viewport(), by_key)
    texts = [action.text() for action in menus()[0].actions() if action.text()]
    assert texts == [
        "Open", "Rename", "Pin", "Tags…", "Move to folder", "Export…", "Copy as Markdown",
        "Archive", "Delete",
    ]  # fmt: skip
    menus()[0].close()
    place = row(sidebar, "p")
    by_mouse = QContextMenuEvent(
        QContextMenuEvent.Reason.Mouse, place, view.viewport().mapToGlobal(place)
    )
    QApplication.sendEvent(view.viewport(), by_mouse)
    assert view.current_id == "p"
    menus()[0].close()
    rect = view.visualRect(view.model().index(1, 0))
    qtbot.mouseClick(view.viewport(), LEFT, pos=rect.topRight() + QPoint(-18, 16))
    assert view.current_id == "a"
    assert asked == []
    for action in (sidebar.menu.open, sidebar.menu.export, sidebar.menu.copy):
        action.trigger()
    assert asked == [("chosen", "a"), ("export_requested", "a"), ("copy_requested", "a")]


def test_new_chats_are_asked_for_by_their_kind(
    sidebar: Sidebar, qtbot: QtBot, asked: list[tuple[object, ...]]
) -> None:
    qtbot.mouseClick(sidebar.new_button, LEFT)
    sidebar.private_action.trigger()
    sidebar.import_action.trigger()
    assert [what for what, *_ in asked] == ["new", "private", "import_requested"]


def test_everything_is_reached_by_tab(sidebar: Sidebar, qtbot: QtBot) -> None:
    wanted = {
        sidebar.new_button, sidebar.new_menu_button, sidebar.search,
        sidebar.finder.tags.buttons[0], sidebar.list,
    }  # fmt: skip
    sidebar.new_button.setFocus()
    reached = set()
    for _ in range(12):
        focused = QApplication.focusWidget()
        reached.add(focused)
        qtbot.keyClick(focused, Key.Key_Tab)
    assert wanted <= reached


# ------------------------------------------------------------------------------------------- tags


def test_tags_are_typed_found_ticked_and_taken_back(
    sidebar: Sidebar, qtbot: QtBot, asked: list[tuple[object, ...]]
) -> None:
    sidebar.select("b")
    sidebar.tag_shown()
    editor = sidebar.findChild(TagEditor)
    assert editor is not None
    qtbot.keyClicks(editor.field, "new  ideas")
    assert "new-ideas" in editor.hint.text()
    qtbot.keyClick(editor.field, Key.Key_Return)
    assert editor.field.text() == ""
    qtbot.keyClicks(editor.field, "WOR")
    hidden = [editor.list.item(at).isHidden() for at in range(editor.list.count())]
    assert hidden == [False, True]
    qtbot.keyClicks(editor.field, "k")
    qtbot.keyClick(editor.field, Key.Key_Return)  # the known one, whatever its case
    qtbot.keyClick(editor.field, Key.Key_Down)
    assert editor.focusWidget() is editor.list
    editor.list.setCurrentRow(1)
    qtbot.keyClick(editor.list, Key.Key_Space)
    assert editor.tags == ("work",)
    editor.field.setText("typed")
    qtbot.mouseClick(editor.done_button, LEFT)
    assert asked == [("tag_requested", "b", ("work", "typed"))]


def test_an_editor_that_is_left_changes_nothing(
    sidebar: Sidebar, qtbot: QtBot, asked: list[tuple[object, ...]]
) -> None:
    sidebar.tag_shown()
    editor = sidebar.findChild(TagEditor)
    assert editor is not None
    qtbot.keyClicks(editor.field, "other")
    qtbot.keyClick(editor.field, Key.Key_Return)
    qtbot.keyClick(editor, Key.Key_Escape)
    assert asked == []


# --------------------------------------------------------------------------------------- folders


def in_folder(program: Program) -> str:
    """Put the chat about apples into a new folder, closed; returns the folder's id."""
    program.session.put_folder(Folder("f", "Fruit", "Name the colour."))
    apples = next(s for s in program.session.summaries if s.title == "Apples")
    program.session.move(apples.conversation_id, "f")
    return apples.conversation_id


def activate(program: Program, qtbot: QtBot) -> None:
    """Let keys reach the window, with the keyboard where one writes."""
    program.window.activateWindow()
    qtbot.waitUntil(program.window.isActiveWindow)
    program.window.chat_pane.composer.setFocus()


def names(program: Program) -> list[str]:
    """What stands in the rows."""
    model = program.window.sidebar.list.model()
    return [str(model.index(row, 0).data()) for row in range(model.rowCount())]


def test_a_folder_opens_by_click_and_key(two_chats: Program, qtbot: QtBot) -> None:
    in_folder(two_chats)
    view = two_chats.window.sidebar.list
    assert names(two_chats) == ["Fruit", "Today", "Pears"]
    index = view.model().index(0, 0)
    qtbot.mouseClick(view.viewport(), LEFT, pos=view.visualRect(index).center())
    assert names(two_chats) == ["Fruit", "Apples", "Today", "Pears"]
    view.setCurrentIndex(index)
    qtbot.keyClick(view, Key.Key_Left)
    assert names(two_chats) == ["Fruit", "Today", "Pears"]
    qtbot.keyClick(view, Key.Key_Return)
    assert names(two_chats) == ["Fruit", "Apples", "Today", "Pears"]
    assert two_chats.settings.value("open_folders") == ("f",)


def test_a_chat_is_moved_by_menu_and_by_drag(two_chats: Program) -> None:
    apples = in_folder(two_chats)
    sidebar = two_chats.window.sidebar
    pears = next(s for s in two_chats.session.summaries if s.title == "Pears").conversation_id
    choice = FolderChoice(sidebar.model.summary(pears), sidebar.model.folders, sidebar)
    choice.chosen.connect(sidebar.move_requested)
    assert [a.text() for a in choice.actions() if a.text()] == ["Fruit", "New folder…"]
    choice.actions()[0].trigger()
    assert sidebar.model.folder_of(pears).name == "Fruit"
    drop(sidebar.list, apples, 1)  # below the closed folder stands nothing
    assert sidebar.model.folder_of(apples) is None
    drop(sidebar.list, apples, 0)
    assert sidebar.model.folder_of(apples).name == "Fruit"


def drop(view: ChatList, conversation_id: str, row: int) -> None:
    """Drop a chat on a row, or below the last one."""
    data = QMimeData()
    data.setData(CHAT_MIME, conversation_id.encode())
    rect = view.visualRect(view.model().index(min(row, view.model().rowCount() - 1), 0))
    place = QPointF(rect.center() if row < view.model().rowCount() else rect.bottomLeft() * 2)
    move, none = Qt.DropAction.MoveAction, Qt.KeyboardModifier.NoModifier
    view.dropEvent(QDropEvent(place, move, data, LEFT, none))


def test_a_new_chat_begins_in_a_folder(two_chats: Program, client: FakeClient) -> None:
    in_folder(two_chats)
    two_chats.window.sidebar.new_chat_wanted.emit("f")
    two_chats.chat.send("Cherries")
    client.reply("Red.")
    assert client.last(StartTurn).prompt.messages[0].text == "Name the colour."
    assert two_chats.sampling.badge.open_button.text() == "from folder “Fruit”"
    assert two_chats.window.panel.sampling.folder.toolTip() == "Name the colour."
    two_chats.session.put_folder(Folder("f", "Fruit", ""))
    assert two_chats.sampling.badge.isHidden()
    assert names(two_chats)[:3] == ["Fruit", "Cherries", "Apples"]


def test_a_folder_is_made_and_changed_in_its_editor(two_chats: Program) -> None:
    sidebar = two_chats.window.sidebar
    apples = next(s for s in two_chats.session.summaries if s.title == "Apples").conversation_id
    sidebar.folder_wanted.emit(apples)
    editor = two_chats.window.findChild(FolderEditor)
    assert not editor.save_button.isEnabled()
    editor.name.setText("Fruit")
    editor.save_button.click()
    (folder,) = two_chats.session.conversations.folders.all
    assert sidebar.model.folder_of(apples) == folder
    model = sidebar.list.model()
    assert model.setData(model.index(0, 0), "Trees")
    assert names(two_chats)[0] == "Trees"


def test_a_deleted_folder_comes_back_by_key(two_chats: Program, qtbot: QtBot) -> None:
    in_folder(two_chats)
    two_chats.window.sidebar.folder_delete_requested.emit("f")
    assert names(two_chats) == ["Today", "Pears", "Apples"]
    activate(two_chats, qtbot)
    qtbot.keyClick(two_chats.window.chat_pane.composer.edit, Key.Key_Z, CONTROL)
    qtbot.waitUntil(lambda: names(two_chats) == ["Fruit", "Today", "Pears"])
    assert two_chats.window.sidebar.undo_bar.isHidden()


def test_archived_chats_stand_below_all_others(two_chats: Program, client: FakeClient) -> None:
    sidebar = two_chats.window.sidebar
    two_chats.window.actions_.archive.trigger()
    assert names(two_chats) == ["Today", "Apples", "Archived"]
    two_chats.chat.send("More")
    client.reply("Of them.")
    assert names(two_chats) == ["Today", "Pears", "Apples"]
    drop(sidebar.list, shown(two_chats), 2)
    two_chats.window.actions_.archive.trigger()
    sidebar.list.model().set_open(ARCHIVE, on=True)
    assert names(two_chats) == ["Today", "Apples", "Archived", "Pears"]
    drop(sidebar.list, shown(two_chats), 0)
    assert names(two_chats) == ["Today", "Pears", "Apples"]


# ------------------------------------------------------------------------------------------- undo


def test_the_key_that_undoes_belongs_to_what_was_written(two_chats: Program, qtbot: QtBot) -> None:
    edit = two_chats.window.chat_pane.composer.edit
    activate(two_chats, qtbot)
    reply = two_chats.shown.conversation.path()[-1].message_id
    two_chats.window.chat_pane.chat.delete_requested.emit(reply)
    assert len(two_chats.shown.conversation.path()) == 1
    qtbot.keyClicks(edit, "a")
    qtbot.keyClick(edit, Key.Key_Z, CONTROL)
    assert (edit.toPlainText(), len(two_chats.shown.conversation.path())) == ("", 1)
    qtbot.keyClick(edit, Key.Key_Z, CONTROL)
    qtbot.waitUntil(lambda: len(two_chats.shown.conversation.path()) == 2)
    assert not two_chats.window.actions_.undo.isEnabled()


# -------------------------------------------------------------------------- what it says and undo


def test_an_empty_list_invites(qtbot: QtBot) -> None:
    sidebar = Sidebar(ConversationList())
    qtbot.addWidget(sidebar)
    finder = sidebar.finder
    assert finder.pages.currentWidget() is finder.empty
    assert finder.empty.title.text() == "No chats yet"
    sidebar.model.set_summaries((ConversationSummary("a", "A", NOW, NOW),))
    assert finder.pages.currentWidget() is sidebar.list
    sidebar.model.set_summaries(())
    assert finder.pages.currentWidget() is finder.empty


def test_a_screen_reader_hears_a_whole_row(sidebar: Sidebar) -> None:
    view = QAccessible.queryAccessibleInterface(sidebar.list)
    texts = [
        view.child(at).text(QAccessible.Text.Name)
        for at in range(view.childCount())
        if view.child(at) is not None
    ]
    assert texts[:2] == ["Today", "Apples, now, tags: work"]
    assert texts[3] == "Plums, now, not stored"


def test_the_chat_that_is_written_in_says_so(sidebar: Sidebar) -> None:
    sidebar.set_writing("b")
    model = sidebar.list.model()
    assert model.index(2, 0).data(SUBTITLE_ROLE) == "now · writing…"
    sidebar.set_writing("")
    assert model.index(2, 0).data(SUBTITLE_ROLE) == "now"


def test_the_offer_to_undo_goes_by_itself(
    sidebar: Sidebar, qtbot: QtBot, asked: list[tuple[object, ...]]
) -> None:
    sidebar.show_undo("Plan")
    assert sidebar.undo_bar.words.text() == "Deleted “Plan”"
    assert sidebar.undo_bar._timer.remainingTime() > UNDO_MS // 2
    sidebar.undo_bar._timer.start(1)
    qtbot.waitUntil(sidebar.undo_bar.isHidden)
    assert asked == []
    sidebar.show_undo("Pears")
    qtbot.mouseClick(sidebar.undo_bar.button, LEFT)
    assert asked == [("undo_requested",)]
    assert sidebar.undo_bar.isHidden()


def test_the_keyboard_stays_where_somebody_went_when_the_list_changes(sidebar: Sidebar) -> None:
    sidebar.list.take_focus()
    sidebar.list.setCurrentIndex(sidebar.list.model().index(2, 0))
    sidebar.model.set_summaries((ConversationSummary("n", "New one", NOW, NOW),))
    sidebar.model.set_summaries(
        (
            ConversationSummary("n", "New one", NOW, NOW),
            ConversationSummary("a", "Apples", NOW, NOW - 5),
        )
    )
    sidebar.select("a")
    assert sidebar.list.current_id == "a"
    sidebar.list.setCurrentIndex(sidebar.list.model().index(1, 0))
    sidebar.select("a")  # nothing else is shown
    assert sidebar.list.current_id == "n"


def test_the_list_goes_along_with_the_shown_chat_when_it_comes_to_the_top(
    sidebar: Sidebar,
) -> None:
    many = [ConversationSummary(f"c{at}", "T", 1.0, NOW - at * 60) for at in range(80)]
    sidebar.model.set_summaries(tuple(many))
    sidebar.select("c79")
    upper = sidebar.list.visualRect(sidebar.list.model().index(1, 0))
    assert upper.bottom() < 0
    many[79] = ConversationSummary("c79", "T", 1.0, NOW + 1)
    sidebar.model.set_summaries(tuple(many))
    assert sidebar.list.current_id == "c79"
    place = sidebar.list.visualRect(sidebar.list.currentIndex())
    assert sidebar.list.viewport().rect().contains(place)


# -------------------------------------------------------------------------------- in the window


def test_a_chat_deleted_by_menu_can_be_brought_back_though_the_list_was_hidden(
    two_chats: Program, qtbot: QtBot
) -> None:
    window = two_chats.window
    window.actions_.sidebar.trigger()
    assert not window.panes.is_shown("sidebar")
    window.actions_.delete.trigger()
    assert ids(two_chats) == ["Apples"]
    assert window.sidebar.undo_bar.button.isVisible()
    qtbot.mouseClick(window.sidebar.undo_bar.button, LEFT)
    assert sorted(ids(two_chats)) == ["Apples", "Pears"]


def test_the_menu_acts_on_the_chat_that_is_shown(two_chats: Program) -> None:
    window = two_chats.window
    chats, current = window.sidebar.list, shown(two_chats)
    chats.setCurrentIndex(chats.model().index(2, 0))
    assert selected(two_chats) != current
    window.actions_.pin.trigger()
    assert [s.pinned for s in two_chats.session.summaries if s.conversation_id == current] == [True]
    window.actions_.delete.trigger()
    assert ids(two_chats) == ["Apples"]


def test_the_menu_does_nothing_to_an_empty_chat(two_chats: Program) -> None:
    window = two_chats.window
    window.actions_.sidebar.trigger()
    window.actions_.new_chat.trigger()
    for action in ("delete", "rename", "pin", "tag"):
        getattr(window.actions_, action).trigger()
    assert len(ids(two_chats)) == 2
    assert not window.panes.is_shown("sidebar")
    assert window.findChild(TagEditor) is None


def test_tags_of_the_shown_chat_are_seen_in_the_list(two_chats: Program, qtbot: QtBot) -> None:
    window = two_chats.window
    window.actions_.tag.trigger()
    editor = window.findChild(TagEditor)
    assert editor is not None
    editor.field.setText("fruit")
    qtbot.mouseClick(editor.done_button, LEFT)
    assert [b.objectName() for b in window.sidebar.finder.tags.buttons] == ["fruit"]


def test_the_search_finds_messages_and_leads_to_them(two_chats: Program, qtbot: QtBot) -> None:
    window = two_chats.window
    pears = shown(two_chats)
    window.actions_.search.trigger()
    qtbot.waitUntil(window.sidebar.search.hasFocus)
    qtbot.keyClicks(window.sidebar.search, "green")
    qtbot.keyClick(window.sidebar.search, Key.Key_Return)
    assert shown(two_chats) != pears
    assert two_chats.shown.conversation.title == "Apples"


def test_a_private_chat_is_listed_while_it_is_open(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    program.window.actions_.new_private.trigger()
    program.chat.send("Nobody knows")
    client.reply("Indeed")
    index = program.window.sidebar.list.currentIndex()
    assert index.data(ID_ROLE) == shown(program)
    assert "not stored" in str(index.data(SUBTITLE_ROLE))


def test_a_chat_that_the_search_hides_can_be_renamed_by_menu(two_chats: Program) -> None:
    sidebar = two_chats.window.sidebar
    sidebar.search.setText("apples")
    sidebar.search.emit_now()
    two_chats.window.actions_.rename.trigger()
    assert sidebar.search.text() == ""
    assert selected(two_chats) == shown(two_chats)
    assert sidebar.list.state() == sidebar.list.State.EditingState


def test_the_shown_chat_is_marked_again_when_the_search_lets_it(two_chats: Program) -> None:
    sidebar = two_chats.window.sidebar
    sidebar.search.setText("#nothing")
    sidebar.search.emit_now()
    assert selected(two_chats) == ""
    sidebar.search.clear()
    assert selected(two_chats) == shown(two_chats)


def test_a_new_chat_clears_the_search(two_chats: Program, client: FakeClient) -> None:
    two_chats.window.sidebar.search.setText("apples")
    two_chats.window.actions_.new_chat.trigger()
    two_chats.chat.send("Plums")
    client.reply("Blue")
    assert two_chats.window.sidebar.search.text() == ""
    assert selected(two_chats) == shown(two_chats)


def test_escape_clears_the_search_before_it_stops_a_reply(
    two_chats: Program, client: FakeClient, qtbot: QtBot
) -> None:
    sidebar = two_chats.window.sidebar
    search, found = sidebar.search, sidebar.finder.found.view
    two_chats.chat.send("More?")
    client.start_turn()
    for leave in (search, found):
        search.setFocus()
        search.setText("apples")
        qtbot.keyClick(search, Key.Key_Down)
        leave.setFocus()
        qtbot.keyClick(leave, Key.Key_Escape)
        assert search.text() == ""
        assert client.cancelled == []
    qtbot.keyClick(search, Key.Key_Escape)
    assert len(client.cancelled) == 1


def test_only_the_shown_chat_looks_chosen(two_chats: Program, qtbot: QtBot) -> None:
    """A menu at another row, or the keyboard, is a mark of another kind."""
    view = two_chats.window.sidebar.list
    rows_ = [view.model().index(row, 0) for row in range(view.model().rowCount())]
    shown, other = (
        next(i for i in rows_ if i.data(ID_ROLE) and (i.data(ID_ROLE) == own) is is_own)
        for own in [two_chats.shown.id]
        for is_own in (True, False)
    )
    view.setCurrentIndex(other)

    def ground(index: QModelIndex) -> str:
        rect = view.visualRect(index)
        at = QPoint(rect.left() + 5, rect.center().y())
        return view.viewport().grab().toImage().pixelColor(at).name()

    qtbot.wait(20)
    assert ground(shown) == LIGHT.accent_soft.lower()
    assert ground(other) == LIGHT.hover.lower()
