"""Checks of `ModelParams`, and the size of the KV cache; needs no native code."""

from __future__ import annotations

from pathlib import Path

import psutil

from paceline.engine.model.memory_hints import (
    is_about_memory,
    smaller_context,
    what_to_do,
    with_readable_sizes,
)
from paceline.engine.model.placement import cannot_place
from paceline.errors import ModelError, ValueOutOfRangeError, refuse
from paceline.messages import ModelParams
from paceline.parameters import check_fields
from paceline.sentence import sentence

MAX_HIDDEN_BYTES = 64 * 2**20
"""Maximum bytes of hidden states kept for an MTP head: 3,276 tokens of 5,120 columns. A head that
begins later in a longer text reads only its end."""
DEFAULT_CTX = 4096
NO_REASON = sentence("llama.cpp does not say why")
FLASH_ATTN = {"auto": -1, "off": 0, "on": 1}
KV_TYPES = {
    "f32": (0, 4.0),
    "f16": (1, 2.0),
    "bf16": (30, 2.0),
    "q8_0": (8, 34 / 32),
    "q5_1": (7, 24 / 32),
    "q5_0": (6, 22 / 32),
    "q4_1": (3, 20 / 32),
    "q4_0": (2, 18 / 32),
    "iq4_nl": (20, 18 / 32),
}
"""ggml's number and bytes per element, by name."""
SPLIT_MODES = {"none": 0, "layer": 1, "row": 2, "tensor": 3}
"""Number in `enum llama_split_mode`, by name."""
_MAX_SHARE = 1e6


def check_params(params: ModelParams) -> None:
    """Refuse parameters with which no model could be loaded on any device; see `placement`.

    Raises:
        ValueOutOfRangeError: Names the value and the valid range.
    """
    check_fields(params)
    if params.flash_attn == "off" and KV_TYPES[params.kv_type_v][1] < 2:
        refuse("A quantised V cache needs flash attention.", "Switch it on, or use f16 for V.")
    shares = params.tensor_split
    if not all(0 <= share <= _MAX_SHARE for share in shares):  # False for NaN, too
        refuse(
            "A device's share of the model is out of range.",
            "Give 0 to {most:,.0f}.",
            most=_MAX_SHARE,
        )
    if shares and not any(shares):
        refuse("Every device's share of the model is 0.", "Give at least one share above 0.")


def choose_ctx(params: ModelParams, n_ctx_train: int) -> int:
    """Return the context's length in tokens.

    Raises:
        ValueOutOfRangeError: It is longer than the model was trained for.
    """
    if params.n_ctx > n_ctx_train > 0:
        raise ValueOutOfRangeError(
            "context-too-long",
            "A context of {n_ctx:,} tokens is longer than the {n_ctx_train:,} that "
            "the model was trained for.",
            "Choose {n_ctx_train:,} or less.",
            n_ctx=params.n_ctx,
            n_ctx_train=n_ctx_train,
        )
    return params.n_ctx or min(DEFAULT_CTX, n_ctx_train or DEFAULT_CTX)


def kv_bytes_per_token(params: ModelParams, n_heads: int, head_k: int, head_v: int) -> float:
    """Return the bytes of one token in the KV cache.

    Args:
        params: Parameters with the cache's types.
        n_heads: Number of KV heads of all layers together.
        head_k: Elements of one head's key.
        head_v: Elements of one head's value.
    """
    per_head = head_k * KV_TYPES[params.kv_type_k][1] + head_v * KV_TYPES[params.kv_type_v][1]
    return n_heads * per_head


def free_memory() -> int:
    """Return the bytes of main memory that are still available."""
    return int(psutil.virtual_memory().available)


def check_kv_memory(params: ModelParams, n_ctx: int, per_token: float) -> None:
    """Refuse a KV cache beyond the free memory: Linux would grant it and kill the process later.

    Args:
        params: Parameters with the cache's types.
        n_ctx: Size of the context in tokens.
        per_token: Result of `kv_bytes_per_token`.

    Raises:
        ModelError: Says how much is missing and which context would fit.
    """
    need, free = n_ctx * per_token, free_memory()
    if need > free:
        raise _no_room(
            sentence(
                "A context of {n_ctx:,} tokens for “{name}” needs {need:size} of memory; "
                "{free:size} are free.",
                n_ctx=n_ctx,
                name=Path(params.path).name,
                need=need,
                free=free,
            ),
            params,
            n_ctx,
            free / per_token,
        )


def no_context(params: ModelParams, n_ctx: int, per_token: float | None, why: str) -> ModelError:
    """Return the error for a context that llama.cpp could not make.

    Args:
        params: Parameters of the load.
        n_ctx: Size of the context in tokens.
        per_token: Result of `kv_bytes_per_token`, or None if the cache lies in a GPU's memory.
        why: llama.cpp's error message.
    """
    if error := cannot_place(Path(params.path).name, why):
        return error
    what = sentence(
        "context of {n_ctx:,} tokens for “{name}”", n_ctx=n_ctx, name=Path(params.path).name
    )
    if why != NO_REASON and not is_about_memory(why):
        return ModelError(
            "no-context",
            "llama.cpp cannot make a {what}: {why}.",
            "Choose other types for the cache or another setting of flash attention.",
            what=what,
            why=why,
        )
    n_fits = None
    if per_token:
        n_fits = free_memory() / per_token
        what = sentence("{what}, whose cache takes {size:size}", what=what, size=n_ctx * per_token)
    message = sentence(
        "There is no room for a {what}: {why}.", what=what, why=with_readable_sizes(why)
    )
    return _no_room(message, params, n_ctx, n_fits)


def _no_room(message: str, params: ModelParams, n_ctx: int, n_fits: float | None) -> ModelError:
    error = ModelError("does-not-fit", message, what_to_do(params, n_ctx, n_fits))
    error.smaller_ctx = smaller_context(n_ctx, n_fits) or 0
    return error


def gpu_layers(params: ModelParams) -> int:
    """Return llama.cpp's number of layers on devices; a number above the model's means all."""
    return params.n_gpu_layers if params.n_gpu_layers >= 0 else 999
