"""Labels for text that may not fit: cut off with an ellipsis, or broken within long words.

`ElidedLabel` asks for the width of its text, up to a limit. `YieldingLabel` and `YieldingCheckBox`
are for words of the interface, which are longer in some languages, beside buttons that must stay
whole. `BreakingLabel` has several lines: paths and strategy texts have no blanks, and a label
breaks lines at blanks alone, so that a single long path would make everything around it as wide as
itself. Qt breaks labels in no other way; so zero-width spaces, which are invisible, mark further
breaks.

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

_MIN_SHOWN_LETTERS = 5
"""Fewer letters than this, the ellipsis included, are not worth showing."""
_MIN_BOX_LETTERS = 12
"""Minimum number of visible letters of a check box."""
ZERO_WIDTH_SPACE = "\u200b"
MAX_UNBROKEN_LETTERS = 24
"""Number of letters in a row that always fit into a line."""
_AFTER_SIGNS = re.compile(r"(?<=[/\\:+])(?=[^\s/\\:+])")
_LONG_WORD = re.compile(
    rf"[^\s{ZERO_WIDTH_SPACE}]{{{MAX_UNBROKEN_LETTERS}}}(?=[^\s{ZERO_WIDTH_SPACE}])"
)
_MIN_PX = 40


class YieldingLabel(QLabel):
    """Plain text; elided text is shown whole while the pointer rests on it."""

    def __init__(
        self,
        text: str = "",
        *,
        keeps: int = 0,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        """Show a text.

        Args:
            text: The text.
            keeps: Minimum number of visible letters; 0 lets it vanish.
            mode: The place where it is cut.
        """
        super().__init__(text)
        self._keeps = keeps
        self._mode = mode
        self.setTextFormat(Qt.TextFormat.PlainText)

    @property
    def shown_text(self) -> str:
        """The part of the text that fits; empty where that would be a few letters alone."""
        room = self.contentsRect().width()
        text = _fitting(self, self.text(), room, self._mode)
        is_scrap = (
            text != self.text()
            and room < _MIN_SHOWN_LETTERS * self.fontMetrics().averageCharWidth()
        )
        return "" if is_scrap and not self._keeps else text

    def sizeHint(self) -> QSize:
        """Return the width of the text; QLabel's own hint keeps the minimum of a larger text."""
        width = self.fontMetrics().horizontalAdvance(self.text())
        return QSize(width, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Return almost nothing, or the width of the letters that must stay visible."""
        hint = super().minimumSizeHint()
        kept = self._keeps * self.fontMetrics().averageCharWidth()
        return QSize(min(hint.width(), kept), hint.height())

    def event(self, event: QEvent) -> bool:
        """Show the whole text as a tool tip where it is cut off."""
        return _shows_whole(self, event) or super().event(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the part of the text that fits."""
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
    """A label as wide as its text, up to a limit; where space is short, a few letters remain."""

    def __init__(
        self, limit_px: int, mode: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle
    ) -> None:
        """Set the maximum width, `limit_px` at scale 1."""
        super().__init__(keeps=1, mode=mode)
        self._limit_px = limit_px
        # Absolute: a name in a right-to-left script begins where its neighbours begin.
        self.setAlignment(
            Qt.AlignmentFlag.AlignLeft
            | Qt.AlignmentFlag.AlignAbsolute
            | Qt.AlignmentFlag.AlignVCenter
        )
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)

    def sizeHint(self) -> QSize:
        """Return the width of the text, up to the limit."""
        hint = super().sizeHint()
        return QSize(min(hint.width(), px(self._limit_px)), hint.height())

    def minimumSizeHint(self) -> QSize:
        """Return the width of a few letters."""
        return QSize(min(px(_MIN_PX), self.sizeHint().width()), super().minimumSizeHint().height())


