"""A card of the panel: a framed group under a title, if wished one that folds."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from paceline.gui.widgets.yielding import YieldingLabel

_KEPT = 16
"""Letters of a title that stay, however long the words beside it are."""


class Card(QFrame):
    """A title, a remark beside it, and a `body` layout below."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "card")
        self.title = YieldingLabel(keeps=_KEPT)
        self.title.setProperty("role", "title")
        self.title.hide()
        self.remark: QLabel = YieldingLabel()
        self.remark.setProperty("role", "small")
        self.remark.hide()
        self.header = QHBoxLayout()
        self.header.setSpacing(6)
        self.header.addWidget(self.title)
        self.header.addWidget(self.remark)
        self.header.addStretch(1)
        self.body = QVBoxLayout()
        self.body.setSpacing(6)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(14, 12, 14, 12)
        outer.setSpacing(8)
        outer.addLayout(self.header)
        outer.addLayout(self.body)

    def set_title(self, title: str, remark: str = "") -> None:
        """Show a title, and a remark beside it."""
        self.title.setText(title)
        self.title.setVisible(bool(title))
        self.remark.setText(remark)
        self.remark.setVisible(bool(remark))
        self.setAccessibleName(title)


class FoldSection(QFrame):
    """Content that is shown or hidden by its title; `body` takes the widgets."""

    toggled = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.toggle = QToolButton()
        self.toggle.setProperty("kind", "fold")
        self.toggle.setObjectName("fold")
        self.toggle.setCheckable(True)
        self.toggle.setArrowType(Qt.ArrowType.RightArrow)
        self.toggle.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.toggle.toggled.connect(self._on_toggled)
        self.content = QWidget()
        self.content.hide()
        self.body = QVBoxLayout(self.content)
        self.body.setContentsMargins(0, 4, 0, 0)
        self.body.setSpacing(6)
        self._outer = QVBoxLayout(self)
        self._outer.setContentsMargins(0, 0, 0, 0)
        self._outer.setSpacing(0)
        self._outer.addWidget(self.toggle, 0, Qt.AlignmentFlag.AlignLeft)
        self._outer.addWidget(self.content)

    def set_title(self, title: str) -> None:
        """Name the section; the name is the button that folds it."""
        self.toggle.setText(title)
        self.toggle.setAccessibleName(title)
        self.setAccessibleName(title)

    @property
    def is_open(self) -> bool:
        """Whether the content is shown."""
        return self.toggle.isChecked()

    def set_open(self, is_open: bool) -> None:  # noqa: FBT001
        """Show or hide the content."""
        self.toggle.setChecked(is_open)

    @Slot(bool)
    def _on_toggled(self, is_open: bool) -> None:  # noqa: FBT001
        arrow = Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow
        self.toggle.setArrowType(arrow)
        self.content.setVisible(is_open)
        self.toggled.emit(is_open)


class FoldCard(FoldSection):
    """A card that folds."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "card")
        self._outer.setContentsMargins(14, 10, 14, 10)
