"""Formulas as they are painted: laid out in a thread, kept, and one character each in a document.

A formula is asked for when its message is written. Until it is there, and where it cannot be laid
out, the message shows its source. `chat.maths` says what a formula needs; here it becomes a path,
painted in the colour, the size and the resolution in force.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from operator import attrgetter
from typing import NamedTuple, cast

from PySide6.QtCore import QObject, QPointF, QRect, QRectF, QSizeF, Qt, Signal, Slot
from PySide6.QtGui import (
    QBrush,
    QPainter,
    QPainterPath,
    QPainterPathStroker,
    QPen,
    QPyTextObject,
    QTextCharFormat,
    QTextDocument,
    QTextFormat,
    QTextLine,
)

from paceline.chat.syntax import maths

OBJECT = "\ufffc"
"""The character that stands for a formula in a document; no text of a message has it."""
OBJECT_TYPE = QTextFormat.ObjectTypes.UserObject.value + 1
_SIZE, _HEIGHT, _BELOW = (QTextFormat.Property.UserProperty.value + n for n in (1, 2, 3))
SCALE = 1.12
"""Of a formula's letters to those of the text: the same height of an x."""
_LINE_DEPTH = 0.28
"""Ems below the baseline that a line of text has room for."""
_HALF_X = 0.27
"""Half the height of an x, in ems of the text: what Qt centres an object on."""
_KEPT = 1_000


class Formula(NamedTuple):
    """A formula to be painted, in ems of the text; y goes down from the baseline."""

    path: QPainterPath
    left: float
    width: float
    ascent: float
    descent: float

    def room(self, *, is_display: bool) -> FormulaBox:
        """The room of its object. Qt puts one on the baseline or centres it on the letters.

        In a line, one that is no deeper than letters stands on the baseline and is painted below
        it; a deeper one is made as high as centring it takes. Alone, it stands on its own depth.
        """
        if is_display:
            return FormulaBox(self.ascent + self.descent, self.descent, is_centred=False)
        if self.descent <= _LINE_DEPTH:
            return FormulaBox(self.ascent, 0.0, is_centred=False)
        height = max(2 * self.ascent - _HALF_X, 2 * self.descent + _HALF_X)
        return FormulaBox(height, (height - _HALF_X) / 2, is_centred=True)

    def paint(self, painter: QPainter, at: QPointF, width: float, ink: QBrush) -> None:
        """Paint it in this width, from a place on the baseline on."""
        size = width / self.width
        painter.save()
        painter.setRenderHint(painter.RenderHint.Antialiasing)
        painter.translate(at.x() - size * self.left, at.y())
        painter.scale(size, size)
        painter.fillPath(self.path, ink)
        painter.restore()


class FormulaBox(NamedTuple):
    """What a formula's object takes, in ems: its height, and where in it the baseline is."""

    height: float
    below: float
    is_centred: bool


class PlacedFormula(NamedTuple):
    """A formula in a document.

    Attributes:
        position: Of its character.
        source: As it was written, with its marks.
        formula: How it looks.
        offset: Where it begins in the document's source.
        n_chars: How many characters of the source it takes; lines within may be indented there.
        is_display: Whether it stands alone.
        own_px: How wide it is, and stays where the text around it is narrower; 0: it is made to
            fit there.
    """

    position: int
    source: str
    formula: Formula
    offset: int
    n_chars: int
    is_display: bool
    own_px: float


def formula_at(placed: Sequence[PlacedFormula], position: int) -> PlacedFormula | None:
    """The one of these whose character stands at a position; they are in their order."""
    index = bisect_left(placed, position, key=attrgetter("position"))
    return placed[index] if index < len(placed) and placed[index].position == position else None


def path_of(outline: maths.Outline) -> Formula:
    """Make a formula of an outline; any thread."""
    scale = SCALE / maths.EM
    whole = QPainterPath()
    whole.setFillRule(Qt.FillRule.WindingFill)
    for shape in outline.shapes:
        path = _path(shape.path, scale)
        if shape.line:
            stroker = QPainterPathStroker(QPen(Qt.GlobalColor.black, shape.line * scale))
            path = stroker.createStroke(path)
        whole.addPath(path)
    left, width, ascent, descent = (scale * size for size in outline[:4])
    return Formula(whole, left, width, ascent, descent)


def _path(data: str, scale: float) -> QPainterPath:
    path = QPainterPath()
    words = data.split()
    at = 0
    while at < len(words):
        command = words[at]
        n_numbers = {"M": 2, "L": 2, "Q": 4, "C": 6}.get(command, 0)
        numbers = [scale * float(word) for word in words[at + 1 : at + 1 + n_numbers]]
        at += 1 + n_numbers
        match command:
            case "M":
                path.moveTo(*numbers)
            case "L":
                path.lineTo(*numbers)
            case "Q":
                path.quadTo(*numbers)
            case "C":
                path.cubicTo(*numbers)
            case _:
                path.closeSubpath()
    return path


