"""Writes a model file once more with its matrices in another type, by llama.cpp's own quantiser."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

TYPES = {
    "f16": (1, "F16"), "bf16": (32, "BF16"),
    "q8_0": (7, "Q8_0"), "q4_0": (2, "Q4_0"), "q4_1": (3, "Q4_1"), "q5_0": (8, "Q5_0"),
    "q2_k": (10, "Q2_K"), "q3_k": (12, "Q3_K"), "q4_k": (15, "Q4_K"), "q5_k": (17, "Q5_K"),
    "q6_k": (18, "Q6_K"),
    "iq3_s": (26, "IQ3_S"), "iq4_nl": (25, "IQ4_NL"), "iq4_xs": (30, "IQ4_XS"),
}  # fmt: skip
"""Types with the number of their mixture in `enum llama_ftype`, and ggml's name."""
MIXTURES = {"q3_k_m": 12, "q4_k_m": 15, "q5_k_m": 17}
"""Those of real files, which have several types. Rows that are no multiple of 256 long get a type
with blocks of 32: in SmolLM2-135M that is nearly all of them."""
EXACT = {"f32": 0}
"""Each weight as the number that it stands for."""


@dataclass(frozen=True)
class Requantised:
    """A model that is made from the file of another one.

    Attributes:
        source: That model's name.
        kind: A key of `TYPES` or `MIXTURES`.
    """

    source: str
    kind: str


def requantise(source: Path, kind: str, out: Path) -> None:
    """Write `source` as `out`, with every matrix in one type (`TYPES`, `EXACT`) or in a mixture's.

    Norms and what chooses experts stay as they are.
    """
    # Most tests that import this module are not to load the native library.
    import llama_cpp

    from paceline.engine.llama.library import start

    log = start()  # llama.cpp prints nothing then
    wanted = llama_cpp.llama_model_quantize_default_params()
    wanted.nthread = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    wanted.pure = kind not in MIXTURES
    wanted.ftype = TYPES[kind][0] if kind in TYPES else {**MIXTURES, **EXACT}[kind]
    wanted.allow_requantize = True
    if llama_cpp.llama_model_quantize(os.fsencode(source), os.fsencode(out), wanted) != 0:
        raise ValueError(f"{source.name} cannot be written in {kind}: {log.why()}")
