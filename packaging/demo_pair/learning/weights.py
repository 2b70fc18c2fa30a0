"""Weights as Q8_0, in pieces that are small enough to be moved one by one.

Q8_0 is llama.cpp's: blocks of 32 weights, a scale in half precision and 32 signed bytes. What is
quantised here goes into the GGUF file as it is. A folder has `index.json` and pieces `weights.0`,
`weights.1`, …; everything that is needed to go on elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from demo_pair.learning.sizes import Size

BLOCK = 32
BLOCK_BYTES = 2 + BLOCK
PIECE_BYTES = 15 * 2**20


def quantised(weights: np.ndarray) -> np.ndarray:
    """Return a matrix of float32, (rows, columns), as bytes of Q8_0, (rows, columns / 32 * 34)."""
    rows, columns = weights.shape
    if columns % BLOCK:
        raise ValueError(f"rows of {columns} weights cannot be stored in blocks of {BLOCK}")
    blocks = weights.astype(np.float32).reshape(rows, -1, BLOCK)
    scale = np.abs(blocks).max(-1, keepdims=True) / 127
    inverse = np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)
    # llama.cpp rounds halves away from zero, numpy to even.
    product = blocks * inverse
    quants = np.trunc(product + np.copysign(np.float32(0.5), product)).astype(np.int8)
    parts = (scale.astype("<f2").view(np.uint8), quants.view(np.uint8))
    return np.concatenate(parts, -1).reshape(rows, -1)


def restored(raw: np.ndarray) -> np.ndarray:
    """Return the matrix of float32 that bytes of Q8_0 stand for."""
    blocks = np.ascontiguousarray(raw).reshape(raw.shape[0], -1, BLOCK_BYTES)
    scale = np.ascontiguousarray(blocks[..., :2]).view("<f2").astype(np.float32)
    return (blocks[..., 2:].view(np.int8) * scale).reshape(raw.shape[0], -1)


def save_pieces(
    folder: Path, size: Size, tensors: Mapping[str, np.ndarray], about: Mapping[str, object]
) -> None:
    """Write weights; matrices as Q8_0, vectors as float32.

    Args:
        folder: Is made; pieces of an earlier call are replaced.
        size: The network's shape.
        tensors: Weights in float32 by name.
        about: What else is to be known, e.g. losses; JSON's values.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("weights.*"):
        old.unlink()
    index, data = [], bytearray()
    for name, tensor in tensors.items():
        raw = quantised(tensor) if tensor.ndim == 2 else tensor.astype("<f4")
        index.append({"name": name, "shape": list(tensor.shape), "bytes": raw.nbytes})
        data += raw.tobytes()
    for number, start in enumerate(range(0, len(data), PIECE_BYTES)):
        (folder / f"weights.{number}").write_bytes(data[start : start + PIECE_BYTES])
    whole = {"size": size.to_json(), "about": dict(about), "tensors": index}
    (folder / "index.json").write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


def load_pieces(folder: Path) -> tuple[Size, dict[str, np.ndarray], dict[str, object]]:
    """Return what `save_pieces` wrote: the shape, the raw tensors, and what is known about them.

    Matrices come as bytes of Q8_0, (rows, bytes of a row); vectors as float32.

    Raises:
        ValueError: A piece is missing or cut.
    """
    whole = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    pieces = sorted(folder.glob("weights.*"), key=lambda path: int(path.suffix[1:]))
    data = b"".join(path.read_bytes() for path in pieces)
    needed = sum(each["bytes"] for each in whole["tensors"])
    if len(data) != needed:
        raise ValueError(f"{folder} has {len(data):,} bytes of {needed:,}: a piece is missing")
    tensors: dict[str, np.ndarray] = {}
    at = 0
    for each in whole["tensors"]:
        raw = data[at : at + each["bytes"]]
        at += each["bytes"]
        if len(each["shape"]) == 2:
            tensors[each["name"]] = np.frombuffer(raw, np.uint8).reshape(each["shape"][0], -1)
        else:
            tensors[each["name"]] = np.frombuffer(raw, "<f4")
    return Size(**whole["size"]), tensors, whole["about"]
