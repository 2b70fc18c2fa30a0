"""The list of chats: its keys, menus, tags and folders, and what becomes of them in the window."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QMimeData, QModelIndex, QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QContextMenuEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu

from gui.chat_help import settle
from gui.clocks import let_pass
from paceline.conversation import ConversationSummary, Folder
from paceline.gui.conversations.folders import FolderChoice, FolderEditor
from paceline.gui.conversations.groups import ARCHIVE
from paceline.gui.conversations.model import (
    CHAT_MIME,
    ID_ROLE,
    ConversationList,
)
from paceline.gui.conversations.sidebar import UNDO_MS, Sidebar
from paceline.gui.conversations.tags import TagEditor
from paceline.gui.look.colours import LIGHT
from paceline.messages import StartTurn

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.conversations.chat_finder import ChatList
    from paceline.gui.program import Program

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
    view = sidebar.list
    sidebar.finder.focus_search()
    qtbot.keyClick(sidebar.search, Key.Key_Down)
    assert view.hasFocus()
    qtbot.keyClick(view, Key.Key_Down)
    qtbot.keyClick(view, Key.Key_Return)
    assert asked == [("chosen", "b")]
    qtbot.mouseClick(view.viewport(), LEFT, pos=row(sidebar, "p"))
    assert asked[1:] == [("chosen", "p")]
    qtbot.keyClick(view, Key.Key_Home)
    assert view.current_id == "a"  # and not the heading
    read = QAccessible.queryAccessibleInterface(view)
    names = [read.child(at).text(QAccessible.Text.Name) for at in range(4)]
    assert names[1] == "Apples, now, tags: work"
    qtbot.keyClick(view, Key.Key_Up)
    assert sidebar.search.hasFocus()


def test_a_title_is_edited_in_place_whatever_becomes_of_the_old_one(
    sidebar: Sidebar, qtbot: QtBot, asked: list[tuple[object, ...]]
) -> None:
    sidebar.list.take_focus()
    qtbot.keyClick(sidebar.list, Key.Key_F2)
    editor = sidebar.list.findChild(QLineEdit)
    assert isinstance(editor, QLineEdit)
    assert editor.text() == "Apples"
    qtbot.keyClicks(editor, "Green apples")
    old = sidebar.model.summary("a")
    assert old is not None
    sidebar.model.update_summary(replace(old, title="A title by the model"))
    qtbot.keyClick(editor, Key.Key_Return)
    qtbot.waitUntil(lambda: bool(asked))
    assert asked == [("rename_requested", "a", "Green apples")]


def test_keys_of_the_list_delete_pin_and_tag(
    sidebar: Sidebar, qtbot: QtBot, asked: list[tuple[object, ...]]
) -> None:
    sidebar.list.take_focus()
    qtbot.keyClick(sidebar.list, Key.Key_Delete)
    qtbot.keyClick(sidebar.list, Key.Key_D, CONTROL)
    assert asked == [("delete_requested", "a"), ("pin_requested", "a", True)]
    qtbot.keyClick(sidebar.list, Key.Key_T, CONTROL)
    editor = sidebar.findChild(TagEditor)
    assert isinstance(editor, TagEditor)
    qtbot.keyClicks(editor.field, "other")
    qtbot.keyClick(editor.field, Key.Key_Return)
    qtbot.keyClick(editor, Key.Key_Escape)
    assert len(asked) == 2, "an editor that is left changes nothing"


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


def test_the_menu_opens_by_key_by_mouse_and_by_its_sign(
    sidebar: Sidebar, qtbot: QtBot, asked: list[tuple[object, ...]]
) -> None:
    view = sidebar.list

    def menu() -> QMenu:
        (found,) = (menu for menu in view.findChildren(QMenu) if menu.isVisible())
        return found

    def send(reason: QContextMenuEvent.Reason, place: QPoint) -> None:
        event = QContextMenuEvent(reason, place, view.viewport().mapToGlobal(place))
        QApplication.sendEvent(view.viewport(), event)

    sidebar.select("b")
    send(QContextMenuEvent.Reason.Keyboard, QPoint())
    assert len([action for action in menu().actions() if action.text()]) == 9
    menu().close()
    send(QContextMenuEvent.Reason.Mouse, row(sidebar, "p"))
    assert view.current_id == "p"
    menu().close()
    rect = view.visualRect(view.model().index(1, 0))
    qtbot.mouseClick(view.viewport(), LEFT, pos=rect.topRight() + QPoint(-18, 16))
    assert view.current_id == "a"
    assert asked == []
    menu().close()
    for action in (sidebar.menu.open, sidebar.menu.export, sidebar.menu.copy):
        action.trigger()
    assert asked == [("chosen", "a"), ("export_requested", "a"), ("copy_requested", "a")]


def test_everything_is_reached_by_tab(
    sidebar: Sidebar, qtbot: QtBot, asked: list[tuple[object, ...]]
) -> None:
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
    sidebar.new_button.click()
    sidebar.private_action.trigger()
    sidebar.import_action.trigger()
    assert [what for what, *_ in asked] == ["new", "private", "import_requested"]


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
    """Return the texts of the rows."""
    model = program.window.sidebar.list.model()
    return [str(model.index(row, 0).data()) for row in range(model.rowCount())]


def test_a_folder_opens_by_click_and_key_and_comes_back_when_it_was_deleted(
    two_chats: Program, qtbot: QtBot
) -> None:
    in_folder(two_chats)
    view = two_chats.window.sidebar.list
    closed, opened = ["Fruit", "Today", "Pears"], ["Fruit", "Apples", "Today", "Pears"]
    assert names(two_chats) == closed
    index = view.model().index(0, 0)
    qtbot.mouseClick(view.viewport(), LEFT, pos=view.visualRect(index).center())
    assert names(two_chats) == opened
    view.setCurrentIndex(index)
    qtbot.keyClick(view, Key.Key_Left)
    assert names(two_chats) == closed
    qtbot.keyClick(view, Key.Key_Return)
    assert names(two_chats) == opened
    assert two_chats.settings.value("open_folders") == ("f",)
    qtbot.keyClick(view, Key.Key_Left)
    two_chats.window.sidebar.folder_delete_requested.emit("f")
    assert names(two_chats) == ["Today", "Pears", "Apples"]
    activate(two_chats, qtbot)
    qtbot.keyClick(two_chats.window.chat_pane.composer.edit, Key.Key_Z, CONTROL)
    qtbot.waitUntil(lambda: names(two_chats) == closed)
    assert two_chats.window.sidebar.undo_bar.isHidden()


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


def test_a_folder_is_made_and_chats_are_moved_by_menu_and_by_drag(two_chats: Program) -> None:
    sidebar = two_chats.window.sidebar
    pears, apples = (s.conversation_id for s in two_chats.session.summaries)
    sidebar.folder_wanted.emit(apples)
    editor = two_chats.window.findChild(FolderEditor)
    assert not editor.save_button.isEnabled()
    editor.name.setText("Trees")
    editor.save_button.click()
    (folder,) = two_chats.session.conversations.folders.all
    assert sidebar.model.folder_of(apples) == folder
    model = sidebar.list.model()
    assert model.setData(model.index(0, 0), "Fruit")
    assert names(two_chats)[0] == "Fruit"
    choice = FolderChoice(sidebar.model.summary(pears), sidebar.model.folders, sidebar)
    choice.chosen.connect(sidebar.move_requested)
    assert [a.text() for a in choice.actions() if a.text()] == ["Fruit", "New folder…"]
    choice.actions()[0].trigger()
    assert sidebar.model.folder_of(pears).name == "Fruit"
    drop(sidebar.list, apples, model.rowCount())  # below the last row
    assert sidebar.model.folder_of(apples) is None
    drop(sidebar.list, apples, 0)
    assert sidebar.model.folder_of(apples).name == "Fruit"


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


def test_the_offer_to_undo_goes_by_itself(
    sidebar: Sidebar, qtbot: QtBot, asked: list[tuple[object, ...]]
) -> None:
    sidebar.show_undo("Plan")
    assert "“Plan”" in sidebar.undo_bar.words.text()
    assert let_pass(sidebar.undo_bar, UNDO_MS) == 1
    assert sidebar.undo_bar.isHidden()
    assert asked == []
    sidebar.show_undo("Pears")
    qtbot.mouseClick(sidebar.undo_bar.button, LEFT)
    assert asked == [("undo_requested",)]
    assert sidebar.undo_bar.isHidden()


def test_the_keyboard_stays_where_somebody_went_when_the_list_changes(sidebar: Sidebar) -> None:
    finder = sidebar.finder
    sidebar.list.take_focus()
    sidebar.list.setCurrentIndex(sidebar.list.model().index(2, 0))
    sidebar.model.set_summaries(())
    assert finder.pages.currentWidget() is finder.empty, "an empty list invites"
    new = ConversationSummary("n", "New one", NOW, NOW)
    sidebar.model.set_summaries((new,))
    assert finder.pages.currentWidget() is sidebar.list
    sidebar.model.set_summaries((new, ConversationSummary("a", "Apples", NOW, NOW - 5)))
    sidebar.select("a")
    assert sidebar.list.current_id == "a"
    sidebar.list.setCurrentIndex(sidebar.list.model().index(1, 0))
    sidebar.select("a")  # nothing else is shown
    assert sidebar.list.current_id == "n"


# -------------------------------------------------------------------------------- in the window


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

    settle(qtbot)
    assert ground(shown) == LIGHT.accent_soft.lower()
    assert ground(other) == LIGHT.hover.lower()


def test_the_menu_acts_on_the_chat_that_is_shown_also_where_the_list_is_hidden(
    two_chats: Program, qtbot: QtBot
) -> None:
    window, actions = two_chats.window, two_chats.window.actions_
    chats, current = window.sidebar.list, shown(two_chats)
    chats.setCurrentIndex(chats.model().index(2, 0))
    assert selected(two_chats) != current
    actions.pin.trigger()
    assert [s.pinned for s in two_chats.session.summaries if s.conversation_id == current] == [True]
    actions.tag.trigger()
    editor = window.findChild(TagEditor)
    assert isinstance(editor, TagEditor)
    editor.field.setText("fruit")
    editor.done_button.click()
    assert [b.objectName() for b in window.sidebar.finder.tags.buttons] == ["fruit"]
    actions.sidebar.trigger()
    assert not window.panes.is_shown("sidebar")
    actions.delete.trigger()
    assert ids(two_chats) == ["Apples"]
    assert window.sidebar.undo_bar.button.isVisible()
    qtbot.mouseClick(window.sidebar.undo_bar.button, LEFT)
    assert sorted(ids(two_chats)) == ["Apples", "Pears"]
    if window.panes.is_shown("sidebar"):
        actions.sidebar.trigger()
    actions.new_chat.trigger()
    for action in (actions.delete, actions.rename, actions.pin, actions.tag):
        action.trigger()
    assert len(ids(two_chats)) == 2, "an empty chat is in no list"
    assert not window.panes.is_shown("sidebar")


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


def test_the_search_leads_to_messages_and_gives_way_to_what_is_done(
    two_chats: Program, client: FakeClient, qtbot: QtBot
) -> None:
    sidebar, actions = two_chats.window.sidebar, two_chats.window.actions_
    pears = shown(two_chats)
    actions.search.trigger()
    qtbot.keyClicks(sidebar.search, "green")
    qtbot.keyClick(sidebar.search, Key.Key_Return)
    assert shown(two_chats) != pears
    assert two_chats.shown.conversation.title == "Apples"
    sidebar.search.setText("#nothing")
    sidebar.search.emit_now()
    assert selected(two_chats) == ""
    sidebar.search.clear()
    assert selected(two_chats) == shown(two_chats), "it is marked again"
    sidebar.search.setText("pears")
    sidebar.search.emit_now()
    actions.rename.trigger()
    assert sidebar.search.text() == ""
    assert selected(two_chats) == shown(two_chats)
    assert sidebar.list.state() == sidebar.list.State.EditingState
    sidebar.search.setText("apples")
    actions.new_private.trigger()
    two_chats.chat.send("A secret")
    client.reply("Indeed")
    assert sidebar.search.text() == ""
    assert selected(two_chats) == shown(two_chats), "a private chat is listed while it is open"
