"""Choice of the messages that have a view: a bounded number near the visible part.

A view costs milliseconds and hundreds of kilobytes, and a conversation may have ten thousand
messages. So a contiguous part of them is built, which grows in both directions as the user scrolls
and is cut at the far side. Building takes a few milliseconds per turn of the event loop. Main
thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from time import perf_counter

from PySide6.QtCore import QEasingCurve, QObject, QPropertyAnimation, Slot
from PySide6.QtWidgets import QApplication, QWidget

from paceline.gui.chat.messages.message_item import MessageItem, ShownMessage
from paceline.gui.chat.messages.message_list import MessageList
from paceline.gui.look.current import look

GLIDE_MS = 160
"""Duration of smooth scrolling to the end."""
FIRST_PAINT_S = 0.04
"""Time for building an opened conversation before its first painting."""
MAX_BUILT = 56
_N_UNMEASURED = 8
"""Number of messages that are built while the view is hidden and their heights are unknown."""
_BUILT_HEIGHTS = 1.5
"""Distance up to which messages are built, in heights of the view."""
_KEPT_HEIGHTS = 3.0
"""Distance up to which messages are kept, in heights of the view."""
_TOP_PX = 24


class MessagePages:
    """Builds and removes the items of a list.

    Attributes:
        messages: All messages, built or not.
    """

    def __init__(
        self,
        view: MessageList,
        make: Callable[[ShownMessage], MessageItem],
        fill: Callable[[MessageItem], None],
        drop: Callable[[MessageItem], None],
    ) -> None:
        """See the class.

        Args:
            view: The list of the items.
            make: Makes the item of a message.
            fill: Puts the content into an item in the list.
            drop: Receives an item that was removed from the list.
        """
        self._view = view
        self._make, self._fill, self._drop = make, fill, drop
        self.messages: list[ShownMessage] = []
        self._index: dict[str, int] = {}
        self._first = 0
        self._kept_from = ""
        self.max_built = MAX_BUILT

    # ------------------------------------------------------------------------- questions

    @property
    def built(self) -> range:
        """Indices of the built messages."""
        return range(self._first, self._first + len(self._view.items))

    @property
    def has_end(self) -> bool:
        """Return whether the last message is built."""
        return self.built.stop == len(self.messages)

    def place_of(self, message_id: str) -> int | None:
        """Return a message's index in the conversation, or None if it is not in it."""
        return self._index.get(message_id)

    def item(self, message_id: str) -> MessageItem | None:
        """Return a message's item, or None if it is not built."""
        place = self._index.get(message_id)
        if place is None or place not in self.built:
            return None
        return self._view.items[place - self._first]

    # -------------------------------------------------------------------------- commands

    def show(self, messages: Sequence[ShownMessage]) -> None:
        """Show another path; messages that both paths begin with keep their items.

        Call `go` or `go_to_end` after this.
        """
        n_same = sum(1 for _ in takewhile(_is_same, zip(self.messages, messages, strict=False)))
        while self._view.items and self.built[-1] >= n_same:
            self._take(-1)
        self.messages = list(messages)
        self._index = {message.message_id: i for i, message in enumerate(messages)}
        for place in self.built:
            self._view.items[place - self._first].update_message(self.messages[place])
        self._mark_end()

    def show_kept_from(self, message_id: str) -> None:
        """Draw the line above this message once it is built; an empty id removes it."""
        if message_id != self._kept_from:
            self._kept_from = message_id
            self._mark_line()
            self._view.arrange()

    def append(self, message: ShownMessage) -> MessageItem:
        """Add a message, build it and go to the end."""
        was_built = self.has_end
        self.messages.append(message)
        self._index[message.message_id] = len(self.messages) - 1
        if not was_built:
            self._clear(len(self.messages) - 1)
        elif not self._view.items:
            self._first = len(self.messages) - 1
        item = self._build(len(self.messages) - 1)
        self._view.follow()
        self._cut()
        return item

    def go(self, place: int, from_top_px: int = _TOP_PX) -> MessageItem:
        """Show a message this far below the upper edge; build what fills the view."""
        if place not in self.built:
            self._clear(place)
            self._build(place)
        item = self._view.items[place - self._first]
        self._view.hold(item, from_top_px)
        self._fill_view()
        return item

    def go_to_end(self) -> None:
        """Show the last message and follow it."""
        if not self.messages:
            return
        last = len(self.messages) - 1
        if last not in self.built:
            if last - 1 not in self.built:
                self._clear(last)
            self._build(last)
        self._view.follow()
        self._fill_view()

    def extend(self, until_s: float, reach: float = _BUILT_HEIGHTS) -> None:
        """Build near messages until a moment of `perf_counter`, then remove far ones."""
        while perf_counter() < until_s and (side := self._wanted_side(reach)):
            self._build(self.built.start - 1 if side < 0 else self.built.stop)
            self._view.arrange()
        self._cut()

    def wants_more(self) -> bool:
        """Return whether `extend` has something to build."""
        return self._wanted_side(_BUILT_HEIGHTS) != 0

    # --------------------------------------------------------------------------- private

    def _fill_view(self) -> None:
        self.extend(perf_counter() + FIRST_PAINT_S, reach=0)

    def _wanted_side(self, reach: float) -> int:
        """Return the side to build: -1 above, 1 below, 0 neither."""
        if not self._view.items:
            return 0
        if len(self.built) >= self.max_built + _N_UNMEASURED:
            return 0
        if not self._view.isVisible() and len(self.built) >= _N_UNMEASURED:
            return 0
        wanted = max(1, int(reach * self._view.viewport().height()))
        above, below = self._view.room_above(), self._view.room_below()
        has_above = self.built.start > 0
        has_below = self.built.stop < len(self.messages)
        if has_below and below < wanted and (below <= above or not has_above):
            return 1
        if has_above and above < wanted:
            return -1
        return 1 if has_below and below < wanted else 0

    def _build(self, place: int) -> MessageItem:
        item = self._make(self.messages[place])
        at = place - self._first
        if place < self._first:
            self._first, at = place, 0
        self._view.insert(at, item)
        self._fill(item)
        self._mark_end()
        return item

    def _clear(self, first: int) -> None:
        while self._view.items:
            self._take(-1)
        self._first = first

    def _take(self, at: int) -> None:
        if at == 0:
            self._first += 1
        self._drop(self._view.remove(at % len(self._view.items)))

    def _cut(self) -> None:
        """Remove messages far from the view, at most as many as exceed the limit."""
        kept = _KEPT_HEIGHTS * self._view.viewport().height()
        least = 0.5 * self._view.viewport().height()
        while len(self._view.items) > _N_UNMEASURED:
            above, below = self._view.room_above(), self._view.room_below()
            is_top = above > below
            item = self._view.items[0 if is_top else -1]
            far = max(above, below) - item.height() - look.room(item.gap_below)
            if far < (least if len(self._view.items) > self.max_built else kept):
                break
            self._take(0 if is_top else -1)
            self._mark_end()
            self._view.arrange()

    def _mark_line(self) -> None:
        self._view.line.above = self.item(self._kept_from)

    def _mark_end(self) -> None:
        items = self._view.items
        self._mark_line()
        self._view.set_has_end(self.has_end)
        for item in items[-2:]:
            item.set_last(self.has_end and item is items[-1])


