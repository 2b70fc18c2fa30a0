"""What goes over the pipe between the window's process and the engine's.

Down go commands. Up come the engine's events and a few messages of the process itself, all as JSON
by the one codec; nothing is ever unpickled from the engine's process. Decoding checks everything:
bytes that are not exactly a message raise a `WireError`, and their sender is replaced.

On the pipe each message is a frame: four bytes of length, then that many bytes. The other end may
be a process with corrupted memory, so a length above `MAX_FRAME` is an error at once, nothing is
allocated for it, and an incomplete frame is never waited for.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from paceline.codec import CodecError, by_name, decode, encode
from paceline.messages import Command, Event

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")
_MOST_TEXT = 200
_MANY_ITEMS = 200


class WireError(ValueError):
    """What came over the pipe is not a message."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The process is up and takes commands."""

    pid: int


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
class Dying:
    """The process is about to end; `text` is the last message of the native library or Python."""

    text: str


@dataclass(frozen=True, slots=True)
class LogLine:
    """A record for this program's log."""

    level: int
    logger: str
    text: str


Report = Ready | Done | Beat | Dying | LogLine
Upward = Event | Report


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


MAX_FRAME = 16 << 20
"""Bytes. The longest valid message is a conversation or a reply of a few million characters."""

_HEAD = struct.Struct(">I")


class FrameError(ValueError):
    """The bytes are no frames, or a message is too large for one."""


def frame(payload: bytes) -> bytes:
    """Return the payload with its length in front.

    Raises:
        FrameError: It is empty, or too long for the other end to take.
    """
    if not 0 < len(payload) <= MAX_FRAME:
        raise FrameError(f"a frame of {len(payload)} bytes")
    return _HEAD.pack(len(payload)) + payload


class FrameReader:
    """Cuts a stream into payloads; takes the bytes in pieces of any size."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Take bytes and yield every payload that is complete.

        Raises:
            FrameError: The stream is broken; the payloads before that are valid.
        """
        buffer = self._buffer
        buffer += data
        while len(buffer) >= _HEAD.size:
            (n,) = _HEAD.unpack_from(buffer)
            if not 0 < n <= MAX_FRAME:
                raise FrameError(f"a frame of {n} bytes")
            if len(buffer) < _HEAD.size + n:
                return
            payload = bytes(buffer[_HEAD.size : _HEAD.size + n])
            del buffer[: _HEAD.size + n]
            yield payload
