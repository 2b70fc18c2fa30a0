"""Copies of a context's content: to go back in its text, and to restore it in contexts later.

llama.cpp copies a sequence out of a context and into it (`llama_state_seq_get_data_ext` of
include/llama.h).

Going back: a recurrent memory has no cells that could be removed. Of a hybrid memory only that part
is copied, since attention's cells can be removed.

Later: a part of a sequence temporarily becomes a second sequence, which shares its cells; a
restored part is put into the second sequence, whose cells then become the first one's, too. That is
possible if every token has cells of its own that stay. A recurrent memory, and windows that are
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
    """The memory as it was after `n_past` cells, before a position; -1 without a copy."""

    def __init__(self) -> None:
        self.n_past = self._position = -1
        self._buffer = (ctypes.c_uint8 * 0)()  # reused: new pages cost more than the copy

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
    """The places in one context's text to go back to; see `backend.LanguageModel`."""

    def __init__(self) -> None:
        self._copies: dict[Place, _Copy] = {}

    def save(self, place: Place, context: Any, n_past: int, position: int) -> None:
        """Copy the memory after `n_past` cells, replacing the last copy of this kind.

        Args:
            place: Kind of the place.
            context: Native context that holds these cells.
            n_past: Number of cells.
            position: Position after them.
        """
        self._copies.setdefault(place, _Copy()).save(context, n_past, position)

    def restore(self, context: Any, n_past: int) -> int:
        """Go back to the last place that is not after `n_past` tokens.

        Returns:
            The number of tokens then in the context, or -1 if there is no such place and the
            content of the context is not known.
        """
        self.forget(n_past)
        latest = max(self._copies.values(), key=lambda copy: copy.n_past, default=None)
        if latest is None or latest.n_past < 0 or not latest.restore(context):
            return -1
        return latest.n_past

    def forget(self, n_past: int = -1) -> None:
        """Drop the places after `n_past` tokens, since another text will be there."""
        for copy in self._copies.values():
            if copy.n_past > n_past:
                copy.n_past = -1


# -------------------------------------------------------------------------------------- later

BLOCK_TOKENS = 256
"""Maximum number of tokens of a copy: 6 MB with 135 M weights, 33 MB with 8 B."""
_WHOLE_ONLY = ("deepseek4",)
"""Architectures whose memory ends the process when a part is copied."""
_MAIN, _PART = 0, 1  # sequences


def has_blocks(model: Any, architecture: str, *, keeps_windows: bool) -> bool:
    """Return whether parts of a sequence can be copied.

    Args:
        model: llama.cpp's pointer to the model.
        architecture: Name in the file's header.
        keeps_windows: Whether layers with a sliding window keep only that.
    """
    kinds = llama_cpp.llama_model_is_recurrent, llama_cpp.llama_model_is_hybrid
    is_overwritten = keeps_windows and llama_cpp.llama_model_n_swa(model) > 0
    return not (is_overwritten or architecture in _WHOLE_ONLY or any(kind(model) for kind in kinds))


def block_size(window: int) -> int:
    """Return the maximum number of tokens of a copy: cells outside the last window are omitted."""
    size = BLOCK_TOKENS
    while window and size > window // 2 and size > 1:
        size //= 2
    return size


def copy_whole(context: Any) -> bytearray | None:
    """Return a copy of a context's whole content, or None on failure."""
    return _copy(context, _MAIN)


def put_whole(context: Any, data: bytes | bytearray) -> bool:
    """Put a whole copy into an empty context; return False if it must be cleared."""
    return _put(context, _MAIN, data)


def copy_part(context: Any, begin: int, end: int) -> bytearray | None:
    """Return a copy of the cells at the positions from `begin` to `end` - 1, or None."""
    memory = llama_cpp.llama_get_memory(context)
    llama_cpp.llama_memory_seq_cp(memory, _MAIN, _PART, begin, end)
    try:
        return _copy(context, _PART)
    finally:
        llama_cpp.llama_memory_seq_rm(memory, _PART, -1, -1)


def put_part(context: Any, data: bytes | bytearray) -> bool:
    """Append the cells of a copy; return False if the context is unchanged."""
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
    del target  # otherwise the array could not be resized or freed
    return data if n_written == size else None


def _put(context: Any, sequence: int, data: bytes | bytearray) -> bool:
    source: Any = data
    if isinstance(data, bytearray):
        source = (ctypes.c_uint8 * len(data)).from_buffer(data)
    pointer = ctypes.cast(source, ctypes.POINTER(ctypes.c_uint8))
    put = llama_cpp.llama_state_seq_set_data_ext
    return bool(put(context, pointer, len(data), sequence, 0) == len(data))
