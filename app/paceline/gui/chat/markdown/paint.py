"""Paints decorations below the text of a message: cards of code, inline code, token colours.

These backgrounds are rounded and can be switched without touching the document, which a text format
cannot offer; and copied text carries none of them. Only the clip's content is visited.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QPainter,
    QPen,
    QRegion,
    QTextBlock,
    QTextDocument,
    QTextLine,
)

from paceline.gui.chat.markdown.format import (
    CELL_PADDING,
    CODE_HEADER,
    CODE_PADDING,
    INDENT_PX,
    TEXT_PX,
)
from paceline.gui.chat.markdown.formulas import OBJECT, PlacedFormula, formula_rect, x_of
from paceline.gui.chat.markdown.inline import Mark
from paceline.gui.chat.markdown.provenance import Span
from paceline.gui.chat.markdown.sideways import SideWindow
from paceline.gui.kit.labels import LAST_BMP
from paceline.gui.look.current import look
from paceline.gui.look.scale import px
from paceline.gui.look.theme import ui_font

SpansWithin = Callable[[int, int], Iterator[tuple[PlacedFormula, Span]]]

LANGUAGE_PX = 12
_BOX_PX = 13


class PaintedPiece(NamedTuple):
    """A part of a span within one line, in document coordinates."""

    rect: QRectF
    kind: str


def text_pieces(
    document: QTextDocument, spans: Sequence[Span], first: int, last: int
) -> Iterator[PaintedPiece]:
    """Yield the rectangles of spans between two positions, without outer spaces.

    The spans are sorted and do not overlap. Each line is looked up once, since queries to Qt
    dominate the time here.
    """
    layout = document.documentLayout()
    index = max(0, bisect_left(spans, (first,)) - 1)
    while index < len(spans) and spans[index].end <= first:
        index += 1
    while index < len(spans) and spans[index].start < last:
        block = document.findBlock(max(spans[index].start, first))
        base = block.position()
        origin = layout.blockBoundingRect(block).topLeft()
        text_layout = block.layout()
        text = _units(block.text())
        number = text_layout.lineForTextPosition(max(spans[index].start, first) - base).lineNumber()
        while 0 <= number < text_layout.lineCount():
            line = text_layout.lineAt(number)
            begin = base + line.textStart()
            end = min(begin + line.textLength(), last)
            ascent, descent = _letters(document, block, line)
            top, height = origin.y() + line.y() + line.ascent() - ascent, ascent + descent
            while index < len(spans) and spans[index].start < end:
                start, stop = (
                    max(spans[index].start, begin) - base,
                    min(spans[index].end, end) - base,
                )
                part = text[start:stop]
                start += len(part) - len(part.lstrip())
                stop -= len(part) - len(part.rstrip())
                if start < stop:
                    left, right = x_of(line, start), x_of(line, stop)
                    rect = QRectF(origin.x() + min(left, right), top, abs(right - left), height)
                    yield PaintedPiece(rect, spans[index].kind)
                if spans[index].end > end:
                    break  # continues in the next line
                index += 1
            number += 1
            if index >= len(spans) or end >= last:
                break
        # The rest begins in a later block, or the span continues there.
        following = base + block.length()
        while index < len(spans) and spans[index].end <= following:
            index += 1
        if following >= last:
            break
        first = max(first, following)


def _letters(document: QTextDocument, block: QTextBlock, line: QTextLine) -> tuple[float, float]:
    """Return the letters' extent above and below a line's baseline, which formulas may exceed."""
    text = block.text()[line.textStart() : line.textStart() + line.textLength()]
    if OBJECT in text and text.strip(f"{OBJECT} \u2028"):
        fmt = block.begin().fragment().charFormat()
        metrics = QFontMetricsF(fmt.font().resolve(document.defaultFont()))
        return min(line.ascent(), metrics.ascent()), min(line.descent(), metrics.descent())
    return line.ascent(), line.descent()


def formula_pieces(
    document: QTextDocument, parts: Iterable[tuple[PlacedFormula, Span]]
) -> Iterator[PaintedPiece]:
    """Yield the tokens of formulas, spread over a formula's width by their source's characters.

    Within text they extend at least as far down as its letters, where the underline is.
    """
    for placed, (start, end, kind) in parts:
        rect = formula_rect(document, placed).adjusted(0, 0, 0, 2)
        block = document.findBlock(placed.position)
        line = block.layout().lineForTextPosition(placed.position - block.position())
        if not placed.is_display and line.isValid():
            top = document.documentLayout().blockBoundingRect(block).top() + line.y()
            below = top + line.ascent() + _letters(document, block, line)[1]
            rect.setBottom(max(rect.bottom(), below))
        width = rect.width() / placed.n_chars
        left = rect.left() + start * width
        yield PaintedPiece(QRectF(left, rect.top(), (end - start) * width, rect.height()), kind)


def marked_rects(
    document: QTextDocument,
    spans: Sequence[Span],
    formulas: Iterable[PlacedFormula],
    first: int,
    last: int,
) -> Iterator[QRectF]:
    """Yield the rectangles to mark between two positions: letters, and formulas in full height.

    The spans are sorted and do not overlap.
    """
    for rect, _ in text_pieces(document, spans, first, last):
        yield rect
    for placed in formulas:
        at = bisect_left(spans, (placed.position + 1,)) - 1
        if at >= 0 and first <= placed.position < min(spans[at].end, last):
            yield formula_rect(document, placed)


def _units(text: str) -> str:
    """Return the text with one character per unit of the document."""
    if text.isascii() or max(text) <= LAST_BMP:
        return text
    return "".join(char if char <= LAST_BMP else char + "\0" for char in text)


def _is_mirrored(block: QTextBlock) -> bool:
    return block.textDirection() == Qt.LayoutDirection.RightToLeft


def code_card(document: QTextDocument, mark: Mark) -> QRectF:
    """Return the rectangle of a code block in document coordinates, header included."""
    layout = document.documentLayout()
    first, last = document.findBlock(mark.start), document.findBlock(mark.end)
    top = layout.blockBoundingRect(first).top() - CODE_HEADER
    lines = last.layout()
    n_lines = lines.lineCount()
    last_line = lines.lineAt(n_lines - 1) if n_lines else None
    height = last_line.y() + last_line.height() if last_line else 0
    bottom = layout.blockBoundingRect(last).top() + height + CODE_PADDING - 2
    return QRectF(mark.left + 0.5, top + 0.5, document.textWidth() - mark.left - 1, bottom - top)


class GroundPainter:
    """Paints the backgrounds of one message in the colours of the present theme."""

    def __init__(self, document: QTextDocument) -> None:
        self._document = document

    def paint(
        self,
        painter: QPainter,
        clip: QRectF,
        marks: Sequence[Mark],
        spans: Sequence[Span],
        marked: Sequence[Span] = (),
        *,
        current: Sequence[Span] = (),
        formulas: Sequence[PlacedFormula] = (),
        within: SpansWithin | None = None,
        windows: Sequence[SideWindow] = (),
    ) -> None:
        """Paint the clip's content; without spans, no token colours.

        `marked` are the hits of the search, `current` the present one. Both may contain `formulas`,
        which are all formulas of the document. `within` yields the tokens of formulas between two
        positions, `windows` are the places where code and formulas are scrolled.
        """
        layout = self._document.documentLayout()
        hit = Qt.HitTestAccuracy.FuzzyHit
        first = layout.hitTest(QPointF(0, clip.top() - CODE_PADDING), hit)
        last = layout.hitTest(QPointF(self._document.textWidth(), clip.bottom() + 2), hit)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        # A card extends above its first line, hence whole blocks.
        above = self._document.findBlock(first).position()
        block = self._document.findBlock(last)
        below = block.position() + block.length()
        inline: list[Span] = []
        for mark in marks:
            if mark.start <= below and mark.end >= above:
                if mark.kind == "inline_code":
                    inline.append(Span(mark.start, mark.end, "draft"))
                elif mark.kind != "image":
                    self._mark(painter, mark)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(look.theme.bubble))
        for rect, _ in text_pieces(self._document, inline, above, below):
            painter.drawRoundedRect(rect.adjusted(-2, -1, 2, 1), 4, 4)
        parts = within(above, below) if within is not None else ()
        lines = list(formula_pieces(self._document, parts))
        outside = QRegion(clip.toAlignedRect())
        for window in windows:
            outside -= window.rect.toAlignedRect()
            painter.save()
            painter.setClipRect(window.rect & clip)
            painter.translate(-window.shift, 0)
            between = max(first, window.start), min(last, window.end)
            self._lines(painter, lines)
            self._tokens(painter, spans, marked, current, between, formulas=formulas)
            painter.restore()
        painter.save()
        if windows:
            painter.setClipRegion(outside)
        self._lines(painter, lines)
        self._tokens(painter, spans, marked, current, (first, last), formulas=formulas)
        painter.restore()
        for mark in marks:
            if mark.kind == "image" and mark.start <= below and mark.end >= above:
                self._image(painter, mark)

    def _tokens(
        self,
        painter: QPainter,
        spans: Sequence[Span],
        marked: Sequence[Span],
        current: Sequence[Span],
        between: tuple[int, int],
        *,
        formulas: Sequence[PlacedFormula] = (),
    ) -> None:
        """Paint the colours of tokens and the marks of hits between two positions."""
        first, last = between
        self._spans(painter, list(text_pieces(self._document, spans, first, last)))
        theme = look.theme
        painter.setPen(QPen(QColor(theme.line_strong), 1))
        self._searched(painter, marked, formulas, between)
        painter.setPen(QPen(QColor(theme.text), 1.6))
        self._searched(painter, current, formulas, between)

    def _mark(self, painter: QPainter, mark: Mark) -> None:
        match mark.kind:
            case "code_block":
                self._code_block(painter, mark)
            case "item":
                self._item(painter, mark)
            case "quote":
                first, last = (self._document.findBlock(at) for at in (mark.start, mark.end))
                layout = self._document.documentLayout()
                top = layout.blockBoundingRect(first).top()
                bottom = layout.blockBoundingRect(last).bottom()
                bar = QRectF(mark.left, top, 3, bottom - top - 2)
                if _is_mirrored(first):
                    bar.moveRight(self._document.textWidth() - mark.left)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(QColor(look.theme.line_strong))
                painter.drawRoundedRect(bar, 1.5, 1.5)
            case "table_head":
                self._table_head(painter, mark)
            case "rule":
                block = self._document.findBlock(mark.start)
                rect = self._document.documentLayout().blockBoundingRect(block)
                painter.setPen(QPen(QColor(look.theme.line), 1))
                y = round(rect.center().y()) + 0.5
                painter.drawLine(QPointF(mark.left, y), QPointF(self._document.textWidth(), y))

    def _table_head(self, painter: QPainter, mark: Mark) -> None:
        """Paint the background of a table's first row; a cell's own would hide token colours."""
        layout = self._document.documentLayout()
        block, last = self._document.findBlock(mark.start), self._document.findBlock(mark.end)
        rect = layout.blockBoundingRect(block)
        while block != last and block.isValid():
            block = block.next()
            rect |= layout.blockBoundingRect(block)
        room = CELL_PADDING + 0.5
        ground = rect.adjusted(-room, -room, room, room)
        if mark.label:  # there is another row, and the space below a line is in no rectangle
            ground.setBottom(layout.blockBoundingRect(last.next()).top() - room)
        painter.fillRect(ground, QColor(look.theme.hover))

    def _item(self, painter: QPainter, mark: Mark) -> None:
        """Paint the sign of a list item: a number, a box to tick or a bullet."""
        block = self._document.findBlock(mark.start)
        rect = self._document.documentLayout().blockBoundingRect(block)
        line = block.layout().lineAt(0)
        if not line.isValid():
            return
        width = px(INDENT_PX)
        ascent, descent = _letters(self._document, block, line)
        top = rect.top() + line.ascent() - ascent
        gutter = QRectF(mark.left - width, top, width - 8, ascent + descent)
        flags = Qt.TextFlag.TextDontClip | Qt.AlignmentFlag.AlignRight
        is_mirrored = _is_mirrored(block)
        if is_mirrored:
            gutter.moveRight(self._document.textWidth() - gutter.left())
            flags = Qt.TextFlag.TextDontClip | Qt.TextFlag.TextForceRightToLeft
        if mark.label in {"box", "tick"}:
            left = gutter.left() if is_mirrored else gutter.right() - px(_BOX_PX) - 1
            self._box(painter, left, gutter.center().y(), is_ticked=mark.label == "tick")
        elif mark.label:
            painter.setFont(ui_font(TEXT_PX))
            painter.setPen(QColor(look.theme.muted))
            painter.drawText(gutter, flags, mark.label)
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(look.theme.muted))
            radius = px(5) / 2
            at = gutter.left() + 3 if is_mirrored else gutter.right() - 3
            painter.drawEllipse(QPointF(at, gutter.center().y() + 1), radius, radius)

    def _box(self, painter: QPainter, left: float, middle: float, *, is_ticked: bool) -> None:
        side = px(_BOX_PX)
        box = QRectF(left + 0.5, round(middle - side / 2) + 0.5, side, side)
        painter.setPen(QPen(QColor(look.theme.accent if is_ticked else look.theme.faint), 1))
        painter.setBrush(QColor(look.theme.accent if is_ticked else look.theme.surface))
        painter.drawRoundedRect(box, 3, 3)
        if is_ticked:
            pen = QPen(QColor(look.theme.accent_text), 1.6)
            pen.setCapStyle(Qt.PenCapStyle.RoundCap)
            painter.setPen(pen)
            at, scale = box.topLeft(), side / _BOX_PX
            points = [QPointF(3.2, 6.8), QPointF(5.6, 9.2), QPointF(10, 4.2)]
            painter.drawPolyline([at + point * scale for point in points])

    def _code_block(self, painter: QPainter, mark: Mark) -> None:
        card = code_card(self._document, mark)
        painter.setPen(QPen(QColor(look.theme.line), 1))
        painter.setBrush(QColor(look.theme.code_surface))
        painter.drawRoundedRect(card, 10, 10)
        if mark.label:
            painter.setFont(ui_font(LANGUAGE_PX))
            painter.setPen(QColor(look.theme.muted))
            header = QRectF(card.left() + CODE_PADDING, card.top(), card.width() / 2, CODE_HEADER)
            painter.drawText(header, Qt.AlignmentFlag.AlignVCenter, mark.label)

    def _image(self, painter: QPainter, mark: Mark) -> None:
        """Paint a crossed-out picture in the space before its description."""
        block = self._document.findBlock(mark.start)
        origin = self._document.documentLayout().blockBoundingRect(block).topLeft()
        at = mark.start - block.position()
        line = block.layout().lineForTextPosition(at)
        if not line.isValid():
            return
        side = 0.62 * line.ascent()
        left = origin.x() + x_of(line, at) + 1
        frame = QRectF(left, origin.y() + line.y() + line.ascent() - side, 1.25 * side, side)
        pen = QPen(QColor(look.theme.muted), 1.2)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(frame, 2, 2)
        painter.drawLine(frame.bottomLeft() + QPointF(2, -2), frame.topRight() + QPointF(-2, 2))

    def _searched(
        self,
        painter: QPainter,
        marked: Sequence[Span],
        formulas: Sequence[PlacedFormula],
        between: tuple[int, int],
    ) -> None:
        painter.setBrush(QColor(look.theme.selection))
        for rect in marked_rects(self._document, marked, formulas, *between):
            # If the frame extended further to the right, it would hide a full stop.
            painter.drawRoundedRect(rect.adjusted(-1.5, -1, 0.5, 1), 3, 3)

    def _spans(self, painter: QPainter, pieces: Sequence[PaintedPiece]) -> None:
        grounds = {
            "draft": QColor(look.theme.accent_soft),
            "lookup": QColor(look.theme.lookup_soft),
        }
        painter.setPen(Qt.PenStyle.NoPen)
        for rect, kind in pieces:
            painter.setBrush(grounds[kind])
            painter.drawRoundedRect(rect.adjusted(-1, -1, 1, 1), 3, 3)
        self._lines(
            painter, [PaintedPiece(rect.adjusted(-1, 0, 1, 0), kind) for rect, kind in pieces]
        )

    @staticmethod
    def _lines(painter: QPainter, pieces: Sequence[PaintedPiece]) -> None:
        """Underline pieces by drafter; formulas get only that: backgrounds would cut them up."""
        theme = look.theme
        for kind, ink in (("draft", theme.accent), ("lookup", theme.lookup)):
            pen = QPen(QColor(ink), 2)
            pen.setCapStyle(Qt.PenCapStyle.FlatCap)
            if kind == "lookup":
                # The sign must not be colour alone: lookups are dotted.
                pen.setDashPattern([1, 1])
            painter.setPen(pen)
            rects = [piece.rect for piece in pieces if piece.kind == kind]
            bottoms = [round(rect.bottom()) + 1 for rect in rects]
            painter.drawLines(
                [QLineF(r.left(), y, r.right(), y) for r, y in zip(rects, bottoms, strict=True)]
            )
