"""What the three pages of the picker have in common: fields, a list, a panel for states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from paceline.gui.kit.search_field import SearchField
from paceline.gui.models.lists.model_list import ModelList

if TYPE_CHECKING:
    from PySide6.QtCore import QModelIndex
    from PySide6.QtGui import QIcon

    from paceline.gui.models.lists.model_list import Index, RowText

_ICON_PX = 32
_TEXT_PX = 360


class StatePanel(QWidget):
    """A sign, a title, a sentence, and a button if there is something to do."""

    asked = Signal(str)
    """Name of what the button offers"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._action = ""
        self.sign = QLabel()
        self.title = QLabel()
        self.title.setWordWrap(True)
        self.title.setProperty("role", "title")
        self.text = QLabel()
        self.text.setProperty("role", "muted")
        self.text.setWordWrap(True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.bar = QProgressBar()
        self.bar.setRange(0, 0)
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(160)
        self.button = QPushButton()
        # Aligned in a column, a label of several lines does not get the height that it needs.
        middle = QWidget()
        middle.setFixedWidth(_TEXT_PX)
        inner = QVBoxLayout(middle)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(8)
        for label in (self.sign, self.title, self.text):
            inner.addWidget(label)
        for widget in (self.bar, self.button):
            inner.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 24, 0, 24)
        column.addStretch(2)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(middle)
        row.addStretch(1)
        column.addLayout(row)
        column.addStretch(3)
        for label in (self.sign, self.title, self.text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.button.clicked.connect(self._on_clicked)

    def show_state(
        self,
        title: str,
        text: str = "",
        *,
        sign: QIcon | None = None,
        action: str = "",
        action_text: str = "",
        is_busy: bool = False,
    ) -> None:
        """Show this; `action` is what `asked` will say."""
        self.title.setText(title)
        self.text.setText(text)
        self.text.setVisible(bool(text))
        self.sign.setVisible(sign is not None and not sign.isNull())
        if sign is not None:
            self.sign.setPixmap(sign.pixmap(_ICON_PX, _ICON_PX))
        self.bar.setVisible(is_busy)
        self._action = action
        self.button.setText(action_text)
        self.button.setVisible(bool(action))
        self.setAccessibleName(f"{title} {text}".strip())

    def _on_clicked(self) -> None:
        self.asked.emit(self._action)


class Page(QWidget):
    """A place where models come from; `rows` is its list, `state` stands there when it is empty."""

    picked = Signal(object)
    """Candidate"""
    head_picked = Signal()
    """The target's own MTP head is to draft"""
    confirmed = Signal()
    """The user wants to go on with what is picked."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.rows = ModelList(name, self.row_text)
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

    def make_search(self, words: str) -> SearchField:
        """A search field from which the arrow keys lead into the list."""
        self.search = SearchField(words)
        self.search.installEventFilter(self)
        return self.search

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
