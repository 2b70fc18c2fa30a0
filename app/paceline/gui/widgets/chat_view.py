"""The conversation: bubbles and replies in one scrolling column.

Runs on the main thread. Replies collect what they get, and `writing_pace` says when they write it.
Which messages have a view at all stands in `message_pages`, how one gets about in `message_walk`.

Long: it is the one door to the conversation's view, and hands on what its parts ask for.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from paceline.conversation import ViewPlace
from paceline.gui.widgets.announcer import Announcer
from paceline.gui.widgets.latest_button import LatestButton
from paceline.gui.widgets.message_actions import Act
from paceline.gui.widgets.message_list import MessageList
from paceline.gui.widgets.message_pages import MessagePages
from paceline.gui.widgets.message_walk import MessageWalk
from paceline.gui.widgets.reply_view import ReplyView
from paceline.gui.widgets.source_legend import LegendLine
from paceline.gui.widgets.user_bubble import UserBubble
from paceline.gui.widgets.welcome_page import WelcomePage
from paceline.gui.widgets.writing_pace import TURN_S, WritingPace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from PySide6.QtGui import QResizeEvent

    from paceline.gui.icons import Icons
    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.shown import ShownMessage
    from paceline.gui.widgets.message_item import MessageItem
    from paceline.settings import SendKey

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
        self._is_busy = self._is_dressing = False
        self._send_key: SendKey = "enter"
        self._edits: dict[str, str] = {}
        self._dropped: list[MessageItem] = []
        self._stepped: tuple[int, int] | None = None
        self._pace = WritingPace(self)
        self._pace.wrote.connect(self._on_wrote)
        self._pace.finished.connect(self._on_all_written)
        self._page_timer = QTimer(self)
        self._page_timer.setSingleShot(True)
        self._page_timer.timeout.connect(self._on_page_tick)
        self._announcer = Announcer(self)
        self._build()
        self._pages = MessagePages(self._list, self._make_item, self._fill_item, self._drop_item)
        self._walk = MessageWalk(self._list, self._pages, self)

    def _build(self) -> None:
        self._list = MessageList()
        self._list.setAccessibleName(self.tr("Conversation"))
        self._list.moved.connect(self._on_moved)
        self._list.ends_wanted.connect(self._on_ends_wanted)
        self._welcome = WelcomePage()
        self._welcome.hide()
        self._legend = LegendLine(self._theme)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._welcome, 1)
        layout.addWidget(self._list, 1)
        layout.addWidget(self._legend)
        self._to_end = LatestButton(self)
        self._to_end.clicked.connect(self.scroll_to_end)

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
            self._pace.forget(item)
        self._walk.forget(item)
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
            self._pages.extend(perf_counter() + TURN_S)
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
            self._to_end.show_icon(self._icons, self._theme)

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
        self._walk.glides = not reduced

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
        self._legend.setVisible(not is_welcome)
        self._update_to_end()
        self._update_legend()

    @Slot()
    def _update_legend(self) -> None:
        has_drafts = any(reply.has_drafts for reply in self._replies())
        self._legend.show_legend(wanted=self._has_token_colours and has_drafts)

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

    # ------------------------------------------------------------------------- streaming

    @Slot(object)
    def _on_flush_wanted(self, reply: ReplyView) -> None:
        if reply in self._list.items:  # else taken out just now
            self._pace.want(reply)

    @Slot(object)
    def _on_wrote(self, reply: ReplyView) -> None:
        if reply.is_growing:
            self._announcer.hear(reply.text)

    @Slot()
    def _on_all_written(self) -> None:
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
        self._walk.to_end()
        self._update_to_end()

    @Slot(int)
    def _on_ends_wanted(self, side: int) -> None:
        if side > 0:
            self.scroll_to_end()
        else:
            self._walk.to_start()

    @Slot()
    def go_to_previous(self) -> None:
        """Give the keyboard to the message before."""
        self._walk.step(-1)

    @Slot()
    def go_to_next(self) -> None:
        """Give the keyboard to the message behind."""
        self._walk.step(1)

    def _update_to_end(self) -> None:
        is_elsewhere = not self._list.follows and not (
            self._pages.has_end and self._list.room_below() <= 0
        )
        self._to_end.show_over(self._list, wanted=is_elsewhere)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the button above the text in its place."""
        super().resizeEvent(event)
        self._update_to_end()
