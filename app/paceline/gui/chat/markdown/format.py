"""Formats of Markdown: character and block formats in the colours of a theme.

Backgrounds (code cards, inline code, token colours) are not in the formats: the view paints them
below the text, rounded, and switches them without touching the document.
"""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
    QTextFrameFormat,
    QTextLength,
    QTextTableFormat,
)

from paceline.gui.chat.markdown.code import CodeStyle
from paceline.gui.look.current import look
from paceline.gui.look.scale import px
from paceline.gui.look.theme import mono_font, ui_font

TEXT_PX = 15
CODE_PX = 13
HEADING_PX = (22, 19, 17, 15, 15, 15)
INDENT_PX, NUMBER_PX = 24, 30
QUOTE_PX = 16
CODE_PADDING = 14
CODE_HEADER = 36
BLOCK_GAP = 10
ITEM_GAP = 4
CELL_PADDING = 7
MAX_CELL_CHARS = 60
"""Maximum number of characters of a cell that are measured; longer cells are wide in any case."""
HEADING_GAP = 8
_AIR = 5
_HANG_CHARS = 24
MAX_DEPTH = 8
"""Maximum depth of lists and quotes that is indented."""

_PROPORTIONAL = QTextBlockFormat.LineHeightTypes.ProportionalHeight.value
_FIXED = QTextBlockFormat.LineHeightTypes.FixedHeight.value


class TextStyle(NamedTuple):
    """Look of a run of inline text."""

    bold: bool = False
    italic: bool = False
    strike: bool = False
    code: bool = False
    muted: bool = False
    heading: int = 0
    link: str = ""
    in_cell: bool = False
    script: str = ""  # "sub" or "sup": below or above the line


class Formats:
    """Formats in the present theme and size, each made once; another look needs new `Formats`.

    Attributes:
        theme: The colours of all of them.
        indent: Indentation of a list in pixels.
        number_indent: Indentation of a numbered list in pixels.
    """

    def __init__(self, *, is_muted: bool = False) -> None:
        self.theme = look.theme
        self.indent = px(INDENT_PX)
        self.number_indent = px(NUMBER_PX)
        self._cells = QFontMetricsF(ui_font(TEXT_PX, QFont.Weight.DemiBold))
        self._code_cells = QFontMetricsF(mono_font(CODE_PX))
        self._is_muted = is_muted
        self._mono_families = mono_font().families()
        self._chars: dict[TextStyle, QTextCharFormat] = {}
        self._codes: dict[CodeStyle, QTextCharFormat] = {}

    def text(self, style: TextStyle) -> QTextCharFormat:
        """Return the format of inline text."""
        if style not in self._chars:
            self._chars[style] = self._make_text(style)
        return self._chars[style]

    def _make_text(self, style: TextStyle) -> QTextCharFormat:
        fmt = QTextCharFormat()
        if style.code:
            self._set_mono(fmt)
            fmt.setProperty(QTextFormat.Property.FontPixelSize, px(self._code_px(style.heading)))
        elif style.heading:
            fmt.setProperty(QTextFormat.Property.FontPixelSize, px(HEADING_PX[style.heading - 1]))
        if style.bold or style.heading:
            fmt.setFontWeight(QFont.Weight.DemiBold)
        fmt.setFontItalic(style.italic)
        fmt.setFontStrikeOut(style.strike)
        if style.script:
            side = QTextCharFormat.VerticalAlignment
            is_sub = style.script == "sub"
            fmt.setVerticalAlignment(side.AlignSubScript if is_sub else side.AlignSuperScript)
        if style.muted or self._is_muted:
            fmt.setForeground(QColor(self.theme.muted))
        if style.link:
            fmt.setAnchor(True)
            fmt.setAnchorHref(style.link)
            fmt.setForeground(QColor(self.theme.accent))
            fmt.setFontUnderline(True)
        return fmt

    def em(self, style: TextStyle) -> int:
        """Return the pixels per em of inline text other than code."""
        return px(HEADING_PX[style.heading - 1] if style.heading else TEXT_PX)

    def _set_mono(self, fmt: QTextCharFormat) -> None:
        fmt.setFontFamilies(self._mono_families)

    @staticmethod
    def _code_px(heading: int) -> int:
        return HEADING_PX[heading - 1] - 2 if heading else CODE_PX

    def code(self, style: CodeStyle) -> QTextCharFormat:
        """Return the format of a run in a code block."""
        if style not in self._codes:
            fmt = QTextCharFormat()
            self._set_mono(fmt)
            fmt.setProperty(QTextFormat.Property.FontPixelSize, px(CODE_PX))
            fmt.setFontFixedPitch(True)
            if style.colour:
                fmt.setForeground(QColor(style.colour))
            if style.bold:
                fmt.setFontWeight(QFont.Weight.DemiBold)
            fmt.setFontItalic(style.italic)
            self._codes[style] = fmt
        return self._codes[style]

    def hang(self, fmt: QTextBlockFormat, line: str) -> QTextBlockFormat:
        """Indent the wrapped part of a line of code a bit further than its first word."""
        if look.wraps_code:
            wide = line[:_HANG_CHARS].expandtabs()
            n_chars = min(len(wide) - len(wide.lstrip()) + 2, _HANG_CHARS)
            hanging = n_chars * self._code_cells.horizontalAdvance(" ")
            fmt.setLeftMargin(fmt.leftMargin() + fmt.textIndent() + hanging)
            fmt.setTextIndent(-hanging)
        return fmt

    def cell_width(self, text: str, code: str = "") -> float:
        """Return the width of a cell with this text without a break, by the widest letters.

        Args:
            text: The text outside of code.
            code: All code, joined.
        """
        letters = self._cells.horizontalAdvance(text[:MAX_CELL_CHARS])
        letters += self._code_cells.horizontalAdvance(code[:MAX_CELL_CHARS])
        return letters + 2 * CELL_PADDING + 3

    def table(self, n_columns: int, left: float, top: float) -> QTextTableFormat:
        """Return the format of a table; margins in pixels."""
        fmt = QTextTableFormat()
        fmt.setBorderCollapse(True)
        fmt.setBorder(1)
        fmt.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        fmt.setBorderBrush(QColor(self.theme.line_strong))
        fmt.setCellPadding(CELL_PADDING)
        fmt.setCellSpacing(0)
        fmt.setTopMargin(top + 2)
        fmt.setBottomMargin(BLOCK_GAP + 2)
        fmt.setLeftMargin(left)
        if n_columns > 4:
            fmt.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
        return fmt


