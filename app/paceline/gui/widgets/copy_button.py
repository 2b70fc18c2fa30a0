"""The small button on a code card that asks for a copy of the code."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QToolButton, QWidget

CONFIRM_MS = 1_500


class CopyButton(QToolButton):
    """Says "Copy", and for a moment "Copied"; hidden while there is nothing to copy."""

    copy_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "link")
        self.setText(self.tr("Copy"))
        self.setAccessibleName(self.tr("Copy the code"))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._code: str | None = None
        self._confirm = QTimer(self)
        self._confirm.setSingleShot(True)
        self._confirm.setInterval(CONFIRM_MS)
        self._confirm.timeout.connect(self._on_confirmed)
        self.clicked.connect(self._on_clicked)

    def set_code(self, code: str | None) -> None:
        """What a click asks to copy; None while the code is still growing."""
        self._code = code
        self.setVisible(code is not None)

    @Slot()
    def _on_clicked(self) -> None:
        if self._code is not None:
            self.copy_requested.emit(self._code)
            self.setText(self.tr("Copied"))
            self._confirm.start()

    @Slot()
    def _on_confirmed(self) -> None:
        self.setText(self.tr("Copy"))
