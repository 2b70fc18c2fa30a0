"""Writes a model file once more, with other texts in its header or its weights in another type."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from pathlib import Path

import llama_cpp

from paceline.engine.llama.library import start
from paceline.errors import EngineError

Q8_0 = 7
"""Of `enum llama_ftype` in llama.h."""
_TEXT = 3  # of enum llama_model_kv_override_type


def rewrite(source: Path, out: Path, texts: Mapping[str, str], *, mixture: int | None) -> None:
    """Write `source` as `out`; llama.cpp's own quantiser does it (`llama_model_quantize`).

    Args:
        source: A GGUF file.
        out: What is written; it is incomplete until the function returns.
        texts: Values of the header by their keys, 127 bytes each at most.
        mixture: Of `enum llama_ftype`; None: the weights stay as they are.

    Raises:
        EngineError: It cannot be read or written.
    """
    log = start()  # llama.cpp prints nothing then
    overrides = (llama_cpp.llama_model_kv_override * (len(texts) + 1))()  # an empty key ends it
    for override, (key, text) in zip(overrides, texts.items(), strict=False):
        override.tag, override.key = _TEXT, key.encode()
        override.value.val_str = text.encode()
    wanted = llama_cpp.llama_model_quantize_default_params()
    wanted.nthread = max((os.cpu_count() or 2) - 1, 1)
    wanted.kv_overrides = ctypes.cast(overrides, type(wanted.kv_overrides))
    wanted.only_copy = mixture is None
    wanted.allow_requantize = True
    wanted.ftype = mixture or 0
    paths = (os.fsencode(path) for path in (source, out))
    if llama_cpp.llama_model_quantize(*paths, wanted) != 0:
        raise EngineError("cannot-rewrite", f"{source.name} cannot be written anew: {log.why()}.")
