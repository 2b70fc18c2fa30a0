"""The flag that stops a load, a prefill or a decode from another thread.

The flag is a C string of one byte: llama.cpp polls its abort callback at every graph node, and a
Python callback would need the GIL there each time. Instead the engine installs libc's `strlen` as
the callback with this buffer as its argument: an empty string means continue.
"""

from __future__ import annotations

import ctypes


class CancelFlag:
    """Set by any thread, polled by the engine's thread and by native code."""

    __slots__ = ("_buffer",)

    def __init__(self) -> None:
        self._buffer = ctypes.create_string_buffer(2)

    def set(self) -> None:
        """Ask the work in progress to stop as soon as possible."""
        self._buffer[0] = b"\x01"

    def clear(self) -> None:
        """Reset the flag for the next work."""
        self._buffer[0] = b"\x00"

    def is_set(self) -> bool:
        """Return whether a stop was requested."""
        return self._buffer[0] != b"\x00"

    @property
    def address(self) -> int:
        """Address of the C string; valid as long as this object lives."""
        return ctypes.addressof(self._buffer)