class Formulas(QObject):
    """Lays formulas out, those first that were asked for last; lives on the main thread.

    Its thread runs while there is something to do.
    """

    drawn = Signal()
    """Something is known of a formula that was asked for."""
    _laid_out = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self._known: OrderedDict[str, Formula | None] = OrderedDict()
        self._lock = threading.Lock()
        self._due: dict[str, None] = {}
        self._thread: threading.Thread | None = None
        self._laid_out.connect(self._on_laid_out)

    def is_known(self, source: str) -> bool:
        """Whether it is known how a formula looks, or that its source is all; if not, ask."""
        if source in self._known:
            self._known.move_to_end(source)
            return True
        with self._lock:
            self._due.pop(source, None)
            self._due[source] = None
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="formulas", daemon=True)
                self._thread.start()
        return False

    def formula(self, source: str) -> Formula | None:
        """How a formula looks, if that is known; None: its source is shown."""
        return self._known.get(source)

    def close(self) -> None:
        """Forget what was asked for and wait for the formula in hand; main thread."""
        with self._lock:
            self._due.clear()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._due:
                    self._thread = None
                    return
                source, _ = self._due.popitem()
            outline = maths.outline(source)
            self._laid_out.emit(source, outline and path_of(outline))

    @Slot(str, object)
    def _on_laid_out(self, source: str, formula: Formula | None) -> None:
        self._known[source] = formula
        # Not before all are there that were asked for: a message waits for all of its own.
        while len(self._known) > _KEPT and not self._due:
            self._known.popitem(last=False)
        self.drawn.emit()


@cache
def shared_formulas() -> Formulas:
    """Return the one of all messages."""
    return Formulas()


def object_format(base: QTextCharFormat, room: FormulaBox, size_px: float) -> QTextCharFormat:
    """The format of a formula's character: text around it has this format and this size."""
    fmt = QTextCharFormat(base)
    fmt.setObjectType(OBJECT_TYPE)
    for name, value in ((_SIZE, size_px), (_HEIGHT, room.height), (_BELOW, room.below)):
        fmt.setProperty(name, float(value))
    if room.is_centred:
        fmt.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignMiddle)
    return fmt


class FormulaObjects(QPyTextObject):
    """Gives the formulas of one document their room, and paints them."""

    def __init__(self, document: QTextDocument, placed: Sequence[PlacedFormula]) -> None:
        super().__init__(document)
        self._placed = placed
        document.documentLayout().registerHandler(OBJECT_TYPE, self)

    def intrinsicSize(self, doc: QTextDocument, position: int, fmt: QTextFormat) -> QSizeF:
        """Return its room; one that is wider than the text is made smaller, or scrolled."""
        placed = formula_at(self._placed, position)
        if placed is None:  # its end of the document is just being built
            return QSizeF()
        formula = placed.formula
        size = fmt.doubleProperty(_SIZE)
        if doc.textWidth() > 0 and not placed.own_px:
            around = doc.findBlock(position).blockFormat()
            room = doc.textWidth() - around.leftMargin() - around.rightMargin()
            size = min(size, max(room, 1) / formula.width)
        return QSizeF(size * formula.width, size * fmt.doubleProperty(_HEIGHT))

    def drawObject(
        self,
        painter: QPainter,
        rect: QRectF | QRect,
        _doc: QTextDocument,
        position: int,
        fmt: QTextFormat,
    ) -> None:
        """Paint it in the colour of the text."""
        placed = formula_at(self._placed, position)
        if placed is None or not placed.formula.width:
            return
        formula = placed.formula
        below = rect.width() / formula.width * fmt.doubleProperty(_BELOW)
        ink = fmt.toCharFormat().foreground()
        if ink.style() == Qt.BrushStyle.NoBrush:
            ink = painter.pen().brush()
        formula.paint(painter, QPointF(rect.left(), rect.bottom() - below), rect.width(), ink)


def x_of(line: QTextLine, position: int) -> float:
    """Return where a position of a block stands in one of its lines, in pixels."""
    # The binding gives the position back beside the coordinate.
    return float(cast("tuple[float, int]", line.cursorToX(position))[0])


def formula_rect(document: QTextDocument, placed: PlacedFormula) -> QRectF:
    """Return where a formula is painted, in document coordinates."""
    block = document.findBlock(placed.position)
    at = placed.position - block.position()
    line = block.layout().lineForTextPosition(at)
    if not line.isValid():
        return QRectF()
    origin = document.documentLayout().blockBoundingRect(block).topLeft()
    left, right = x_of(line, at), x_of(line, at + 1)
    formula = placed.formula
    size = (right - left) / formula.width
    bottom = origin.y() + line.y() + line.ascent()
    if not placed.is_display:
        bottom += size * formula.descent
    height = size * (formula.ascent + formula.descent)
    return QRectF(origin.x() + left, bottom - height, right - left, height)
