"""Timing of the matrix product of decoding, over more weights than any cache holds."""

from __future__ import annotations

import ctypes
import functools
import time
from typing import Any

from paceline.engine.cancel import CancelFlag
from paceline.engine.llama.library import InitParams, declared, libggml, start
from paceline.engine.model.threads import own_clock

_N_BYTES = 256 << 20
"""Bytes of weights; the largest caches of desktop processors hold half of it."""
_PIECE_BYTES = 16 << 20  # written within a few milliseconds
_REST_BYTES = 16 << 20  # for activations, the result and ggml's descriptions
_F32, _Q4_K = 0, 12  # enum ggml_type
_COLUMNS, _ROW_BYTES = 4096, 2304
_FILL = 0x11  # no denormal number as a block's scale: those would slow the product down
_TRIES, _LIMIT_S = 9, 0.3
_POINTER = ctypes.c_void_p


def reading_rates(n_threads: int, cancel: CancelFlag) -> tuple[float, ...]:
    """Return how many bytes of weights a decode reads per second, once for each try.

    The weights have the most common type of files. Takes up to half a second and 272 MiB.

    Args:
        n_threads: Number of computing threads.
        cancel: Flag that ends it within one try, some 20 ms; the times so far are returned.

    Returns:
        The rates; empty if this build does not support it, or memory is short.
    """
    start()
    try:
        lib = _lib()
    except AttributeError:  # the CPU's code is in a separate library
        return ()
    context = lib.ggml_init(InitParams(_N_BYTES + _REST_BYTES, None, no_alloc=False))
    if not context:
        return ()
    try:
        weights = lib.ggml_new_tensor_2d(context, _Q4_K, _COLUMNS, _N_BYTES // _ROW_BYTES)
        token = lib.ggml_new_tensor_2d(context, _F32, _COLUMNS, 1)
        n_bytes = lib.ggml_nbytes(weights)
        # Memory that was never written is a single page, which stays in the cache.
        for at in range(0, n_bytes, _PIECE_BYTES):
            if cancel.is_set():
                return ()
            piece = min(_PIECE_BYTES, n_bytes - at)
            ctypes.memset(lib.ggml_get_data(weights) + at, _FILL, piece)
        ctypes.memset(lib.ggml_get_data(token), _FILL, lib.ggml_nbytes(token))
        graph = lib.ggml_new_graph(context)
        lib.ggml_build_forward_expand(graph, lib.ggml_mul_mat(context, weights, token))
        # A single thread's own CPU time excludes other programs.
        clock = (own_clock() if n_threads == 1 else None) or time.perf_counter
        ends = time.perf_counter() + _LIMIT_S
        rates: list[float] = []
        for number in range(_TRIES + 1):  # the first one starts threads and touches memory
            began = clock()
            if lib.ggml_graph_compute_with_ctx(context, graph, n_threads) != 0:
                return ()
            if number > 0:
                rates.append(n_bytes / max(clock() - began, 1e-9))
            if cancel.is_set() or time.perf_counter() > ends:
                break
        return tuple(rates)
    finally:
        lib.ggml_free(context)


@functools.cache
def _lib() -> Any:
    """Return ggml with declarations of the functions that llama-cpp-python lacks.

    Raises:
        AttributeError: This build of ggml does not have them.
    """
    number, size = ctypes.c_int, ctypes.c_size_t
    functions = (
        ("init", _POINTER, (InitParams,)),
        ("free", None, (_POINTER,)),
        ("new_tensor_2d", _POINTER, (_POINTER, number, ctypes.c_int64, ctypes.c_int64)),
        ("nbytes", size, (_POINTER,)),
        ("get_data", _POINTER, (_POINTER,)),
        ("mul_mat", _POINTER, (_POINTER,) * 3),
        ("new_graph", _POINTER, (_POINTER,)),
        ("build_forward_expand", None, (_POINTER, _POINTER)),
        ("graph_compute_with_ctx", number, (_POINTER, _POINTER, number)),
    )
    return declared(libggml, "ggml_", functions)
