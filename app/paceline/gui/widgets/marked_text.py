"""Paints a text of a few lines with words of it marked; what does not fit ends in an ellipsis.

Places are characters, as the store gives them; Qt counts UTF-16 units, of which an emoji has two.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QColor, QFont, QTextCharFormat, QTextLayout, QTextOption

from paceline.gui.widgets.provenance import units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QPainter

_ELLIPSIS = "…"
_SPARED = 2
"""Characters that give way to the ellipsis."""
_BEFORE = 8
"""Characters that stay in front of the first marked part where the text begins with an ellipsis."""


@dataclass(frozen=True, slots=True)
class MarkStyle:
    """How marked words look: bold, in this ink, on this ground ("#rrggbb")."""

    ink: str
    ground: str


class MarkedText:
    """A paragraph with marked parts, and the look of both.

    Attributes:
        text: One paragraph.
        marks: Parts to mark, as (start, end) in characters.
        font: Of what is not marked.
        style: Of what is.
    """

    def __init__(
        self, text: str, marks: Sequence[tuple[int, int]], font: QFont, style: MarkStyle
    ) -> None:
        self.text = text
        self.marks = marks
        self.font = font
        self.style = style

    def draw(self, painter: QPainter, rect: QRect, n_lines: int = 1) -> None:
        """Write it from the top of a place on in so many lines at most, with the painter's pen."""
        layout, end = self._lay_out(rect.width(), n_lines)
        is_whole = end >= len(self.text)
        while not is_whole and end > 0:  # bold and broad signs can make it too long again
            piece = self._cut(end)
            layout, held = piece._lay_out(rect.width(), n_lines)
            is_whole = held >= len(piece.text)
            end -= _SPARED
        painter.save()
        painter.setClipRect(rect.adjusted(0, -1, 0, 1))
        layout.draw(painter, QPointF(rect.topLeft()))
        painter.restore()

    def _cut(self, end: int) -> MarkedText:
        """As much of the text as fits, with the first marked part in it."""
        start = 0
        if self.marks and self.marks[0][1] > end - _SPARED:
            start = max(min(self.marks[0][0] - _BEFORE, len(self.text) - end + _SPARED), 0)
        front = _ELLIPSIS if start else ""
        text = self.text[start:].lstrip() if start else self.text
        start = len(self.text) - len(text)
        is_whole = len(text) + len(front) <= end
        if not is_whole:
            text = text[: max(end - _SPARED - len(front), 0)].rstrip() + _ELLIPSIS
        moved = len(front) - start
        marks = [(first + moved, last + moved) for first, last in self.marks]
        return MarkedText(front + text, marks, self.font, self.style)

    def _lay_out(self, width: int, n_lines: int) -> tuple[QTextLayout, int]:
        """Break the text into lines; returns how many of its characters they hold, too."""
        layout = QTextLayout(self.text, self.font)
        option = QTextOption()
        # A single line is filled up to its end, in the middle of a word.
        mode = QTextOption.WrapMode
        option.setWrapMode(mode.WrapAnywhere if n_lines == 1 else mode.WrapAtWordBoundaryOrAnywhere)
        # Absolute: a text from right to left begins where its neighbours begin.
        option.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute)
        layout.setTextOption(option)
        layout.setFormats(_formats(self.text, self.marks, self.style))
        layout.beginLayout()
        height, n_units = 0.0, 0
        for _ in range(n_lines):
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(max(width, 1))
            line.setPosition(QPointF(0, height))
            height += line.height()
            n_units = line.textStart() + line.textLength()
        layout.endLayout()
        sizes = accumulate(units(sign) for sign in self.text)
        return layout, sum(size <= n_units for size in sizes)


def _formats(
    text: str, marks: Sequence[tuple[int, int]], style: MarkStyle
) -> list[QTextLayout.FormatRange]:
    look = QTextCharFormat()
    look.setFontWeight(QFont.Weight.Bold)
    look.setForeground(QColor(style.ink))
    look.setBackground(QColor(style.ground))
    formats = []
    for start, end in marks:
        if 0 <= start < min(end, len(text)):
            part = QTextLayout.FormatRange()
            part.start = units(text[:start])
            part.length = units(text[start:end])
            part.format = look
            formats.append(part)
    return formats
