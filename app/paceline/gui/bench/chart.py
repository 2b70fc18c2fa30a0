"""A benchmark's strategies as bars: in the dialog, and in the picture that is saved.

A bar's length is the ratio to plain decoding, which a dashed line marks; the thin line across its
end reaches from the first to the third quartile. Teal is a draft model, amber a lookup, both in one
bar where both draft; grey is plain decoding.

The picture has a sentence, the pair and the bars. The window saves it, and ``paceline bench --png``
writes it, where there may be neither a display nor a Qt application yet. Its colours are always
those of the light theme.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QGuiApplication,
    QHelpEvent,
    QImage,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from paceline.bench.runs import Report
from paceline.bench.verdict import verdict
from paceline.errors import UserError
from paceline.files import write_whole
from paceline.gui.bench.rows import BenchRow, best_of, remarks, rows_of
from paceline.gui.bench.words import remark_text, title_of
from paceline.gui.kit.file_dialogs import PNG_SCALE, png_of
from paceline.gui.kit.row_painting import LEFT, RIGHT
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local, translator
from paceline.gui.look.colours import LIGHT, Theme
from paceline.gui.look.current import look
from paceline.gui.look.scale import BASE_PX, COMPACT, SMALL, TINY, px
from paceline.gui.look.theme import install_fonts, ui_font
from paceline.gui.state.figures import percent_text, ratio_text, speed_text
from paceline.paths import resources

ROW_PX, BAR_PX, AXIS_PX, GAP_PX = 32, 14, 20, 12
_CORNER = 3.0
_MAX_NAME_SHARE = 0.36
"""Maximum share of the width for the names at the left."""
_WITH_SPEED_PX = 400
"""Minimum width of a chart that shows speeds; narrower ones leave them to the table."""
_STEPS = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0)
_TICK_PX = 44
"""Minimum distance between two marks of the axis."""

_tr = translator("BenchChart")


@dataclass(frozen=True, slots=True)
class _Frame:
    """Positions of a chart's parts in pixels: names, bars, the ratio, the speed."""

    left: float
    name: float
    bars: float
    ratio: float
    speed: float
    longest: float

    def x(self, ratio: float) -> float:
        """Return the position of a ratio."""
        return self.left + self.name + px(GAP_PX) + self.bars * min(ratio / self.longest, 1.0)


def chart_height(n_rows: int) -> int:
    """Return the height of a chart of `n_rows` strategies, in pixels."""
    return px(ROW_PX) * max(n_rows, 1) + px(AXIS_PX)


def _axis_end(rows: Sequence[BenchRow]) -> float:
    """Return the ratio at the right end of the axis."""
    ratios = [each for row in rows if row.speedup for each in (row.speedup.ratio, row.speedup.high)]
    return max([1.2, *ratios]) * 1.02


def tick_step(longest: float, pixels: float) -> float:
    """Return the distance between marks of an axis, as a ratio."""
    most = max(pixels / px(_TICK_PX), 1.0)
    return next((step for step in _STEPS if longest / step <= most), longest)


