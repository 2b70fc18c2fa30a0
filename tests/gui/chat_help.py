"""Helpers that the tests of the chat view share."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QScrollBar,
    QToolButton,
    QWidget,
)

from paceline.gui.chat.markdown.provenance import Provenance
from paceline.gui.chat.markdown.view import MessageView
from paceline.gui.chat.messages.message_actions import MessageActions
from paceline.gui.chat.messages.message_item import MessageItem, ShownMessage
from paceline.gui.chat.messages.message_list import MessageList
from paceline.gui.chat.messages.reply_body import ReplyBody
from paceline.gui.chat.messages.reply_view import ReplyView
from paceline.gui.chat.messages.user_bubble import UserBubble
from paceline.gui.chat.view import ChatView
from paceline.messages import Decision, DraftCount, StepCommitted, TokenTrace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

LONG = "A line of text that is shown.\n\n" * 60
_numbers = count()


def shown_chat(qtbot: QtBot) -> Iterator[ChatView]:
    """A visible chat of 700 by 500 pixels."""
    # Within another widget: the offscreen plug-in knows no smallest sizes of windows.
    host = QWidget()
    qtbot.addWidget(host)
    view = ChatView(parent=host)
    view.resize(700, 500)
    host.resize(1600, 500)
    host.show()
    yield view
    host.close()


def say(chat: ChatView, text: str, name: str = "") -> UserBubble:
    """Add what the user wrote."""
    bubble = chat.add(ShownMessage(name or f"said-{next(_numbers)}", "user", text))
    assert isinstance(bubble, UserBubble)
    return bubble


def begin_reply(chat: ChatView, name: str = "") -> ReplyView:
    """Add an empty reply, which takes its text from now on."""
    reply = chat.add(ShownMessage(name or f"reply-{next(_numbers)}", "assistant", ""))
    assert isinstance(reply, ReplyView)
    return reply


def finished(chat: ChatView, text: str, name: str = "") -> ReplyView:
    """Add a whole reply."""
    reply = begin_reply(chat, name)
    reply.append(committed(text))
    reply.finish(text)
    reply.flush()
    return reply


def shown_body(qtbot: QtBot, tokens: Provenance | None = None) -> Iterator[ReplyBody]:
    """A visible body of a reply, 700 pixels wide; it receives `tokens` before their text."""
    host = QWidget()  # as for the chat
    qtbot.addWidget(host)
    host.resize(1600, 900)
    body = ReplyBody(tokens or Provenance())
    body.setParent(host)
    body.resize(700, 1)
    host.show()
    yield body
    host.close()


def shows_actions(item: MessageItem) -> bool:
    """Return True where the row of a message's actions can be seen."""
    actions = item.findChild(MessageActions)
    return isinstance(actions, MessageActions) and not actions.isHidden()


def list_in(chat: ChatView) -> MessageList:
    """Return the list that scrolls, with the messages that have a view."""
    found = chat.findChild(MessageList)
    assert isinstance(found, MessageList)
    return found


def item_in(chat: ChatView, message_id: str) -> MessageItem:
    """Return the view of a message, which must have one."""
    (item,) = (item for item in list_in(chat).items if item.message_id == message_id)
    return item


def to_end_in(chat: ChatView) -> QWidget:
    """Return the button that goes to the latest message."""
    (found,) = (b for b in chat.findChildren(QAbstractButton) if "Latest" in b.text())
    return found


def unfold_of(bubble: UserBubble) -> QToolButton:
    """Return the button that shows all of a long question."""
    (found,) = (b for b in bubble.findChildren(QToolButton) if b.text().startswith("Show"))
    return found


def bars_in(view: MessageView) -> list[QScrollBar]:
    """Return the bars that scroll code sideways, from the first card on."""
    return list(view.viewport().findChildren(QScrollBar))


def rest(chat: ChatView, qtbot: QtBot) -> None:
    """Wait until every message near the view is built."""

    def is_building() -> bool:
        own = Qt.FindChildOption.FindDirectChildrenOnly
        timers = chat.findChildren(QTimer, options=own)
        return any(timer.isActive() and not timer.interval() for timer in timers)

    qtbot.waitUntil(lambda: not is_building())
    QApplication.processEvents()


def settle(qtbot: QtBot) -> None:
    """Let layouts show what was added and find their sizes."""
    qtbot.wait(20)
    for _ in range(10):  # a machine that is busy may do none of it in time, and one brings the next
        QApplication.processEvents()


def token(end: int, source: str = "draft", position: int = 0) -> TokenTrace:
    """A token that ends at this character of the reply."""
    return TokenTrace(5, source, position, 0.5, end)


def committed(
    text: str,
    *tokens: TokenTrace,
    step: int = 0,
    n_drafted: int = 0,
    seconds: float = 0.0,
    decision: Decision | None = None,
) -> StepCommitted:
    """A step that added this text."""
    drafted = (DraftCount("draft", n_drafted, 0),) if n_drafted else ()
    return StepCommitted(step, tokens, text, drafted, 0.0, seconds, 0.0, seconds, decision=decision)


def button(widget: QWidget, text: str) -> QToolButton | None:
    """The visible button with a text."""
    found = [b for b in widget.findChildren(QToolButton) if b.text() == text and b.isVisible()]
    return found[0] if found else None


def click(found: QToolButton | None) -> None:
    """Press a button that must be there."""
    assert found is not None
    found.click()


def wheel(
    view: QAbstractScrollArea,
    at: QPoint,
    x: int,
    y: int,
    modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
) -> bool:
    """Turn the mouse wheel over a message or the plot; return whether that took it."""
    event = QWheelEvent(
        QPointF(at),
        QPointF(view.viewport().mapToGlobal(at)),
        QPoint(),
        QPoint(x, y),
        Qt.MouseButton.NoButton,
        modifiers,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view.viewport(), event)
    return event.isAccepted()