class MessageWalk(QObject):
    """Navigation to the ends of a conversation and, by keys, from message to message.

    Attributes:
        focused: The message with the keyboard focus.
    """

    def __init__(self, view: MessageList, pages: MessagePages, parent: QObject) -> None:
        super().__init__(parent)
        self.focused: MessageItem | None = None
        self._list = view
        self._pages = pages
        self._glide = QPropertyAnimation(view.verticalScrollBar(), b"value", self)
        self._glide.setDuration(GLIDE_MS)
        self._glide.setEasingCurve(QEasingCurve.Type.OutCubic)
        view.step_wanted.connect(self.step)
        QApplication.instance().focusChanged.connect(self._on_focus_changed)  # type: ignore[union-attr]

    def to_start(self) -> None:
        """Go to the first message."""
        if self._pages.messages:
            self._pages.go(0)

    def to_end(self) -> None:
        """Go to the last message and follow it, with smooth scrolling if it is near."""
        bar = self._list.verticalScrollBar()
        way = bar.maximum() - bar.value()
        is_near = self._pages.has_end and 0 < way < 2 * self._list.viewport().height()
        if is_near and not look.reduces_motion and not self._list.follows:
            self._glide.setEndValue(bar.maximum())
            self._glide.start()
        else:
            self._pages.go_to_end()

    @Slot(int)
    def step(self, step: int) -> None:
        """Focus the message `step` places further."""
        item = self.focused or self._list.first_seen()
        at = self._pages.place_of(item.message_id) if item is not None else None
        if at is None:
            return
        if self.focused is not None or step < 0:
            at += step
        if 0 <= at < len(self._pages.messages):
            self._pages.go(at).focus_text()

    def forget(self, item: MessageItem) -> None:
        """Forget an item that is gone, or about to go."""
        if item is self.focused:
            self.focused = None

    @Slot("QWidget*", "QWidget*")
    def _on_focus_changed(self, _old: QWidget | None, now: QWidget | None) -> None:
        found = None
        if now is not None and self._list.isAncestorOf(now):
            found = next((item for item in self._list.items if item.isAncestorOf(now)), None)
        if found is self.focused:
            return
        if self.focused is not None:
            self.focused.set_focused(False)
        self.focused = found
        if found is not None:
            found.set_focused(True)


def _is_same(pair: tuple[ShownMessage, ShownMessage]) -> bool:
    old, new = pair
    if old.message_id != new.message_id or old.role != new.role:
        return False
    return old.attachments == new.attachments