def row_at(y: float, n_rows: int) -> int | None:
    """Return the row of a chart at this height, or None if there is none."""
    at = int(y // px(ROW_PX))
    return at if 0 <= at < n_rows else None


def paint_chart(painter: QPainter, rect: QRectF, rows: Sequence[BenchRow], theme: Theme) -> None:
    """Draw bars into a rectangle of the height that `chart_height` returns."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    frame = _frame(rect, rows)
    _paint_axis(painter, rect, len(rows), frame, theme)
    best = best_of([row for row in rows if row.kind != "plain"])
    for at, row in enumerate(rows):
        middle = rect.top() + px(ROW_PX) * (at + 0.5)
        _paint_row(painter, middle, row, frame, theme, is_best=row is best)
    painter.restore()


def _frame(rect: QRectF, rows: Sequence[BenchRow]) -> _Frame:
    names = QFontMetricsF(_name_font(is_best=True))
    figures = QFontMetricsF(_figure_font())
    widest = max((names.horizontalAdvance(row.title) for row in rows), default=0.0)
    name = min(widest + 2, rect.width() * _MAX_NAME_SHARE)
    ratio = figures.horizontalAdvance("00.00×")
    has_speed = rect.width() >= px(_WITH_SPEED_PX)
    speed = figures.horizontalAdvance(_tr("{} t/s").format("0000.0")) if has_speed else 0.0
    bars = rect.width() - name - ratio - speed - 3 * px(GAP_PX)
    return _Frame(rect.left(), name, max(bars, 10.0), ratio, speed, _axis_end(rows))


def _name_font(*, is_best: bool) -> QFont:
    return ui_font(COMPACT, QFont.Weight.DemiBold if is_best else QFont.Weight.Normal)


def _figure_font() -> QFont:
    return ui_font(COMPACT, QFont.Weight.DemiBold)


def _paint_axis(painter: QPainter, rect: QRectF, n_rows: int, frame: _Frame, theme: Theme) -> None:
    bottom = rect.top() + px(ROW_PX) * max(n_rows, 1)
    painter.setFont(ui_font(TINY))
    step = tick_step(frame.longest, frame.bars)
    tick = 0.0
    while tick <= frame.longest + 1e-9:
        x = frame.x(tick)
        is_plain = abs(tick - 1.0) < 1e-9
        if not is_plain:
            painter.setPen(QPen(QColor(theme.line), 1))
            painter.drawLine(QPointF(x, rect.top()), QPointF(x, bottom))
        painter.setPen(QColor(theme.text if is_plain else theme.muted))
        place = QRectF(x - px(24), bottom + 2, px(48), px(AXIS_PX) - 2)
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, f"{local(tick):g}×")
        tick += step


def _paint_plain_line(painter: QPainter, middle: float, frame: _Frame, theme: Theme) -> None:
    """Draw a row's part of the line that marks plain decoding."""
    pen = QPen(QColor(theme.muted), 1, Qt.PenStyle.DashLine)
    pen.setDashPattern([3, 3])
    painter.setPen(pen)
    half = px(ROW_PX) / 2
    x = frame.x(1.0)
    painter.drawLine(QPointF(x, middle - half), QPointF(x, middle + half))


def _paint_row(
    painter: QPainter, middle: float, row: BenchRow, frame: _Frame, theme: Theme, *, is_best: bool
) -> None:
    height = px(ROW_PX)
    painter.setFont(_name_font(is_best=is_best))
    painter.setPen(QColor(theme.text))
    name = painter.fontMetrics().elidedText(
        row.title, Qt.TextElideMode.ElideMiddle, int(frame.name)
    )
    painter.drawText(QRectF(frame.left, middle - height / 2, frame.name, height), LEFT, name)
    start = frame.x(0)
    if row.speedup is None:
        painter.setFont(ui_font(SMALL))
        ink = QColor(theme.danger if row.problem else theme.faint)
        painter.setPen(ink)
        words = _tr("failed") if row.problem else _tr("not measured")
        if start + px(12) + painter.fontMetrics().horizontalAdvance(words) < frame.x(1.0):
            _paint_plain_line(painter, middle, frame, theme)
            painter.setPen(ink)
        right = frame.bars + frame.ratio + frame.speed + 2 * px(GAP_PX)
        painter.drawText(QRectF(start + px(6), middle - height / 2, right, height), LEFT, words)
        return
    bar = QRectF(start, middle - px(BAR_PX) / 2, frame.x(row.speedup.ratio) - start, px(BAR_PX))
    _paint_bar(painter, bar, row, theme)
    _paint_plain_line(painter, middle, frame, theme)
    _, low, high = row.speedup
    if 0 < low < high and row.kind != "plain":
        _paint_quartiles(painter, middle, frame.x(low), frame.x(high), theme)
    painter.setFont(_figure_font())
    colours = {"gain": theme.accent, "even": theme.muted, "loss": theme.danger}
    painter.setPen(QColor(colours[row.speedup.verdict]))
    ratio_left = start + frame.bars + px(GAP_PX)
    painter.drawText(
        QRectF(ratio_left, middle - height / 2, frame.ratio, height), RIGHT, row.ratio_text
    )
    if row.tokens_per_s is not None and frame.speed:
        painter.setFont(ui_font(COMPACT))
        painter.setPen(QColor(theme.muted))
        place = QRectF(
            ratio_left + frame.ratio + px(GAP_PX) / 2, middle - height / 2, frame.speed, height
        )
        words = _tr("{} t/s").format(speed_text(row.tokens_per_s))
        painter.drawText(place, RIGHT, words)


def _paint_bar(painter: QPainter, bar: QRectF, row: BenchRow, theme: Theme) -> None:
    outline = QPainterPath()
    outline.addRoundedRect(bar, _CORNER, _CORNER)
    colours = {
        "plain": (theme.line_strong,),
        "model": (theme.accent,),
        "lookup": (theme.lookup,),
        "both": (theme.accent, theme.lookup),
    }[row.kind]
    painter.save()
    painter.setClipPath(outline)
    part = bar.height() / len(colours)
    for at, colour in enumerate(colours):
        painter.fillRect(
            QRectF(bar.left(), bar.top() + at * part, bar.width(), part + 1), QColor(colour)
        )
    painter.restore()


def _paint_quartiles(
    painter: QPainter, middle: float, low: float, high: float, theme: Theme
) -> None:
    half = px(BAR_PX) / 2 - 3
    # Visible on bars and background.
    for colour, width in ((theme.surface, 3.5), (theme.text, 1.5)):
        painter.setPen(QPen(QColor(colour), width))
        painter.drawLine(QPointF(low, middle), QPointF(high, middle))
        for x in (low, high):
            painter.drawLine(QPointF(x, middle - half), QPointF(x, middle + half))


class BenchChart(QWidget):
    """A bar per strategy, over all prompts. The table has the same figures."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: tuple[BenchRow, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_rows(self, rows: Sequence[BenchRow]) -> None:
        """Replace the bars."""
        self.rows = tuple(rows)
        self.updateGeometry()
        listed = "; ".join(self.words(row) for row in rows)
        self.setAccessibleName(self.tr("Speed of each strategy: {}").format(listed))
        self.update()

    def words(self, row: BenchRow) -> str:
        """Return the words about one bar."""
        if row.speedup is None:
            return self.tr("{}: {}").format(row.title, row.problem or self.tr("not measured"))
        parts = [self.tr("{} of plain decoding's speed").format(row.ratio_text)]
        if row.kind != "plain":
            parts.append(
                self.tr("half of the repeats between {} and {}").format(
                    ratio_text(row.speedup.low), ratio_text(row.speedup.high)
                )
            )
        if row.tokens_per_s is not None:
            parts.append(self.tr("{} tokens/s").format(speed_text(row.tokens_per_s)))
        if row.acceptance is not None:
            parts.append(self.tr("{} right").format(percent_text(row.acceptance)))
        return self.tr("{}: {}").format(row.title, ", ".join(parts))

    def sizeHint(self) -> QSize:
        """Return the height of all bars and a width that may grow."""
        return QSize(420, chart_height(len(self.rows)))

    def minimumSizeHint(self) -> QSize:
        """Return a size for short bars."""
        return QSize(260, chart_height(len(self.rows)))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the bars."""
        painter = QPainter(self)
        paint_chart(painter, QRectF(self.rect()), self.rows, look.theme)
        painter.end()

    def event(self, event: QEvent) -> bool:
        """Show a bar's figures as a tool tip."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            at = row_at(event.pos().y(), len(self.rows))
            words = self.words(self.rows[at]) if at is not None else ""
            QToolTip.showText(event.globalPos(), words, self)
            return True
        return super().event(event)


_WIDTH, _MARGIN = 1120, 28
_WRAPS = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
_EXIT_DONE = 0


def draw_chart(report: Report, path: Path) -> int:
    """Write the picture of a report as a PNG file; return the command line's exit code.

    Main thread. Without a Qt application, one without a display is made.

    Raises:
        UserError: The file cannot be written.
    """
    app = QGuiApplication.instance()
    if app is None:
        app = QGuiApplication(["paceline", "-platform", "offscreen"])
        install_fonts(resources() / "fonts")
    try:
        write_whole(path, png_of(picture_of(report)))
    except OSError as error:
        raise UserError(
            "not-saved",
            "{path} cannot be written ({why}).",
            "Choose another folder.",
            path=path,
            why=error.strerror or error,
        ) from error
    return _EXIT_DONE


def picture_of(report: Report) -> QImage:
    """Draw the picture; needs a Qt application. Any thread."""
    rows = rows_of(report)
    found = said(verdict(report, title_of).sentence)
    texts = [
        (found, ui_font(BASE_PX + 4, QFont.Weight.DemiBold), LIGHT.text),
        (remarks(rows), ui_font(SMALL), LIGHT.muted),
        (remark_text(report), ui_font(SMALL), LIGHT.muted),
        (
            _tr("thin line: middle half"),
            ui_font(SMALL),
            LIGHT.muted,
        ),
    ]
    width = px(_WIDTH) - 2 * px(_MARGIN)
    places = []
    top = float(px(_MARGIN))
    for text, font, colour in texts:
        if text:
            rect = QFontMetricsF(font).boundingRect(QRectF(0, 0, width, 2000), int(_WRAPS), text)
            places.append((text, font, colour, QRectF(px(_MARGIN), top, width, rect.height() + 2)))
            top += rect.height() + px(8)
    card = QRectF(px(_MARGIN), top + px(8), width, _card_height(len(rows)))
    bottom = card.bottom() + px(_MARGIN)
    image = QImage(
        round(px(_WIDTH) * PNG_SCALE), round(bottom * PNG_SCALE), QImage.Format.Format_RGB32
    )
    image.setDevicePixelRatio(PNG_SCALE)
    image.fill(QColor(LIGHT.window))
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for text, font, colour, rect in places:
        painter.setFont(font)
        painter.setPen(QColor(colour))
        painter.drawText(rect, int(_WRAPS), text)
    _paint_card(painter, card, rows)
    painter.end()
    return image


def _card_height(n_rows: int) -> float:
    return chart_height(n_rows) + _head_height() + px(28)


def _head_height() -> float:
    return QFontMetricsF(ui_font(COMPACT, QFont.Weight.DemiBold)).height() + px(6)


def _paint_card(painter: QPainter, rect: QRectF, rows: Sequence[BenchRow]) -> None:
    painter.setPen(QColor(LIGHT.line))
    painter.setBrush(QColor(LIGHT.surface))
    painter.drawRoundedRect(rect, 10, 10)
    inner = rect.adjusted(px(16), px(14), -px(16), -px(14))
    painter.setFont(ui_font(COMPACT, QFont.Weight.DemiBold))
    painter.setPen(QColor(LIGHT.text))
    head = _head_height()
    title = _tr("All prompts: speed of writing, compared with plain decoding")
    painter.drawText(QRectF(inner.left(), inner.top(), inner.width(), head), int(_WRAPS), title)
    bars = QRectF(inner.left(), inner.top() + head, inner.width(), inner.height() - head)
    paint_chart(painter, bars, rows, LIGHT)
