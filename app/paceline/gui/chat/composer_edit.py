"""The field that one writes in: it grows with its text, and knows which key sends."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QMimeData, QSizeF, Qt, Signal, Slot
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragMoveEvent,
    QFocusEvent,
    QInputMethodEvent,
    QKeyEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy, QWidget

from paceline.gui.chat.markdown.format import TEXT_PX
from paceline.gui.kit.drop_zones import local_files
from paceline.gui.look.theme import ui_font

if TYPE_CHECKING:
    from paceline.settings import SendKey

MAX_LINES = 10
LARGE_PASTE_BYTES = 20_000
"""A longer text is better sent as a file: then its end is marked for the model."""


class ComposerEdit(QPlainTextEdit):
    """A text field of 1 to 10 lines, in which Enter sends."""

    send_requested = Signal()
    stop_requested = Signal()
    focus_changed = Signal(bool)
    files_pasted = Signal(list)
    """Paths of files that were pasted."""
    large_text_pasted = Signal(str)
    """It is in the field already."""
    edit_last_requested = Signal()
    """Up was pressed in the empty field."""

    max_lines = MAX_LINES

    def __init__(self, parent: QWidget | None = None) -> None:
        self._hint = ""
        super().__init__(parent)
        self.setFont(ui_font(TEXT_PX))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setTabChangesFocus(True)
        self.document().setDocumentMargin(2)
        self._is_composing = False
        self._send_key: SendKey = "enter"
        self.document().documentLayout().documentSizeChanged.connect(self._on_size_changed)
        self._fit()

    def set_hint(self, words: str) -> None:
        """Say in the empty field what it is for: one line, which ends early where it is narrow."""
        self._hint = words
        self._show_hint()

    def _show_hint(self) -> None:
        room = self.viewport().width() - 2 * ceil(self.document().documentMargin()) - 1
        words = self.fontMetrics().elidedText(self._hint, Qt.TextElideMode.ElideRight, room)
        if words != self.placeholderText():
            self.setPlaceholderText(words)

    def set_send_key(self, key: SendKey) -> None:
        """What sends: Enter, or Ctrl+Enter, which then leaves Enter to new lines."""
        self._send_key = key

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The send key sends, Enter otherwise makes a new line, Esc stops."""
        if event.key() == Qt.Key.Key_Escape:
            self.stop_requested.emit()
        elif event.key() == Qt.Key.Key_Up and not self.toPlainText() and not event.modifiers():
            self.edit_last_requested.emit()
        elif event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)
        elif self._sends(event.modifiers()):
            # While an input method is composing, Enter takes its proposal.
            if not self._is_composing:
                self.send_requested.emit()
        else:
            self.insertPlainText("\n")
            self.ensureCursorVisible()

    def _sends(self, modifiers: Qt.KeyboardModifier) -> bool:
        if modifiers & Qt.KeyboardModifier.ControlModifier:
            return True
        return self._send_key == "enter" and not modifiers & Qt.KeyboardModifier.ShiftModifier

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Know whether an input method is at work."""
        self._is_composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste text, or the names of files that are to be attached."""
        if paths := local_files(source):
            self.files_pasted.emit(paths)
        elif source.hasText():
            text = source.text()
            self.insertPlainText(text)
            self.ensureCursorVisible()
            if len(text.encode(errors="replace")) > LARGE_PASTE_BYTES:
                self.large_text_pasted.emit(text)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Leave files to the window."""
        if local_files(event.mimeData()):
            event.ignore()
        else:
            super().dragEnterEvent(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Leave files to the window."""
        if local_files(event.mimeData()):
            event.ignore()
        else:
            super().dragMoveEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Tell the frame, which shows the ring."""
        super().focusInEvent(event)
        self.focus_changed.emit(True)  # noqa: FBT003

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Tell the frame, which shows the ring."""
        super().focusOutEvent(event)
        self.focus_changed.emit(False)  # noqa: FBT003

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out again: lines break at other places now."""
        super().resizeEvent(event)
        self._fit()
        self._show_hint()

    def changeEvent(self, event: QEvent) -> None:
        """Another font needs another height."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()
            self._show_hint()

    @Slot(QSizeF)
    def _on_size_changed(self, _size: QSizeF) -> None:
        self._fit()

    def _fit(self) -> None:
        # A plain-text layout counts its height in lines.
        n_lines = min(max(1, round(self.document().size().height())), self.max_lines)
        margins = 2 * self.document().documentMargin()
        height = ceil(n_lines * self.fontMetrics().lineSpacing() + margins) + 2
        is_full = n_lines == self.max_lines
        self.setVerticalScrollBarPolicy(
            Qt.ScrollBarPolicy.ScrollBarAsNeeded
            if is_full
            else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )
        if height != self.height():
            self.setFixedHeight(height)
