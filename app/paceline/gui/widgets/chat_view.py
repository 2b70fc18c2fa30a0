"""The conversation: bubbles and replies in one scrolling column.

Runs on the main thread. Replies collect what they get; one timer here writes it at 30 Hz at most,
and slower when writing takes long, so that writing never takes more than a 40th of the time.
Which messages have a view at all stands in `message_pages`.

Long: it is the one door to the conversation's view, and hands on what its parts ask for.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from PySide6.QtCore import QEasingCurve, QPropertyAnimation, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication, QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from paceline.conversation import ViewPlace
from paceline.gui.widgets.announcer import Announcer
from paceline.gui.widgets.message_actions import Act
from paceline.gui.widgets.message_list import COLUMN_PX, MARGIN_PX, MessageList
from paceline.gui.widgets.message_pages import MessagePages
from paceline.gui.widgets.reply_view import ReplyView
from paceline.gui.widgets.source_legend import LEGEND_PX, SourceLegend
from paceline.gui.widgets.user_bubble import UserBubble
from paceline.gui.widgets.welcome_page import WelcomePage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from PySide6.QtGui import QResizeEvent

    from paceline.gui.icons import Icons
    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.shown import ShownMessage
    from paceline.gui.widgets.message_item import MessageItem
    from paceline.settings import SendKey

__all__ = ["COLUMN_PX", "ChatView"]

FLUSH_MS = 33
MAX_FLUSH_MS = 500
TICK_BUDGET_S = 0.012
"""When many replies wait, or many messages are to be built, each tick works for this long."""
GLIDE_MS = 160
_PAUSE = 40
"""Times as long as writing took, until the next time: painting costs twice as much again."""
_N_DELETED = 3


class ChatView(QWidget):
    """Shows one conversation and follows its end while the user stays there."""

    fill_wanted = Signal(object, str)
    """A `ReplyView` that has just been built, and its message's id: fill it in at once. A reply
    that nobody fills in shows the message's text."""
    edit_submitted = Signal(str, str)
    """A user's message and its new text."""
    regenerate_requested = Signal(str)
    sibling_requested = Signal(str, int)
    branch_requested = Signal(str)
    run_requested = Signal(str)
    link_activated = Signal(str)
    """An http or https address; whether it is opened is for the receiver to ask."""
    copy_requested = Signal(str)
    """Text for the clipboard: a message or a block of code."""
    code_save_requested = Signal(str, str)
    """A block's language and its code, for a file."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chat_view")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._theme = theme
        self._icons: Icons | None = None
        self._has_token_colours = True
        self._is_busy = self._moves = self._is_dressing = False
        self._send_key: SendKey = "enter"
        self._edits: dict[str, str] = {}
        self._waiting: dict[ReplyView, None] = {}
        self._dropped: list[MessageItem] = []
        self._focused: MessageItem | None = None
        self._stepped: tuple[int, int] | None = None
        self._timer = self._make_timer(FLUSH_MS, self._on_tick)
        self._rests_until_s = 0.0
        self._page_timer = self._make_timer(0, self._on_page_tick)
        self._announcer = Announcer(self)
        self._build()
        self._pages = MessagePages(self._list, self._make_item, self._fill_item, self._drop_item)
        QApplication.instance().focusChanged.connect(self._on_focus_changed)  # type: ignore[union-attr]

    def _make_timer(self, interval_ms: int, slot: object) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(interval_ms)
        timer.timeout.connect(slot)
        return timer

    def _build(self) -> None:
        self._list = MessageList()
        self._list.setAccessibleName(self.tr("Conversation"))
        self._list.moved.connect(self._on_moved)
        self._list.ends_wanted.connect(self._on_ends_wanted)
        self._list.step_wanted.connect(self._on_step_wanted)
        self._glide = QPropertyAnimation(self._list.verticalScrollBar(), b"value", self)
        self._glide.setDuration(GLIDE_MS)
        self._glide.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._welcome = WelcomePage()
        self._welcome.hide()
        self._legend = SourceLegend(self._theme)
        self._legend.setMaximumWidth(COLUMN_PX)
        self._legend.hide()
        self._below = QWidget()
        self._below.setFixedHeight(LEGEND_PX)
        row = QHBoxLayout(self._below)
        row.setContentsMargins(MARGIN_PX, 0, MARGIN_PX, 2)
        row.addStretch(1)
        row.addWidget(self._legend, 1000)
        row.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._welcome, 1)
        layout.addWidget(self._list, 1)
        layout.addWidget(self._below)
        self._to_end = QToolButton(self)
        self._to_end.setProperty("kind", "chip")
        self._to_end.setText(self.tr("↓ Latest"))
        self._to_end.setIconSize(QSize(16, 16))
        self._to_end.setAccessibleName(self.tr("Go to the latest message"))
        self._to_end.clicked.connect(self.scroll_to_end)
        self._to_end.hide()

    # -------------------------------------------------------------------------- messages

    def show_path(self, messages: Sequence[ShownMessage], place: ViewPlace | None = None) -> None:
        """Show a conversation's active path, from its end or from where it was left.

        Only what is near the view is built. Messages that were shown before keep their views.
        """
        stepped, self._stepped = self._stepped, None
        self._announcer.stop()
        self._pages.show(messages)
        self._update_welcome()
        at = self._pages.place_of(place.message_id) if place is not None else None
        if stepped is not None and stepped[0] < len(messages):
            self._pages.go(*stepped)  # the sibling takes the place of the one before
        elif at is not None and place is not None:
            self._pages.go(at, -place.offset_px)
        else:
            self._pages.go_to_end()
        self._on_moved()

    def add(self, message: ShownMessage) -> UserBubble | ReplyView:
        """Show one more message behind the last, and go there."""
        item = self._pages.append(message)
        self._update_welcome()
        if isinstance(item, ReplyView):
            self._announcer.begin(item.text)
        assert isinstance(item, UserBubble | ReplyView)
        return item

    def reply_view(self, message_id: str) -> ReplyView | None:
        """A reply's view; None while it is not built. Do not keep it: it comes and goes."""
        item = self._pages.item(message_id)
        return item if isinstance(item, ReplyView) else None

    def update_message(self, message: ShownMessage) -> None:
        """Take other sibling counts or another text of a message."""
        self._pages.replace(message)

    def go_to(self, message_id: str, words: Sequence[str] = ()) -> None:
        """Show a message at the upper edge, and mark these words in it for a while.

        Of a message that is higher than the view the first of these words is shown.
        """
        at = self._pages.place_of(message_id)
        if at is None:
            return
        item = self._pages.go(at)
        if not words:
            return
        item.mark_words(tuple(words))
        marked = item.marked_px()
        view_px = self._list.viewport().height()
        if marked is not None and marked > view_px * 3 // 4:
            self._pages.go(at, view_px // 3 - marked)

    def begin_edit(self, message_id: str) -> None:
        """Let a message of the user be edited where it stands."""
        self.go_to(message_id)
        item = self._pages.item(message_id)
        if isinstance(item, UserBubble):
            item.begin_edit()
            item.focus_text()

    def passed_by(self) -> AbstractContextManager[None]:
        """Meanwhile Tab comes to no message, only to the conversation itself."""
        return self._list.passed_by()

    def place(self) -> ViewPlace:
        """Where the conversation is being read; at its end: an empty place."""
        item = self._list.first_seen()
        if item is None or self._list.follows:
            return ViewPlace()
        return ViewPlace(item.message_id, self._list.room_above() - item.y())

    # ----------------------------------------------------------------------------- items

    def _make_item(self, message: ShownMessage) -> MessageItem:
        if message.role == "user":
            bubble = UserBubble(message, self._theme, self._icons)
            bubble.set_send_key(self._send_key)
            bubble.edit_submitted.connect(self._on_edit_submitted)
            bubble.edit_ended.connect(self._on_edit_ended)
            item: MessageItem = bubble
        else:
            reply = ReplyView(message, self._theme, self._icons)
            reply.set_token_colours(self._has_token_colours)
            reply.flush_wanted.connect(self._on_flush_wanted)
            reply.code_save_requested.connect(self.code_save_requested)
            reply.drafts_seen.connect(self._update_legend)
            # Behind whatever is still said about its end.
            reply.ended.connect(self._on_ended, Qt.ConnectionType.QueuedConnection)
            item = reply
        item.set_busy(self._is_busy)
        item.acted.connect(self._on_acted)
        item.sibling_requested.connect(self._on_sibling_requested)
        item.link_activated.connect(self.link_activated)
        item.copy_requested.connect(self.copy_requested)
        return item

    def _fill_item(self, item: MessageItem) -> None:
        if isinstance(item, UserBubble):
            if item.message_id in self._edits:
                item.begin_edit(self._edits[item.message_id])
            return
        if not isinstance(item, ReplyView):
            return
        self.fill_wanted.emit(item, item.message_id)
        if item.is_untouched and item.message.text:
            item.finish(item.message.text)
        item.flush_piece()

    def _drop_item(self, item: MessageItem) -> None:
        if isinstance(item, UserBubble) and item.unsaved is not None:
            self._edits[item.message_id] = item.unsaved
        if isinstance(item, ReplyView):
            self._waiting.pop(item, None)
        if item is self._focused:
            self._focused = None
        self._dropped.append(item)  # deleting takes a while, too
        self._page_timer.start()

    def _replies(self) -> list[ReplyView]:
        return [item for item in self._list.items if isinstance(item, ReplyView)]

    @Slot()
    def _on_moved(self) -> None:
        if self._pages.wants_more() and not self._page_timer.isActive():
            self._page_timer.start()
        if self._is_dressing:
            self._dress_seen()
        self._update_to_end()

    @Slot()
    def _on_page_tick(self) -> None:
        for item in self._dropped[:_N_DELETED]:
            item.deleteLater()
        del self._dropped[:_N_DELETED]
        if not self._dropped:
            self._pages.extend(perf_counter() + TICK_BUDGET_S)
        self._update_legend()
        if self._dropped or self._pages.wants_more():
            self._page_timer.start()

    # ---------------------------------------------------------------------------- looks

    def set_theme(self, theme: Theme) -> None:
        """Show the same in other colours."""
        self._theme = theme
        self._legend.set_theme(theme)
        for item in self._list.items:
            item.set_icons(self._icons)
            item.set_theme(theme)
        self._is_dressing = True
        self._dress_seen()
        self._show_icons()

    def _dress_seen(self) -> None:
        """Show at once in the new colours what is seen; the rest follows as there is time."""
        for item in self._list.seen:
            if isinstance(item, ReplyView) and item.is_theme_due:
                item.flush()

    def set_icons(self, icons: Icons) -> None:
        """Draw with these icons; call it before `set_theme`."""
        self._icons = icons
        self._show_icons()

    def _show_icons(self) -> None:
        if self._icons is not None:
            self._to_end.setIcon(self._icons.icon("arrow-down", self._theme.text))
            self._to_end.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            self._to_end.setText(self.tr("Latest"))

    @Slot(bool)
    def set_token_colours(self, on: bool) -> None:  # noqa: FBT001
        """Show or hide in all replies where each token came from."""
        self._has_token_colours = on
        for reply in self._replies():
            reply.set_token_colours(on)
        self._update_legend()

    @Slot(bool)
    def set_busy(self, busy: bool) -> None:  # noqa: FBT001
        """Whether a reply is generated anywhere: meanwhile nothing can be asked anew."""
        self._is_busy = busy
        for item in self._list.items:
            item.set_busy(busy)

    @Slot(bool)
    def set_motion(self, reduced: bool) -> None:  # noqa: FBT001
        """Whether going to the latest message jumps there (as at first) or glides."""
        self._moves = not reduced

    def set_send_key(self, key: SendKey) -> None:
        """Which key sends an edited message."""
        self._send_key = key
        for item in self._list.items:
            if isinstance(item, UserBubble):
                item.set_send_key(key)

    def show_welcome(self, title: str, body: str) -> None:
        """What an empty conversation shows; gone with the first message."""
        self._welcome.show_text(title, body)
        self._update_welcome()

    def set_welcome(self, widget: QWidget) -> None:
        """Show this in an empty conversation instead of the text."""
        self._welcome.show_widget(widget)
        self._update_welcome()

    def _update_welcome(self) -> None:
        is_welcome = not self._pages.messages and self._welcome.has_content
        self._welcome.setVisible(is_welcome)
        self._list.setVisible(not is_welcome)
        self._below.setVisible(not is_welcome)
        self._update_to_end()
        self._update_legend()

    @Slot()
    def _update_legend(self) -> None:
        self._legend.setVisible(
            self._has_token_colours and any(reply.has_drafts for reply in self._replies())
        )

    # --------------------------------------------------------------------------- actions

    @Slot(str, str)
    def _on_acted(self, act: str, message_id: str) -> None:
        if act == Act.REGENERATE:
            self.regenerate_requested.emit(message_id)
        elif act == Act.BRANCH:
            self.branch_requested.emit(message_id)
        elif act == Act.DETAILS:
            self.run_requested.emit(message_id)

    @Slot(str, int)
    def _on_sibling_requested(self, message_id: str, step: int) -> None:
        at, item = self._pages.place_of(message_id), self._pages.item(message_id)
        if at is not None and item is not None:
            self._stepped = at, item.y() - self._list.room_above()
        self.sibling_requested.emit(message_id, step)

    @Slot(str, str)
    def _on_edit_submitted(self, message_id: str, text: str) -> None:
        self._edits.pop(message_id, None)
        self.edit_submitted.emit(message_id, text)

    @Slot(str)
    def _on_edit_ended(self, message_id: str) -> None:
        self._edits.pop(message_id, None)

    @Slot("QWidget*", "QWidget*")
    def _on_focus_changed(self, _old: QWidget | None, now: QWidget | None) -> None:
        found = None
        if now is not None and self._list.isAncestorOf(now):
            found = next((item for item in self._list.items if item.isAncestorOf(now)), None)
        if found is self._focused:
            return
        if self._focused is not None:
            self._focused.set_focused(False)
        self._focused = found
        if found is not None:
            found.set_focused(True)

    # ------------------------------------------------------------------------- streaming

    @Slot(object)
    def _on_flush_wanted(self, reply: ReplyView) -> None:
        if reply not in self._list.items:
            return  # taken out just now
        self._waiting[reply] = None
        if not self._timer.isActive():
            # What comes after a while, as the first words of a reply do, need not wait.
            self._timer.start(max(0, round((self._rests_until_s - perf_counter()) * 1_000)))

    @Slot()
    def _on_tick(self) -> None:
        start = perf_counter()
        # The last ones first: they are what the user sees.
        while self._waiting and perf_counter() - start < TICK_BUDGET_S:
            reply, _ = self._waiting.popitem()
            reply.flush_piece()
            if reply.is_growing:
                self._announcer.hear(reply.text)
        pause_ms = round(_PAUSE * (perf_counter() - start) * 1_000)
        pause_ms = max(FLUSH_MS, min(pause_ms, MAX_FLUSH_MS))
        if any(reply.is_partly_shown for reply in self._waiting):
            pause_ms = 0  # it is being opened; only other events come first
        self._rests_until_s = perf_counter() + pause_ms / 1_000
        self._timer.setInterval(pause_ms)
        if self._waiting:
            self._timer.start()
        else:
            self._is_dressing = False

    @Slot(object)
    def _on_ended(self, reply: ReplyView) -> None:
        if reply in self._list.items:
            self._announcer.hear(reply.text)
            self._announcer.finish(reply.accessibleName())

    # ------------------------------------------------------------------------- scrolling

    @Slot()
    def scroll_to_end(self) -> None:
        """Go to the last message and follow it."""
        bar = self._list.verticalScrollBar()
        way = bar.maximum() - bar.value()
        is_near = self._pages.has_end and 0 < way < 2 * self._list.viewport().height()
        if self._moves and is_near and not self._list.follows:
            self._glide.setEndValue(bar.maximum())
            self._glide.start()
        else:
            self._pages.go_to_end()
        self._update_to_end()

    @Slot(int)
    def _on_ends_wanted(self, side: int) -> None:
        if side > 0:
            self.scroll_to_end()
        elif self._pages.messages:
            self._pages.go(0)

    @Slot(int)
    def _on_step_wanted(self, step: int) -> None:
        item = self._focused or self._list.first_seen()
        at = self._pages.place_of(item.message_id) if item is not None else None
        if at is None:
            return
        if self._focused is not None or step < 0:
            at += step
        if 0 <= at < len(self._pages.messages):
            self._pages.go(at).focus_text()

    @Slot()
    def go_to_previous(self) -> None:
        """Give the keyboard to the message before."""
        self._on_step_wanted(-1)

    @Slot()
    def go_to_next(self) -> None:
        """Give the keyboard to the message behind."""
        self._on_step_wanted(1)

    def _update_to_end(self) -> None:
        is_elsewhere = not self._list.follows and not (
            self._pages.has_end and self._list.room_below() <= 0
        )
        self._to_end.setVisible(is_elsewhere and self._list.isVisible())
        if self._to_end.isVisible():
            size = self._to_end.sizeHint()
            self._to_end.resize(size)
            bottom = self._list.geometry().bottom() - 8
            self._to_end.move((self.width() - size.width()) // 2, bottom - size.height())
            self._to_end.raise_()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the button above the text in its place."""
        super().resizeEvent(event)
        self._update_to_end()
