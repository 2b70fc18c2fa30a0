"""llama.cpp's calls for heads that predict further tokens, which it has not made public yet.

They are exported as C++ names, which llama-cpp-python looks up (`llama_cpp_ext`, after
src/llama-ext.h); where a build lacks one of them, no head can be used.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import llama_cpp
import numpy as np

from paceline.engine.model.backend import Rows
from paceline.errors import ModelError


@cache
def _extension() -> Any:
    """Return the module with the calls.

    Raises:
        ModelError: "no-mtp": a symbol is missing.
    """
    try:
        from llama_cpp import llama_cpp_ext
    except (ImportError, AttributeError) as error:
        raise ModelError(
            "no-mtp",
            "This build of llama.cpp has no calls for MTP heads.",
            "Install Paceline again, or choose another strategy.",
        ) from error
    return llama_cpp_ext


def give_hidden_rows(context: Any, *, of_outputs: bool) -> None:
    """Let a context's decodes give hidden rows: of all tokens, or of those with logits alone.

    Raises:
        ModelError: This build cannot do it.
    """
    _extension().llama_set_embeddings_nextn(context, True, of_outputs)


def hidden_rows(context: Any, n: int, n_columns: int) -> Rows:
    """Return the hidden rows of the last decode, float32 [n, n_columns]; valid until the next."""
    pointer = _extension().llama_get_embeddings_nextn(context)
    address = ctypes.cast(pointer, ctypes.c_void_p).value or 0
    buffer = (ctypes.c_float * (n * n_columns)).from_address(address)
    return np.frombuffer(buffer, np.float32).reshape(n, n_columns)


def choose_head(context: Any, head: int) -> None:
    """Let the next decodes of a context of heads run this one, from 0."""
    _extension().llama_set_nextn_layer_offset(context, head)


def shares_memory(context: Any, target: Any) -> bool:
    """Whether a context of heads looks at the target's own cache, and has none."""
    other = _extension().llama_get_ctx_other(context)
    return bool(other) and other == target


def n_columns(model: Any) -> int:
    """Return the length of a model's hidden rows."""
    return int(llama_cpp.llama_model_n_embd_out(model))
