"""Frames: the format of messages in the stream between this process and a child.

Each is four bytes of length, then that many bytes. The other end may be a process with corrupted
memory, so a length above `MAX_FRAME` is an error at once, nothing is allocated for it, and an
incomplete frame is never waited for.

A frame that begins with `OWN` is a sign of the process itself and none of its messages: `READY`
once before them, and `DYING` followed by the last message of a process that is about to end.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

MAX_FRAME = 16 << 20
"""Upper bound of a message in bytes. The longest valid one is a conversation or a reply of a few
million characters."""

OWN = b"\0"  # no message begins like this: in MessagePack it is a number
READY = OWN + b"ready"
DYING = OWN + b"dying "

_HEAD = struct.Struct(">I")


class WireError(ValueError):
    """Something came over the pipe that is not a message."""


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


def read_frame(pipe: socket.socket) -> bytes:
    """Return the payload of the next frame, which a trusted process sends; take no byte more."""
    (n,) = _HEAD.unpack(pipe.recv(_HEAD.size, socket.MSG_WAITALL))
    return pipe.recv(n, socket.MSG_WAITALL)


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
