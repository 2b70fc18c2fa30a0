"""The pieces that a reply is read into: answer, reasoning and calls of tools."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CallBegan:
    """A call begins.

    Attributes:
        index: Its place among the calls of the reply, from 0.
        name: The tool's name.
        id: As the model wrote it, or one that was made for it.
    """

    index: int
    name: str
    id: str


@dataclass(frozen=True, slots=True)
class CallArguments:
    """A part of a call's arguments; all of them in a row are a JSON object."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class CallEnded:
    """A call ends.

    Attributes:
        index: See `CallBegan`.
        is_whole: Whether the model has written all of it; otherwise it is none.
    """

    index: int
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """A part of the answer."""

    text: str


CallPiece = Answer | CallBegan | CallArguments | CallEnded
