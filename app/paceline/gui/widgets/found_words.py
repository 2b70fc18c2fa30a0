"""Words of a message that were searched for: marked for a while."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Slot
from PySide6.QtGui import QTextCursor

from paceline.gui.widgets.message_paint import find_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtWidgets import QTextBrowser

    from paceline.gui.widgets.provenance import Span

MARKED_MS = 6_000
"""How long they stay marked."""


class FoundWords(QTimer):
    """Knows where they stand in a view, which paints them; a timer that forgets them.

    Attributes:
        spans: The places in the document.
    """

    def __init__(self, view: QTextBrowser) -> None:
        super().__init__(view)
        self._view = view
        self.spans: list[Span] = []
        self.setSingleShot(True)
        self.setInterval(MARKED_MS)
        self.timeout.connect(self.forget)

    def find(self, words: Sequence[str]) -> bool:
        """Mark these words, in whatever case they are written; whether any was found."""
        self.spans = find_words(self._view.toPlainText(), words)
        self.stop()
        if self.spans:
            self.start()
        self._view.viewport().update()
        return bool(self.spans)

    def top(self) -> float | None:
        """Where the line of the first one begins; None: no word is marked."""
        if not self.spans:
            return None
        cursor = QTextCursor(self._view.document())
        cursor.setPosition(self.spans[0].start)
        return float(self._view.cursorRect(cursor).top())

    @Slot()
    def forget(self) -> None:
        """Mark nothing."""
        if self.spans:
            self.spans = []
            self._view.viewport().update()
