"""A growing reply as what programs are told of it: reasoning and answer, piece by piece."""

from __future__ import annotations

from typing import NamedTuple

from paceline.chat.reasoning import Known, ReasoningSplitter


class Answer(NamedTuple):
    """What the answer has gained."""

    text: str


class Reasoning(NamedTuple):
    """What the reasoning before the answer has gained."""

    text: str


Piece = Answer | Reasoning


class Pieces:
    """Cuts a growing text into pieces; what may still become a mark waits.

    Blanks around the reasoning are left out, since they belong to its marks.

    Args:
        text: What the reply begins with, of which nothing is told.
        has_marks: Whether the model's template or vocabulary know marks of reasoning.
    """

    def __init__(self, text: str = "", *, has_marks: bool = True) -> None:
        self._splitter = ReasoningSplitter()
        # As of a reply that was cut off: a reasoning that was told as such does not become an
        # answer because the model ended in it.
        self._known = Known(is_finished=False, has_marks=has_marks)
        self._text = ""
        self._told = {"answer": 0, "reasoning": 0}
        if text:
            self.add(text)

    def add(self, text: str) -> tuple[Piece, ...]:
        """Return what a further text brings."""
        self._text += text
        return self._new(is_final=False)

    def finish(self) -> tuple[Piece, ...]:
        """Return the rest."""
        return self._new(is_final=True)

    def _new(self, *, is_final: bool) -> tuple[Piece, ...]:
        parts = self._splitter.split(self._text, is_final=is_final, known=self._known)
        found: list[Piece] = []
        for kind, make in (("reasoning", Reasoning), ("answer", Answer)):
            whole = "".join(self._text[p.start : p.end] for p in parts if p.kind == kind)
            if any(part.kind == "mark" for part in parts) or kind == "reasoning":
                whole = whole.lstrip()
            told = self._told[kind]
            shown = whole.rstrip() if kind == "reasoning" else whole
            if len(shown) > told:
                found.append(make(shown[told:]))
                self._told[kind] = len(shown)
        return tuple(found)


class PlainPieces:
    """A text without a conversation, told as it is, with all marks in it."""

    def add(self, text: str) -> tuple[Piece, ...]:
        """Return what a further text brings."""
        return (Answer(text),) if text else ()

    def finish(self) -> tuple[Piece, ...]:
        """Return the rest: nothing waits."""
        return ()
