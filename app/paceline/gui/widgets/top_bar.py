"""The bar at the top: name, menus, the pair, and switches for theme and panes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenuBar, QSizePolicy, QToolButton, QWidget

if TYPE_CHECKING:
    from PySide6.QtGui import QAction, QResizeEvent

    from paceline.gui.widgets.model_bar import ModelBar

ALL_MENUS_FROM = 860


class TopBar(QWidget):
    """Lays out what the window gives it; the pair stands in the middle."""

    def __init__(self, title: str, menus: QMenuBar, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "topbar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(48)
        name = QLabel(title)
        name.setProperty("role", "title")
        self._menus = menus
        menus.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._left, self._right = QWidget(), QWidget()
        left = QHBoxLayout(self._left)
        left.setContentsMargins(0, 0, 0, 0)
        left.setSpacing(8)
        left.addWidget(name)
        left.addWidget(menus, 1)
        self._tools = QHBoxLayout(self._right)
        self._tools.setContentsMargins(0, 0, 0, 0)
        self._tools.setSpacing(4)
        self._tools.addStretch(1)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(14, 0, 10, 0)
        self._row.setSpacing(12)
        self._row.addWidget(self._left, 1)
        self._row.addWidget(self._right, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where there is room for all menus, the names of the models give way first."""
        super().resizeEvent(event)
        has_room = self.width() >= ALL_MENUS_FROM
        self._menus.setMinimumWidth(self._menus.sizeHint().width() if has_room else 0)

    def set_model_bar(self, model_bar: ModelBar) -> None:
        """Put the pair into the middle."""
        self._row.insertWidget(1, model_bar, 0)

    def add_tool(self, action: QAction) -> QToolButton:
        """Add a button for an action at the right."""
        button = QToolButton()
        button.setProperty("kind", "quiet")
        button.setDefaultAction(action)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setAccessibleName(action.toolTip())
        self._tools.addWidget(button)
        return button

    def add_widget(self, widget: QWidget) -> None:
        """Put a widget in front of the buttons at the right."""
        self._tools.insertWidget(1, widget)  # behind the stretch
