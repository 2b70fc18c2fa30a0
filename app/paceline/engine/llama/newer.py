"""Detection of models that are newer than this llama.cpp, which lacks architecture or tokenizer.

Such a file is not damaged, so another download would not help. llama.cpp has no function that lists
what it supports; but it refuses a file without weights within a fraction of a millisecond.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
import struct
import tempfile
from pathlib import Path

from paceline.engine.llama.library import llama_cpp, start
from paceline.errors import ModelError
from paceline.installation import remedies
from paceline.sentence import sentence

NEWER = "newer-model"
"""Code of the error about such a model."""
_UNKNOWN = re.compile(
    r"unknown (?:model architecture|pre-tokenizer type|tokenizer): '(?P<name>[\w.+-]{1,64})'"
    r"|this GGUF file is version \d but .*",
    re.ASCII,
)
"""A name with other characters, or an absurd version, means a damaged file."""
_TYPE = re.compile(r"invalid ggml type (?P<kind>\d+)\. should be in \[0, (?P<n_known>\d+)\)")
_MAX_NEWER_TYPES = 16
"""Number of types that may have been added since; ggml has added 43 in three years."""
_STRING, _ARRAY = 8, 9  # enum gguf_type
_VERSION = 3


def newer_model(name: str, why: str) -> ModelError | None:
    """Return the error about a newer model, or None if llama.cpp's message means something else.

    Args:
        name: The file's name.
        why: llama.cpp's message.
    """
    found = _UNKNOWN.search(why)
    if found is None:
        return _perhaps_newer(name, why)
    return ModelError(
        NEWER,
        "“{name}” is newer than this llama.cpp: {found}.",
        sentence(
            "The file is not damaged. {newer} Or choose another model.",
            newer=remedies.newer_library(),
        ),
        name=name,
        found=found[0],
    )


def _perhaps_newer(name: str, why: str) -> ModelError | None:
    """Return the error about an unknown type of weights, which may also be due to damage."""
    found = _TYPE.search(why)
    if found is None or not 0 <= int(found["kind"]) - int(found["n_known"]) < _MAX_NEWER_TYPES:
        return None
    return ModelError(
        NEWER,
        "“{name}” is damaged, or its type of weights is newer than this llama.cpp: {why}.",
        sentence(
            "{newer} If that does not know it either, download the file again.",
            newer=remedies.newer_library(),
        ),
        name=name,
        why=why,
    )


@functools.lru_cache(maxsize=1024)
def what_is_unknown(architecture: str, tokenizer: str = "", pre: str = "") -> str:
    """Return what llama.cpp does not support of these, in its words; empty if it supports all.

    Args:
        architecture: ``general.architecture`` of a header.
        tokenizer: ``tokenizer.ggml.model``; empty if missing.
        pre: ``tokenizer.ggml.pre``; empty if missing.
    """
    texts = {"general.architecture": architecture, "tokenizer.ggml.model": tokenizer or "none"}
    if pre:
        texts["tokenizer.ggml.pre"] = pre
    pairs = [_text(key) + struct.pack("<I", _STRING) + _text(value) for key, value in texts.items()]
    for key, value in (("tokens", "a"), ("merges", "a a")):
        head = struct.pack("<IIQ", _ARRAY, _STRING, 1)
        pairs.append(_text(f"tokenizer.ggml.{key}") + head + _text(value))
    with tempfile.TemporaryDirectory(prefix="paceline-") as folder:
        path = Path(folder) / "nothing.gguf"
        path.write_bytes(b"GGUF" + struct.pack("<IQQ", _VERSION, 0, len(pairs)) + b"".join(pairs))
        found = _UNKNOWN.search(_complaint(path))
    return found[0] if found else ""


def _text(value: str) -> bytes:
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def _complaint(path: Path) -> str:
    log = start()
    log.lines.clear()
    nothing = (ctypes.c_void_p * 1)(None)  # no device
    native = llama_cpp.llama_model_default_params()
    native.vocab_only = True
    native.devices = ctypes.cast(nothing, ctypes.c_void_p)
    model = llama_cpp.llama_model_load_from_file(os.fsencode(path), native)
    if model:
        llama_cpp.llama_model_free(model)
        return ""
    return log.why()
