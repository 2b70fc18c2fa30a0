"""Where the user writes: a field that grows, one button that sends or stops, a hint.

The composer never loses text: what cannot be sent stays in the field.
"""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QEvent, QMimeData, QSizeF, Qt, Signal, Slot
from PySide6.QtGui import (
    QFocusEvent,
    QInputMethodEvent,
    QKeyEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from paceline.gui.theme import restyle, ui_font
from paceline.gui.widgets.markdown_format import TEXT_PX

MAX_LINES = 8


class ComposerEdit(QPlainTextEdit):
    """A text field of 1 to 8 lines, in which Enter sends."""

    send_requested = Signal()
    stop_requested = Signal()
    focus_changed = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFont(ui_font(TEXT_PX))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setTabChangesFocus(True)
        self.document().setDocumentMargin(2)
        self._is_composing = False
        self.document().documentLayout().documentSizeChanged.connect(self._on_size_changed)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter sends, Shift+Enter makes a new line, Esc stops."""
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if event.key() == Qt.Key.Key_Escape:
            self.stop_requested.emit()
        elif is_enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            # While an input method is composing, Enter takes its proposal.
            if not self._is_composing:
                self.send_requested.emit()
        elif is_enter:
            self.insertPlainText("\n")
            self.ensureCursorVisible()
        else:
            super().keyPressEvent(event)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Know whether an input method is at work."""
        self._is_composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste text only."""
        if source.hasText():
            self.insertPlainText(source.text())
            self.ensureCursorVisible()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Tell the frame, which shows the ring."""
        super().focusInEvent(event)
        self.focus_changed.emit(True)  # noqa: FBT003

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Tell the frame, which shows the ring."""
        super().focusOutEvent(event)
        self.focus_changed.emit(False)  # noqa: FBT003

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lines break elsewhere now."""
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """Another font needs another height."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    @Slot(QSizeF)
    def _on_size_changed(self, _size: QSizeF) -> None:
        self._fit()

    def _fit(self) -> None:
        # A plain-text layout counts its height in lines.
        n_lines = min(max(1, round(self.document().size().height())), MAX_LINES)
        margins = 2 * self.document().documentMargin()
        height = ceil(n_lines * self.fontMetrics().lineSpacing() + margins) + 2
        is_full = n_lines == MAX_LINES
        self.setVerticalScrollBarPolicy(
            Qt.ScrollBarPolicy.ScrollBarAsNeeded
            if is_full
            else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )
        if height != self.height():
            self.setFixedHeight(height)


class Composer(QFrame):
    """The field, its hint and its button."""

    text_submitted = Signal(str)
    stop_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._is_busy = False
        self._hint = ""
        self._reason: str | None = None
        self._edit = ComposerEdit()
        self._edit.setPlaceholderText(
            self.tr("Ask anything. Enter sends, Shift+Enter makes a new line.")
        )
        self._edit.setAccessibleName(self.tr("Message"))
        self._edit.send_requested.connect(self._on_send)
        self._edit.stop_requested.connect(self._on_stop)
        self._edit.focus_changed.connect(self._on_focus_changed)
        self._edit.textChanged.connect(self._update)
        self._hint_label = QLabel()
        self._hint_label.setProperty("role", "small")
        self._hint_label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._button = QPushButton()
        self._button.setMinimumWidth(84)
        self._button.clicked.connect(self._on_clicked)
        self.setFocusProxy(self._edit)

        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self._hint_label, 1)
        row.addWidget(self._button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 12, 10, 10)
        layout.setSpacing(8)
        layout.addWidget(self._edit)
        layout.addLayout(row)
        self._update()

    @property
    def text(self) -> str:
        """What is written so far."""
        return self._edit.toPlainText()

    @property
    def edit(self) -> ComposerEdit:
        """The field."""
        return self._edit

    @property
    def button(self) -> QPushButton:
        """The button that sends or stops."""
        return self._button

    def set_text(self, text: str) -> None:
        """Put a text into the field, e.g. a message to be edited."""
        self._edit.setPlainText(text)
        self._edit.moveCursor(self._edit.textCursor().MoveOperation.End)

    def set_busy(self, busy: bool) -> None:  # noqa: FBT001
        """While a reply is generated, the button stops it."""
        self._is_busy = busy
        self._update()

    def set_hint(self, text: str) -> None:
        """The small text at the left, e.g. how much of the context is used."""
        self._hint = text
        self._update()

    def set_enabled_reason(self, reason: str | None) -> None:
        """Why nothing can be sent now, in words for the user; None when it can."""
        self._reason = reason
        self._update()

    @Slot(str)
    def set_obstacle(self, reason: str) -> None:
        """Why nothing can be sent now; empty: it can."""
        self.set_enabled_reason(reason or None)

    @Slot(str)
    def return_text(self, text: str) -> None:
        """Bring back a message that could not be answered, before what was written since."""
        written = self.text
        self.set_text(f"{text}\n{written}" if written.strip() else text)

    @Slot()
    def _update(self) -> None:
        """Make button and hint say what is possible."""
        kind = "stop" if self._is_busy else "primary"
        if self._button.property("kind") != kind:
            self._button.setProperty("kind", kind)
            restyle(self._button)
        if self._is_busy:
            self._button.setText(self.tr("■ Stop"))
            self._button.setAccessibleName(self.tr("Stop the reply"))
            self._button.setToolTip(self.tr("Stop the reply (Esc)"))
            self._button.setEnabled(True)
        else:
            self._button.setText(self.tr("Send"))
            self._button.setAccessibleName(self.tr("Send the message"))
            self._button.setToolTip(self._reason or self.tr("Send the message (Enter)"))
            self._button.setEnabled(self._can_send())
        self._hint_label.setText(self._hint if self._reason is None else self._reason)

    def _can_send(self) -> bool:
        return not self._is_busy and self._reason is None and bool(self.text.strip())

    @Slot()
    def _on_clicked(self) -> None:
        if self._is_busy:
            self._on_stop()
        else:
            self._on_send()

    @Slot()
    def _on_send(self) -> None:
        if not self._can_send():
            return
        text = self.text
        self._edit.clear()
        self.text_submitted.emit(text)

    @Slot()
    def _on_stop(self) -> None:
        if self._is_busy:
            self.stop_requested.emit()

    @Slot(bool)
    def _on_focus_changed(self, has_focus: bool) -> None:  # noqa: FBT001
        self.setProperty("active", "true" if has_focus else "false")
        restyle(self)
