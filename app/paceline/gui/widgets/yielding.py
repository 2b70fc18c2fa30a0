"""Words of one line that give way: they keep their text and paint as much as there is room for.

`ElidedLabel` wants the room that its text takes, up to a limit; these are for words of the
interface, which are longer in some languages, beside buttons that must stay whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPalette
from PySide6.QtWidgets import (
    QCheckBox,
    QLabel,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QToolTip,
    QWidget,
)

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

_FEW = 5
"""Letters that are still worth showing, the ellipsis among them."""
_KEPT = 12
"""Letters of a check box that stay in any case."""


class YieldingLabel(QLabel):
    """Plain text; what is cut off is shown whole while the pointer rests on it."""

    def __init__(
        self,
        text: str = "",
        parent: QWidget | None = None,
        *,
        keeps: int = 0,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        """Show a text.

        Args:
            text: What it says.
            parent: The widget that it stands in.
            keeps: Letters that it keeps in any case; 0: it may vanish.
            mode: Where it is cut.
        """
        super().__init__(text, parent)
        self._keeps = keeps
        self._mode = mode
        self.setTextFormat(Qt.TextFormat.PlainText)

    @property
    def shown_text(self) -> str:
        """What there is room for; empty where that would be a few letters alone."""
        room = self.contentsRect().width()
        text = _fitting(self, self.text(), room, self._mode)
        is_scrap = text != self.text() and room < _FEW * self.fontMetrics().averageCharWidth()
        return "" if is_scrap and not self._keeps else text

    def minimumSizeHint(self) -> QSize:
        """Next to nothing, or the letters that it keeps."""
        hint = super().minimumSizeHint()
        kept = self._keeps * self.fontMetrics().averageCharWidth()
        return QSize(min(hint.width(), kept), hint.height())

    def event(self, event: QEvent) -> bool:
        """Show the whole text where it is cut off."""
        if self.shown_text != self.text() and _tell_whole(self, self.text(), event):
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what there is room for."""
        del event
        painter = QStylePainter(self)
        painter.drawItemText(
            self.contentsRect(),
            int(self.alignment()),
            self.palette(),
            self.isEnabled(),
            self.shown_text,
            QPalette.ColorRole.WindowText,
        )


class YieldingCheckBox(QCheckBox):
    """A check box whose words give way."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    @property
    def shown_text(self) -> str:
        """What there is room for."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        words = QStyle.SubElement.SE_CheckBoxContents
        room = self.style().subElementRect(words, option, self).width()
        return _fitting(self, self.text(), room, Qt.TextElideMode.ElideRight)

    def minimumSizeHint(self) -> QSize:
        """The box and a few letters."""
        hint, metrics = self.sizeHint(), self.fontMetrics()
        beside = hint.width() - metrics.horizontalAdvance(self.text())
        return QSize(min(hint.width(), beside + _KEPT * metrics.averageCharWidth()), hint.height())

    def event(self, event: QEvent) -> bool:
        """Show the whole text where it is cut off."""
        if self.shown_text != self.text() and _tell_whole(self, self.text(), event):
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what there is room for."""
        del event
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = self.shown_text
        QStylePainter(self).drawControl(QStyle.ControlElement.CE_CheckBox, option)


def _fitting(widget: QWidget, text: str, room: int, mode: Qt.TextElideMode) -> str:
    metrics = widget.fontMetrics()
    if metrics.horizontalAdvance(text) <= room:
        return text
    return metrics.elidedText(text, mode, room)


def _tell_whole(widget: QWidget, text: str, event: QEvent) -> bool:
    """Show the text, and below it what else is said about it; whether that was asked for."""
    if not isinstance(event, QHelpEvent) or event.type() != QEvent.Type.ToolTip:
        return False
    QToolTip.showText(event.globalPos(), f"{text}\n{widget.toolTip()}".strip(), widget)
    return True
