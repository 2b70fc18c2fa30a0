"""Messages on a byte stream: four bytes of length, then that many bytes.

The other end may be a process that a broken file has thrown off its tracks. So a length beyond the
limit is an error at once and nothing is allocated for it, and half a frame is never waited for.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

MAX_FRAME = 16 << 20
"""Bytes. The longest sound message is a conversation or a reply of a few million characters."""

_HEAD = struct.Struct(">I")


class FrameError(ValueError):
    """The bytes are no frames."""


def frame(payload: bytes) -> bytes:
    """Return the payload with its length in front.

    Raises:
        FrameError: It is empty, or too long for the other end to take.
    """
    if not 0 < len(payload) <= MAX_FRAME:
        raise FrameError(f"a frame of {len(payload)} bytes")
    return _HEAD.pack(len(payload)) + payload


class FrameReader:
    """Cuts a stream into payloads; takes the bytes in whatever pieces they come."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    @property
    def n_pending(self) -> int:
        """Bytes of a frame that is not complete."""
        return len(self._buffer)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Take bytes, yield every payload that is complete now.

        Raises:
            FrameError: The stream is broken; what was yielded before it is sound.
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
