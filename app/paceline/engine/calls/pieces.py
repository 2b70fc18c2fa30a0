"""The pieces that a reply is read into: answer, reasoning and calls of tools."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CallBegan:
    """The begin of a call.

    Attributes:
        index: Index of the call in the reply, from 0.
        name: The tool's name.
        id: The id that the model wrote, or one that was made for it.
    """

    index: int
    name: str
    id: str


@dataclass(frozen=True, slots=True)
class CallArguments:
    """A part of a call's arguments; concatenated, they are a JSON object."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class CallEnded:
    """The end of a call.

    Attributes:
        index: See `CallBegan`.
        is_whole: Whether the model has completed it; otherwise the call is void.
    """

    index: int
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """A part of the answer."""

    text: str


CallPiece = Answer | CallBegan | CallArguments | CallEnded
