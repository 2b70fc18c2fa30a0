"""Bars that are made of parts, which differ in lightness and stripes as well as in colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEasingCurve, QPointF, QRectF, QSize, Qt, QVariantAnimation, Slot
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from paceline.gui.look.current import look

_HEIGHT = 16
_RADIUS = 5.0
_SWATCH_PX = 12
_MOVE_MS = 140
_STRIPE_PX = 5
_STRIPE_WIDTH = 1.4


@dataclass(frozen=True, slots=True)
class BarPart:
    """One part of a bar: its name, its size, and its colours."""

    name: str
    size: int
    colour: str
    stripes: str = ""


def mixed(colour: str, ground: str) -> str:
    """Return a colour at half strength on a background."""
    a, b = QColor(colour), QColor(ground)
    red, green, blue = (
        (x + y) // 2 for x, y in ((a.red(), b.red()), (a.green(), b.green()), (a.blue(), b.blue()))
    )
    return QColor(red, green, blue).name()


def paint_part(painter: QPainter, rect: QRectF, colour: str, stripes: str) -> None:
    """Fill a rectangle with a colour, and with stripes of another if there is one."""
    painter.fillRect(rect, QColor(colour))
    if not stripes:
        return
    painter.save()
    painter.setClipRect(rect, Qt.ClipOperation.IntersectClip)
    painter.setPen(QPen(QColor(stripes), _STRIPE_WIDTH))
    # From a fixed grid, so that stripes do not move while the bar grows.
    x = rect.left() // _STRIPE_PX * _STRIPE_PX - rect.height() // _STRIPE_PX * _STRIPE_PX
    x -= _STRIPE_PX
    while x < rect.right():
        painter.drawLine(QPointF(x, rect.bottom()), QPointF(x + rect.height(), rect.top()))
        x += _STRIPE_PX
    painter.restore()


class PartsBar(QWidget):
    """Paints parts in a row, and animates changes of their sizes."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: tuple[BarPart, ...] = ()
        self._free = 0
        self._from: list[float] = []
        self._at: list[float] = []  # sizes as painted now, and the free memory at the end
        self._move = QVariantAnimation(self, startValue=0.0, endValue=1.0, duration=_MOVE_MS)
        self._move.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._move.valueChanged.connect(self._on_moved)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Return the bar's height; its width may grow."""
        return QSize(120, _HEIGHT)

    def show_parts(self, parts: Sequence[BarPart], n_free: int) -> None:
        """Show parts; whatever exceeds `n_free` is marked."""
        wanted = [*(float(part.size) for part in parts), float(n_free)]
        is_first = len(self._at) != len(wanted) or not self.isVisible()
        self._parts, self._free = tuple(parts), n_free
        self._from = wanted if is_first else list(self._at)
        self._move.stop()
        if is_first:
            self._at = wanted
        else:
            self._move.start()
        self.update()

    @Slot(object)
    def _on_moved(self, share: float) -> None:
        wanted = [*(float(part.size) for part in self._parts), float(self._free)]
        pairs = zip(self._from, wanted, strict=True)
        self._at = [start + (end - start) * share for start, end in pairs]
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the parts, and the excess."""
        if not self._at:
            return
        *sizes, free = self._at
        needed = sum(sizes)
        scale = self.width() / max(needed, free, 1.0)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = QPainterPath()
        outline.addRoundedRect(QRectF(self.rect()), _RADIUS, _RADIUS)
        painter.setClipPath(outline)
        painter.fillRect(self.rect(), QColor(look.theme.hover))
        left = 0.0
        for part, size in zip(self._parts, sizes, strict=True):
            width = size * scale
            if width > 0:
                rect = QRectF(left, 0, max(width - 1.0, 0.5), _HEIGHT)
                paint_part(painter, rect, part.colour, part.stripes)
            left += width
        if needed > free:
            end = free * scale
            beyond = QColor(look.theme.danger)
            beyond.setAlphaF(0.55)
            painter.fillRect(QRectF(end, 0, self.width() - end, _HEIGHT), beyond)
            painter.fillRect(QRectF(end - 1, 0, 2, _HEIGHT), QColor(look.theme.text))


class Swatch(QWidget):
    """The look of a part beside its name."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.part: BarPart | None = None
        self.setFixedSize(_SWATCH_PX, _SWATCH_PX)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the part."""
        if self.part is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = QPainterPath()
        outline.addRoundedRect(QRectF(self.rect()), 3, 3)
        painter.setClipPath(outline)
        paint_part(painter, QRectF(self.rect()), self.part.colour, self.part.stripes)
