"""GGUF files read and written raw, and random tensors for them: what `make_pairs` builds from."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
VALUE_SIZE = {U8: 1, I8: 1, U16: 2, I16: 2, U32: 4, I32: 4, F32: 4, BOOL: 1, U64: 8, I64: 8, F64: 8}
GGML_F32, GGML_Q8_0 = 0, 8
Q8_BLOCK = np.dtype([("d", "<f2"), ("q", "i1", 32)])
ALIGNMENT = 32

Data = bytes | Callable[[], bytes]


@dataclass(frozen=True)
class Tensor:
    """A tensor as the file holds it: `shape` in ggml's order, the row length first."""

    shape: tuple[int, ...]
    kind: int
    data: Data

    @property
    def n_bytes(self) -> int:
        """Bytes of the data, known before it is made."""
        n = int(np.prod(self.shape))
        return n * 4 if self.kind == GGML_F32 else n // 32 * Q8_BLOCK.itemsize


@dataclass
class Gguf:
    """A model file: metadata as raw values by key, and tensors by name, both in file order."""

    metadata: dict[str, bytes] = field(default_factory=dict)
    tensors: dict[str, Tensor] = field(default_factory=dict)

    def set(self, **values: object) -> None:
        """Set metadata; a double underscore in a name stands for a dot."""
        for name, value in values.items():
            self.metadata[name.replace("__", ".")] = encode(value)

    def write(self, out: BinaryIO) -> None:
        """Write the file; data that is made on demand is made one tensor after the other."""
        out.write(b"GGUF" + struct.pack("<IQQ", 3, len(self.tensors), len(self.metadata)))
        for key, raw in self.metadata.items():
            out.write(text(key) + raw)
        offset = 0
        for name, tensor in self.tensors.items():
            dimensions = struct.pack(f"<{len(tensor.shape)}Q", *tensor.shape)
            out.write(text(name) + struct.pack("<I", len(tensor.shape)) + dimensions)
            out.write(struct.pack("<IQ", tensor.kind, offset))
            offset += padded(tensor.n_bytes)
        for tensor in self.tensors.values():
            out.write(bytes(-out.tell() % ALIGNMENT))
            data = tensor.data if isinstance(tensor.data, bytes) else tensor.data()
            assert len(data) == tensor.n_bytes
            out.write(data)
        out.write(bytes(-out.tell() % ALIGNMENT))


def padded(n_bytes: int) -> int:
    """Bytes that so many take in a file."""
    return -(-n_bytes // ALIGNMENT) * ALIGNMENT


def text(value: str) -> bytes:
    """A string with its length before it."""
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def encode(value: object) -> bytes:
    """A metadata value with its type before it."""
    if isinstance(value, bool):
        return struct.pack("<I?", BOOL, value)
    if isinstance(value, int):
        return struct.pack("<II", U32, value)
    if isinstance(value, float):
        return struct.pack("<If", F32, value)
    if isinstance(value, str):
        return struct.pack("<I", STRING) + text(value)
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        items = b"".join(text(each) for each in value)
        return struct.pack("<IIQ", ARRAY, STRING, len(value)) + items
    if isinstance(value, np.ndarray) and value.dtype == np.int32:
        return struct.pack("<IIQ", ARRAY, I32, len(value)) + value.tobytes()
    if isinstance(value, np.ndarray) and value.dtype == np.float32:
        return struct.pack("<IIQ", ARRAY, F32, len(value)) + value.tobytes()
    raise TypeError(f"no metadata of {type(value).__name__}")


class _Cursor:
    """A place in the raw bytes of a file."""

    def __init__(self, raw: bytes, at: int = 0) -> None:
        self.raw = raw
        self.at = at

    def take(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from(layout, self.raw, self.at)
        self.at += struct.calcsize(layout)
        return values

    def take_text(self) -> str:
        (n,) = self.take("<Q")
        self.at += n
        return self.raw[self.at - n : self.at].decode()

    def skip(self, kind: int) -> None:
        if kind == STRING:
            (n,) = self.take("<Q")
            self.at += n
        elif kind == ARRAY:
            item, n = self.take("<IQ")
            if item in VALUE_SIZE:
                self.at += n * VALUE_SIZE[item]
            else:
                for _ in range(n):
                    self.skip(item)
        else:
            self.at += VALUE_SIZE[kind]


def read(path: Path) -> Gguf:
    """Read a file of version 3 whose tensors are F32 or Q8_0, as the demo pair's are."""
    raw = path.read_bytes()
    cursor = _Cursor(raw, at=8)
    n_tensors, n_metadata = cursor.take("<QQ")
    model = Gguf()
    for _ in range(n_metadata):
        key, start = cursor.take_text(), cursor.at
        cursor.skip(*cursor.take("<I"))
        model.metadata[key] = raw[start : cursor.at]
    infos = []
    for _ in range(n_tensors):
        name = cursor.take_text()
        (n,) = cursor.take("<I")
        infos.append((name, cursor.take(f"<{n}Q"), *cursor.take("<IQ")))
    start = cursor.at + -cursor.at % ALIGNMENT
    for name, shape, kind, offset in infos:
        size = Tensor(shape, kind, b"").n_bytes
        model.tensors[name] = Tensor(shape, kind, raw[start + offset : start + offset + size])
    return model


def strings(raw: bytes) -> list[str]:
    """The strings of an array in metadata."""
    cursor = _Cursor(raw, at=8)
    (n,) = cursor.take("<Q")
    return [cursor.take_text() for _ in range(n)]


def q8(rng: np.random.Generator, row: int, rows: int, gain: float = 1.0) -> Tensor:
    """A random matrix that keeps the size of what it multiplies, times `gain`."""
    # The standard deviation of a uniform byte is 74.
    scale = gain / (74.0 * row**0.5)
    seed = int(rng.integers(2**63))

    def make() -> bytes:
        blocks = np.empty(row * rows // 32, Q8_BLOCK)
        blocks["d"] = scale
        quants = np.frombuffer(np.random.default_rng(seed).bytes(row * rows), np.int8)
        blocks["q"] = quants.reshape(-1, 32)
        return blocks.tobytes()

    return Tensor((row, rows), GGML_Q8_0, make)


def zeros(row: int, rows: int) -> Tensor:
    """A matrix whose products are exactly zero."""
    return Tensor((row, rows), GGML_Q8_0, bytes(row * rows // 32 * Q8_BLOCK.itemsize))


def f32(values: NDArray[np.floating[Any]]) -> Tensor:
    """A tensor in F32; `values` in numpy's order."""
    return Tensor(values.shape[::-1], GGML_F32, values.astype("<f4").tobytes())


def norm(rng: np.random.Generator, n: int, gain: float = 1.0) -> Tensor:
    """The weights of a norm: around `gain`."""
    return f32(gain * rng.uniform(0.5, 1.5, n))
