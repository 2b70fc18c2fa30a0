"""What the header of a model file says, as plain values; no native code needed to hold it.

A GGUF file begins with metadata (keys and values: architecture, tokenizer, template) and the list
of its tensors; the weights follow. The header alone, a few megabytes, tells whether a model can be
used, what it needs, and whether two models share a tokenizer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Scalar = bool | int | float | str
Number = bool | int | float


@dataclass(frozen=True, slots=True)
class GgufTensor:
    """One tensor of the list.

    Attributes:
        name: E.g. ``blk.0.attn_q.weight``.
        shape: In ggml's order, the row length first.
        kind: Number of its type in `enum ggml_type`.
        n_bytes: Bytes of its data.
    """

    name: str
    shape: tuple[int, ...]
    kind: int
    n_bytes: int


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """Everything in front of the weights.

    Attributes:
        version: Of the file format.
        values: Single values by key.
        arrays: Elements of every array by key.
        numbers: The arrays of numbers, unless they are long: one number per block, as a rule.
        texts: The arrays of texts that were asked for, as bytes: token texts need not be UTF-8.
        tensors: In file order.
        data_offset: Where the weights begin, in bytes.
        alignment: Tensors begin at multiples of so many bytes behind that.
    """

    version: int
    values: Mapping[str, Scalar]
    arrays: Mapping[str, int]
    numbers: Mapping[str, tuple[Number, ...]]
    texts: Mapping[str, tuple[bytes, ...]]
    tensors: tuple[GgufTensor, ...]
    data_offset: int
    alignment: int

    def text(self, key: str) -> str:
        """Return a text; empty when there is none under this key."""
        value = self.values.get(key, "")
        return value if isinstance(value, str) else ""

    def whole(self, key: str) -> int:
        """Return a whole number; 0 when there is none under this key."""
        value = self.values.get(key, 0)
        return value if isinstance(value, int) and not isinstance(value, bool) else 0

    def of_architecture(self, name: str) -> int:
        """Return a whole number of the model's own section, e.g. ``context_length``; 0: none."""
        return self.whole(f"{self.text('general.architecture')}.{name}")

    @property
    def n_weights(self) -> int:
        """Bytes of all tensors in this file."""
        return sum(tensor.n_bytes for tensor in self.tensors)

    @property
    def n_bytes(self) -> int:
        """Bytes that a whole file with this header has at least."""
        padded = (-(-t.n_bytes // self.alignment) * self.alignment for t in self.tensors[:-1])
        last = self.tensors[-1].n_bytes if self.tensors else 0
        return self.data_offset + sum(padded) + last
