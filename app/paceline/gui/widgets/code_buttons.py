"""The buttons on a code card: copy the code, save it to a file."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, QRect, Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from paceline.gui.widgets.copy_button import CopyButton
from paceline.gui.widgets.markdown_format import CODE_HEADER
from paceline.gui.widgets.message_paint import code_card

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtGui import QTextDocument

    from paceline.gui.widgets.markdown_inline import Mark

MAX_CODE_BUTTONS = 100
"""Blocks of code with buttons in one message: each takes the time of four widgets."""


class CodeButtons(QWidget):
    """What can be done with one block of code; hidden while the code is still growing."""

    copy_requested = Signal(str)
    save_requested = Signal(str, str)
    """The language as the author named it, and the code."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._language = ""
        self._code: str | None = None
        self._copy = CopyButton()
        self._copy.copy_requested.connect(self.copy_requested)
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
            self.save_requested.emit(self._language, self._code)


class ButtonsOnCode(QObject):
    """Keeps `CodeButtons` on the cards of a document; on the widget that paints it."""

    copy_requested = Signal(str)
    save_requested = Signal(str, str)
    """See `CodeButtons`."""

    def __init__(self, document: QTextDocument, canvas: QWidget) -> None:
        super().__init__(canvas)
        self._document = document
        self._canvas = canvas
        self._cards: list[Mark] = []
        self.buttons: list[CodeButtons] = []

    def show_codes(self, marks: Iterable[Mark]) -> None:
        """Have buttons for the blocks of code among these marks; `place` puts them there."""
        codes = (mark for mark in marks if mark.kind == "code_block")
        self._cards = list(islice(codes, MAX_CODE_BUTTONS))
        while len(self.buttons) > len(self._cards):
            self.buttons.pop().deleteLater()
        while len(self.buttons) < len(self._cards):
            button = CodeButtons(self._canvas)
            button.copy_requested.connect(self.copy_requested)
            button.save_requested.connect(self.save_requested)
            self.buttons.append(button)
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
