"""The bar at the top: name, menus, the pair, and switches for theme and panes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenuBar, QSizePolicy, QToolButton, QWidget

from paceline.gui.scale import px

if TYPE_CHECKING:
    from PySide6.QtGui import QAction, QIcon, QResizeEvent

    from paceline.gui.widgets.model_bar import ModelBar

ALL_MENUS_FROM = 860
_NAME_FROM = 720
_ICON_PX = 16
_MORE_PX, _QT_MORE_PX = 24, 12
"""Width of the button behind which menus stand, and what the menu bar reckons with."""
_PLACED = (QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show)
_HEIGHT, _TEXT_HEIGHT = 48, 34
"""At least, and what the name of a model needs at scale 1."""


class TopBar(QWidget):
    """Lays out what the window gives it; the pair stands in the middle."""

    def __init__(self, title: str, menus: QMenuBar, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "topbar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(_HEIGHT)
        self._name = QLabel(title)
        self._name.setProperty("role", "title")
        self._left_out: list[QToolButton] = []
        self._more: QToolButton | None = None
        self._menus = menus
        menus.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._left, self._right = QWidget(), QWidget()
        left = QHBoxLayout(self._left)
        left.setContentsMargins(0, 0, 0, 0)
        left.setSpacing(8)
        left.addWidget(self._name)
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

    def changeEvent(self, event: QEvent) -> None:
        """Larger text needs more room."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self.setFixedHeight(max(_HEIGHT, px(_TEXT_HEIGHT)))
            for button in self._right.findChildren(QToolButton):
                button.setIconSize(QSize(px(_ICON_PX), px(_ICON_PX)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where there is room for all menus, the names of the models give way first."""
        super().resizeEvent(event)
        has_room = self.width() >= px(ALL_MENUS_FROM)
        self._name.setVisible(self.width() >= px(_NAME_FROM))
        for button in self._left_out:
            button.setVisible(has_room)
        self._menus.setMinimumWidth(self._menus.sizeHint().width() if has_room else 0)

    def set_model_bar(self, model_bar: ModelBar) -> None:
        """Put the pair into the middle."""
        self._row.insertWidget(1, model_bar, 0)

    def set_menus_icon(self, icon: QIcon) -> None:
        """Show an icon on the button behind which menus stand that find no room."""
        button = self._menus.findChild(QToolButton, "qt_menubar_ext_button")
        if button is not None:
            button.setIcon(icon)  # Qt's own is black in every theme
            button.setAccessibleName(self.tr("More menus"))
            if self._more is None:
                self._more = button
                button.installEventFilter(self)
            self._place_more()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the button of the menus large enough, wherever the menu bar puts it."""
        if watched is self._more and event.type() in _PLACED:
            self._place_more()
        return super().eventFilter(watched, event)

    def _place_more(self) -> None:
        """Where no menu has room the button takes the place of the first."""
        button, menus = self._more, self._menus
        if button is None:
            return
        first = menus.actionGeometry(menus.actions()[0])
        width = px(_MORE_PX)
        is_shown = not first.isEmpty() and first.right() <= menus.width() - _QT_MORE_PX
        left = menus.width() - width if is_shown else 0
        button.setIconSize(QSize(px(_ICON_PX), px(_ICON_PX)))
        button.setGeometry(left, 0, width, menus.height())

    def add_tool(self, action: QAction, *, gives_way: bool = False) -> QToolButton:
        """Add a button for an action at the right; one that gives way is gone in narrow windows."""
        button = QToolButton()
        button.setProperty("kind", "quiet")
        button.setDefaultAction(action)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setAccessibleName(action.toolTip())
        self._tools.addWidget(button)
        if gives_way:
            self._left_out.append(button)
        return button

    def add_widget(self, widget: QWidget) -> None:
        """Put a widget in front of the buttons at the right."""
        self._tools.insertWidget(1, widget)  # behind the stretch
