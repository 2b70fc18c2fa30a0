"""Copies of what a context holds: to go back in its text, and for contexts that hold it later.

llama.cpp copies a sequence out of a context and into it (`llama_state_seq_get_data_ext` of
include/llama.h).

Going back: a recurrent memory has no cells that could be removed. Of a hybrid that part alone is
copied, since attention's cells can be removed.

Later: a part of a sequence becomes a second sequence for a moment, which shares its cells; a part
that comes back is put into the second sequence, whose cells then become the first one's, too. That
is done where every token has cells of its own that stay. A recurrent memory, and windows that are
overwritten, are copied as a whole.

A native context belongs to one thread, and so do its copies.
"""

from __future__ import annotations

import ctypes
from typing import Any

from paceline.engine.llama.library import llama_cpp
from paceline.engine.model.backend import Place

_PARTIAL = llama_cpp.LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY


def state_bytes(context: Any) -> int:
    """Return the size of a copy; the context must hold a token."""
    return int(llama_cpp.llama_state_seq_get_size_ext(context, 0, _PARTIAL))


# ------------------------------------------------------------------------------- going back


class _Copy:
    """The memory as it was after `n_past` cells, before a position; -1: there is none."""

    def __init__(self) -> None:
        self.n_past = self._position = -1
        self._buffer = (ctypes.c_uint8 * 0)()  # used again: new pages cost more than the copy

    def save(self, context: Any, n_past: int, position: int) -> None:
        self.n_past, self._position = -1, position
        if n_past:
            size = state_bytes(context)
            if size > len(self._buffer):
                self._buffer = (ctypes.c_uint8 * size)()
            get = llama_cpp.llama_state_seq_get_data_ext
            if get(context, self._buffer, len(self._buffer), 0, _PARTIAL) != size:
                return
        self.n_past = n_past

    def restore(self, context: Any) -> bool:
        memory = llama_cpp.llama_get_memory(context)
        if not self.n_past:
            llama_cpp.llama_memory_clear(memory, False)  # noqa: FBT003
            return True
        put, buffer = llama_cpp.llama_state_seq_set_data_ext, self._buffer
        if not put(context, buffer, len(buffer), 0, _PARTIAL):
            return False
        return bool(llama_cpp.llama_memory_seq_rm(memory, 0, self._position, -1))


class SavedStates:
    """The places of one context's text that it can go back to; see `backend.LanguageModel`."""

    def __init__(self) -> None:
        self._copies: dict[Place, _Copy] = {}

    def save(self, place: Place, context: Any, n_past: int, position: int) -> None:
        """Copy the memory after `n_past` cells, in place of the last copy of this kind.

        Args:
            place: The kind.
            context: Holds these cells.
            n_past: Their number.
            position: The one after them.
        """
        self._copies.setdefault(place, _Copy()).save(context, n_past, position)

    def restore(self, context: Any, n_past: int) -> int:
        """Go back to the last place that is not after `n_past` tokens.

        Returns:
            Tokens that the context holds then; -1: there is no such place, and what the context
            holds is not known.
        """
        self.forget(n_past)
        latest = max(self._copies.values(), key=lambda copy: copy.n_past, default=None)
        if latest is None or latest.n_past < 0 or not latest.restore(context):
            return -1
        return latest.n_past

    def forget(self, n_past: int = -1) -> None:
        """Forget the places after `n_past` tokens, since another text will be there."""
        for copy in self._copies.values():
            if copy.n_past > n_past:
                copy.n_past = -1


# -------------------------------------------------------------------------------------- later

BLOCK = 256
"""Tokens of a copy at most: 6 MB with 135 M weights, 33 MB with 8 B."""
_WHOLE = ("deepseek4",)
"""Architectures whose memory refuses copies of a part by ending the process."""
_MAIN, _PART = 0, 1  # sequences


def has_blocks(model: Any, architecture: str, *, keeps_windows: bool) -> bool:
    """Return whether parts of a sequence can be copied.

    Args:
        model: llama.cpp's pointer.
        architecture: As the file names it.
        keeps_windows: Whether layers with a sliding window keep no more than that.
    """
    kinds = llama_cpp.llama_model_is_recurrent, llama_cpp.llama_model_is_hybrid
    is_overwritten = keeps_windows and llama_cpp.llama_model_n_swa(model) > 0
    return not (is_overwritten or architecture in _WHOLE or any(kind(model) for kind in kinds))


def block_size(window: int) -> int:
    """Return how many tokens a copy may have: cells out of the last one's window are left out."""
    size = BLOCK
    while window and size > window // 2 and size > 1:
        size //= 2
    return size


def copy_whole(context: Any) -> bytearray | None:
    """Copy all that a context holds; None: it cannot be had."""
    return _copy(context, _MAIN)


def put_whole(context: Any, data: bytes | bytearray) -> bool:
    """Put a copy of all into an empty context; False: it is to be cleared."""
    return _put(context, _MAIN, data)


def copy_part(context: Any, begin: int, end: int) -> bytearray | None:
    """Copy the cells of the positions from `begin` up to, but without, `end`."""
    memory = llama_cpp.llama_get_memory(context)
    llama_cpp.llama_memory_seq_cp(memory, _MAIN, _PART, begin, end)
    try:
        return _copy(context, _PART)
    finally:
        llama_cpp.llama_memory_seq_rm(memory, _PART, -1, -1)


def put_part(context: Any, data: bytes | bytearray) -> bool:
    """Append the cells of a copy; False: the context is as it was."""
    memory = llama_cpp.llama_get_memory(context)
    try:
        if not _put(context, _PART, data):
            return False
        llama_cpp.llama_memory_seq_cp(memory, _PART, _MAIN, -1, -1)
        return True
    finally:
        llama_cpp.llama_memory_seq_rm(memory, _PART, -1, -1)


def _copy(context: Any, sequence: int) -> bytearray | None:
    size = llama_cpp.llama_state_seq_get_size_ext(context, sequence, 0)
    data = bytearray(size)
    target = (ctypes.c_uint8 * size).from_buffer(data)
    n_written = llama_cpp.llama_state_seq_get_data_ext(context, target, size, sequence, 0)
    del target  # or the array could not be resized or freed
    return data if n_written == size else None


def _put(context: Any, sequence: int, data: bytes | bytearray) -> bool:
    source: Any = data
    if isinstance(data, bytearray):
        source = (ctypes.c_uint8 * len(data)).from_buffer(data)
    pointer = ctypes.cast(source, ctypes.POINTER(ctypes.c_uint8))
    put = llama_cpp.llama_state_seq_set_data_ext
    return bool(put(context, pointer, len(data), sequence, 0) == len(data))
