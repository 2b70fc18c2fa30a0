"""The last deletion that can be taken back by key, wherever it was. Main thread."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction


class Undoing(QObject):
    """Ties one deletion at a time to the action, which is off while there is none.

    A text field that has something to undo takes the key for itself.
    """

    def __init__(self, action: QAction) -> None:
        super().__init__(action)
        self._action = action
        self._take_back: Callable[[], object] | None = None
        action.triggered.connect(self._on_triggered)
        action.setEnabled(False)

    def offer(self, take_back: Callable[[], object]) -> None:
        """Let the action do this, once, in place of what it did before."""
        self._take_back = take_back
        self._action.setEnabled(True)

    def withdraw(self, take_back: Callable[[], object] | None) -> None:
        """Let the action do nothing, if it would do this."""
        if take_back is not None and take_back == self._take_back:
            self._take_back = None
            self._action.setEnabled(False)

    @Slot()
    def _on_triggered(self) -> None:
        take_back = self._take_back
        if take_back is not None:
            self.withdraw(take_back)
            take_back()
