"""Controls on a code card: buttons that copy, save and wrap the code, and a scroll bar."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil

from PySide6.QtCore import QPoint, QRect, QSize, Qt, QTimer, Slot
from PySide6.QtGui import QFontMetrics, QGuiApplication, QTextDocument
from PySide6.QtWidgets import QToolButton, QWidget

from paceline.gui.chat.links import MessageRequests
from paceline.gui.chat.markdown.format import CODE_HEADER, CODE_PADDING
from paceline.gui.chat.markdown.inline import Mark
from paceline.gui.chat.markdown.paint import LANGUAGE_PX, code_card
from paceline.gui.chat.markdown.sideways import BAR_PX, SideBar, SideWindow
from paceline.gui.kit.layouts import row_of, styled
from paceline.gui.look.current import look
from paceline.gui.look.scale import px
from paceline.gui.look.theme import ui_font

MAX_CODE_BUTTONS = 100
"""Maximum number of code blocks with buttons in one message: each costs four widgets."""


CONFIRM_MS = 1_500
"""Time for which a button shows that it has copied."""


class CopyButton(QToolButton):
    """Copies a text; says "Copy", and for a moment "Copied"; hidden without a text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "link")
        self.setText(self.tr("Copy"))
        self.setAccessibleName(self.tr("Copy the code"))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._code: str | None = None
        self._confirm = QTimer(self, singleShot=True, interval=CONFIRM_MS)
        self._confirm.timeout.connect(self._on_confirmed)
        self.clicked.connect(self._on_clicked)

    def set_code(self, code: str | None) -> None:
        """Set the text to copy; None while it is still growing."""
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
    """Buttons of one block of code; hidden while the code is still growing."""

    def __init__(self, parent: QWidget, requests: MessageRequests) -> None:
        super().__init__(parent)
        self._requests = requests
        self._language = ""
        self._code: str | None = None
        self._copy = CopyButton()
        self._save = styled(QToolButton(), kind="link")
        self._save.setText(self.tr("Save"))
        self._save.setAccessibleName(self.tr("Save the code to a file"))
        self._save.setCursor(Qt.CursorShape.PointingHandCursor)
        self._save.clicked.connect(self._on_save)
        self._wrap = styled(QToolButton(), kind="link")
        self._wrap.setCursor(Qt.CursorShape.PointingHandCursor)
        self._wrap.clicked.connect(requests.code_wrap_requested)
        row_of(self._wrap, self._copy, self._save, on=self, margins=0, spacing=2)

    def set_code(self, language: str, code: str | None) -> None:
        """Set the code to copy or save; None while it is still growing."""
        self._language, self._code = language, code
        self._copy.set_code(code)
        self.setVisible(code is not None)

    def fitted(self, room: float, *, is_long: bool) -> QSize:
        """Show the buttons that fit beside the code's language, and return their size.

        Args:
            room: Pixels of the header.
            is_long: Whether lines are longer than the card is wide; then wrapping can be switched,
                as in the View menu.
        """
        self._wrap.setVisible(is_long)
        self._wrap.setText(self.tr("Don't wrap") if look.wraps_code else self.tr("Wrap"))
        words = self.tr("Scroll long lines") if look.wraps_code else self.tr("Wrap long lines")
        self._wrap.setAccessibleName(words)
        name = QFontMetrics(ui_font(LANGUAGE_PX)).horizontalAdvance(self._language)
        if is_long and self.sizeHint().width() + name > room:
            self._wrap.hide()
        return self.sizeHint()

    @Slot()
    def _on_save(self) -> None:
        if self._code is not None:
            self._requests.code_save_requested.emit(self._language, self._code)


