"""Lets labels break long words: paths and strategy texts have no blanks.

A label breaks lines at blanks alone, so a single long path makes everything around it as wide as
itself. Qt has no other way of breaking for labels; zero-width spaces are invisible and no wider.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtWidgets import QLabel, QMenu, QWidget

if TYPE_CHECKING:
    from PySide6.QtGui import QContextMenuEvent, QKeyEvent

ZERO_WIDTH_SPACE = "\u200b"
LONGEST = 24
"""Letters in a row that always find room in a line."""
_BEHIND_SIGNS = re.compile(r"(?<=[/\\:+])(?=[^\s/\\:+])")
_LONG_WORD = re.compile(rf"[^\s{ZERO_WIDTH_SPACE}]{{{LONGEST}}}(?=[^\s{ZERO_WIDTH_SPACE}])")


def with_soft_breaks(text: str) -> str:
    """The same to look at, with places to break within words of more than `LONGEST` letters."""
    return " ".join(_broken(word) if len(word) > LONGEST else word for word in text.split(" "))


def without_soft_breaks(text: str) -> str:
    """What `with_soft_breaks` was given."""
    return text.replace(ZERO_WIDTH_SPACE, "")


def _broken(word: str) -> str:
    return _LONG_WORD.sub(
        lambda found: found[0] + ZERO_WIDTH_SPACE, _BEHIND_SIGNS.sub(ZERO_WIDTH_SPACE, word)
    )


class BreakingLabel(QLabel):
    """A label of several lines to select from; what is copied has no soft breaks."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWordWrap(True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy without the soft breaks; all else as always."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to copy what is selected."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        action = menu.addAction(self.tr("Copy"))
        action.setEnabled(self.hasSelectedText())
        action.triggered.connect(self.copy)
        menu.popup(event.globalPos())

    @Slot()
    def copy(self) -> None:
        """Put what is selected onto the clipboard."""
        if self.hasSelectedText():
            QGuiApplication.clipboard().setText(without_soft_breaks(self.selectedText()))
