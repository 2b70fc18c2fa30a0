"""Ways through a conversation: to its ends, and by keys from message to message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEasingCurve, QObject, QPropertyAnimation, Slot
from PySide6.QtWidgets import QApplication, QWidget

if TYPE_CHECKING:
    from paceline.gui.widgets.message_item import MessageItem
    from paceline.gui.widgets.message_list import MessageList
    from paceline.gui.widgets.message_pages import MessagePages

GLIDE_MS = 160


class MessageWalk(QObject):
    """Moves a list of messages, and knows which of them has the keyboard.

    Attributes:
        glides: Whether going to an end that is near glides there; else it jumps.
        focused: The message that has the keyboard.
    """

    def __init__(self, view: MessageList, pages: MessagePages, parent: QObject) -> None:
        super().__init__(parent)
        self.glides = False
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
        """Go to the last message and follow it."""
        bar = self._list.verticalScrollBar()
        way = bar.maximum() - bar.value()
        is_near = self._pages.has_end and 0 < way < 2 * self._list.viewport().height()
        if self.glides and is_near and not self._list.follows:
            self._glide.setEndValue(bar.maximum())
            self._glide.start()
        else:
            self._pages.go_to_end()

    @Slot(int)
    def step(self, step: int) -> None:
        """Give the keyboard to the message that many places further."""
        item = self.focused or self._list.first_seen()
        at = self._pages.place_of(item.message_id) if item is not None else None
        if at is None:
            return
        if self.focused is not None or step < 0:
            at += step
        if 0 <= at < len(self._pages.messages):
            self._pages.go(at).focus_text()

    def forget(self, item: MessageItem) -> None:
        """It is gone, or about to go."""
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
