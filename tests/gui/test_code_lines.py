"""Long lines of code: wrapped with a hanging indent, or scrolled, each block by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor, QTextFormat
from PySide6.QtWidgets import QApplication

from gui.chat_help import (
    bars_in,
    begin_reply,
    button,
    click,
    committed,
    finished,
    list_in,
    settle,
    token,
    wheel,
)
from gui.test_find import show
from paceline.gui.chat.markdown.found import hits_in, phrase
from paceline.gui.chat.markdown.paint import code_card
from paceline.gui.chat.messages.reply_view import ReplyView
from paceline.gui.look.current import look

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from paceline.gui.chat.markdown.view import MessageView
    from paceline.gui.chat.view import ChatView
    from paceline.gui.program import Program

pytestmark = pytest.mark.usefixtures("qapp")

LONG = "    return " + " + ".join(f"value_{n}" for n in range(60))
TEXT = f"Before.\n\n```python\ndef f():\n{LONG}\n```\n\nBetween.\n\n```\nshort\n```\n"


def shown(qtbot: QtBot, chat: ChatView, *, wraps: bool, text: str = TEXT) -> MessageView:
    look.set_code_wrap(wraps)
    view = finished(chat, text).body
    qtbot.waitUntil(lambda: view.document().textWidth() > 300)
    settle(qtbot)
    return view


def line_of(view: MessageView, text: str) -> QTextCursor:
    cursor = view.document().find(text)
    assert not cursor.isNull()
    return cursor


def test_wrapped_lines_hang_below_their_first_word(qtbot: QtBot, chat: ChatView) -> None:
    view = shown(qtbot, chat, wraps=True)
    layout = line_of(view, "return").block().layout()
    assert layout.lineCount() > 2
    space = view.content._formats._code_cells.horizontalAdvance(" ")
    first, *others = (layout.lineAt(n).x() for n in range(layout.lineCount()))
    assert [x - first for x in others] == pytest.approx([6 * space] * len(others))
    plain = line_of(view, "def f").block().layout().lineAt(0).x()
    assert first == pytest.approx(plain), "only what goes on is indented further"
    assert not any(bar.isVisible() for bar in bars_in(view))


def test_unwrapped_code_is_scrolled_by_its_own_bar(qtbot: QtBot, chat: ChatView) -> None:
    view = shown(qtbot, chat, wraps=False)
    view.window().activateWindow()
    qtbot.waitUntil(view.window().isActiveWindow)
    assert line_of(view, "return").block().layout().lineCount() == 1
    bar, other = bars_in(view)
    assert bar.isVisible()
    assert not other.isVisible()
    assert bar.maximum() > 1000
    assert view.horizontalScrollBar().maximum() == 0
    found = button(view, "Save")
    assert found is not None
    found.setFocus(Qt.FocusReason.TabFocusReason)
    for _ in range(3):
        if QApplication.focusWidget() is not bar:
            qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is bar
    assert bar.accessibleName()
    qtbot.keyClick(bar, Qt.Key.Key_Right)
    assert bar.value() == bar.singleStep()
    qtbot.keyClick(bar, Qt.Key.Key_Down)
    assert bar.value() == bar.singleStep()
    before = view.grab().toImage()
    bar.setValue(300)
    assert view.grab().toImage() != before
    view.mark(hits_in(TEXT, phrase("value_50"), 0))  # out of sight
    (hit,) = view._current
    cursor = QTextCursor(view.document())
    cursor.setPosition(hit.start)
    assert 0 < view.cursorRect(cursor).left() - bar.value() < view.width()
    at = view.cursorRect(cursor).center() - QPoint(bar.value(), 0)
    qtbot.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    qtbot.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert view.createMimeDataFromSelection().text() == "value_50", "what is seen there"
    before = view.grab().toImage()
    view.selectAll()
    assert view.grab().toImage() != before
    view.mark(hits_in(TEXT, phrase("def f"), 0))
    assert bar.value() < 100


def test_the_wheel_goes_sideways_only_when_it_is_meant(qtbot: QtBot, chat: ChatView) -> None:
    view = shown(qtbot, chat, wraps=False)
    bar = bars_in(view)[0]
    inside = code_card(view.document(), view.content.marks[0]).center().toPoint()
    assert not wheel(view, inside, 0, -120), "up and down is the conversation's"
    assert bar.value() == 0
    assert wheel(view, inside, -120, -30)
    assert bar.value() == bar.singleStep()
    assert not wheel(view, inside, -30, -120)
    assert wheel(view, inside, 0, -120, modifiers=Qt.KeyboardModifier.ShiftModifier)
    assert bar.value() == 2 * bar.singleStep()
    assert not wheel(view, QPoint(5, 5), -120, 0), "no code is there"
    bar.setValue(bar.maximum())
    assert not wheel(view, inside, -120, 0), "it is at its end"


def test_places_in_scrolled_code_are_those_that_are_seen(qtbot: QtBot, chat: ChatView) -> None:
    look.set_code_wrap(False)
    reply = begin_reply(chat)
    end = TEXT.index("value_40")
    reply.append(committed(TEXT, token(end, "target", -1), token(end + 8), step=4, n_drafted=1))
    reply.finish(TEXT)
    view = reply.body
    qtbot.waitUntil(lambda: view.document().textWidth() > 300)
    settle(qtbot)
    cursor = line_of(view, "value_40")
    cursor.setPosition(cursor.selectionStart() + 3)
    bar = bars_in(view)[0]
    bar.setValue(round(view.cursorRect(cursor).left()) - 200)
    at = view.cursorRect(cursor).center() - QPoint(bar.value(), 0)
    assert 150 < at.x() < 250
    qtbot.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    qtbot.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert view.createMimeDataFromSelection().text() == "value_40"
    assert "draft" in view.tool_tip_at(at)
    assert view.horizontalScrollBar().value() == 0


def test_long_code_that_grows_gets_its_bar(qtbot: QtBot, chat: ChatView) -> None:
    look.set_code_wrap(False)
    reply = begin_reply(chat)
    reply.append(committed("Code:\n\n```python\nx = 1\n"))
    reply.flush()
    qtbot.waitUntil(lambda: reply.body.document().textWidth() > 300)
    assert not bars_in(reply.body)[0].isVisible()
    reply.append(committed(LONG))
    reply.flush()
    bar = bars_in(reply.body)[0]
    assert bar.isVisible()
    before = bar.maximum()
    reply.append(committed(" + more" * 20))
    reply.flush()
    assert bars_in(reply.body) == [bar]
    assert bar.maximum() > before


def test_the_switch_is_on_the_card_in_the_menu_and_remembered(
    program: Program, qtbot: QtBot
) -> None:
    program.window.show()
    show(program, ["Why?", TEXT])
    item = list_in(program.window.chat_pane.chat).items[-1]
    assert isinstance(item, ReplyView)
    view = item.body
    qtbot.waitUntil(lambda: button(view, "Don't wrap") is not None)
    action = program.window.actions_.wrap_code
    assert action.isChecked()
    click(button(view, "Don't wrap"))
    assert not action.isChecked()
    assert not program.settings.value("wraps_code")
    qtbot.waitUntil(lambda: button(view, "Wrap") is not None)
    fmt = line_of(view, "return").block().blockFormat()
    assert fmt.boolProperty(QTextFormat.Property.BlockNonBreakableLines)
    action.trigger()
    qtbot.waitUntil(lambda: button(view, "Don't wrap") is not None)
    assert program.settings.value("wraps_code")
