"""The conversation: bubbles and replies in one scrolling column.

Runs on the main thread. Replies collect their tokens; `WritingPace` decides when they write them.
`MessagePages` decides which messages have a view, `MessageWalk` moves between them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from time import perf_counter
from typing import NamedTuple

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from paceline.conversation import ViewPlace
from paceline.gui.chat.composer import Composer
from paceline.gui.chat.links import MessageRequests
from paceline.gui.chat.markdown.found import any_word
from paceline.gui.chat.messages.message_actions import Act
from paceline.gui.chat.messages.message_item import MessageItem, ShownMessage
from paceline.gui.chat.messages.message_list import MARGIN_PX, EndLine, MessageList
from paceline.gui.chat.messages.message_pages import MessagePages, MessageWalk
from paceline.gui.chat.messages.reply_view import ReplyView
from paceline.gui.chat.messages.user_bubble import UserBubble
from paceline.gui.kit.announcer import Announcer
from paceline.gui.kit.layouts import centred, column_of
from paceline.gui.kit.notices import ErrorBar
from paceline.gui.kit.search_field import FindBar
from paceline.gui.look.current import look
from paceline.gui.look.scale import px
from paceline.gui.state.settings_store import Setting
from paceline.gui.state.sources import Sources
from paceline.settings import SendKey

_N_DELETED = 3
MARKED_MS = 6_000
"""Time for which the words of a search in the list of chats stay marked."""
_SEEN_PX = 24
"""Minimum distance of a hit from the view's edges; closer ones are scrolled towards the middle."""


FLUSH_MS = 33
MAX_FLUSH_MS = 500
TURN_S = 0.012
"""Maximum duration of a turn when many replies wait, or many messages are to be built."""
PAUSE_RATIO = 40
"""Pause after writing, as a multiple of its duration: painting costs twice as much again."""


