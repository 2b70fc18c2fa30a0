"""Labels for text that may not fit: cut off with an ellipsis, or broken within long words.

`ElidedLabel` asks for the width of its text, up to a limit. `YieldingLabel` and `YieldingCheckBox`
are for words of the interface, which are longer in some languages, beside buttons that must stay
whole. `BreakingLabel` has several lines: paths and strategy texts have no blanks, and a label
breaks lines at blanks alone, so that a single long path would make everything around it as wide as
itself. Qt has no other way of breaking for labels; zero-width spaces are invisible and no wider.

Positions of a Qt text are UTF-16 units: characters beyond the Basic Multilingual Plane, an emoji
for example, are one character in Python and two units in Qt.
"""

from __future__ import annotations

import re
from html import escape

from PySide6.QtCore import QEvent, QSize, Qt, Slot
from PySide6.QtGui import (
    QContextMenuEvent,
    QGuiApplication,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QPaintEvent,
    QPalette,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QCheckBox,
    QLabel,
    QMenu,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QToolTip,
    QWidget,
)

from paceline.gui.look.scale import px

_FEW = 5
"""Letters that are still worth showing, the ellipsis among them."""
_KEPT = 12
"""Letters of a check box that stay in any case."""
ZERO_WIDTH_SPACE = "\u200b"
LONGEST = 24
"""Letters in a row that always find room in a line."""
_BEHIND_SIGNS = re.compile(r"(?<=[/\\:+])(?=[^\s/\\:+])")
_LONG_WORD = re.compile(rf"[^\s{ZERO_WIDTH_SPACE}]{{{LONGEST}}}(?=[^\s{ZERO_WIDTH_SPACE}])")
_MIN_PX = 40


