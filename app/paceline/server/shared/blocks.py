"""A growing reply as blocks, one after the other: reasoning, answer, calls of tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from paceline.engine.calls.pieces import Answer, CallArguments, CallBegan, CallEnded
from paceline.server.pieces import ReasoningPiece

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from paceline.server.pieces import Piece


Kind = Literal["reasoning", "answer", "call"]


@dataclass(slots=True)
class ReplyBlock:
    """A part of a reply.

    Attributes:
        kind: Kind of the block.
        index: Its place in the reply, from 0.
        text: Its text so far; for a call its arguments, a JSON object.
        name: The tool that is called.
        call_id: Id of the call.
        is_whole: Whether it is complete; an incomplete call does not count.
    """

    kind: Kind
    index: int
    text: str = ""
    name: str = ""
    call_id: str = ""
    is_whole: bool = True


class BlockOpened(NamedTuple):
    """A block begins, empty."""

    block: ReplyBlock


class Gained(NamedTuple):
    """A block has gained a text, which is the end of `block.text`."""

    block: ReplyBlock
    text: str


class Closed(NamedTuple):
    """A block ends."""

    block: ReplyBlock


Change = BlockOpened | Gained | Closed


class Blocks:
    """Puts the pieces of a reply together; one block is open at a time.

    Attributes:
        all: The blocks so far, with a call that was cut.
    """

    def __init__(self) -> None:
        self.all: list[ReplyBlock] = []
        self._open: ReplyBlock | None = None

    @classmethod
    def of(cls, pieces: Iterable[Piece]) -> Blocks:
        """Return the blocks of a whole reply."""
        blocks = cls()
        for _ in blocks.take(pieces):
            pass
        return blocks

    def take(self, pieces: Iterable[Piece]) -> Iterator[Change]:
        """Yield the changes by pieces of the reply."""
        for piece in pieces:
            match piece:
                case Answer(text):
                    yield from self._gain("answer", text)
                case ReasoningPiece(text):
                    yield from self._gain("reasoning", text)
                case CallBegan(name=name, id=id_):
                    yield from self._begin(ReplyBlock("call", len(self.all), "", name, id_))
                case CallArguments(text=text):
                    yield from self._gain("call", text)
                case CallEnded(is_whole=is_whole):
                    self.all[-1].is_whole = is_whole
                    yield from self.finish()

    @property
    def whole(self) -> list[ReplyBlock]:
        """The blocks without a call that was cut."""
        return [block for block in self.all if block.is_whole]

    def finish(self) -> Iterator[Change]:
        """Yield the changes by the end of the reply."""
        if self._open is not None:
            yield Closed(self._open)
            self._open = None

    def _gain(self, kind: Kind, text: str) -> Iterator[Change]:
        if self._open is None or self._open.kind != kind:
            yield from self._begin(ReplyBlock(kind, len(self.all)))
        assert self._open is not None
        self._open.text += text
        yield Gained(self._open, text)

    def _begin(self, block: ReplyBlock) -> Iterator[Change]:
        yield from self.finish()
        self.all.append(block)
        self._open = block
        yield BlockOpened(block)
