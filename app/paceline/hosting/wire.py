"""Messages on the pipe between the window's process and the engine's.

The engine's process receives commands. It sends the engine's events and a few messages of its own,
all as MessagePack; nothing from it is ever unpickled. Decoding checks everything: bytes that are
not exactly a message raise a `WireError`, and their sender is replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import msgspec

from paceline.codec import Tagged, decode_other, encode, encode_other
from paceline.messages import Command, Event
from paceline.workers.frames import WireError
from paceline.workers.process import Language

_MAX_TEXT_CHARS = 200


class Done(Tagged, frozen=True):
    """One command is carried out; a `Tune` also when the running turn has taken it."""


class Beat(Tagged, frozen=True):
    """The process is alive; sent twice a second while it works, by `child.Pulse`.

    Attributes:
        n_events: Events sent so far.
        cpu_s: CPU seconds that the process has used.
        read_bytes: Bytes that it has read from files and disks.
        decode_s: Seconds that the running native decode has taken so far; 0 when there is none.
        decode_limit_s: Seconds after which that decode counts as hanging; 0 for no limit.
        own_kernels: The build of Paceline's own kernels in use, or empty for llama.cpp's kernels.
    """

    n_events: int
    cpu_s: float
    read_bytes: int
    decode_s: float
    decode_limit_s: float
    own_kernels: str = ""


class LogLine(Tagged, frozen=True):
    """A record for this program's log."""

    level: int
    logger: str
    text: str


Report = Done | Beat | LogLine
Upward = Event | Report


def engine_language() -> Language[Command, Upward]:
    """Return the messages that are exchanged with an engine's process."""
    return Language("paceline-engine", encode_message, decode_upward)


def encode_message(message: Tagged) -> bytes:
    """Return the bytes for a message, with its name."""
    try:
        return _ENCODER.encode(message)
    except (UnicodeEncodeError, OverflowError):
        return _ENCODER.encode(_fitting(encode(message)))


def _fitting(data: Any) -> Any:
    """Return data whose parts MessagePack can hold, which loses less than the message.

    Half a surrogate pair, which UTF-8 has no bytes for, becomes a question mark, and an integer of
    more than 64 bits the nearest one.
    """
    match data:
        case str():
            return data.encode(errors="replace").decode()
        case int():
            return data if isinstance(data, bool) else max(-(2**63), min(data, 2**64 - 1))
        case Mapping():
            return {name: _fitting(part) for name, part in data.items()}
        case list() | tuple():
            return [*map(_fitting, data)]
    return data


def decoder(union: Any) -> Callable[[bytes], Any]:
    """Return a decoder for the messages of a union that `encode_message` has encoded.

    It raises a `WireError` for any other bytes.
    """
    # What it is made of takes some milliseconds, and each end of a pipe needs only its own.
    made = cache(lambda: msgspec.msgpack.Decoder(union, dec_hook=decode_other))

    def decode(payload: bytes) -> Any:
        try:
            return made().decode(payload)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            raise WireError(str(error)[:_MAX_TEXT_CHARS]) from None  # names may be very long

    return decode


decode_command: Callable[[bytes], Command] = decoder(Command)
decode_upward: Callable[[bytes], Upward] = decoder(Upward)
_ENCODER = msgspec.msgpack.Encoder(enc_hook=encode_other)
