"""Formulas: laid out in a thread, cached, and painted as one character each in a document.

A formula is requested when its message is written. Until it is ready, and where it cannot be laid
out, the message shows its source. `chat.maths` lays it out; here it becomes a path, painted in the
present colour, size and resolution.
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
"""Character that represents a formula in a document; no text of a message contains it."""
OBJECT_TYPE = QTextFormat.ObjectTypes.UserObject.value + 1
_SIZE, _HEIGHT, _BELOW = (QTextFormat.Property.UserProperty.value + n for n in (1, 2, 3))
SCALE = 1.12
"""Scale of a formula's letters relative to the text, for equal x-heights."""
_LINE_DEPTH = 0.28
"""Depth below the baseline that a line of text provides, in ems."""
_HALF_X = 0.27
"""Half the x-height in ems of the text; Qt centres an object there."""
_MAX_CACHED = 1_000


class Formula(NamedTuple):
    """A formula to be painted, in ems of the text; y goes down from the baseline."""

    path: QPainterPath
    left: float
    width: float
    ascent: float
    descent: float

    def room(self, *, is_display: bool) -> FormulaBox:
        """Return the box of its object, which Qt puts on the baseline or centres on the letters.

        Within a line, a formula that is no deeper than letters stands on the baseline and is
        painted below it; a deeper one is made as high as centring requires. A display formula
        stands on its own depth.
        """
        if is_display:
            return FormulaBox(self.ascent + self.descent, self.descent, is_centred=False)
        if self.descent <= _LINE_DEPTH:
            return FormulaBox(self.ascent, 0.0, is_centred=False)
        height = max(2 * self.ascent - _HALF_X, 2 * self.descent + _HALF_X)
        return FormulaBox(height, (height - _HALF_X) / 2, is_centred=True)

    def paint(self, painter: QPainter, at: QPointF, width: float, ink: QBrush) -> None:
        """Paint the formula in this width, from a point on the baseline on."""
        size = width / self.width
        painter.save()
        painter.setRenderHint(painter.RenderHint.Antialiasing)
        painter.translate(at.x() - size * self.left, at.y())
        painter.scale(size, size)
        painter.fillPath(self.path, ink)
        painter.restore()


class FormulaBox(NamedTuple):
    """Box of a formula's object in ems: its height, and its baseline."""

    height: float
    below: float
    is_centred: bool


class PlacedFormula(NamedTuple):
    """A formula in a document.

    Attributes:
        position: Position of its character.
        source: Its source with delimiters.
        formula: Its layout.
        offset: Its offset in the document's source.
        n_chars: Its length in the source, where its lines may be indented.
        is_display: Whether it is a display formula, in a block of its own.
        own_px: Its fixed width in pixels, also in narrower text; 0 to shrink it to the text's
            width.
    """

    position: int
    source: str
    formula: Formula
    offset: int
    n_chars: int
    is_display: bool
    own_px: float


def formula_at(placed: Sequence[PlacedFormula], position: int) -> PlacedFormula | None:
    """Return the formula whose character stands at a position; `placed` is sorted."""
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
    """Lays formulas out, the last requested ones first; lives on the main thread.

    Its thread runs while there is something to do.
    """

    drawn = Signal()
    """The layout of a requested formula is known."""
    _laid_out = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self._known: OrderedDict[str, Formula | None] = OrderedDict()
        self._lock = threading.Lock()
        self._due: dict[str, None] = {}
        self._thread: threading.Thread | None = None
        self._laid_out.connect(self._on_laid_out)

    def is_known(self, source: str) -> bool:
        """Return whether a formula's layout is known, or impossible; request it if not."""
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
        """Return a formula's layout, or None where its source is to be shown."""
        return self._known.get(source)

    def close(self) -> None:
        """Drop all requests and wait for the running one; main thread."""
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
        # Not before all requested ones are known: a message waits for all of its formulas.
        while len(self._known) > _MAX_CACHED and not self._due:
            self._known.popitem(last=False)
        self.drawn.emit()


@cache
def shared_formulas() -> Formulas:
    """Return the instance that all messages share."""
    return Formulas()


def object_format(base: QTextCharFormat, room: FormulaBox, size_px: float) -> QTextCharFormat:
    """Return the format of a formula's character in text of this format and size."""
    fmt = QTextCharFormat(base)
    fmt.setObjectType(OBJECT_TYPE)
    for name, value in ((_SIZE, size_px), (_HEIGHT, room.height), (_BELOW, room.below)):
        fmt.setProperty(name, float(value))
    if room.is_centred:
        fmt.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignMiddle)
    return fmt


class FormulaObjects(QPyTextObject):
    """Sizes and paints the formulas of one document."""

    def __init__(self, document: QTextDocument, placed: Sequence[PlacedFormula]) -> None:
        super().__init__(document)
        self._placed = placed
        document.documentLayout().registerHandler(OBJECT_TYPE, self)

    def intrinsicSize(self, doc: QTextDocument, position: int, fmt: QTextFormat) -> QSizeF:
        """Return a formula's size; one wider than the text is shrunk, or scrolled."""
        placed = formula_at(self._placed, position)
        if placed is None:  # its end of the document is being rebuilt
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
        """Paint a formula in the colour of the text."""
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
    """Return the x coordinate of a block's position in one of its lines, in pixels."""
    # The binding returns the position together with the coordinate.
    return float(cast("tuple[float, int]", line.cursorToX(position))[0])


def formula_rect(document: QTextDocument, placed: PlacedFormula) -> QRectF:
    """Return the rectangle of a formula in document coordinates."""
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
