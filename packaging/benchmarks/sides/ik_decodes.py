"""Decodes by ik_llama.cpp, for `rivals`: the same as `wide_decodes` has of Paceline and llama.cpp.

Its bindings come of the package ik-llama-cpp-python, in an environment without Paceline. So this
imports nothing else, and calls those bindings that mirror the program's `llama.h`. Everything here
is called on one thread.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from typing import Any

MAX_ROWS = 63
"""Tokens of the widest decode that computes the logits of all of them."""
_PIECE = 512
_FIRST_TOKEN = 300


class CannotLoadError(Exception):
    """The model cannot be loaded."""


class IkDecodes:
    """A model, and decodes that follow a context of so many tokens.

    Attributes:
        n_vocab: Tokens of the vocabulary.
    """

    def __init__(self, path: str, n_ctx: int, *, repack: bool) -> None:
        """Load the model, and compute with one thread.

        Args:
            path: The model file.
            n_ctx: Tokens that the context has room for.
            repack: Interleave the rows of weights in memory (``--run-time-repack`` of its programs,
                which then do not map the file either).

        Raises:
            CannotLoadError: It is not a model, or is too large.
        """
        # Only the interpreter that is given to `rivals` has this package.
        from ik_llama_cpp import (  # type: ignore[import-not-found]  # noqa: PLC0415
            _ctypes_api as api,
        )

        self._api: Any = api
        api.llama_backend_init()
        model_params = api.llama_model_default_params()
        model_params.repack_tensors = repack
        model_params.use_mmap = not repack
        model = api.llama_model_load_from_file(path.encode(), model_params)
        if not model:
            raise CannotLoadError(path)
        params = api.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch = n_ctx, _PIECE, _PIECE
        params.n_threads = params.n_threads_batch = 1
        params.flash_attn = True
        self._context = api.llama_init_from_model(model, params)
        if not self._context:
            raise CannotLoadError(path)
        self.n_vocab: int = api.llama_vocab_n_tokens(api.llama_model_get_vocab(model))
        # These two are missing in the bindings.
        self._remove = api._lib.llama_kv_cache_seq_rm
        self._remove.argtypes = (ctypes.c_void_p, *(ctypes.c_int32,) * 3)
        self._remove.restype = ctypes.c_bool
        self._set_threads = api._lib.llama_set_n_threads
        self._set_threads.argtypes = (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)
        self._set_threads.restype = None
        self._batch = api.llama_batch_init(_PIECE, 0, 1)
        self._clock = time.thread_time
        self._n_cells = 0

    def set_threads(self, n_threads: int) -> None:
        """Compute with so many threads; of one alone its CPU time is taken."""
        self._set_threads(self._context, n_threads, n_threads)
        self._clock = time.thread_time if n_threads == 1 else time.perf_counter

    def fill(self, n_cells: int) -> None:
        """Begin a context of so many tokens."""
        self._api.llama_kv_cache_clear(self._context)
        for start in range(0, n_cells, _PIECE):
            stop = min(start + _PIECE, n_cells)
            self._decode(range(_FIRST_TOKEN + start, _FIRST_TOKEN + stop), start, 1)
        self._n_cells = n_cells

    def seconds(self, tokens: Sequence[int]) -> float:
        """Time a decode of tokens after the context, which is then as before.

        Of more than `MAX_ROWS` tokens the last one's logits are computed, else those of all.
        """
        n = len(tokens)
        taken = self._decode(tokens, self._n_cells, n if n <= MAX_ROWS else 1)
        self._remove(self._context, 0, self._n_cells, -1)
        return taken

    def seconds_of_prompt(self, tokens: Sequence[int]) -> float:
        """Time reading tokens into an empty context, 512 per decode; leaves it empty."""
        self._api.llama_kv_cache_clear(self._context)
        taken = 0.0
        for start in range(0, len(tokens), _PIECE):
            is_last = start + _PIECE >= len(tokens)
            taken += self._decode(tokens[start : start + _PIECE], start, int(is_last))
        self._api.llama_kv_cache_clear(self._context)
        self._n_cells = 0
        return taken

    def _decode(self, tokens: Sequence[int], position: int, n_rows: int) -> float:
        """Decode tokens at a position; returns the seconds until the last row of logits is there.

        Raises:
            ValueError: The context has no room for them.
        """
        batch = self._batch
        n = batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            batch.token[i] = token
            batch.pos[i] = position + i
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = 0
            batch.logits[i] = i >= n - n_rows
        began = self._clock()
        status = self._api.llama_decode(self._context, batch)
        if n_rows:
            self._api.llama_get_logits_ith(self._context, n - 1)
        taken = self._clock() - began
        if status != 0:
            raise ValueError(f"a decode of {n} tokens gives {status}")
        return taken