class YieldingCheckBox(QCheckBox):
    """A check box whose words are elided where space is short."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    @property
    def shown_text(self) -> str:
        """The part of the text that fits."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        words = QStyle.SubElement.SE_CheckBoxContents
        room = self.style().subElementRect(words, option, self).width()
        return _fitting(self, self.text(), room, Qt.TextElideMode.ElideRight)

    def minimumSizeHint(self) -> QSize:
        """Return the size of the box and a few letters."""
        hint, metrics = self.sizeHint(), self.fontMetrics()
        beside = hint.width() - metrics.horizontalAdvance(self.text())
        return QSize(
            min(hint.width(), beside + _MIN_BOX_LETTERS * metrics.averageCharWidth()), hint.height()
        )

    def event(self, event: QEvent) -> bool:
        """Show the whole text as a tool tip where it is cut off."""
        return _shows_whole(self, event) or super().event(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the part of the text that fits."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = self.shown_text
        QStylePainter(self).drawControl(QStyle.ControlElement.CE_CheckBox, option)


class YieldingButton(QPushButton):
    """A button that elides its words at their end; Qt's own cuts them off on both sides."""

    def __init__(self, text: str = "") -> None:
        super().__init__(text)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        """Return the size of the frame and a few letters."""
        hint, metrics = self.sizeHint(), self.fontMetrics()
        beside = hint.width() - metrics.horizontalAdvance(self.text())
        return QSize(
            min(hint.width(), beside + _MIN_SHOWN_LETTERS * metrics.averageCharWidth()),
            hint.height(),
        )

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the part of the text that fits."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        part = QStyle.SubElement.SE_PushButtonContents
        room = self.style().subElementRect(part, option, self).width()
        option.text = _fitting(self, option.text, room, Qt.TextElideMode.ElideRight)
        QStylePainter(self).drawControl(QStyle.ControlElement.CE_PushButton, option)


class BreakingLabel(QLabel):
    """A plain text in several lines that can be selected; copies have no soft breaks."""

    def __init__(self) -> None:
        super().__init__()
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy without the soft breaks; handle all other keys as usual."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to copy the selected text."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        action = menu.addAction(self.tr("Copy"))
        action.setEnabled(self.hasSelectedText())
        action.triggered.connect(self.copy)
        menu.popup(event.globalPos())

    @Slot()
    def copy(self) -> None:
        """Copy the selected text to the clipboard."""
        if self.hasSelectedText():
            QGuiApplication.clipboard().setText(without_soft_breaks(self.selectedText()))


def _fitting(widget: QWidget, text: str, room: int, mode: Qt.TextElideMode) -> str:
    metrics = widget.fontMetrics()
    if metrics.horizontalAdvance(text) <= room:
        return text
    return metrics.elidedText(text, mode, room)


def _shows_whole(widget: YieldingLabel | YieldingCheckBox, event: QEvent) -> bool:
    """Show elided text as a tool tip, with the widget's own tip below; return whether it did.

    Few events ask for a tooltip; testing their class is fastest.
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
    """Return a text that looks the same but can break within overlong words.

    These are words of more than `MAX_UNBROKEN_LETTERS` letters.
    """
    return " ".join(
        _broken(word) if len(word) > MAX_UNBROKEN_LETTERS else word for word in text.split(" ")
    )


def without_soft_breaks(text: str) -> str:
    """Return the original of a text by `with_soft_breaks`."""
    return text.replace(ZERO_WIDTH_SPACE, "")


def _broken(word: str) -> str:
    return _LONG_WORD.sub(
        lambda found: found[0] + ZERO_WIDTH_SPACE, _AFTER_SIGNS.sub(ZERO_WIDTH_SPACE, word)
    )


def text_label(
    text: str = "", role: str = "small", *, wraps: bool = False, plain: bool = False
) -> QLabel:
    """Return a label with the look of a role.

    Args:
        text: The text.
        role: As the style sheet knows it: "small", "title", "value" and so on.
        wraps: Whether it breaks into lines.
        plain: Whether its text comes from elsewhere and must not be read as markup.
    """
    label = QLabel(text, wordWrap=wraps)
    label.setProperty("role", role)
    if plain:
        label.setTextFormat(Qt.TextFormat.PlainText)
    return label


def say(label: QLabel | QAbstractButton, text: str) -> None:
    """Show words, or hide the label where there are none."""
    label.setText(text)
    label.setVisible(bool(text))


LAST_BMP = "\uffff"
"""Characters above this one take two units."""


def units(text: str) -> int:
    """Return how many UTF-16 units a text has."""
    if text.isascii() or max(text) <= LAST_BMP:
        return len(text)
    return len(text) + sum(char > LAST_BMP for char in text)
