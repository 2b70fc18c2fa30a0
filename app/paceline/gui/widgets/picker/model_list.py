"""A list to pick a model from: a click or Enter picks, Enter and a double click also go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt, Signal, Slot
from PySide6.QtWidgets import QAbstractItemView, QListView, QWidget

from paceline.gui.widgets.picker.model_rows import ModelRow

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QKeyEvent

    from paceline.gui.theme import Theme
    from paceline.gui.widgets.picker.model_rows import Index, RowText

_PICKS = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


class ModelList(QListView):
    """Rows of two lines, drawn by a `ModelRow`."""

    picked = Signal(QModelIndex)
    confirmed = Signal(QModelIndex)
    """Picked, and the user wants to go on."""

    def __init__(
        self,
        name: str,
        text_of: Callable[[Index], RowText],
        theme: Theme,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setProperty("kind", "models")
        self.setAccessibleName(name)
        self.setMouseTracking(True)
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._rows = ModelRow(text_of, theme, self)
        self.setItemDelegate(self._rows)
        self.clicked.connect(self.picked)
        self.doubleClicked.connect(self.confirmed)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        self._rows.set_theme(theme)
        self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Pick by Enter or Space; the dialog's buttons must not have these keys."""
        index = self.currentIndex()
        if event.key() in _PICKS and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            if index.isValid():
                is_space = event.key() == Qt.Key.Key_Space
                (self.picked if is_space else self.confirmed).emit(index)
            event.accept()
            return
        super().keyPressEvent(event)

    @Slot()
    def take_focus(self) -> None:
        """Have the keyboard, with a row to go on from."""
        self.setFocus(Qt.FocusReason.TabFocusReason)
        if not self.currentIndex().isValid() and self.model() is not None:
            self.setCurrentIndex(self.model().index(0, 0))

    def show_row(self, row: int) -> None:
        """Go to a row; -1: to the top, with none to go on from."""
        index = self.model().index(row, 0)
        self.selectionModel().setCurrentIndex(
            index, QItemSelectionModel.SelectionFlag.ClearAndSelect
        )
        if index.isValid():
            self.scrollTo(index)
        else:
            self.scrollToTop()
