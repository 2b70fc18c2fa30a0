"""How Markdown looks: character and block formats in the colours of a theme.

Grounds (code cards, inline code, token colours) are not in the formats: the view paints them below
the text, rounded, and switches them without touching the document.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QTextBlockFormat,
    QTextCharFormat,
    QTextFormat,
    QTextFrameFormat,
    QTextLength,
    QTextTableFormat,
)

from paceline.gui.theme import mono_font

if TYPE_CHECKING:
    from paceline.gui.theme import Theme
    from paceline.gui.widgets.code import CodeStyle

TEXT_PX = 15
CODE_PX = 13
HEADING_PX = (22, 19, 17, 15, 15, 15)
INDENT_PX = 24
QUOTE_PX = 16
CODE_PADDING = 14
CODE_HEADER = 36
BLOCK_GAP = 10
ITEM_GAP = 4
HEADING_GAP = 8
MAX_DEPTH = 8
"""Deeper lists and quotes are not indented further."""

_PROPORTIONAL = QTextBlockFormat.LineHeightTypes.ProportionalHeight.value
_FIXED = QTextBlockFormat.LineHeightTypes.FixedHeight.value


class TextStyle(NamedTuple):
    """How a run of inline text looks."""

    bold: bool = False
    italic: bool = False
    strike: bool = False
    code: bool = False
    muted: bool = False
    heading: int = 0
    link: str = ""


class Formats:
    """Formats of one theme, each made once."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self._mono_families = mono_font().families()
        self._chars: dict[TextStyle, QTextCharFormat] = {}
        self._codes: dict[CodeStyle, QTextCharFormat] = {}

    def text(self, style: TextStyle) -> QTextCharFormat:
        """The format of inline text."""
        if style not in self._chars:
            self._chars[style] = self._make_text(style)
        return self._chars[style]

    def _make_text(self, style: TextStyle) -> QTextCharFormat:
        fmt = QTextCharFormat()
        if style.code:
            fmt.setFontFamilies(self._mono_families)
            fmt.setProperty(QTextFormat.Property.FontPixelSize, self._code_px(style.heading))
        elif style.heading:
            fmt.setProperty(QTextFormat.Property.FontPixelSize, HEADING_PX[style.heading - 1])
        if style.bold or style.heading:
            fmt.setFontWeight(QFont.Weight.DemiBold)
        fmt.setFontItalic(style.italic)
        fmt.setFontStrikeOut(style.strike)
        if style.muted:
            fmt.setForeground(QColor(self.theme.muted))
        if style.link:
            fmt.setAnchor(True)
            fmt.setAnchorHref(style.link)
            fmt.setForeground(QColor(self.theme.accent))
            fmt.setFontUnderline(True)
        return fmt

    @staticmethod
    def _code_px(heading: int) -> int:
        return HEADING_PX[heading - 1] - 2 if heading else CODE_PX

    def code(self, style: CodeStyle) -> QTextCharFormat:
        """The format of a run in a code block."""
        if style not in self._codes:
            fmt = QTextCharFormat()
            fmt.setFontFamilies(self._mono_families)
            fmt.setProperty(QTextFormat.Property.FontPixelSize, CODE_PX)
            fmt.setFontFixedPitch(True)
            if style.colour:
                fmt.setForeground(QColor(style.colour))
            if style.bold:
                fmt.setFontWeight(QFont.Weight.DemiBold)
            fmt.setFontItalic(style.italic)
            self._codes[style] = fmt
        return self._codes[style]

    def table(self, n_columns: int, left: float) -> QTextTableFormat:
        """The format of a table."""
        fmt = QTextTableFormat()
        fmt.setBorderCollapse(True)
        fmt.setBorder(1)
        fmt.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        fmt.setBorderBrush(QColor(self.theme.line_strong))
        fmt.setCellPadding(7)
        fmt.setCellSpacing(0)
        fmt.setTopMargin(BLOCK_GAP + 2)
        fmt.setBottomMargin(BLOCK_GAP + 2)
        fmt.setLeftMargin(left)
        if n_columns > 4:
            fmt.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
        return fmt


def block_format(top: float, left: float = 0, line: int = 126) -> QTextBlockFormat:
    """A paragraph's format: margins in pixels, line height in percent of the font's own."""
    fmt = QTextBlockFormat()
    fmt.setTopMargin(top)
    fmt.setLeftMargin(left)
    fmt.setLineHeight(line, _PROPORTIONAL)
    return fmt


def code_format(top: float, left: float, *, is_last: bool) -> QTextBlockFormat:
    """The format of one line of a code block."""
    fmt = block_format(top, left + CODE_PADDING, line=116)
    fmt.setRightMargin(CODE_PADDING)
    if is_last:
        fmt.setBottomMargin(CODE_PADDING)
    return fmt


def thin_format(height: float, top: float = 0) -> QTextBlockFormat:
    """The format of a block that holds no text."""
    fmt = QTextBlockFormat()
    fmt.setTopMargin(top)
    fmt.setLineHeight(height, _FIXED)
    return fmt


def alignment(style: object) -> Qt.AlignmentFlag:
    """A table cell's alignment from the parser's style attribute."""
    text = str(style or "")
    if "right" in text:
        return Qt.AlignmentFlag.AlignRight
    return Qt.AlignmentFlag.AlignHCenter if "center" in text else Qt.AlignmentFlag.AlignLeft
