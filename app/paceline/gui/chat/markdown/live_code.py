"""Colours for an open block of code while it streams."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from PySide6.QtGui import QTextCursor

from paceline.gui.chat.markdown.code import PLAIN, CodeRun, highlight_now
from paceline.gui.kit.labels import units

if TYPE_CHECKING:
    from PySide6.QtGui import QTextDocument

    from paceline.gui.chat.markdown.format import Formats
    from paceline.gui.chat.markdown.inline import Mark

INTERVAL_S = 0.5
"""Between two colourings of a block that is still growing."""
BUDGET_S = 0.008
"""A frame has 33 ms. A block that once took longer stays as it is until it closes."""
MAX_LINES = 60
"""Lines that are coloured in one go."""


class LiveCode:
    """Colours an open block of code at a document's end, now and then, while that is cheap.

    The block is coloured as a whole, since what a line means can depend on any line above it; only
    lines that look different than before are touched. When the block closes, it is built anew with
    all its colours.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin with another block."""
        self._start = -1
        self._due_s = 0.0
        self._is_slow = False
        self._lines: list[list[CodeRun]] = []

    def lines_of(self, code: str) -> list[list[CodeRun]]:
        """The lines of an open block that is written anew, in the colours that they had."""
        lines = [[CodeRun(line, PLAIN)] if line else [] for line in code.split("\n")]
        for number, known in enumerate(self._lines[: len(lines)]):
            text = lines[number][0].text if lines[number] else ""
            if text == "".join(run.text for run in known):
                lines[number] = known
            else:
                self._lines[number] = lines[number]
        return lines

    def update(self, document: QTextDocument, mark: Mark, formats: Formats) -> None:
        """Colour the block at the document's end, if it is time."""
        now = perf_counter()
        if mark.start != self._start:
            self.forget()
            self._start, self._due_s = mark.start, now + INTERVAL_S
            # Loading a language's grammar takes longer than colouring, so it is not measured.
            highlight_now("", mark.label, formats.theme.name, BUDGET_S)
        if self._is_slow or now < self._due_s or not mark.label:
            return
        cursor = QTextCursor(document)
        cursor.setPosition(mark.start)
        cursor.setPosition(mark.end, QTextCursor.MoveMode.KeepAnchor)
        code = cursor.selectedText().replace("\u2029", "\n")
        lines = highlight_now(code, mark.label, formats.theme.name, BUDGET_S)
        block = document.findBlock(mark.start)
        n_changed = 0
        cursor.beginEditBlock()
        for number, line in enumerate(lines):
            if number >= len(self._lines) or line != self._lines[number]:
                n_changed += 1
                if n_changed > MAX_LINES:
                    del lines[number:]  # the others wait for the next time
                    break
                at = block.position()
                for run in line:
                    cursor.setPosition(at)
                    at += units(run.text)
                    cursor.setPosition(at, QTextCursor.MoveMode.KeepAnchor)
                    cursor.setCharFormat(formats.code(run.style))
            block = block.next()
        cursor.endEditBlock()
        self._lines = lines
        spent = perf_counter() - now
        self._is_slow = spent > BUDGET_S
        self._due_s = now + INTERVAL_S
