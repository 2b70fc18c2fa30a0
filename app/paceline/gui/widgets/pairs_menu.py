"""The saved pairs at the top of the menu of models: one click switches, a submenu forgets."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

if TYPE_CHECKING:
    from paceline.gui.viewmodels.saved_pairs import SavedPairs

_LONGEST = 60
"""Letters of a pair's name that a menu shows."""


class PairsMenu(QObject):
    """Keeps one menu in line with the pairs; the current one is ticked."""

    chosen = Signal(int)
    """Row of a pair to load"""

    def __init__(self, menu: QMenu, forget: QMenu, pairs: SavedPairs) -> None:
        """Put pairs above everything else in `menu`, and fill `forget`."""
        super().__init__(menu)
        self._menu, self._forget, self._pairs = menu, forget, pairs
        self._current = -1
        self._first = menu.actions()[0]
        self._line = menu.insertSeparator(self._first)
        self.actions_: list[QAction] = []
        pairs.changed.connect(self._fill)
        self._fill()

    def tick(self, row: int) -> None:
        """Mark the pair that is loaded, or being loaded; -1: none of them."""
        self._current = row
        for at, action in enumerate(self.actions_):
            action.setChecked(at == row)

    @Slot()
    def _fill(self) -> None:
        for action in self.actions_:
            self._menu.removeAction(action)
            action.deleteLater()
        self.actions_ = []
        self._forget.clear()
        titles = self._pairs.titles
        for at, title in enumerate(titles):
            words = title if len(title) <= _LONGEST else f"{title[: _LONGEST - 1]}…"
            words = words.replace("&", "&&")
            action = QAction(words, self._menu)
            action.setCheckable(True)
            action.setToolTip(title)
            action.setData(at)
            action.triggered.connect(self._on_chosen)
            self._menu.insertAction(self._line, action)
            self.actions_.append(action)
            forget = self._forget.addAction(words)
            forget.setData(at)
            forget.triggered.connect(self._on_forget)
        self._line.setVisible(bool(titles))
        self._forget.menuAction().setEnabled(bool(titles))
        if titles:
            self._forget.addSeparator()
            self._forget.addAction(self.tr("All of them")).triggered.connect(self._on_forget_all)
        self.tick(self._current if self._current < len(titles) else -1)

    @Slot()
    def _on_chosen(self) -> None:
        row = cast("QAction", self.sender()).data()
        self.tick(self._current)  # the tick follows the load and not the click
        self.chosen.emit(row)

    @Slot()
    def _on_forget(self) -> None:
        self._pairs.forget(cast("QAction", self.sender()).data())

    @Slot()
    def _on_forget_all(self) -> None:
        self._pairs.forget_all()
