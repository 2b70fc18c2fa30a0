"""The button over a conversation that leads to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton, QWidget

from paceline.gui.scale import icon_size

if TYPE_CHECKING:
    from paceline.gui.icons import Icons
    from paceline.gui.theme import Theme

_ABOVE_PX = 8


class LatestButton(QToolButton):
    """Hidden at first; floats over the lower edge of what it belongs to."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("kind", "chip")
        self.setText(self.tr("↓ Latest"))
        self.setAccessibleName(self.tr("Go to the latest message"))
        self.hide()

    def show_icon(self, icons: Icons, theme: Theme) -> None:
        """Draw the arrow; without it a sign in the text does."""
        self.setIconSize(icon_size())
        self.setIcon(icons.icon("arrow-down", theme.text))
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setText(self.tr("Latest"))

    def show_over(self, widget: QWidget, *, wanted: bool) -> None:
        """Stand over the lower edge of a sibling, or be hidden."""
        self.setVisible(wanted and widget.isVisible())
        if self.isVisible():
            size = self.sizeHint()
            self.resize(size)
            place = widget.geometry()
            left = place.left() + (place.width() - size.width()) // 2
            self.move(left, place.bottom() - _ABOVE_PX - size.height())
            self.raise_()
