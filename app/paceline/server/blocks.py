"""A growing reply as blocks, one after the other: reasoning, answer, calls of tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from paceline.server.pieces import Answer, Reasoning

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from paceline.server.pieces import Piece


@dataclass(slots=True)
class Block:
    """A part of a reply.

    Attributes:
        kind: What it is.
        index: Its place in the reply, from 0.
        text: What it says so far.
    """

    kind: Literal["reasoning", "answer"]
    index: int
    text: str = ""


class Opened(NamedTuple):
    """A block begins, empty."""

    block: Block


class Gained(NamedTuple):
    """A block has gained a text, which `block.text` ends with."""

    block: Block
    text: str


class Closed(NamedTuple):
    """A block ends."""

    block: Block


Change = Opened | Gained | Closed


class Blocks:
    """Puts the pieces of a reply together; one block is open at a time.

    Attributes:
        all: The blocks so far.
    """

    def __init__(self) -> None:
        self.all: list[Block] = []
        self._open: Block | None = None

    def take(self, pieces: Iterable[Piece]) -> Iterator[Change]:
        """Yield what pieces of the reply change."""
        for piece in pieces:
            match piece:
                case Answer(text):
                    yield from self._gain("answer", text)
                case Reasoning(text):
                    yield from self._gain("reasoning", text)

    def finish(self) -> Iterator[Change]:
        """Yield what the end of the reply changes."""
        if self._open is not None:
            yield Closed(self._open)
            self._open = None

    def _gain(self, kind: Literal["reasoning", "answer"], text: str) -> Iterator[Change]:
        if self._open is None or self._open.kind != kind:
            yield from self._begin(Block(kind, len(self.all)))
        assert self._open is not None
        self._open.text += text
        yield Gained(self._open, text)

    def _begin(self, block: Block) -> Iterator[Change]:
        yield from self.finish()
        self.all.append(block)
        self._open = block
        yield Opened(block)
