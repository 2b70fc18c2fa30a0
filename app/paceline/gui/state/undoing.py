"""The last deletion that can be undone by key, anywhere in the window. Main thread."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction


class Undoing(QObject):
    """Connection of the undo action with one deletion at a time; the action is off without one.

    A text field with something to undo handles the key itself.
    """

    def __init__(self, action: QAction) -> None:
        super().__init__(action)
        self._action = action
        self._take_back: Callable[[], object] | None = None
        action.triggered.connect(self._on_triggered)
        action.setEnabled(False)

    def offer(self, take_back: Callable[[], object]) -> None:
        """Let the action undo this deletion, once, in place of the previous one."""
        self._take_back = take_back
        self._action.setEnabled(True)

    def withdraw(self, take_back: Callable[[], object] | None) -> None:
        """Disable the action if it would call this function."""
        if take_back is not None and take_back == self._take_back:
            self._take_back = None
            self._action.setEnabled(False)

    @Slot()
    def _on_triggered(self) -> None:
        take_back = self._take_back
        if take_back is not None:
            self.withdraw(take_back)
            take_back()
