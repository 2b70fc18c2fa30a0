"""The row of strategies: the usual ones as segments, all of them in a menu."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QMenu,
    QSizePolicy,
    QToolButton,
    QWidget,
)

if TYPE_CHECKING:
    from PySide6.QtGui import QIcon
    from PySide6.QtWidgets import QAbstractButton

    from paceline.gui.viewmodels.speculation import SpeculationModel


class StrategyPicker(QFrame):
    """Segments for the usual drafters, and a menu with every id, plug-ins included."""

    def __init__(self, model: SpeculationModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "segments")
        self.setAccessibleName(self.tr("Strategy"))
        self._model = model
        row = QHBoxLayout(self)
        row.setContentsMargins(2, 2, 2, 2)
        row.setSpacing(2)
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        self.segments: dict[str, QToolButton] = {}
        for drafter_id, text in (
            ("draft", self.tr("Draft")),
            ("prompt-lookup", self.tr("Lookup")),
            ("off", self.tr("Off")),
        ):
            info = model.info(drafter_id)
            if info is None:
                continue
            button = self._segment(text, f"{info.title}: {info.summary} ({drafter_id})")
            button.setCheckable(True)
            self._group.addButton(button)
            self.segments[drafter_id] = button
            row.addWidget(button, 1)
        self.more = self._segment(self.tr("All"), self.tr("Every strategy by its name"))
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.more.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the arrow behind the text
        self.menu = QMenu(self)
        self.menu.setToolTipsVisible(True)
        self._actions = QActionGroup(self)
        for info in model.infos:
            action = QAction(f"{info.title}\t{info.id}", self)
            action.setCheckable(True)
            action.setData(info.id)
            action.setToolTip(info.summary)
            self._actions.addAction(action)
            self.menu.addAction(action)
        self.more.setMenu(self.menu)
        row.addWidget(self.more)
        self._group.buttonClicked.connect(self._on_segment_clicked)
        self._actions.triggered.connect(self._on_action_triggered)
        model.drafter_changed.connect(self._show_chosen)
        self._show_chosen()

    def set_arrow(self, arrow: QIcon) -> None:
        """Show an arrow at the menu's button."""
        self.more.setIcon(arrow)

    @staticmethod
    def _segment(text: str, explanation: str) -> QToolButton:
        button = QToolButton()
        button.setProperty("kind", "segment")
        button.setText(text)
        button.setToolTip(explanation)
        button.setAccessibleName(text)
        button.setAccessibleDescription(explanation)
        button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        return button

    @Slot()
    def _show_chosen(self) -> None:
        chosen = self._model.current
        self._group.setExclusive(False)  # none is checked when the choice is only in the menu
        for drafter_id, button in self.segments.items():
            button.setChecked(drafter_id == chosen.id)
        self._group.setExclusive(True)
        for action in self._actions.actions():
            action.setChecked(action.data() == chosen.id)

    @Slot("QAbstractButton*")
    def _on_segment_clicked(self, clicked: QAbstractButton) -> None:
        for drafter_id, button in self.segments.items():
            if button is clicked:
                self._model.choose(drafter_id)

    @Slot(QAction)
    def _on_action_triggered(self, action: QAction) -> None:
        self._model.choose(str(action.data()))
