"""A growing reply in the pieces that programs get: reasoning, answer and tool calls."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from paceline.chat.reasoning import Known, ReasoningSplitter, ReplySection
from paceline.content import Tool
from paceline.engine.calls.forms import BY_ID
from paceline.engine.calls.pieces import Answer, CallBegan, CallPiece
from paceline.engine.calls.reader import CallReader


class ReasoningPiece(NamedTuple):
    """A part of the reasoning before the answer."""

    text: str


Piece = CallPiece | ReasoningPiece


class Pieces:
    """Cuts a growing text into pieces; text that may still become a mark is held.

    Blanks around the reasoning are left out, since they belong to its marks, and so are those
    around calls. After the first mark of a call only calls are recognised, since their arguments
    may hold any mark.

    Args:
        text: The beginning of the reply, which is not part of the pieces.
        has_marks: Whether the model's template or vocabulary know marks of reasoning.
        form: The form in which it writes calls, by `TurnStarted.calls`, or empty if it holds none.
        tools: Those that it may call.
        id_prefix: Prefix of the ids of calls to which the model has given none.
        is_call: Whether it must be a call: then a mark that is cut is no answer.
    """

    def __init__(
        self,
        text: str = "",
        *,
        has_marks: bool = True,
        form: str = "",
        tools: Sequence[Tool] = (),
        id_prefix: str = "call_",
        is_call: bool = False,
    ) -> None:
        self._is_call = is_call
        self._splitter = ReasoningSplitter()
        # As for a reply that was cut off: text that was reported as reasoning does not become an
        # answer because the model ended in it.
        self._known = Known(is_finished=False, has_marks=has_marks)
        self._text = ""
        self._parts: tuple[ReplySection, ...] = ()
        self._told = {"answer": 0, "reasoning": 0}
        self._reader = (
            CallReader(BY_ID[form], tools, lambda: id_prefix + uuid.uuid4().hex) if form else None
        )
        self._is_framed = bool(form) and BY_ID[form].is_framed
        self._marks = BY_ID[form].marks if form else ()
        self._mark = re.compile("|".join(map(re.escape, self._marks)))
        if text:
            self.add(text)

    @property
    def reasoning(self) -> list[tuple[int, int]]:
        """Return the character ranges [start, end) of the reasoning in the text."""
        return [(part.start, part.end) for part in self._parts if part.kind == "reasoning"]

    def add(self, text: str) -> tuple[Piece, ...]:
        """Return the pieces of a further text."""
        reader = self._reader
        if reader is None:
            return tuple(self._split(text))
        if self._is_framed:
            return tuple(self._apart(reader.add(text)))
        found: list[Piece] = []
        for part in self._cut_after_marks(text):
            if reader.has_mark:
                found += reader.add(part)
                continue
            found += _with_calls(reader, self._split(part))
            found += self._after_mark(reader)
        return tuple(found)

    def finish(self, *, is_cut: bool = False) -> tuple[Piece, ...]:
        """Return the rest.

        Args:
            is_cut: Whether the reply was cut: then an unfinished call is no text.
        """
        rest = self._rest(is_cut=is_cut)
        if is_cut and self._is_call:
            return tuple(piece for piece in rest if not isinstance(piece, Answer))
        return rest

    def _rest(self, *, is_cut: bool) -> tuple[Piece, ...]:
        reader = self._reader
        if reader is None:
            return tuple(self._split("", is_final=True))
        if self._is_framed:
            found = self._apart(reader.finish(is_cut=is_cut))
            return (*found, *self._split("", is_final=True))
        rest = [] if reader.has_mark else _with_calls(reader, self._split("", is_final=True))
        return (*rest, *reader.finish(is_cut=is_cut))

    def _cut_after_marks(self, text: str) -> Iterator[str]:
        """Yield the text in parts that end after a mark, so that it is known before the rest."""
        n_before = max(map(len, self._marks)) - 1
        begin = min(n_before, len(self._text))
        whole = self._text[len(self._text) - begin :] + text
        for found in self._mark.finditer(whole):
            if found.end() > begin:
                yield whole[begin : found.end()]
                begin = found.end()
        if begin < len(whole):
            yield whole[begin:]

    def _apart(self, pieces: Sequence[CallPiece]) -> list[Piece]:
        """Return the pieces of a reader that was given marks of reasoning, too."""
        found: list[Piece] = []
        for piece in pieces:
            if isinstance(piece, Answer):
                found += self._split(piece.text)
                continue
            if isinstance(piece, CallBegan):
                found += self._split("", is_final=True)
            found.append(piece)
        return found

    def _after_mark(self, reader: CallReader) -> Sequence[CallPiece]:
        """Return the pieces of the held text after a mark has become known."""
        if not reader.has_mark:
            return ()
        n_told = max(part.end for part in self._parts if part.kind == "answer")
        return reader.add(self._text[n_told:])

    def _split(self, text: str, *, is_final: bool = False) -> list[Answer | ReasoningPiece]:
        self._text += text
        parts = self._splitter.split(self._text, is_final=is_final, known=self._known)
        self._parts = parts
        found: list[Answer | ReasoningPiece] = []
        for kind, make in (("reasoning", ReasoningPiece), ("answer", Answer)):
            whole = "".join(self._text[p.start : p.end] for p in parts if p.kind == kind)
            if any(part.kind == "mark" for part in parts) or kind == "reasoning":
                whole = whole.lstrip()
            told = self._told[kind]
            shown = whole.rstrip() if kind == "reasoning" else whole
            if len(shown) > told:
                found.append(make(shown[told:]))
                self._told[kind] = len(shown)
        return found


def _with_calls(reader: CallReader, pieces: Sequence[Answer | ReasoningPiece]) -> list[Piece]:
    """Return the pieces with the calls that a reader finds in those of the answer."""
    found: list[Piece] = []
    for piece in pieces:
        found += reader.add(piece.text) if isinstance(piece, Answer) else [piece]
    return found


class PlainPieces:
    """A text without a conversation, passed on unchanged, with all marks in it.

    Attributes:
        reasoning: Empty; see `Pieces`.
    """

    def __init__(self) -> None:
        self.reasoning: list[tuple[int, int]] = []

    def add(self, text: str) -> tuple[Piece, ...]:
        """Return the pieces of a further text."""
        return (Answer(text),) if text else ()

    def finish(self, *, is_cut: bool = False) -> tuple[Piece, ...]:
        """Return the rest, which is empty: nothing is held."""
        del is_cut
        return ()