def block_format(top: float, left: float = 0, line: int = 126) -> QTextBlockFormat:
    """Return a paragraph's format: margins in pixels, line height in percent of the font's own."""
    fmt = QTextBlockFormat()
    fmt.setTopMargin(top)
    fmt.setLeftMargin(left)
    fmt.setLineHeight(line, _PROPORTIONAL)
    return fmt


def mirror(block: QTextBlock) -> None:
    """Indent a right-to-left paragraph from the right."""
    fmt = block.blockFormat()
    if block.textDirection() == Qt.LayoutDirection.RightToLeft and fmt.leftMargin():
        fmt.setRightMargin(fmt.leftMargin())
        fmt.setLeftMargin(0)
        QTextCursor(block).setBlockFormat(fmt)


def code_format(top: float, left: float, *, is_last: bool) -> QTextBlockFormat:
    """Return the format of a line of code, which `Formats.hang` adapts to its text."""
    fmt = block_format(top, left + CODE_PADDING, line=116)
    fmt.setRightMargin(CODE_PADDING)
    fmt.setNonBreakableLines(not look.wraps_code)
    if is_last:
        fmt.setBottomMargin(CODE_PADDING)
    return fmt


def display_format(text: QTextBlockFormat) -> QTextBlockFormat:
    """Return the format of a display formula in text of this format."""
    fmt = QTextBlockFormat(text)
    fmt.setAlignment(Qt.AlignmentFlag.AlignHCenter)
    fmt.setTopMargin(BLOCK_GAP)
    fmt.setBottomMargin(BLOCK_GAP + 4)
    fmt.setLineHeight(100, _PROPORTIONAL)
    return fmt


def uneven_format(text: QTextBlockFormat) -> QTextBlockFormat:
    """Return the format of a paragraph with high lines, without extra space between them."""
    fmt = QTextBlockFormat(text)
    fmt.setLineHeight(px(_AIR), QTextBlockFormat.LineHeightTypes.LineDistanceHeight.value)
    return fmt


def thin_format(height: float, top: float = 0) -> QTextBlockFormat:
    """Return the format of a block without text."""
    fmt = QTextBlockFormat()
    fmt.setTopMargin(top)
    fmt.setLineHeight(height, _FIXED)
    return fmt


def alignment(style: object) -> Qt.AlignmentFlag:
    """Return a table cell's alignment from the parser's style attribute."""
    text = str(style or "")
    if "right" in text:
        return Qt.AlignmentFlag.AlignRight
    return Qt.AlignmentFlag.AlignHCenter if "center" in text else Qt.AlignmentFlag.AlignLeft
