"""Editing a message where it stands: the bubble becomes a field with two buttons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from paceline.gui.widgets.composer_edit import ComposerEdit

if TYPE_CHECKING:
    from paceline.settings import SendKey


class _Field(ComposerEdit):
    max_lines = 16


class MessageEdit(QFrame):
    """Takes another text for a message; the owner decides what becomes of it."""

    submitted = Signal(str)
    cancelled = Signal()

    def __init__(self, text: str, send_key: SendKey, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "editor")
        self._is_busy = False
        self._has_attachments = False
        self._field = _Field()
        self._field.setAccessibleName(self.tr("Edit the message"))
        self._field.set_send_key(send_key)
        self._field.setPlainText(text)
        self._field.moveCursor(self._field.textCursor().MoveOperation.End)
        self._field.send_requested.connect(self._on_send)
        self._field.stop_requested.connect(self.cancelled)
        self._field.textChanged.connect(self._update)
        self._cancel = QPushButton(self.tr("Cancel"))
        self._cancel.setToolTip(self.tr("Keep the message as it was (Esc)"))
        self._cancel.clicked.connect(self.cancelled)
        self._send = QPushButton(self.tr("Send"))
        self._send.setProperty("kind", "primary")
        self._send.setAccessibleName(self.tr("Send the edited message"))
        self._send.clicked.connect(self._on_send)
        self.setFocusProxy(self._field)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        row.addWidget(self._cancel)
        row.addWidget(self._send)
        self._rows = QVBoxLayout(self)
        self._rows.setContentsMargins(14, 12, 10, 10)
        self._rows.setSpacing(8)
        self._rows.addWidget(self._field)
        self._rows.addLayout(row)
        self._update()

    @property
    def text(self) -> str:
        """What is written so far."""
        return self._field.toPlainText()

    @property
    def field(self) -> ComposerEdit:
        """Where one writes."""
        return self._field

    def show_attachments(self, chips: QWidget) -> None:
        """Show the files that stay with the message."""
        self._has_attachments = True
        self._rows.insertWidget(0, chips)
        self._update()

    def set_send_key(self, key: SendKey) -> None:
        """Which key sends."""
        self._field.set_send_key(key)

    def set_busy(self, busy: bool) -> None:  # noqa: FBT001
        """While a reply is generated, nothing can be sent."""
        self._is_busy = busy
        self._update()

    def _can_send(self) -> bool:
        return not self._is_busy and (bool(self.text.strip()) or self._has_attachments)

    @Slot()
    def _update(self) -> None:
        self._send.setEnabled(self._can_send())
        self._send.setToolTip(
            self.tr("A reply is being written; stop it first.")
            if self._is_busy
            else self.tr("Send it again as a new version")
        )

    @Slot()
    def _on_send(self) -> None:
        if self._can_send():
            self.submitted.emit(self.text)
