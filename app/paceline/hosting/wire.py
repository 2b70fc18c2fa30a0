"""What goes over the pipe between the window's process and the engine's.

Down go commands. Up come the engine's events and a few messages of the process itself, all as JSON
by the one codec; nothing is ever unpickled from the engine's process. Decoding checks everything:
bytes that are not exactly a message raise a `WireError`, and their sender is replaced.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from paceline.codec import CodecError, by_name, decode, encode
from paceline.messages import Command, Event
from paceline.workers.frames import WireError
from paceline.workers.process import Language

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")
_MOST_TEXT = 200
_MANY_ITEMS = 200


@dataclass(frozen=True, slots=True)
class Done:
    """One command is carried out; a `Tune` also when the running turn has taken it."""


@dataclass(frozen=True, slots=True)
class Beat:
    """The process is alive; sent twice a second while it works, by `child.Pulse`.

    Attributes:
        n_events: Events sent so far.
        cpu_s: CPU seconds that the process has used.
        read_bytes: Bytes that it has read from files and disks.
        decode_s: Seconds that the running native decode has taken so far; 0 when there is none.
        decode_limit_s: Seconds after which that decode counts as hanging.
        own_kernels: The build of Paceline's own kernels that computes; empty: llama.cpp's do.
    """

    n_events: int
    cpu_s: float
    read_bytes: int
    decode_s: float
    decode_limit_s: float
    own_kernels: str = ""


@dataclass(frozen=True, slots=True)
class LogLine:
    """A record for this program's log."""

    level: int
    logger: str
    text: str


Report = Done | Beat | LogLine
Upward = Event | Report


def engine_language() -> Language[Command, Upward]:
    """Return the messages that are exchanged with an engine's process."""
    return Language("paceline-engine", encode_message, decode_upward)


def encode_message(message: DataclassInstance) -> bytes:
    """Return the bytes for a message, with its name."""
    # Half a surrogate pair, which JSON can carry and UTF-8 cannot, must not lose a message.
    return _text(encode(message)).encode(errors="replace")


def decode_command(payload: bytes) -> Command:
    """Return the command that `encode_message` gave these bytes for.

    Raises:
        WireError: They are something else.
    """
    return decode_message(payload, _COMMANDS)


def decode_upward(payload: bytes) -> Upward:
    """Return the event or report that `encode_message` gave these bytes for.

    Raises:
        WireError: They are something else.
    """
    return decode_message(payload, _UPWARD)


def decode_message(payload: bytes, classes: Mapping[str, type[T]]) -> T:
    """Return the message that `encode_message` gave these bytes for.

    Args:
        payload: Anything.
        classes: From `by_name`: the dataclasses that are accepted.

    Raises:
        WireError: They are something else.
    """
    try:
        return decode(_load(payload), classes)
    except (CodecError, RecursionError) as error:  # the user reads it, and names may be very long
        raise WireError(str(error)[:_MOST_TEXT]) from None


_COMMANDS = by_name(Command)
_UPWARD = by_name(Upward)


def _text(data: dict[str, Any]) -> str:
    """The JSON of a message.

    The encoder lets no other thread run before it is done, which takes 30 ms for a chat of 10,000
    messages. So the items of a long list are encoded one by one.
    """
    long = [k for k, value in data.items() if isinstance(value, list) and len(value) > _MANY_ITEMS]
    if not long:
        return _to_json(data)
    fields = (
        f'"{name}":[{",".join(map(_to_json, value))}]'
        if name in long
        else f'"{name}":{_to_json(value)}'
        for name, value in data.items()
    )
    return f"{{{','.join(fields)}}}"


_to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _load(payload: bytes) -> Any:
    try:
        text = payload.decode()
        data = json.loads(text)
        if "\\u" in text:  # only so can half a surrogate pair get in
            json.dumps(data, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise WireError(f"no JSON: {error}"[:_MOST_TEXT]) from None
    return data
