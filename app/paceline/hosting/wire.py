"""What goes over the pipe between the window's process and the engine's.

Down go commands. Up come the engine's events and a few messages of the process itself, all as JSON
by the one codec; nothing is ever unpickled from the engine's process. Decoding checks everything:
bytes that are not exactly a message raise a `WireError`, and their sender is replaced.

On the pipe each message is a frame: four bytes of length, then that many bytes. The other end may
be a process with corrupted memory, so a length above `MAX_FRAME` is an error at once, nothing is
allocated for it, and an incomplete frame is never waited for.
"""

from __future__ import annotations

import functools
import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from paceline.codec import CodecError, decode, decode_part, encode, encode_part
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

_REPORTS: dict[str, type] = {cls.__name__: cls for cls in get_args(Report)}
_EVENTS: tuple[type, ...] = get_args(Event)
_COMMANDS: tuple[type, ...] = get_args(Command)


def encode_command(command: Command) -> bytes:
    """Return the bytes for a command."""
    return _dump(encode(command))


def decode_command(payload: bytes) -> Command:
    """Return the command that `encode_command` gave these bytes for.

    Raises:
        WireError: They are something else.
    """
    message = _decode_message(_load(payload))
    if not isinstance(message, _COMMANDS):
        raise WireError(f"{type(message).__name__} is no command")
    return message  # type: ignore[return-value]


def encode_upward(message: Upward) -> bytes:
    """Return the bytes for an event or a report."""
    if type(message).__name__ in _REPORTS:
        return encode_named(_as_dataclass(message))
    return _dump(encode(message))  # type: ignore[arg-type]


def decode_upward(payload: bytes) -> Upward:
    """Return the event or report that `encode_upward` gave these bytes for.

    Raises:
        WireError: They are something else.
    """
    data = _load(payload)
    report: Report | None = _decode_named(data, _REPORTS)
    if report is not None:
        return report
    message = _decode_message(data)
    if not isinstance(message, _EVENTS):
        raise WireError(f"{type(message).__name__} is no event")
    return message  # type: ignore[return-value]


def encode_named(value: DataclassInstance) -> bytes:
    """Return the bytes for a dataclass, with its name."""
    return _dump({"type": type(value).__name__, **encode_part(value)})


def decode_named(payload: bytes, classes: Mapping[str, type[T]]) -> T:
    """Return the value that `encode_named` gave these bytes for.

    Args:
        payload: Anything.
        classes: The dataclasses that are accepted, by name.

    Raises:
        WireError: They are something else.
    """
    data = _load(payload)
    value = _decode_named(data, classes)
    if value is None:
        raise WireError(f"unknown type {data.get('type')!r:.60}")
    return value


def _decode_named(data: dict[str, Any], classes: Mapping[str, type[T]]) -> T | None:
    """Return the value; None when its type is none of the classes."""
    name = data.get("type")
    cls = classes.get(name) if isinstance(name, str) else None
    if cls is None:
        return None
    data.pop("type")
    try:
        return decode_part(cls, data)
    except (CodecError, RecursionError) as error:
        raise _refusal(error) from None


def _as_dataclass(message: Any) -> DataclassInstance:
    return message  # type: ignore[no-any-return]


def _dump(data: dict[str, Any]) -> bytes:
    # Half a surrogate pair, which JSON can carry and UTF-8 cannot, must not lose a message.
    return _text(data).encode(errors="replace")


def _text(data: dict[str, Any]) -> str:
    """The JSON of a message.

    The encoder lets no other thread run before it is done, which takes 30 ms for a chat of 10,000
    messages. So the items of a long list are encoded one by one.
    """
    encoder = _encoder()
    if not any(_is_long(value) for value in data.values()):
        return encoder.encode(data)
    fields = (
        f'"{name}":[{",".join(map(encoder.encode, value))}]'
        if _is_long(value)
        else f'"{name}":{encoder.encode(value)}'
        for name, value in data.items()
    )
    return f"{{{','.join(fields)}}}"


def _is_long(value: object) -> bool:
    return isinstance(value, list) and len(value) > _MANY_ITEMS


@functools.cache
def _encoder() -> json.JSONEncoder:
    return json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def _load(payload: bytes) -> dict[str, Any]:
    try:
        text = payload.decode()
        data = json.loads(text)
        if "\\u" in text:  # only so can half a surrogate pair get in
            json.dumps(data, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise WireError(f"no JSON: {error}"[:_MOST_TEXT]) from None
    if not isinstance(data, dict):
        raise WireError(f"a message is an object, not {type(data).__name__}")
    return data


def _decode_message(data: dict[str, Any]) -> Command | Event:
    try:
        return decode(data)
    except (CodecError, RecursionError) as error:
        raise _refusal(error) from None


def _refusal(error: Exception) -> WireError:
    """Return the error to raise, cut: the user reads it, and names in it may be very long."""
    return WireError(str(error)[:_MOST_TEXT])


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

    @property
    def n_pending(self) -> int:
        """Bytes of the incomplete frame at the end."""
        return len(self._buffer)

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
