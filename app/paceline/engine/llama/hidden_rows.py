"""The target's hidden state at each position of its text, which its MTP head reads.

llama.cpp's functions for it are not public yet. They are exported with C++ names, which
llama-cpp-python looks up (`llama_cpp_ext`, after src/llama-ext.h); if a build lacks one of them, no
head can be used.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

import numpy as np

from paceline.engine.llama.library import llama_cpp
from paceline.engine.model.backend import Rows
from paceline.engine.model.model_params import MAX_HIDDEN_BYTES
from paceline.errors import ModelError


class HiddenRows:
    """Stores the rows of consecutive places; the oldest ones are dropped.

    A row belongs to a place, and is valid for the text that was last decoded up to there. So it
    stays valid if later tokens are removed or decoded again.

    Args:
        n_columns: Length of a row.
        n_ctx: Maximum number of places in a text.

    Attributes:
        first: First stored place.
        end: Place after the last stored one.
    """

    def __init__(self, n_columns: int, n_ctx: int) -> None:
        self.n_columns = n_columns
        room = min(n_ctx, max(MAX_HIDDEN_BYTES // (4 * n_columns), 1))
        self._rows = np.zeros(
            (room, n_columns), np.float32
        )  # place p is stored at p modulo the room
        self.first = self.end = 0

    def put(self, place: int, rows: Rows) -> None:
        """Store the rows of a decode, float32 [n, n_columns], from this place on."""
        room = len(self._rows)
        if not self.first <= place <= self.end:  # earlier rows may be of another text
            self.first = place
        self.end = place + len(rows)
        kept = rows[-room:]
        places = np.arange(self.end - len(kept), self.end)
        self._rows[places % room] = kept
        self.first = max(self.first, self.end - room)

    def cut(self, place: int) -> None:
        """Drop the rows from this place on, whose tokens were not decoded here."""
        self.end = min(self.end, place)
        self.first = min(self.first, self.end)

    def take(self, place: int, n: int) -> Rows:
        """Return copies of `n` rows from a place on, all of which must be stored."""
        assert self.first <= place <= self.end - n
        return self._rows[np.arange(place, place + n) % len(self._rows)]


@cache
def _extension() -> Any:
    """Return the module with the functions.

    Raises:
        ModelError: "no-mtp": a function is missing.
    """
    try:
        return importlib.import_module("llama_cpp.llama_cpp_ext")
    except (ImportError, AttributeError) as error:
        raise ModelError(
            "no-mtp",
            "This build of llama.cpp has no calls for MTP heads.",
            "Install Paceline again, or choose another strategy.",
        ) from error


def give_hidden_rows(context: Any, *, of_outputs: bool) -> None:
    """Make a context's decodes output hidden rows: of all tokens, or only of those with logits.

    Raises:
        ModelError: This build does not support it.
    """
    _extension().llama_set_embeddings_nextn(context, True, of_outputs)  # noqa: FBT003


def last_rows(context: Any, n: int, n_columns: int) -> Rows:
    """Return the hidden rows of the last decode, float32 [n, n_columns]; valid until the next."""
    pointer = _extension().llama_get_embeddings_nextn(context)
    return np.ctypeslib.as_array(pointer, (n, n_columns))


def choose_head(context: Any, head: int) -> None:
    """Select the head, from 0, for the next decodes of a context of heads."""
    _extension().llama_set_nextn_layer_offset(context, head)


def shares_memory(context: Any, target: Any) -> bool:
    """Return whether a context of heads reads the target's own cache and has none itself."""
    other = _extension().llama_get_ctx_other(context)
    return bool(other) and other == target


def n_columns(model: Any) -> int:
    """Return the length of a model's hidden rows."""
    return int(llama_cpp.llama_model_n_embd_out(model))
