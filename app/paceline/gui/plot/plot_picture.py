"""A plot as a picture to be saved: wider and sharper than in the window, without its controls.

Making it would stop the window noticeably, so it is made in stages between which the event loop
runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QIODevice, QObject, QPoint, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QWidget

from paceline.gui.look.current import look
from paceline.gui.look.style import plot_stylesheet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paceline.gui.plot.speed_plot import SpeedPlot

SCALE = 2.0
_WIDTH = 960
_HEIGHTS = (240, 160)


class PlotPicture(QObject):
    """Makes one picture at a time."""

    made = Signal(object)
    """QImage"""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._stages: Iterator[None] = iter(())
        self._next = QTimer(self)
        self._next.timeout.connect(self._on_next)

    def start(self, plot: SpeedPlot) -> None:
        """Begin to draw the part that a plot shows now; a picture that is begun goes on."""
        if not self._next.isActive():
            self._stages = self._make(plot)
            next(self._stages)
            self._next.start(0)

    @Slot()
    def _on_next(self) -> None:
        if next(self._stages, self) is self:
            self._next.stop()

    def _make(self, plot: SpeedPlot) -> Iterator[None]:
        theme, plain = look.theme, plot.plain_tokens_per_s
        holder = QWidget()  # as a window of its own, the plot would say how large it may be
        holder.setStyleSheet(plot_stylesheet(theme))
        holder.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        try:
            twin = plot.twin(_HEIGHTS, SCALE, holder)
            twin.setFixedWidth(_WIDTH)
            holder.show()
            twin.adjustSize()
            twin.draw(plain)
            yield
            image = QImage(twin.size() * SCALE, QImage.Format.Format_RGB32)
            image.setDevicePixelRatio(SCALE)
            image.fill(QColor(theme.window))
            yield
            twin.render(image, QPoint())
        finally:
            holder.close()
            holder.deleteLater()
        self.made.emit(image)


def png_of(image: QImage) -> bytes:
    """A picture as the content of a PNG file; any thread."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]  # the stubs want bytes
    return bytes(buffer.data().data())