@dataclass(slots=True)
class _Card:
    """One block of code on the canvas.

    Attributes:
        mark: Its range in the document.
        buttons: Its buttons, at the right of its header.
        bar: Its scroll bar at its lower edge, where lines are longer than the card is wide.
        widest: Width of its longest line in pixels, unwrapped.
        measured: The position of the last line that was measured.
        is_long: Whether a line is longer than the card.
    """

    mark: Mark
    buttons: CodeButtons
    bar: SideBar
    widest: float = 0.0
    measured: int = -1
    is_long: bool = False


class ButtonsOnCode:
    """Buttons and bars on a document's code cards, as children of the widget that paints it."""

    def __init__(self, document: QTextDocument, canvas: QWidget, requests: MessageRequests) -> None:
        self._document = document
        self._canvas = canvas
        self._requests = requests
        self.cards: list[_Card] = []
        self._key: object = None

    def show_codes(self, marks: Iterable[Mark]) -> None:
        """Have buttons for the blocks of code among these marks; `place` positions them."""
        codes = [mark for mark in marks if mark.kind == "code_block"][:MAX_CODE_BUTTONS]
        while len(self.cards) > len(codes):
            card = self.cards.pop()
            card.buttons.deleteLater()
            card.bar.deleteLater()
        for card, mark in zip(self.cards, codes, strict=False):
            if card.mark.start != mark.start or mark.code != card.mark.code:
                card.measured = -1
            card.mark = mark
        for mark in codes[len(self.cards) :]:
            buttons = CodeButtons(self._canvas, self._requests)
            self.cards.append(_Card(mark, buttons, SideBar(self._canvas)))
        for card in self.cards:
            card.buttons.set_code(card.mark.label, card.mark.code)

    def place(self) -> None:
        """Position every card's buttons in its header, and its bar at its lower edge."""
        key = (look.font_px, look.wraps_code, self._document.textWidth())
        is_same, self._key = key == self._key, key
        for card in self.cards:
            if card.mark.end >= self._document.characterCount():
                continue  # the document's end is being rebuilt; a later call follows
            if not is_same:
                card.measured = -1
            rect = code_card(self._document, card.mark)
            self._measure(card, rect.width() - 2 * CODE_PADDING)
            size = card.buttons.fitted(rect.width() - 2 * CODE_PADDING, is_long=card.is_long)
            top = rect.top() + (CODE_HEADER - size.height()) / 2
            left = rect.right() - size.width() - 8
            card.buttons.setGeometry(QRect(QPoint(round(left), round(top)), size))
            has_bar = card.is_long and not look.wraps_code
            card.bar.setVisible(has_bar)
            if has_bar:
                inner = rect.adjusted(4, 0, -4, -2).toRect()
                inner.setTop(inner.bottom() + 1 - px(BAR_PX))
                card.bar.setGeometry(inner)
                card.bar.setPageStep(round(rect.width() - 2 * CODE_PADDING))
                card.bar.setRange(0, ceil(card.widest + 2 * CODE_PADDING - rect.width()))

    def _measure(self, card: _Card, room: float) -> None:
        """Measure the width of a card's lines; in a growing card, only that of new lines."""
        if card.measured < 0:
            card.widest, card.is_long = 0.0, False
        block = self._document.findBlock(max(card.measured, card.mark.start))
        while block.isValid() and block.position() <= card.mark.end:
            card.measured = block.position()
            layout = block.layout()
            if look.wraps_code:
                card.is_long = card.is_long or layout.lineCount() > 1
            elif layout.lineCount():
                card.widest = max(card.widest, layout.lineAt(0).naturalTextWidth())
            block = block.next()
        if not look.wraps_code:
            card.is_long = card.widest > room

    def windows(self) -> Iterator[SideWindow]:
        """Yield the windows on code that is wider than its card, from the top."""
        for card in self.cards:
            if card.bar.isVisibleTo(self._canvas):
                rect = code_card(self._document, card.mark)
                text = rect.adjusted(1, CODE_HEADER - 4, -1, -1)  # marks extend above letters
                shift, mark = card.bar.value(), card.mark
                yield SideWindow(text, shift, mark.start, mark.end, card.bar)
