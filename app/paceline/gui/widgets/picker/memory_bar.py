"""What a pair takes of one device: a bar, and its parts in numbers below.

A full bar is what can be had now. Where more is asked for, the bar is as long as the wish, a line
marks what there is, and everything beyond it stands on the error tone. Parts are told apart by
lightness and stripes as well as by colour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEasingCurve, QRectF, QSize, Qt, QVariantAnimation, Slot
from PySide6.QtGui import QColor, QPainter, QPainterPath
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from paceline.engine.proposals import readable_size
from paceline.gui.theme import restyle
from paceline.gui.widgets.picker.memory_parts import Part, of_free, paint_part, parts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QPaintEvent

    from paceline.catalog.memory_values import DevicePlan
    from paceline.gui.theme import Theme

_HEIGHT = 16
_RADIUS = 5.0
_SWATCH_PX = 12
_MOVE_MS = 140


class _Bar(QWidget):
    """Paints parts one behind the other, and moves to new sizes instead of jumping."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._parts: tuple[Part, ...] = ()
        self._free = 0
        self._from: list[float] = []
        self._at: list[float] = []  # sizes as painted now, and last what is free
        self._move = QVariantAnimation(self)
        self._move.setStartValue(0.0)
        self._move.setEndValue(1.0)
        self._move.setDuration(_MOVE_MS)
        self._move.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._move.valueChanged.connect(self._on_moved)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(120, _HEIGHT)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme

    def show_parts(self, parts: Sequence[Part], n_free: int) -> None:
        wanted = [*(float(part.n_bytes) for part in parts), float(n_free)]
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
        wanted = [*(float(part.n_bytes) for part in self._parts), float(self._free)]
        pairs = zip(self._from, wanted, strict=True)
        self._at = [start + (end - start) * share for start, end in pairs]
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
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
        painter.fillRect(self.rect(), QColor(self._theme.hover))
        left = 0.0
        for part, size in zip(self._parts, sizes, strict=True):
            width = size * scale
            if width > 0:
                rect = QRectF(left, 0, max(width - 1.0, 0.5), _HEIGHT)
                paint_part(painter, rect, part.colour, part.stripes)
            left += width
        if needed > free:
            end = free * scale
            beyond = QColor(self._theme.danger)
            beyond.setAlphaF(0.55)
            painter.fillRect(QRectF(end, 0, self.width() - end, _HEIGHT), beyond)
            painter.fillRect(QRectF(end - 1, 0, 2, _HEIGHT), QColor(self._theme.text))


class _Swatch(QWidget):
    """The look of a part beside its name."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.part: Part | None = None
        self.setFixedSize(_SWATCH_PX, _SWATCH_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        if self.part is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = QPainterPath()
        outline.addRoundedRect(QRectF(self.rect()), 3, 3)
        painter.setClipPath(outline)
        paint_part(painter, QRectF(self.rect()), self.part.colour, self.part.stripes)


class MemoryBar(QWidget):
    """One device."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._plan: DevicePlan | None = None
        self._is_only = False
        self.title = QLabel()
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.figures = QLabel()
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self.title, 1)
        head.addWidget(self.figures)
        self.excess = QLabel()
        self.excess.setProperty("role", "danger")
        self.excess.hide()
        self.bar = _Bar(theme)
        self._legend = QGridLayout()
        self._legend.setContentsMargins(0, 2, 0, 0)
        self._legend.setHorizontalSpacing(8)
        self._legend.setVerticalSpacing(2)
        self._legend.setColumnStretch(1, 1)
        self._entries: list[tuple[_Swatch, QLabel, QLabel]] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self.bar)
        column.addWidget(self.excess, 0, Qt.AlignmentFlag.AlignRight)
        column.addLayout(self._legend)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        self._theme = theme
        self.bar.set_theme(theme)
        if self._plan is not None:
            self.show_plan(self._plan, is_only=self._is_only)

    def show_plan(self, plan: DevicePlan, *, is_only: bool = False) -> None:
        """Show what is taken of a device; the only one needs no title."""
        self._plan, self._is_only = plan, is_only
        needed = plan.target.total + plan.draft.total + plan.margin
        self.title.setText("" if is_only else plan.title)
        words = of_free(needed, plan.free)
        self.figures.setText(words)
        self.figures.setProperty("role", "value" if plan.fits else "danger")
        restyle(self.figures)
        excess = self.tr("{} too much").format(readable_size(plan.missing))
        self.excess.setText(excess)
        self.excess.setVisible(not plan.fits)
        words = words if plan.fits else f"{words}, {excess}"
        parts = parts_of(plan, self._names(), self._theme)
        self.bar.show_parts(parts, plan.free)
        self._show_legend([part for part in parts if part.n_bytes])
        self._tell(plan, words, parts)

    def _tell(self, plan: DevicePlan, words: str, parts: Sequence[Part]) -> None:
        """Say everything that the bar shows."""
        listed = ", ".join(
            f"{part.name} {readable_size(part.n_bytes)}" for part in parts if part.n_bytes
        )
        self.setAccessibleName(f"{plan.title}: {words}")
        self.setAccessibleDescription(listed)
        self.setToolTip(
            self.tr("{} has {}; {} can be had now.").format(
                plan.title, readable_size(plan.total), readable_size(plan.free)
            )
        )

    def _names(self) -> tuple[str, ...]:
        return (
            self.tr("Target"),
            self.tr("Target's cache"),
            self.tr("Draft model"),
            self.tr("Draft's cache"),
            self.tr("Buffers for computing"),
            self.tr("Kept free"),
        )

    def _show_legend(self, parts: Sequence[Part]) -> None:
        while len(self._entries) < len(parts):
            entry = _Swatch(), QLabel(), QLabel()
            row = len(self._entries)
            for column, widget in enumerate(entry):
                widget.setProperty("role", "small")
                if isinstance(widget, QLabel) and column == 2:
                    widget.setAlignment(Qt.AlignmentFlag.AlignRight)
                self._legend.addWidget(widget, row, column)
            self._entries.append(entry)
        for at, entry in enumerate(self._entries):
            is_shown = at < len(parts)
            for widget in entry:
                widget.setVisible(is_shown)
            if is_shown:
                swatch, name, size = entry
                swatch.part = parts[at]
                swatch.update()
                name.setText(parts[at].name)
                size.setText(readable_size(parts[at].n_bytes))
