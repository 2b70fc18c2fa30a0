"""The weights that ggml copies into another layout, for which the CPU has faster kernels.

The copy takes memory in addition to the pages of the file. Whether a tensor is copied depends on
its type, its shape, the processor and the build (ggml/src/ggml-cpu), so ggml is asked the same
question as by llama.cpp's loader (src/llama-model-loader.cpp, `weight_buft_supported`): could the
CPU multiply by this tensor if it lay in a buffer of that type? Nothing is allocated for that.
"""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from paceline.engine.llama.devices import device_function
from paceline.engine.llama.library import InitParams, declared, libggml
from paceline.engine.model.model_file import GgufTensor

_POINTER = ctypes.c_void_p
_CPU = 0  # enum ggml_backend_dev_type
_F32, _I32 = 0, 26  # enum ggml_type
_MEMORY_BYTES = 1 << 14  # for the descriptions of four tensors
_BUFFER_OFFSET = 8  # of `ggml_tensor.buffer`, after the type
_N_TOKENS = 512
_LOOKED_UP = re.compile(r"^(token_embd|per_layer_token_embd|position_embd|token_types)\.")
"""Pattern of embeddings, which are looked up and not multiplied by; no other layout helps."""
_EMBEDDING, _OUTPUT = "token_embd.weight", "output.weight"


def repacked_bytes(tensors: Iterable[GgufTensor]) -> int:
    """Return the bytes of the copies for a model that is only on the CPU.

    Args:
        tensors: All tensors of the model.
    """
    kinds = _extra_buffer_types()
    if not kinds:
        return 0
    answers: dict[tuple[int, tuple[int, ...]], bool] = {}
    total = 0
    for tensor in multiplied(tensors):
        key = tensor.kind, tensor.shape
        if key not in answers:
            answers[key] = len(tensor.shape) in {2, 3} and _is_repacked(*key, kinds)
        total += tensor.n_bytes if answers[key] else 0
    return total


def multiplied(tensors: Iterable[GgufTensor]) -> list[GgufTensor]:
    """Return the tensors that are not only looked up.

    Args:
        tensors: All tensors of the model.
    """
    by_name = {tensor.name: tensor for tensor in tensors}
    found = [t for name, t in by_name.items() if not _LOOKED_UP.match(name)]
    if _OUTPUT not in by_name and _EMBEDDING in by_name:  # it is used as the output, too
        found.append(by_name[_EMBEDDING])
    return found


def _is_repacked(kind: int, shape: tuple[int, ...], buffer_types: list[int]) -> bool:
    lib = _lib()
    cpu = lib.ggml_backend_dev_by_type(_CPU)
    with _context() as context:
        weight = lib.ggml_new_tensor(context, kind, len(shape), (ctypes.c_int64 * 4)(*shape))
        if len(shape) == 2:
            size = (ctypes.c_int64 * 4)(shape[0], _N_TOKENS)
            product = lib.ggml_mul_mat(context, weight, lib.ggml_new_tensor(context, _F32, 2, size))
        else:  # experts, one of which is chosen for each token
            size = (ctypes.c_int64 * 4)(shape[0], 1, _N_TOKENS)
            rows = lib.ggml_new_tensor(context, _F32, 3, size)
            chosen = lib.ggml_new_tensor(context, _I32, 2, (ctypes.c_int64 * 4)(1, _N_TOKENS))
            product = lib.ggml_mul_mat_id(context, weight, rows, chosen)
        place = _POINTER.from_address(weight + _BUFFER_OFFSET)
        for buffer_type in buffer_types:
            place.value = buffer = lib.ggml_backend_buft_alloc_buffer(buffer_type, 0)
            can = lib.ggml_backend_dev_supports_op(cpu, product)
            place.value = None
            lib.ggml_backend_buffer_free(buffer)
            if can:
                return True
    return False


@contextmanager
def _context() -> Iterator[int]:
    lib = _lib()
    context = lib.ggml_init(InitParams(_MEMORY_BYTES, None, no_alloc=True))
    try:
        yield context
    finally:
        lib.ggml_free(context)


def _extra_buffer_types() -> list[int]:
    """Return the CPU's buffer types for weights in other layouts."""
    lib = _lib()
    cpu = lib.ggml_backend_dev_by_type(_CPU)
    address = device_function(cpu, "ggml_backend_dev_get_extra_bufts")
    if not address:
        return []
    ask = ctypes.CFUNCTYPE(ctypes.POINTER(_POINTER), _POINTER)(address)
    found, types = ask(cpu), []
    for i in range(16):
        if not found or not found[i]:
            break
        types.append(found[i])
    return types


@functools.cache
def _lib() -> Any:
    """Return ggml with declarations of the functions that llama-cpp-python lacks."""
    sizes = ctypes.POINTER(ctypes.c_int64)
    functions = (
        ("init", _POINTER, (InitParams,)),
        ("free", None, (_POINTER,)),
        ("new_tensor", _POINTER, (_POINTER, ctypes.c_int, ctypes.c_int, sizes)),
        ("mul_mat", _POINTER, (_POINTER,) * 3),
        ("mul_mat_id", _POINTER, (_POINTER,) * 4),
        ("backend_buft_alloc_buffer", _POINTER, (_POINTER, ctypes.c_size_t)),
        ("backend_buffer_free", None, (_POINTER,)),
        ("backend_dev_by_type", _POINTER, (ctypes.c_int,)),
        ("backend_dev_supports_op", ctypes.c_bool, (_POINTER, _POINTER)),
    )
    return declared(libggml, "ggml_", functions)
