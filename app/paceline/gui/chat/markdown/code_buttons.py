"""The buttons on a code card: copy the code, save it to a file."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect, Qt, QTimer, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from paceline.gui.chat.markdown.format import CODE_HEADER
from paceline.gui.chat.markdown.paint import code_card

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtGui import QTextDocument

    from paceline.gui.chat.markdown.inline import Mark
    from paceline.gui.chat.markdown.requests import MessageRequests

MAX_CODE_BUTTONS = 100
"""Blocks of code with buttons in one message: each takes the time of four widgets."""


CONFIRM_MS = 1_500
"""How long a button says that it has copied."""


class CopyButton(QToolButton):
    """Copies a text; says "Copy", and for a moment "Copied"; hidden without a text."""

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
        """What a click copies; None while the text is still growing."""
        self._code = code
        self.setVisible(code is not None)

    @Slot()
    def _on_clicked(self) -> None:
        if self._code is not None:
            QGuiApplication.clipboard().setText(self._code)
            self.setText(self.tr("Copied"))
            self._confirm.start()

    @Slot()
    def _on_confirmed(self) -> None:
        self.setText(self.tr("Copy"))


class CodeButtons(QWidget):
    """What can be done with one block of code; hidden while the code is still growing."""

    def __init__(self, parent: QWidget, requests: MessageRequests) -> None:
        super().__init__(parent)
        self._requests = requests
        self._language = ""
        self._code: str | None = None
        self._copy = CopyButton()
        self._save = QToolButton()
        self._save.setProperty("kind", "link")
        self._save.setText(self.tr("Save"))
        self._save.setAccessibleName(self.tr("Save the code to a file"))
        self._save.setCursor(Qt.CursorShape.PointingHandCursor)
        self._save.clicked.connect(self._on_save)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        row.addWidget(self._copy)
        row.addWidget(self._save)

    def set_code(self, language: str, code: str | None) -> None:
        """What a click copies or saves; None while the code is still growing."""
        self._language, self._code = language, code
        self._copy.set_code(code)
        self.setVisible(code is not None)

    @Slot()
    def _on_save(self) -> None:
        if self._code is not None:
            self._requests.code_save_requested.emit(self._language, self._code)


class ButtonsOnCode:
    """Keeps `CodeButtons` on the cards of a document; on the widget that paints it."""

    def __init__(self, document: QTextDocument, canvas: QWidget, requests: MessageRequests) -> None:
        self._document = document
        self._canvas = canvas
        self._requests = requests
        self._cards: list[Mark] = []
        self.buttons: list[CodeButtons] = []

    def show_codes(self, marks: Iterable[Mark]) -> None:
        """Have buttons for the blocks of code among these marks; `place` puts them there."""
        codes = (mark for mark in marks if mark.kind == "code_block")
        self._cards = list(islice(codes, MAX_CODE_BUTTONS))
        while len(self.buttons) > len(self._cards):
            self.buttons.pop().deleteLater()
        while len(self.buttons) < len(self._cards):
            self.buttons.append(CodeButtons(self._canvas, self._requests))
        for button, mark in zip(self.buttons, self._cards, strict=True):
            button.set_code(mark.label, mark.code)

    def place(self) -> None:
        """Put every button at the right of its card's header."""
        for button, mark in zip(self.buttons, self._cards, strict=True):
            if mark.end >= self._document.characterCount():
                continue  # the document's end is just being built anew; this is called again then
            card = code_card(self._document, mark)
            size = button.sizeHint()
            top = card.top() + (CODE_HEADER - size.height()) / 2
            left = card.right() - size.width() - 8
            button.setGeometry(QRect(QPoint(round(left), round(top)), size))
