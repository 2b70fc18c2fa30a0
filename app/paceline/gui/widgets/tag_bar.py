"""The tags of all chats in one line: pressed ones are searched for, the rest is in a menu."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton, QWidget

from paceline.gui.scale import px

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from PySide6.QtGui import QResizeEvent

_GAP_PX = 4
_MAX_PX = 110
"""Of one button, at scale 1."""
_SHOWN = 12
"""Buttons at most; a line never has room for more."""


class TagBar(QWidget):
    """Buttons to press; hidden while there are no tags."""

    toggled = Signal(str, bool)
    """A tag, and whether it is wanted now."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.buttons: list[QToolButton] = []
        self.more = QToolButton(self)
        self._tags: tuple[str, ...] = ()
        self._wanted: frozenset[str] = frozenset()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Tags"))
        self.more.setProperty("kind", "tag")
        self.more.setAccessibleName(self.tr("More tags"))
        self.more.setToolTip(self.tr("More tags"))
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu = QMenu(self)
        self.menu.triggered.connect(self._on_action)
        self.more.setMenu(self.menu)
        self.hide()

    def show_tags(self, tags: Sequence[str], wanted: Iterable[str]) -> None:
        """Show these, those of the most chats first, and press the wanted ones."""
        wanted = frozenset(tag.casefold() for tag in wanted)
        if (tuple(tags), wanted) == (self._tags, self._wanted):
            return
        # What is searched for must be seen.
        ordered = tuple(sorted(tags, key=lambda tag: tag.casefold() not in wanted))
        if ordered[:_SHOWN] != tuple(button.objectName() for button in self.buttons):
            self._make_buttons(ordered[:_SHOWN])
        self._tags, self._wanted = tuple(tags), wanted
        for button in self.buttons:
            button.setChecked(button.objectName().casefold() in wanted)
        self.menu.clear()
        for tag in sorted(tags, key=str.casefold):
            action = QAction(tag.replace("&", "&&"), self.menu)
            action.setCheckable(True)
            action.setChecked(tag.casefold() in wanted)
            action.setData(tag)
            self.menu.addAction(action)
        self.setVisible(bool(tags))
        self._arrange()

    def sizeHint(self) -> QSize:
        """One line."""
        self.more.ensurePolished()
        return QSize(px(_MAX_PX), self.more.sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """The same, and as narrow as needed."""
        return QSize(0, self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as many as there is room for."""
        super().resizeEvent(event)
        self._arrange()

    def changeEvent(self, event: QEvent) -> None:
        """Follow another size of text."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.StyleChange, QEvent.Type.FontChange):
            self.updateGeometry()
            self._arrange()

    def _make_buttons(self, tags: Sequence[str]) -> None:
        had_focus = next((b.objectName() for b in self.buttons if b.hasFocus()), "")
        for button in self.buttons:
            button.hide()
            button.deleteLater()
        self.buttons = []
        for tag in tags:
            button = QToolButton(self)
            button.setProperty("kind", "tag")
            button.setObjectName(tag)
            button.setCheckable(True)
            button.setAccessibleName(self.tr("Only chats with the tag {}").format(tag))
            button.setToolTip(tag)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(self._on_clicked)
            self.buttons.append(button)
            if tag == had_focus:
                button.setFocus()
        for before, after in pairwise([*self.buttons, self.more]):
            QWidget.setTabOrder(before, after)

    def _arrange(self) -> None:
        """Place the buttons from left to right, and behind them the menu if one has no room."""
        hints = []
        for button in self.buttons:
            button.ensurePolished()
            button.setText(_shown(button.objectName()))
            hints.append(button.sizeHint().width())
        widths = [min(hint, px(_MAX_PX)) for hint in hints]
        room = self.width()
        n_fit = _n_fit(widths, room)
        if n_fit < len(self._tags):
            self.more.setText(f"+{len(self._tags)}")
            room -= self.more.sizeHint().width() + _GAP_PX
            n_fit = max(_n_fit(widths, room), 1)
            self.more.setText(f"+{len(self._tags) - n_fit}")
        height, left = self.sizeHint().height(), 0
        if height != self.height():  # the buttons got another font behind the last layout
            self.updateGeometry()
        for at, button in enumerate(self.buttons):
            button.setVisible(at < n_fit)
            width = max(min(widths[at], room - left), 0)
            if width < hints[at]:
                _elide(button, hints[at] - width)
            button.setGeometry(left, 0, width, height)
            left += width + _GAP_PX if at < n_fit else 0
        self.more.setVisible(n_fit < len(self._tags))
        self.more.setGeometry(left, 0, self.more.sizeHint().width(), height)

    @Slot()
    def _on_clicked(self) -> None:
        button = self.sender()
        if isinstance(button, QToolButton):
            self.toggled.emit(button.objectName(), button.isChecked())

    @Slot(QAction)
    def _on_action(self, action: QAction) -> None:
        self.toggled.emit(str(action.data()), action.isChecked())


def _shown(tag: str) -> str:
    return tag.replace("&", "&&")


def _elide(button: QToolButton, less_px: int) -> None:
    """Make a button's text narrower by so much."""
    metrics = button.fontMetrics()
    width = metrics.horizontalAdvance(button.objectName()) - less_px
    text = metrics.elidedText(button.objectName(), Qt.TextElideMode.ElideRight, width)
    button.setText(_shown(text))


def _n_fit(widths: Sequence[int], room: int) -> int:
    used = 0
    for at, width in enumerate(widths):
        used += width + (_GAP_PX if at else 0)
        if used > room:
            return at
    return len(widths)
