"""Search fields: above a list, and in a bar with the number of hits and buttons to reach them.

A `SearchField` emits its text when typing pauses, and Down leads into the list.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QColor,
    QKeyEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QLineEdit, QToolButton

from paceline.gui.kit.fields import leaves_undo
from paceline.gui.kit.labels import text_label
from paceline.gui.kit.layouts import IconButton, Strip, row_of, styled
from paceline.gui.look.current import look
from paceline.gui.look.scale import TINY
from paceline.gui.look.theme import ui_font

PAUSE_MS = 120
"""Search starts after so long without a key, in milliseconds."""
_MARGIN_PX = 10
_ICON_PX = 30
"""Width of the icon at the left end."""


class SearchField(QLineEdit):
    """Esc clears it; while it is empty the key belongs to the window."""

    wanted = Signal(str)
    """Text to search for: at once when it is empty, otherwise when typing pauses or on Enter"""
    confirmed = Signal()
    """Enter was pressed; `wanted` has been emitted before."""
    left_downwards = Signal()

    def __init__(self, words: str, keys: str = "", *, pause_ms: int = PAUSE_MS) -> None:
        """Set the placeholder.

        `keys` focus the field from anywhere and are shown in it while empty.
        """
        super().__init__()
        self.setProperty("kind", "search")
        self.setPlaceholderText(words)
        self.setAccessibleName(words)
        self.setClearButtonEnabled(True)
        self._keys = keys
        self._emitted = ""
        self.addAction(look.icon("search"), QLineEdit.ActionPosition.LeadingPosition)
        self._pause = QTimer(self, singleShot=True, interval=pause_ms)
        self._pause.timeout.connect(self.emit_now)
        self.textChanged.connect(self._on_text)

    def event(self, event: QEvent) -> bool:
        """Keep Esc from the window's shortcut while there is something to clear, or to undo."""
        if leaves_undo(event, self.isUndoAvailable):
            return True
        return (bool(self.text()) and takes_escape(event)) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Clear on Esc, go into the list on Down, choose the best hit on Enter."""
        key = event.key()
        if key == Qt.Key.Key_Escape and self.text():
            self.clear()
        elif key == Qt.Key.Key_Down:
            self.emit_now()
            self.left_downwards.emit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.emit_now()
            self.confirmed.emit()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the focus keys where they do not overlap the text."""
        super().paintEvent(event)
        if self.text() or not self._keys or self.hasFocus():
            return
        painter = QPainter(self)
        font = ui_font(TINY)
        words = self.fontMetrics().horizontalAdvance(self.placeholderText()) + _ICON_PX
        painter.setFont(font)
        room = QRect(self.rect()).adjusted(words + 2 * _MARGIN_PX, 0, -_MARGIN_PX, 0)
        if painter.fontMetrics().horizontalAdvance(self._keys) <= room.width():
            painter.setPen(QColor(look.theme.faint))
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(room, right, self._keys)

    @Slot(str)
    def _on_text(self, text: str) -> None:
        if text.strip():
            self._pause.start()
        else:
            self.emit_now()

    @Slot()
    def emit_now(self) -> None:
        """Emit the text without waiting for a pause."""
        self._pause.stop()
        text = self.text().strip()
        if text != self._emitted:
            self._emitted = text
            self.wanted.emit(text)


def takes_escape(event: QEvent) -> bool:
    """Accept Esc before a shortcut of the window does; return whether it was Esc."""
    is_offered = (
        event.type() == QEvent.Type.ShortcutOverride
        and isinstance(event, QKeyEvent)
        and event.key() == Qt.Key.Key_Escape
    )
    if is_offered:
        event.accept()
    return is_offered


class FindBar(Strip):
    """A bar for searching, hidden at first; hits are counted elsewhere.

    Attributes:
        field: The text to search for.
        count: "3 of 17".
        previous: Also Shift+Enter.
        next: Also Enter.
        close_button: Also Esc.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self.field = styled(QLineEdit(placeholderText=self.tr("Find in this chat")), kind="search")
        self.field.setAccessibleName(self.tr("Find in this chat"))
        self.field.addAction(look.icon("search"), QLineEdit.ActionPosition.LeadingPosition)
        self.count = text_label()
        self.previous = IconButton("chevron-up", self.tr("Previous hit (Shift+Enter)"))
        self.next = IconButton("chevron-down", self.tr("Next hit (Enter)"))
        self.close_button = IconButton("close", self.tr("Close (Esc)"))
        row_of(
            (self.field, 1),
            6,
            self.count,
            6,
            self.previous,
            self.next,
            self.close_button,
            on=self,
            margins=6,
            spacing=4,
        )
        self.hide()

    def show_count(self, words: str) -> None:
        """Show the number of hits, also to screen readers."""
        if words != self.count.text():
            self.count.setText(words)
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.field, words))

    def event(self, event: QEvent) -> bool:
        """Keep Esc from the window, where it would stop the reply."""
        return takes_escape(event) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close on Esc, go on with Enter, go back with Shift+Enter, as the buttons do."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_button.click()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            button = self.focusWidget()
            if not isinstance(button, QToolButton):
                is_back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
                button = self.previous if is_back else self.next
            button.click()
        else:
            super().keyPressEvent(event)