class WritingPace(QObject):
    """Schedule of the writing of waiting replies, one after the other."""

    wrote = Signal(object)
    """Carries the `ReplyView` that has just written."""
    finished = Signal()
    """No reply is waiting any more."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._waiting: dict[ReplyView, None] = {}
        self._rests_until_s = 0.0
        self.timer = QTimer(self, singleShot=True, interval=FLUSH_MS)
        self.timer.timeout.connect(self.write)

    @property
    def is_idle(self) -> bool:
        """Return whether no reply is waiting."""
        return not self._waiting

    def want(self, reply: ReplyView) -> None:
        """Let a reply write soon."""
        self._waiting[reply] = None
        if not self.timer.isActive():
            # Text after a pause, as the first words of a reply, need not wait.
            self.timer.start(max(0, round((self._rests_until_s - perf_counter()) * 1_000)))

    def forget(self, reply: ReplyView) -> None:
        """Drop a reply that is gone or about to go."""
        self._waiting.pop(reply, None)

    @Slot()
    def write(self) -> None:
        """Let replies write for one turn, and schedule the next turn."""
        start = perf_counter()
        # The last ones first, since the user sees those.
        while self._waiting and perf_counter() - start < TURN_S:
            reply, _ = self._waiting.popitem()
            reply.flush_piece()
            self.wrote.emit(reply)
        pause_ms = round(PAUSE_RATIO * (perf_counter() - start) * 1_000)
        pause_ms = max(FLUSH_MS, min(pause_ms, MAX_FLUSH_MS))
        if any(reply.is_partly_shown for reply in self._waiting):
            pause_ms = 0  # the conversation is being opened; only other events come first
        self._rests_until_s = perf_counter() + pause_ms / 1_000
        self.timer.setInterval(pause_ms)
        if self._waiting:
            self.timer.start()
        else:
            self.finished.emit()


class FoundMarks(NamedTuple):
    """Marks in all messages until further notice: a pattern, and its current hit."""

    pattern: re.Pattern[str] | None = None
    message_id: str = ""
    number: int = 0


class ChatView(QWidget):
    """View of one conversation that follows its end while the user stays there.

    Attributes:
        keeps: Whether edits keep what need not change; None to offer no choice.
    """

    fill_wanted = Signal(object, str)
    """A `ReplyView` that has just been built, and its message's id, to be filled at once. Otherwise
    it shows the message's text."""
    edit_submitted = Signal(str, str)
    """The id of a user's message, and its new text."""
    regenerate_requested = Signal(str)
    continue_requested = Signal(str)
    delete_requested = Signal(str)
    sibling_requested = Signal(str, int)
    branch_requested = Signal(str)
    origin_requested = Signal(str)
    """The branching of the shown chat is to be shown, in the original."""
    run_requested = Signal(str)
    compare_requested = Signal(str)
    answer_twice_requested = Signal(str)

    def __init__(self, sources: Sources | None = None, parent: QWidget | None = None) -> None:
        """Create it empty; `sources` are the titles and colours of drafters."""
        super().__init__(parent)
        self.keeps: Setting | None = None
        self.setObjectName("chat_view")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._sources = sources or Sources()
        self.requests = MessageRequests(self)
        self._is_busy = self._is_dressing = False
        self._send_key: SendKey = "enter"
        self._edits: dict[str, str] = {}
        self._dropped: list[MessageItem] = []
        self._stepped: tuple[int, int] | None = None
        self._found = FoundMarks()
        self._sought = ""
        self._unmark = QTimer(self, singleShot=True, interval=MARKED_MS)
        self._unmark.timeout.connect(self._show_found)
        self._pace = WritingPace(self)
        self._pace.wrote.connect(self._on_wrote)
        self._pace.finished.connect(self._on_all_written)
        self._page_timer = QTimer(self, singleShot=True)
        self._page_timer.timeout.connect(self._on_page_tick)
        self._announcer = Announcer(self)
        self._build()
        self._pages = MessagePages(self._list, self._make_item, self._fill_item, self._drop_item)
        self._walk = MessageWalk(self._list, self._pages, self)
        # Not by `changeEvent`, which would reach every message: visible ones are renewed first.
        look.changed.connect(self._on_look_changed)

    def _build(self) -> None:
        self._list = MessageList()
        self._list.setAccessibleName(self.tr("Conversation"))
        self._list.moved.connect(self._on_moved)
        self._list.ends_wanted.connect(self._on_ends_wanted)
        self._welcome: QWidget | None = None
        self._end = EndLine()
        self._rows = column_of((self._list, 1), self._end, on=self, margins=0, spacing=0)
        self._end.to_end.clicked.connect(self.scroll_to_end)

    # -------------------------------------------------------------------------- messages

    def show_path(self, messages: Sequence[ShownMessage], place: ViewPlace | None = None) -> None:
        """Show a conversation's active path, from its end or from a stored position.

        Only messages near the view are built. Messages that were shown before keep their views.
        """
        stepped, self._stepped = self._stepped, None
        self._announcer.stop()
        self._pages.show(messages)
        self._update_welcome()
        at = self._pages.place_of(place.message_id) if place is not None else None
        if stepped is not None and stepped[0] < len(messages):
            self._pages.go(*stepped)  # the sibling takes the place of the previous one
        elif at is not None and place is not None:
            self._pages.go(at, -place.offset_px)
        else:
            self._pages.go_to_end()
        self._on_moved()

    def add(self, message: ShownMessage) -> UserBubble | ReplyView:
        """Show one more message after the last, and go there."""
        item = self._pages.append(message)
        self._update_welcome()
        if isinstance(item, ReplyView):
            self._announcer.begin(item.text)
        assert isinstance(item, UserBubble | ReplyView)
        return item

    def reply_view(self, message_id: str) -> ReplyView | None:
        """Return a reply's view; None while it is not built. Do not keep it: it comes and goes."""
        item = self._pages.item(message_id)
        return item if isinstance(item, ReplyView) else None

    def go_to(self, message_id: str, words: Sequence[str] = ()) -> None:
        """Show a message at the upper edge, and mark these words in it for a while.

        In a message that is higher than the view, the first of these words is shown.
        """
        at = self._pages.place_of(message_id)
        if at is None:
            return
        item = self._pages.go(at)
        pattern = any_word(words)
        if pattern is not None:
            item.mark(pattern, item.first_hit(pattern) if isinstance(item, ReplyView) else 0)
            self._unmark.start()
            self._sought = message_id
            self._seek()

    def first_seen(self) -> int:
        """Return the path's index of the message at the view's upper edge, or 0 without one."""
        item = self._list.first_seen()
        return (self._pages.place_of(item.message_id) or 0) if item is not None else 0

    def mark(self, pattern: re.Pattern[str] | None) -> None:
        """Mark hits in all messages until further notice; None for no marks."""
        self._found = FoundMarks(pattern)
        self._unmark.stop()
        self._show_found()

    def show_hit(self, message_id: str, number: int, *, seek: bool) -> None:
        """Make this hit of a message the current one, and bring it into view with `seek`.

        In a long text that is still being written into its view, this happens once it is there.
        """
        self._found = self._found._replace(message_id=message_id, number=number)
        at = self._pages.place_of(message_id)
        if seek and at is not None and at not in self._pages.built:
            self._pages.go(at)
        self._show_found()
        if seek:
            self._sought = message_id
            self._seek()

    @Slot(str)
    def show_kept_from(self, message_id: str) -> None:
        """Draw a line above the first message that the model sees; an empty id removes it."""
        self._pages.show_kept_from(message_id)

    @Slot()
    def _show_found(self) -> None:
        """Mark the hits of the present search in every view."""
        for item in self._list.items:
            self._mark_in(item)

    def _mark_in(self, item: MessageItem) -> None:
        is_current = item.message_id == self._found.message_id
        item.mark(self._found.pattern, self._found.number if is_current else None)

    def _seek(self) -> None:
        """Bring the current hit into view, once it is written."""
        at, item = self._pages.place_of(self._sought), self._pages.item(self._sought)
        if at is None or item is None:
            return
        marked = item.marked_px()
        if marked is not None:
            self._sought = ""
            view_px = self._list.viewport().height()
            top = item.y() + marked - self._list.room_above()
            if not _SEEN_PX <= top <= view_px - 3 * _SEEN_PX:
                self._pages.go(at, view_px // 3 - marked)

    def begin_edit(self, message_id: str) -> None:
        """Start to edit a message of the user in place."""
        self.go_to(message_id)
        item = self._pages.item(message_id)
        if isinstance(item, UserBubble):
            item.begin_edit()
            item.focus_text()

    def skipped_by_tab(self) -> AbstractContextManager[None]:
        """Let Tab skip all messages while the context is active, but not the conversation."""
        return self._list.skipped_by_tab()

    def place(self) -> ViewPlace:
        """Return the reading position; an empty one at the conversation's end."""
        item = self._list.first_seen()
        if item is None or self._list.follows:
            return ViewPlace()
        return ViewPlace(item.message_id, self._list.room_above() - item.y())

    # ----------------------------------------------------------------------------- items

    def _make_item(self, message: ShownMessage) -> MessageItem:
        if message.role == "user":
            bubble = UserBubble(message, self.requests, self.keeps)
            bubble.set_send_key(self._send_key)
            item: MessageItem = bubble
        else:
            reply = ReplyView(message, self._sources, self.requests)
            reply.flush_wanted.connect(self._on_flush_wanted)
            # After everything else that follows its end.
            reply.ended.connect(self._on_ended, Qt.ConnectionType.QueuedConnection)
            item = reply
        item.set_busy(self._is_busy)
        item.edit_submitted.connect(self._on_edit_submitted)
        item.edit_ended.connect(self._on_edit_ended)
        item.acted.connect(self._on_acted)
        item.sibling_requested.connect(self._on_sibling_requested)
        return item

    def _fill_item(self, item: MessageItem) -> None:
        if isinstance(item, ReplyView):
            self.fill_wanted.emit(item, item.message_id)
            if item.is_untouched and item.message.text:
                item.finish(item.message.text)
            item.flush_piece()
        self._mark_in(item)
        if item.message_id in self._edits:
            item.begin_edit(self._edits[item.message_id])

    def _drop_item(self, item: MessageItem) -> None:
        if item.unsaved is not None:
            self._edits[item.message_id] = item.unsaved
        if isinstance(item, ReplyView):
            self._pace.forget(item)
        self._walk.forget(item)
        self._dropped.append(item)  # deleting takes a while, too
        self._page_timer.start()

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
            self._pages.extend(perf_counter() + TURN_S)
        if self._dropped or self._pages.wants_more():
            self._page_timer.start()

    # ---------------------------------------------------------------------------- looks

    @Slot()
    def _on_look_changed(self) -> None:
        """Show the same in other colours, or in another size."""
        for item in self._list.items:
            item.renew()
        self._is_dressing = True
        self._dress_seen()

    def _dress_seen(self) -> None:
        """Renew the visible messages at once; the other replies follow as time allows."""
        for item in self._list.seen:
            if isinstance(item, ReplyView) and item.is_look_due:
                item.flush()

    @Slot(bool)
    def set_busy(self, busy: bool) -> None:  # noqa: FBT001
        """Set whether a reply is running in any chat; meanwhile none can be requested."""
        self._is_busy = busy
        for item in self._list.items:
            item.set_busy(busy)

    def set_send_key(self, key: SendKey) -> None:
        """Set the key that sends an edited message."""
        self._send_key = key
        for item in self._list.items:
            if isinstance(item, UserBubble):
                item.set_send_key(key)

    def set_welcome(self, widget: QWidget) -> None:
        """Show this page, which centres itself, in an empty conversation."""
        if self._welcome is not None:
            self._rows.removeWidget(self._welcome)
            self._welcome.deleteLater()
        self._welcome = widget
        self._rows.insertWidget(0, widget, 1)
        self._update_welcome()

    def _update_welcome(self) -> None:
        is_welcome = not self._pages.messages and self._welcome is not None
        if self._welcome is not None:
            self._welcome.setVisible(is_welcome)
        self._list.setVisible(not is_welcome)
        self._end.setVisible(not is_welcome)
        self._update_to_end()

    # --------------------------------------------------------------------------- actions

    @Slot(str, str)
    def _on_acted(self, act: str, message_id: str) -> None:
        requests = {
            Act.REGENERATE: self.regenerate_requested,
            Act.DELETE: self.delete_requested,
            Act.CONTINUE: self.continue_requested,
            Act.ORIGIN: self.origin_requested,
            Act.BRANCH: self.branch_requested,
            Act.DETAILS: self.run_requested,
            Act.COMPARE: self.compare_requested,
            Act.ANSWER_TWICE: self.answer_twice_requested,
        }
        requests[Act(act)].emit(message_id)

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

    # ------------------------------------------------------------------------- streaming

    @Slot(object)
    def _on_flush_wanted(self, reply: ReplyView) -> None:
        if reply in self._list.items:  # otherwise it was removed just now
            self._pace.want(reply)

    @Slot(object)
    def _on_wrote(self, reply: ReplyView) -> None:
        if reply.message_id == self._sought:
            self._seek()
        if reply.is_growing:
            self._announcer.update(reply.text)

    @Slot()
    def _on_all_written(self) -> None:
        self._is_dressing = False

    @Slot(object)
    def _on_ended(self, reply: ReplyView) -> None:
        if reply in self._list.items:
            self._announcer.update(reply.text)
            self._announcer.finish(reply.accessibleName())

    # ------------------------------------------------------------------------- scrolling

    @Slot()
    def scroll_to_end(self) -> None:
        """Go to the last message and follow it."""
        self._walk.to_end()
        self._update_to_end()

    @Slot(int)
    def _on_ends_wanted(self, side: int) -> None:
        if side > 0:
            self.scroll_to_end()
        else:
            self._walk.to_start()

    def _update_to_end(self) -> None:
        is_elsewhere = not self._list.follows and not (
            self._pages.has_end and self._list.room_below() <= 0
        )
        self._end.to_end.setVisible(is_elsewhere)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Offer the button to the end where another size has hidden the end."""
        super().resizeEvent(event)
        self._update_to_end()


MIN_WIDTH = 292


class ChatPane(QWidget):
    """Column of notices, search bar, conversation and composer."""

    def __init__(self, sources: Sources) -> None:
        super().__init__()
        self.setProperty("kind", "page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.errors = ErrorBar()
        self.find_bar = FindBar()
        self.chat = ChatView(sources)
        self.composer = Composer()
        notices = column_of(self.errors, margins=(16, 10, 16, 0))
        column_of(
            notices,
            self._centred(self.find_bar, above=8),
            (self.chat, 1),
            self._centred(self.composer, below=18),
            on=self,
            margins=0,
            spacing=0,
        )
        look.follow(self._fit)

    @Slot()
    def _fit(self) -> None:
        """Set the minimum width: larger text needs more space for Send and the actions."""
        self.setMinimumWidth(max(MIN_WIDTH, px(MIN_WIDTH)))
        for widget in (self.find_bar, self.composer):
            widget.setMaximumWidth(look.column_px)

    @staticmethod
    def _centred(widget: QWidget, *, above: int = 0, below: int = 0) -> QHBoxLayout:
        """Keep a widget as wide as the text of the messages, with pixels above and below."""
        return centred(widget, margins=(MARGIN_PX, above, MARGIN_PX, below))
