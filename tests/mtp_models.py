"""Tiny models with heads that predict further tokens, of random weights; `make_pairs` makes them.

A *true* head computes what its target computes next, since the layers of both add nothing; a
*false* one has the rows of its output permuted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np

import hybrid_models
from gguf_file import Gguf, Tensor, f32, norm, q8, zeros
from hybrid_models import llama_layer

Head = Literal["random", "true", "false"]
EXPERTS, WINDOW = 4, 32
_ENDS = "attn_output", "ffn_down", "ssm_out", "ffn_down_exps"
"""The tensors of a layer that write into the residual stream."""

Tiny = Callable[..., Gguf]


def qwen35(tiny: Tiny, name: str, head: Head = "random") -> Gguf:
    """Three layers with a gated delta net, one with attention, and a head with attention."""
    model = hybrid_models.qwen35(tiny(name, "qwen35", 5))
    return _with_heads(model, "qwen35", 4, 1, head)


def glm4moe(tiny: Tiny, name: str) -> Gguf:
    """A dense layer, a mixture of experts, and a head that is one, too: GLM 4.5's kind."""
    model = tiny(name, "glm4moe", 3)
    sizes = {"expert_count": EXPERTS, "expert_used_count": EXPERTS // 2, "expert_shared_count": 0}
    sizes |= {"expert_feed_forward_length": 128, "leading_dense_block_count": 1}
    for key, value in sizes.items():
        model.set(**{f"glm4moe.{key}": value})
    rng = np.random.default_rng(81)
    for layer in range(2):
        parts = llama_layer(rng, 64, 128, mute=False)
        parts["post_attention_norm"] = parts.pop("ffn_norm")
        if layer:
            for part in ("gate", "up", "down"):
                row, rows = parts.pop(f"ffn_{part}").shape
                flat = q8(rng, row, rows * EXPERTS)
                parts[f"ffn_{part}_exps"] = Tensor((row, rows, EXPERTS), flat.kind, flat.data)
            parts["ffn_gate_inp"] = f32(rng.normal(0, 0.125, (EXPERTS, 64)))
            model.tensors[f"blk.{layer}.exp_probs_b.bias"] = f32(np.zeros(EXPERTS))
        for part, tensor in parts.items():
            model.tensors[f"blk.{layer}.{part}.weight"] = tensor
    return _with_heads(model, "glm4moe", 2, 1, "random")


def glm4(tiny: Tiny, name: str) -> Gguf:
    """A layer, and a head that llama.cpp keeps in the file and never computes: GLM 4's kind."""
    model = tiny(name, "glm4", 2)
    rng = np.random.default_rng(87)
    parts = llama_layer(rng, 64, 128, mute=False) | {"ffn_up": q8(rng, 64, 256)}
    del parts["ffn_gate"]
    parts |= {part: norm(rng, 64) for part in ("post_attention_norm", "post_ffw_norm")}
    for part, tensor in parts.items():
        model.tensors[f"blk.0.{part}.weight"] = tensor
    return _with_heads(model, "glm4", 1, 1, "random")


def step35(tiny: Tiny, name: str, head: Head = "random") -> Gguf:
    """Two layers, of which one has a sliding window, and three heads: Step 3.5's kind."""
    model = tiny(name, "step35", 5)
    model.set(step35__attention__sliding_window=WINDOW, step35__expert_feed_forward_length=128)
    pattern = np.array([1, 0, 0, 0, 0], np.int32)
    model.set(**{"step35.attention.sliding_window_pattern": pattern})
    rng = np.random.default_rng(82)
    for layer in range(2):
        for part, tensor in llama_layer(rng, 64, 128, mute=False).items():
            model.tensors[f"blk.{layer}.{part}.weight"] = tensor
    return _with_heads(model, "step35", 2, 3, head)


def gemma4(tiny: Tiny, name: str) -> Gguf:
    """One layer that sees a sliding window and one that sees everything: Gemma 4's kind."""
    model = tiny(name, "gemma4", 2)
    del model.tensors["output.weight"]
    _set_gemma4(model, "gemma4", 2)
    model.set(**{"gemma4.embedding_length_per_layer_input": 0})
    rng = np.random.default_rng(84)
    model.tensors["token_embd.weight"] = q8(rng, 64, 8192)
    for layer in range(2):
        parts = llama_layer(rng, 64, 128, mute=False)
        parts |= {f"attn_{part}_norm": norm(rng, 32) for part in "qk"}
        # Strong enough that the token itself, embedding and output being one, is not the answer.
        parts |= {
            part: norm(rng, 64, gain=12.0) for part in ("post_attention_norm", "post_ffw_norm")
        }
        for part, tensor in parts.items():
            model.tensors[f"blk.{layer}.{part}.weight"] = tensor
    return model


def gemma4_assistant(tiny: Tiny, name: str) -> Gguf:
    """Two layers of 32 columns that look into the cache of `gemma4`."""
    d = 32
    model = tiny(name, "gemma4-assistant", 2)
    _set_gemma4(model, "gemma4-assistant", 2)
    sizes = {"embedding_length": d, "embedding_length_out": 64, "nextn_predict_layers": 2}
    for key, value in sizes.items():
        model.set(**{f"gemma4-assistant.{key}": value})
    rng = np.random.default_rng(85)
    model.tensors = {
        "token_embd.weight": q8(rng, d, 8192, gain=3.0),
        "output_norm.weight": norm(rng, d),
        "rope_freqs.weight": f32(np.ones(16)),
        "nextn.pre_projection.weight": q8(rng, 128, d),
        "nextn.post_projection.weight": q8(rng, d, 64),
    }
    for layer in range(2):
        parts = {
            "attn_norm": norm(rng, d),
            "attn_q": q8(rng, d, 64),
            "attn_output": q8(rng, 64, d),
            "attn_q_norm": norm(rng, 32),
            "post_attention_norm": norm(rng, d),
            "layer_output_scale": f32(np.ones(1)),
            "ffn_norm": norm(rng, d),
            "ffn_gate": q8(rng, d, 128),
            "ffn_up": q8(rng, d, 128),
            "ffn_down": q8(rng, 128, d),
            "post_ffw_norm": norm(rng, d),
        }
        for part, tensor in parts.items():
            model.tensors[f"blk.{layer}.{part}.weight"] = tensor
    return model


def _set_gemma4(model: Gguf, architecture: str, layers: int) -> None:
    model.tensors["rope_freqs.weight"] = f32(np.ones(16))
    sizes = {f"{part}_length{kind}": 32 for part in ("key", "value") for kind in ("", "_swa")}
    sizes |= {"sliding_window": WINDOW, "shared_kv_layers": 0}
    for key, value in sizes.items():
        model.set(**{f"{architecture}.attention.{key}": value})
    pattern = np.array([1, 0] * (layers // 2), np.int32)
    model.set(**{f"{architecture}.attention.sliding_window_pattern": pattern})
    model.set(**{f"{architecture}.rope.freq_base_swa": 10000.0})


def _with_heads(model: Gguf, architecture: str, n_layers: int, n_heads: int, head: Head) -> Gguf:
    """Add heads whose layers are like the last one of the model."""
    d = model.tensors["token_embd.weight"].shape[0]
    model.set(**{f"{architecture}.nextn_predict_layers": n_heads})
    rng = np.random.default_rng(83)
    for layer in range(n_layers, n_layers + n_heads):
        for name, tensor in list(model.tensors.items()):
            if name.startswith(f"blk.{n_layers - 1}."):
                model.tensors[name.replace(f".{n_layers - 1}.", f".{layer}.", 1)] = tensor
        both = q8(rng, 2 * d, d)
        if head != "random":  # the token's embedding alone
            both = f32(np.concatenate((np.eye(d), np.zeros((d, d))), axis=1))
        parts = {"eh_proj": both, "enorm": _ones(d), "hnorm": norm(rng, d)}
        if head == "false":
            output = model.tensors["output.weight"]
            data = output.data if isinstance(output.data, bytes) else output.data()
            rows = np.frombuffer(data, np.uint8).reshape(output.shape[1], -1)
            parts["shared_head_head"] = replace(output, data=rng.permutation(rows).tobytes())
        for part, tensor in parts.items():
            model.tensors[f"blk.{layer}.nextn.{part}.weight"] = tensor
    if head != "random":
        for name, tensor in model.tensors.items():
            if name.split(".")[-2] in _ENDS:
                model.tensors[name] = zeros(*tensor.shape)
    return model


def _ones(d: int) -> Tensor:
    return f32(np.ones(d))
