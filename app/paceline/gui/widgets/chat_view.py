"""The conversation: bubbles and replies in one scrolling column.

Runs on the main thread. Replies collect what they get; one timer here writes it at 30 Hz at most,
and slower when writing takes long, so that streaming never uses more than a quarter of the time.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from paceline.gui.widgets.reply_view import ReplyView
from paceline.gui.widgets.user_bubble import UserBubble

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from paceline.gui.theme import Theme

COLUMN_PX = 760
FLUSH_MS = 33
MAX_FLUSH_MS = 500
TICK_BUDGET_S = 0.012
"""When many replies wait, as after opening a conversation, each tick renders for this long."""

_NEAR_BOTTOM_PX = 24
_MARGIN_PX = 24


class ChatView(QWidget):
    """Shows one conversation and follows its end while the user stays there."""

    link_activated = Signal(str)
    """An http or https address; whether it is opened is for the receiver to ask."""
    copy_requested = Signal(str)
    """Text for the clipboard: a reply's Markdown or a block of code."""
    regenerate_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chat_view")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._theme = theme
        self._has_token_colours = True
        self._follows = True
        self._items: list[UserBubble | ReplyView] = []
        self._waiting: dict[ReplyView, None] = {}
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(FLUSH_MS)
        self._timer.timeout.connect(self._on_tick)
        self._build()

    def _build(self) -> None:
        self._column = QVBoxLayout()
        self._column.setContentsMargins(0, 24, 0, 24)
        self._column.setSpacing(24)
        self._column.addStretch(1)
        column = QWidget()
        column.setMaximumWidth(COLUMN_PX)
        column.setLayout(self._column)
        page = QWidget()
        page.setObjectName("chat_page")
        row = self._row = QHBoxLayout(page)
        row.addStretch(1)
        row.addWidget(column, 1000)
        row.addStretch(1)

        self._scroll = QScrollArea()
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(page)
        self._scroll.setAccessibleName(self.tr("Conversation"))
        bar = self._scroll.verticalScrollBar()
        bar.setSingleStep(24)
        bar.valueChanged.connect(self._on_scrolled)
        bar.rangeChanged.connect(self._on_range_changed)

        self._leave_room_for_bar(is_shown=False)

        self._welcome = self._make_welcome()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._welcome, 1)
        layout.addWidget(self._scroll, 1)
        self._welcome.hide()

        self._to_end = QToolButton(self)
        self._to_end.setProperty("kind", "chip")
        self._to_end.setText(self.tr("↓ Latest"))
        self._to_end.setAccessibleName(self.tr("Go to the latest message"))
        self._to_end.clicked.connect(self.scroll_to_end)
        self._to_end.hide()

    def _make_welcome(self) -> QWidget:
        page = QWidget()
        self._welcome_title = QLabel()
        self._welcome_title.setProperty("role", "heading")
        self._welcome_body = QLabel()
        self._welcome_body.setProperty("role", "muted")
        layout = QVBoxLayout(page)
        layout.setContentsMargins(24, 24, 24, 24)
        layout.setSpacing(8)
        layout.addStretch(1)
        for label in (self._welcome_title, self._welcome_body):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setWordWrap(True)
            layout.addWidget(label)
        layout.addStretch(1)
        return page

    # -------------------------------------------------------------------------- messages

    def clear(self) -> None:
        """Forget all messages and delete their views; the welcome comes back if there is one."""
        self._timer.stop()
        self._waiting.clear()
        for item in self._items:
            self._column.removeWidget(item)
            item.hide()
            item.deleteLater()
        self._items.clear()
        self._follows = True
        self._update_welcome()

    def add_user(self, text: str) -> None:
        """Show what the user wrote, as typed."""
        bubble = UserBubble(text, self._theme)
        bubble.link_activated.connect(self.link_activated)
        self._add(bubble)

    def begin_reply(self) -> ReplyView:
        """Show an empty reply and return it; it takes its text from now on."""
        reply = ReplyView(self._theme)
        reply.set_token_colours(self._has_token_colours)
        reply.flush_wanted.connect(self._on_flush_wanted)
        reply.link_activated.connect(self.link_activated)
        reply.copy_requested.connect(self.copy_requested)
        reply.regenerate_requested.connect(self.regenerate_requested)
        self._add(reply)
        return reply

    def _add(self, item: UserBubble | ReplyView) -> None:
        for reply in self._replies()[-1:]:
            reply.set_can_regenerate(False)
        if isinstance(item, ReplyView):
            item.set_can_regenerate(True)
        self._items.append(item)
        self._column.insertWidget(self._column.count() - 1, item)
        self._update_welcome()
        self.scroll_to_end()

    def _replies(self) -> list[ReplyView]:
        return [item for item in self._items if isinstance(item, ReplyView)]

    def set_theme(self, theme: Theme) -> None:
        """Show the same in other colours."""
        self._theme = theme
        for item in self._items:
            item.set_theme(theme)

    def set_token_colours(self, on: bool) -> None:  # noqa: FBT001
        """Show or hide in all replies where each token came from."""
        self._has_token_colours = on
        for reply in self._replies():
            reply.set_token_colours(on)

    def show_welcome(self, title: str, body: str) -> None:
        """What an empty conversation shows; gone with the first message."""
        self._welcome_title.setText(title)
        self._welcome_body.setText(body)
        self._update_welcome()

    def _update_welcome(self) -> None:
        is_welcome = not self._items and bool(self._welcome_title.text())
        self._welcome.setVisible(is_welcome)
        self._scroll.setVisible(not is_welcome)
        self._update_to_end()

    # ------------------------------------------------------------------------- streaming

    @Slot(object)
    def _on_flush_wanted(self, reply: ReplyView) -> None:
        if reply not in self._items:
            return  # taken out by `clear` just now
        self._waiting[reply] = None
        if not self._timer.isActive():
            self._timer.start()

    @Slot()
    def _on_tick(self) -> None:
        start = perf_counter()
        # The last ones first: they are what the user sees.
        while self._waiting and perf_counter() - start < TICK_BUDGET_S:
            reply, _ = self._waiting.popitem()
            reply.flush()
        spent_ms = int((perf_counter() - start) * 1_000)
        self._timer.setInterval(max(FLUSH_MS, min(4 * spent_ms, MAX_FLUSH_MS)))
        if self._waiting:
            self._timer.start()

    # ------------------------------------------------------------------------- scrolling

    @Slot()
    def scroll_to_end(self) -> None:
        """Go to the last message and follow it."""
        self._follows = True
        bar = self._scroll.verticalScrollBar()
        bar.setValue(bar.maximum())
        self._update_to_end()

    @Slot(int)
    def _on_scrolled(self, value: int) -> None:
        self._follows = value >= self._scroll.verticalScrollBar().maximum() - _NEAR_BOTTOM_PX
        self._update_to_end()

    @Slot(int, int)
    def _on_range_changed(self, _minimum: int, maximum: int) -> None:
        bar = self._scroll.verticalScrollBar()
        self._leave_room_for_bar(is_shown=maximum > 0)
        if self._follows:
            bar.setValue(maximum)
        self._follows = bar.value() >= maximum - _NEAR_BOTTOM_PX
        self._update_to_end()

    def _leave_room_for_bar(self, *, is_shown: bool) -> None:
        """Keep the column's width and place when the scroll bar comes and goes."""
        taken = self._scroll.verticalScrollBar().sizeHint().width() if is_shown else 0
        self._row.setContentsMargins(_MARGIN_PX, 0, max(0, _MARGIN_PX - taken), 0)

    def _update_to_end(self) -> None:
        self._to_end.setVisible(not self._follows and self._scroll.isVisible())
        if self._to_end.isVisible():
            size = self._to_end.sizeHint()
            self._to_end.resize(size)
            self._to_end.move(
                (self.width() - size.width()) // 2, self.height() - size.height() - 12
            )
            self._to_end.raise_()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the button above the text in its place."""
        super().resizeEvent(event)
        self._update_to_end()
