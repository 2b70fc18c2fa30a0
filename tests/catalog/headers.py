"""Headers of model files, made as tests want them: the demo draft's with other values."""

from __future__ import annotations

import io
import struct
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import make_pairs
from gguf_file import I32, Gguf, Tensor, padded, read, strings
from paceline.engine.draft.heads import head_kind
from paceline.engine.llama import read_header
from paceline.engine.model.model_file import GgufHeader


def gguf_bytes(model: Gguf) -> bytes:
    """The file as it would lie on a disk."""
    out = io.BytesIO()
    model.write(out)
    return out.getvalue()


def header(
    architecture: str = "llama", tensors: dict[str, Tensor] | None = None, **values: Any
) -> GgufHeader:
    """A header of this architecture; names that begin with an underscore are of its section."""
    model = Gguf(tensors=tensors or {})
    model.set(general__architecture=architecture)
    for name, value in values.items():
        key = f"{architecture}.{name[1:]}" if name.startswith("_") else name
        model.set(**{key: value})
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.gguf"
        file.write_bytes(gguf_bytes(model))
        return read_header(file, texts=["tokenizer.ggml.tokens"])


def small_vocabulary(n_tokens: int = 300) -> Gguf:
    """The first tokens of the demo pair, and two tensors that mean nothing."""
    model = read(make_pairs.DEMO_DRAFT)
    tokens = strings(model.metadata["tokenizer.ggml.tokens"])[:n_tokens]
    kinds = np.frombuffer(model.metadata["tokenizer.ggml.token_type"], np.int32, n_tokens, 16)
    known = set(tokens)
    merges = [
        merge
        for merge in strings(model.metadata["tokenizer.ggml.merges"])
        if known.issuperset([*merge.split(" "), merge.replace(" ", "")])
    ]
    model.set(tokenizer__ggml__tokens=tokens, tokenizer__ggml__token_type=kinds.copy())
    model.set(tokenizer__ggml__merges=merges, llama__vocab_size=n_tokens)
    model.tensors = {
        name: Tensor((32, 2), 0, bytes(256))
        for name in ("token_embd.weight", "blk.0.attn_q.weight")
    }
    return model


def sidecar_model(kind: str) -> Gguf:
    """A drafter that is no model of its own, with tensors that mean nothing."""
    known = head_kind(kind)
    assert known is not None
    architecture = known.architectures[0] if known.architectures else "qwen35"
    model = small_vocabulary()
    model.set(general__architecture=architecture)
    model.set(**{f"{architecture}__block_count": 4, f"{architecture}__nextn_predict_layers": 1})
    model.tensors["blk.3.nextn.eh_proj.weight"] = model.tensors.pop("blk.0.attn_q.weight")
    return model


def write_hole(source: Path, target: Path) -> None:
    """Write a file with a header and a hole in place of the weights: what a remote one becomes."""
    data = source.read_bytes()
    n_weights = sum(padded(tensor.n_bytes) for tensor in read_header(source).tensors)
    with target.open("wb") as file:
        file.write(data[:-n_weights])
        file.truncate(len(data))


def write_split(source: Path, folder: Path, n_parts: int = 3) -> list[Path]:
    """Split a model as llama.cpp's `gguf-split` does: the first part holds metadata alone."""
    model = read(source)
    names = list(model.tensors)
    shares = [[], *np.array_split(np.array(names), n_parts - 1)]
    paths = []
    for number, share in enumerate(shares):
        part = Gguf(dict(model.metadata) if number == 0 else {})
        part.metadata["split.no"] = _u16(number)
        part.metadata["split.count"] = _u16(n_parts)
        part.metadata["split.tensors.count"] = struct.pack("<Ii", I32, len(names))
        part.tensors = {str(name): model.tensors[str(name)] for name in share}
        path = folder / f"split-{number + 1:05}-of-{n_parts:05}.gguf"
        path.write_bytes(gguf_bytes(part))
        paths.append(path)
    return paths


def _u16(value: int) -> bytes:
    return (2).to_bytes(4, "little") + value.to_bytes(2, "little")
