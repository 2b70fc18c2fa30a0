"""Copies of a recurrent memory, by which a context goes back to an earlier place of its text.

Such a memory has no cells that could be removed. llama.cpp copies it out of a context and into it
(`llama_state_seq_get_data_ext` of include/llama.h); of a hybrid the recurrent part alone, since
attention's cells can be removed. A native context belongs to one thread, and so do its copies.
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
