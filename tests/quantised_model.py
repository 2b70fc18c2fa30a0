"""Models whose matrices are of a type that CPUs keep in another layout, Q4_0; all weights are 0."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gguf_file import GGML_Q8_0, Gguf, Tensor

_Q4_0 = 2


@dataclass(frozen=True)
class Quantised(Tensor):
    """A tensor in ggml's type Q4_0."""

    @property
    def n_bytes(self) -> int:
        """A scale and 16 bytes for 32 weights."""
        return int(np.prod(self.shape)) // 32 * 18


def quantised(model: Gguf, *, embedding: bool = False) -> Gguf:
    """Give a model's matrices another type, in which CPUs have kernels for other layouts."""
    for name, tensor in model.tensors.items():
        if tensor.kind == GGML_Q8_0 and (embedding or name != "token_embd.weight"):
            new = Quantised(tensor.shape, _Q4_0, b"")
            model.tensors[name] = replace(new, data=bytes(new.n_bytes))
    return model
