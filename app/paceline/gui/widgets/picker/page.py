"""What the three pages of the picker have in common: fields, a list, a panel for states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from paceline.gui.widgets.picker.model_list import ModelList
from paceline.gui.widgets.picker.state_panel import StatePanel
from paceline.gui.widgets.search_field import SearchField

if TYPE_CHECKING:
    from PySide6.QtCore import QModelIndex
    from PySide6.QtGui import QIcon

    from paceline.gui.theme import Theme
    from paceline.gui.widgets.picker.model_rows import Index, RowText


class Page(QWidget):
    """A place where models come from; `rows` is its list, `state` stands there when it is empty."""

    picked = Signal(object)
    """Candidate"""
    confirmed = Signal()
    """The user wants to go on with what is picked."""

    def __init__(self, name: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.rows = ModelList(name, self.row_text, theme)
        self.state = StatePanel()
        self.stack = QStackedWidget()
        self.stack.addWidget(self.rows)
        self.stack.addWidget(self.state)
        self.bar = QHBoxLayout()
        self.bar.setSpacing(8)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 12, 0, 0)
        self.column.setSpacing(8)
        self.column.addLayout(self.bar)
        self.column.addWidget(self.stack, 1)
        self.rows.picked.connect(self._on_picked)
        self.rows.confirmed.connect(self._on_confirmed)

    def row_text(self, index: Index) -> RowText:
        """What a row says."""
        raise NotImplementedError

    def pick(self, index: QModelIndex) -> bool:
        """Take a row; whether that was possible."""
        raise NotImplementedError

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        self.rows.set_theme(theme)

    def make_search(self, words: str) -> SearchField:
        """A search field from which the arrow keys lead into the list."""
        self.search = SearchField(words)
        self.search.installEventFilter(self)
        return self.search

    def dress_search(self, theme: Theme, icon: QIcon) -> None:
        """Use another theme's colours and icon in the search field."""
        self.search.set_theme(theme, icon)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrow down leads from the search field into the list."""
        if (
            event.type() == QEvent.Type.KeyPress
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Down
            and self.rows.isVisible()
        ):
            self.rows.take_focus()
            return True
        return super().eventFilter(watched, event)

    def _on_picked(self, index: QModelIndex) -> None:
        self.pick(index)

    def _on_confirmed(self, index: QModelIndex) -> None:
        if self.pick(index):
            self.confirmed.emit()
