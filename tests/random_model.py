"""Writes a random model of half a billion weights with a real, large vocabulary.

``python tests/random_model.py VOCABULARY.gguf OUT.gguf [--layers N]``, where the
vocabulary is the file ``models/ggml-vocab-qwen2.gguf`` of llama.cpp's sources (152k tokens, no
weights). Its text makes no sense, but a step costs what it costs with such a model: the output
matrix and the rows of logits are as large as they get on a desktop. Speed comparisons use it;
nothing else does.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from gguf_file import Gguf, norm, q8, read, strings

D, FF, LAYERS, HEADS, KV_HEADS = 896, 4864, 24, 14, 2
"""The sizes of Qwen2-0.5B."""


def random_model(vocabulary: Path, n_layers: int = LAYERS) -> Gguf:
    """The vocabulary's tokenizer before random layers; embedding and output are one matrix."""
    source = read(vocabulary)
    model = Gguf({k: v for k, v in source.metadata.items() if k.startswith("tokenizer.")})
    n_vocab = len(strings(model.metadata["tokenizer.ggml.tokens"]))
    model.set(general__architecture="llama", general__name="Random weights, Qwen2's vocabulary")
    model.set(
        llama__context_length=4096,
        llama__embedding_length=D,
        llama__block_count=n_layers,
        llama__feed_forward_length=FF,
        llama__attention__head_count=HEADS,
        llama__attention__head_count_kv=KV_HEADS,
        llama__vocab_size=n_vocab,
    )
    model.set(**{"llama.attention.layer_norm_rms_epsilon": 1e-6})
    rng = np.random.default_rng(500)
    kv = D // HEADS * KV_HEADS
    model.tensors["token_embd.weight"] = q8(rng, D, n_vocab, gain=3.0)
    model.tensors["output_norm.weight"] = norm(rng, D)
    for layer in range(n_layers):
        tensors = {
            "attn_norm": norm(rng, D),
            "ffn_norm": norm(rng, D),
            "attn_q": q8(rng, D, D),
            "attn_k": q8(rng, D, kv),
            "attn_v": q8(rng, D, kv),
            "attn_output": q8(rng, D, D),
            "ffn_gate": q8(rng, D, FF),
            "ffn_up": q8(rng, D, FF),
            "ffn_down": q8(rng, FF, D),
        }
        for part, tensor in tensors.items():
            model.tensors[f"blk.{layer}.{part}.weight"] = tensor
    return model


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description="Write a random model with a large vocabulary.")
    parser.add_argument("vocabulary", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--layers", type=int, default=LAYERS, help="fewer make a draft model")
    arguments = parser.parse_args()
    with arguments.out.open("wb") as out:
        random_model(arguments.vocabulary, arguments.layers).write(out)


if __name__ == "__main__":
    main()
