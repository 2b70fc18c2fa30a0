"""Reading of a GGUF file's header with ggml's own parser (ggml/include/gguf.h).

So exactly what llama.cpp accepts is accepted here, in 30 to 80 ms for a vocabulary of 150k to 260k
tokens; the Python package `gguf` needs 7 to 20 s. Of a file on a server only the header is read.

The parser is native code that reads untrusted files, so use it in a process that may crash.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Collection, Iterator
from itertools import repeat
from pathlib import Path
from typing import Any

from paceline.engine.llama.library import declared, libggml, start
from paceline.engine.llama.newer import newer_model
from paceline.engine.model.model_file import GgufHeader, GgufTensor, Number, Scalar, parts_of
from paceline.errors import ModelError

_MAX_DIMS = 4
_MAX_NUMBERS = 1024
"""Maximum length of arrays of numbers to read; llama.cpp accepts up to 512 blocks
(LLAMA_MAX_LAYERS)."""


class _InitParams(ctypes.Structure):
    _fields_ = (("no_alloc", ctypes.c_bool), ("ctx", ctypes.c_void_p))


def read_header(path: Path, *, texts: Collection[str] = ()) -> GgufHeader:
    """Parse the header of a file.

    Args:
        path: The file; of a split model any part, though the first one holds the metadata.
        texts: Keys of the arrays of texts to read, for example ``tokenizer.ggml.tokens``.

    Raises:
        ModelError: "not-a-gguf": ggml refuses the file; the message says why.
    """
    log = start()
    log.lines.clear()
    context = _lib().gguf_init_from_file(os.fsencode(path), _InitParams(no_alloc=True, ctx=None))
    if not context:
        why = log.why()
        if newer := newer_model(path.name, why):
            raise newer
        raise ModelError(
            "not-a-gguf",
            "“{name}” is no model in GGUF format, or is damaged: {why}.",
            "Download it again, or choose another one.",
            name=path.name,
            why=why,
        )
    return _parsed(context, texts)


def headers(path: Path) -> Iterator[GgufHeader]:
    """Yield the header of a model; for a split one, given its first part, those of all parts.

    Raises:
        ModelError: As in `read_header`.
    """
    return (read_header(part) for part in parts_of(path))


def all_tensors(path: Path) -> Iterator[GgufTensor]:
    """Yield the tensors of all headers of `headers`; raises the same errors."""
    return (tensor for header in headers(path) for tensor in header.tensors)


def _parsed(context: int, texts: Collection[str]) -> GgufHeader:
    """Return the result of ggml's parser, and free its memory."""
    lib = _lib()
    try:
        values: dict[str, Scalar] = {}
        arrays: dict[str, int] = {}
        numbers: dict[str, tuple[Number, ...]] = {}
        found: dict[str, tuple[bytes, ...]] = {}
        for i in range(lib.gguf_get_n_kv(context)):
            key = lib.gguf_get_key(context, i).decode("utf-8", "replace")
            kind = lib.gguf_get_kv_type(context, i)
            if kind == _ARRAY:
                n = arrays[key] = lib.gguf_get_arr_n(context, i)
                item = lib.gguf_get_arr_type(context, i)
                if item == _STRING and key in texts:
                    found[key] = tuple(
                        map(lib.gguf_get_arr_str, repeat(context), repeat(i), range(n))
                    )
                elif item in _SCALARS and n <= _MAX_NUMBERS:
                    numbers[key] = _numbers(context, i, item, n)
            elif kind == _STRING:
                values[key] = lib.gguf_get_val_str(context, i).decode("utf-8", "replace")
            elif kind in _SCALARS:
                values[key] = getattr(lib, f"gguf_get_val_{_SCALARS[kind][0]}")(context, i)
        return GgufHeader(
            values=values,
            arrays=arrays,
            numbers=numbers,
            texts=found,
            tensors=tuple(_tensor(context, i) for i in range(lib.gguf_get_n_tensors(context))),
        )
    finally:
        lib.gguf_free(context)


def _numbers(context: int, i: int, kind: int, n: int) -> tuple[Number, ...]:
    if n == 0:
        return ()
    array = (_SCALARS[kind][1] * n).from_address(_lib().gguf_get_arr_data(context, i))
    return tuple(array)


def _tensor(context: int, i: int) -> GgufTensor:
    lib = _lib()
    sizes = lib.gguf_get_tensor_ne(context, i)[:_MAX_DIMS]
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    return GgufTensor(
        name=lib.gguf_get_tensor_name(context, i).decode("utf-8", "replace"),
        shape=tuple(sizes),
        kind=lib.gguf_get_tensor_type(context, i),
        n_bytes=lib.gguf_get_tensor_size(context, i),
    )


@functools.cache
def _lib() -> Any:
    """Declare the parser's functions, which llama-cpp-python does not bind."""
    pointer, whole, size, text = ctypes.c_void_p, ctypes.c_int64, ctypes.c_size_t, ctypes.c_char_p
    functions = (
        ("init_from_file", pointer, (text, _InitParams)),
        ("free", None, (pointer,)),
        ("get_n_kv", whole, (pointer,)),
        ("get_key", text, (pointer, whole)),
        ("get_kv_type", ctypes.c_int, (pointer, whole)),
        ("get_arr_type", ctypes.c_int, (pointer, whole)),
        ("get_arr_n", size, (pointer, whole)),
        ("get_arr_data", pointer, (pointer, whole)),
        ("get_arr_str", text, (pointer, whole, size)),
        ("get_val_str", text, (pointer, whole)),
        *((f"get_val_{name}", kind, (pointer, whole)) for name, kind in _SCALARS.values()),
        ("get_n_tensors", whole, (pointer,)),
        ("get_tensor_name", text, (pointer, whole)),
        ("get_tensor_ne", ctypes.POINTER(ctypes.c_int64), (pointer, whole)),
        ("get_tensor_type", ctypes.c_int, (pointer, whole)),
        ("get_tensor_size", size, (pointer, whole)),
    )
    return declared(libggml, "gguf_", functions)


_STRING, _ARRAY = 8, 9  # enum gguf_type
_SCALARS: dict[int, tuple[str, Any]] = {
    0: ("u8", ctypes.c_uint8), 1: ("i8", ctypes.c_int8),
    2: ("u16", ctypes.c_uint16), 3: ("i16", ctypes.c_int16),
    4: ("u32", ctypes.c_uint32), 5: ("i32", ctypes.c_int32),
    6: ("f32", ctypes.c_float), 7: ("bool", ctypes.c_bool),
    10: ("u64", ctypes.c_uint64), 11: ("i64", ctypes.c_int64), 12: ("f64", ctypes.c_double),
}  # fmt: skip
