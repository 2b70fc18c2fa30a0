"""Search of the mark on which a call begins, in a growing text, except in fenced code.

The grammar that waits for a call and the reader of calls both use it, so they agree.
"""

from __future__ import annotations

import re

from paceline.engine.calls.form import CallForm

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


class MarkFinder:
    """Searches a form's marks from an index on.

    Attributes:
        read: Index up to which the text contains no mark, and nothing that may become one.

    Args:
        form: The form of calls.
        begin: Index at which the text begins in which a mark may occur.
    """

    def __init__(self, form: CallForm, begin: int = 0) -> None:
        self._form = form
        self._begin = self._line = self.read = begin
        self._fence = ""

    def find(self, text: str) -> tuple[int, str] | None:
        """Return the index of the first mark and the mark, or None so far.

        Args:
            text: The text so far; it begins with that of the last call.
        """
        while True:
            end = text.find("\n", self._line)
            stop = end + 1 if end >= 0 else len(text)
            fence = None if self._form.is_framed else _FENCE.match(text, self._line, stop)
            if self._fence or fence:
                if end < 0:
                    self.read = stop
                    return None
                self._turn(fence[1] if fence else "", text[fence.end() if fence else stop : stop])
            elif found := self._find(text, max(self.read, self._line), stop):
                self.read = found[0]
                return found
            elif end < 0:
                self.read = max(self.read, self._may_begin(text, self._line, stop))
                return None
            self._line = self.read = stop

    def go_past(self, at: int) -> None:
        """Continue from an index outside code: after a mark that is text, or after calls."""
        self.read = self._line = at

    def _turn(self, fence: str, rest: str) -> None:
        """Process a line that begins with this fence, or is within a fence."""
        if not self._fence:
            self._fence = "" if "`" in fence and "`" in rest else fence
        elif fence.startswith(self._fence) and not rest.strip():
            self._fence = ""

    def _find(self, text: str, start: int, stop: int) -> tuple[int, str] | None:
        found = [
            (at, -len(mark), mark)
            for mark in self._form.marks
            if (at := self._next(text, mark, start, stop)) >= 0
        ]
        if not found:
            return None
        at, _, mark = min(found)
        return at, mark

    def _next(self, text: str, mark: str, start: int, stop: int) -> int:
        at = text.find(mark, start, stop)
        while at >= 0 and not self._counts(text, at):
            at = text.find(mark, at + 1, stop)
        return at

    def _counts(self, text: str, at: int) -> bool:
        if self._form.is_first and text[self._begin : at].strip():
            return False
        return self._form.is_framed or at == self._begin or text[at - 1] != "`"

    def _may_begin(self, text: str, start: int, stop: int) -> int:
        """Return the index from which the end of a line may be the beginning of a mark."""
        marks = self._form.marks
        for at in range(max(start, self.read, stop - max(map(len, marks)) + 1), stop):
            if any(mark.startswith(text[at:stop]) for mark in marks) and self._counts(text, at):
                return at
        return stop
