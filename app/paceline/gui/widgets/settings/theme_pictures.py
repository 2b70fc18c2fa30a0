"""The themes to choose from, as small pictures of a window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt, Slot
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QHBoxLayout, QWidget

from paceline.gui.colours import DARK, LIGHT
from paceline.gui.scale import CORNER, GAP, STEP, px
from paceline.gui.theme import ui_font

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QPaintEvent

    from paceline.gui.preferences import Preference
    from paceline.gui.theme import Theme

_WIDTH, _HEIGHT = 132, 84


class ThemePicture(QAbstractButton):
    """A window in one theme, or halved in two, with its name below."""

    def __init__(
        self, name: str, painted: Sequence[Theme], theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setText(name)
        self.setAccessibleName(name)
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._painted = tuple(painted)
        self._theme = theme

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours around the picture."""
        self._theme = theme
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """The picture and a line of text."""
        text = QFontMetrics(ui_font()).size(0, self.text())
        return QSize(max(px(_WIDTH), text.width()) + 8, px(_HEIGHT) + STEP + text.height() + 8)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint picture, ring and name."""
        del event
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF((self.width() - px(_WIDTH)) / 2, 4, px(_WIDTH), px(_HEIGHT))
        outline = QPainterPath()
        outline.addRoundedRect(frame, CORNER, CORNER)
        painter.save()
        painter.setClipPath(outline)
        share = frame.width() / len(self._painted)
        for at, painted in enumerate(self._painted):
            part = QRectF(frame.left() + at * share, frame.top(), share, frame.height())
            painter.save()
            painter.setClipRect(part, Qt.ClipOperation.IntersectClip)
            painter.translate(frame.topLeft())
            painter.scale(frame.width() / _WIDTH, frame.height() / _HEIGHT)
            _paint_window(painter, painted)
            painter.restore()
        painter.restore()
        theme = self._theme
        painter.setBrush(Qt.BrushStyle.NoBrush)
        is_marked = self.isChecked() or self.hasFocus() or self.underMouse()
        colour = theme.accent if self.isChecked() or self.hasFocus() else theme.line_strong
        painter.setPen(QPen(QColor(colour if is_marked else theme.line), 1))
        painter.drawRoundedRect(frame, CORNER, CORNER)
        if self.isChecked():
            painter.setPen(QPen(QColor(theme.accent), 2))
            painter.drawRoundedRect(frame.adjusted(0.5, 0.5, -0.5, -0.5), CORNER, CORNER)
        if self.hasFocus():
            painter.setPen(QPen(QColor(theme.accent), 1))
            painter.drawRoundedRect(frame.adjusted(-3, -3, 3, 3), CORNER + 3, CORNER + 3)
        painter.setFont(ui_font())
        painter.setPen(QColor(theme.accent if self.isChecked() else theme.text))
        below = QRectF(0, frame.bottom() + STEP, self.width(), self.height())
        painter.drawText(
            below, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop, self.text()
        )


def _paint_window(painter: QPainter, theme: Theme) -> None:
    """Paint the panes, a message and its coloured reply."""

    def block(left: float, top: float, width: float, height: float, colour: str) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colour))
        area = QRectF(left, top, width, height)
        painter.drawRoundedRect(area, min(2.0, height / 2), min(2.0, height / 2))

    painter.fillRect(0, 0, _WIDTH, _HEIGHT, QColor(theme.window))
    block(-2, -2, 36, _HEIGHT + 4, theme.surface)
    block(34, 0, 1, _HEIGHT, theme.line)
    block(7, 9, 20, 8, theme.accent)
    for top in (25, 35, 45):
        block(7, top, 20, 3, theme.line_strong)
    block(84, 10, 40, 12, theme.bubble)
    block(44, 32, 70, 4, theme.muted)
    block(44, 41, 28, 6, theme.accent_soft)
    block(44, 46, 28, 2, theme.accent)
    block(76, 41, 30, 6, theme.lookup_soft)
    block(76, 46, 30, 2, theme.lookup)
    block(44, 62, 80, 14, theme.surface)
    block(108, 66, 12, 6, theme.accent)


class ThemePictures(QWidget):
    """Three pictures, of which one is chosen."""

    def __init__(self, theme: Theme, preference: Preference, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._preference = preference
        self._group = QButtonGroup(self)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GAP)
        self.pictures = {
            "system": ThemePicture(self.tr("Like the desktop"), (LIGHT, DARK), theme),
            "light": ThemePicture(self.tr("Light"), (LIGHT,), theme),
            "dark": ThemePicture(self.tr("Dark"), (DARK,), theme),
        }
        for picture in self.pictures.values():
            self._group.addButton(picture)
            row.addWidget(picture)
        row.addStretch(1)
        self._show()
        self._group.buttonClicked.connect(self._on_clicked)
        preference.changed.connect(self._show)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        for picture in self.pictures.values():
            picture.set_theme(theme)

    @Slot()
    def _show(self) -> None:
        self.pictures[self._preference.value].setChecked(True)

    @Slot(QAbstractButton)
    def _on_clicked(self, button: QAbstractButton) -> None:
        for mode, picture in self.pictures.items():
            if picture is button:
                self._preference.set_value(mode)