class YieldingLabel(QLabel):
    """Plain text; what is cut off is shown whole while the pointer rests on it."""

    def __init__(
        self,
        text: str = "",
        *,
        keeps: int = 0,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        """Show a text.

        Args:
            text: What it says.
            keeps: Letters that it keeps in any case; 0: it may vanish.
            mode: Where it is cut.
        """
        super().__init__(text)
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

    def sizeHint(self) -> QSize:
        """As wide as the text; QLabel's own still has the least width of a larger text in it."""
        width = self.fontMetrics().horizontalAdvance(self.text())
        return QSize(width, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Next to nothing, or the letters that it keeps."""
        hint = super().minimumSizeHint()
        kept = self._keeps * self.fontMetrics().averageCharWidth()
        return QSize(min(hint.width(), kept), hint.height())

    def event(self, event: QEvent) -> bool:
        """Show the whole text where it is cut off."""
        return _tells_whole(self, event) or super().event(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint what there is room for."""
        painter = QStylePainter(self)
        painter.drawItemText(
            self.contentsRect(),
            int(self.alignment()),
            self.palette(),
            self.isEnabled(),
            self.shown_text,
            QPalette.ColorRole.WindowText,
        )


class ElidedLabel(YieldingLabel):
    """As wide as its text, up to a limit; where there is less room, a few letters are left."""

    def __init__(
        self, limit_px: int, mode: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle
    ) -> None:
        """Take at most `limit_px` at scale 1."""
        super().__init__(keeps=1, mode=mode)
        self._limit_px = limit_px
        # Absolute: a name in a script from right to left begins where its neighbours begin.
        self.setAlignment(
            Qt.AlignmentFlag.AlignLeft
            | Qt.AlignmentFlag.AlignAbsolute
            | Qt.AlignmentFlag.AlignVCenter
        )
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)

    def sizeHint(self) -> QSize:
        """As wide as the text, up to the limit."""
        hint = super().sizeHint()
        return QSize(min(hint.width(), px(self._limit_px)), hint.height())

    def minimumSizeHint(self) -> QSize:
        """A few letters."""
        return QSize(min(px(_MIN_PX), self.sizeHint().width()), super().minimumSizeHint().height())


class YieldingCheckBox(QCheckBox):
    """A check box whose words give way."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
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
        return _tells_whole(self, event) or super().event(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint what there is room for."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = self.shown_text
        QStylePainter(self).drawControl(QStyle.ControlElement.CE_CheckBox, option)


class YieldingButton(QPushButton):
    """Cuts its words off at their end where there is no room; a button does so on both sides."""

    def __init__(self, text: str = "") -> None:
        super().__init__(text)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        """The frame and a few letters."""
        hint, metrics = self.sizeHint(), self.fontMetrics()
        beside = hint.width() - metrics.horizontalAdvance(self.text())
        return QSize(min(hint.width(), beside + _FEW * metrics.averageCharWidth()), hint.height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint what there is room for."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        part = QStyle.SubElement.SE_PushButtonContents
        room = self.style().subElementRect(part, option, self).width()
        option.text = _fitting(self, option.text, room, Qt.TextElideMode.ElideRight)
        QStylePainter(self).drawControl(QStyle.ControlElement.CE_PushButton, option)


class BreakingLabel(QLabel):
    """A plain text in several lines to select from; what is copied has no soft breaks."""

    def __init__(self) -> None:
        super().__init__()
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy without the soft breaks; all else as always."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to copy what is selected."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        action = menu.addAction(self.tr("Copy"))
        action.setEnabled(self.hasSelectedText())
        action.triggered.connect(self.copy)
        menu.popup(event.globalPos())

    @Slot()
    def copy(self) -> None:
        """Put what is selected onto the clipboard."""
        if self.hasSelectedText():
            QGuiApplication.clipboard().setText(without_soft_breaks(self.selectedText()))


def _fitting(widget: QWidget, text: str, room: int, mode: Qt.TextElideMode) -> str:
    metrics = widget.fontMetrics()
    if metrics.horizontalAdvance(text) <= room:
        return text
    return metrics.elidedText(text, mode, room)


def _tells_whole(widget: YieldingLabel | YieldingCheckBox, event: QEvent) -> bool:
    """Show the text where it is cut off, and below it what else is said about it; whether it did.

    Few events ask for a tooltip; their class tells fastest.
    """
    if not isinstance(event, QHelpEvent) or event.type() != QEvent.Type.ToolTip:
        return False
    text = widget.text()
    if widget.shown_text == text:
        return False
    if "<" in text:  # a name, not markup
        text = f"<p>{escape(text)}</p>"
    QToolTip.showText(event.globalPos(), f"{text}\n{widget.toolTip()}".strip(), widget)
    return True


def with_soft_breaks(text: str) -> str:
    """The same to look at, with places to break within words of more than `LONGEST` letters."""
    return " ".join(_broken(word) if len(word) > LONGEST else word for word in text.split(" "))


def without_soft_breaks(text: str) -> str:
    """What `with_soft_breaks` was given."""
    return text.replace(ZERO_WIDTH_SPACE, "")


def _broken(word: str) -> str:
    return _LONG_WORD.sub(
        lambda found: found[0] + ZERO_WIDTH_SPACE, _BEHIND_SIGNS.sub(ZERO_WIDTH_SPACE, word)
    )


def text_label(
    text: str = "", role: str = "small", *, wraps: bool = False, plain: bool = False
) -> QLabel:
    """Return a label with the look of a role.

    Args:
        text: What it says.
        role: As the style sheet knows it: "small", "title", "value" and so on.
        wraps: Whether it breaks into lines.
        plain: Whether its text comes from elsewhere, so that marks in it mean nothing.
    """
    label = QLabel(text, wordWrap=wraps)
    label.setProperty("role", role)
    if plain:
        label.setTextFormat(Qt.TextFormat.PlainText)
    return label


def say(label: QLabel | QAbstractButton, text: str) -> None:
    """Show words, or take their label away where there are none."""
    label.setText(text)
    label.setVisible(bool(text))


LAST_BMP = "\uffff"
"""Characters above this one take two units."""


def units(text: str) -> int:
    """Return how many UTF-16 units a text has."""
    if text.isascii() or max(text) <= LAST_BMP:
        return len(text)
    return len(text) + sum(char > LAST_BMP for char in text)
