"""Hybrids with random weights: recurrent layers and attention in turns, as in models of today.

`make_pairs` makes the tiny ones, of 64 columns, and one of a real one's shape and cost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from gguf_file import Q8_BLOCK, Gguf, Tensor, f32, norm, q8, zeros
from wide_models import matrix as wide_matrix

if TYPE_CHECKING:
    from collections.abc import Mapping


CIRCLE = 50


class Matrix(Protocol):
    """Makes random weights of `rows` rows."""

    def __call__(self, rng: np.random.Generator, row: int, rows: int, gain: float = 1.0) -> Tensor:
        """Return them."""


def llama_layer(
    rng: np.random.Generator,
    d: int,
    ff: int,
    *,
    mute: bool,
    kv: int | None = None,
    matrix: Matrix = q8,
) -> dict[str, Tensor]:
    """The tensors of one layer; a mute one computes everything and adds nothing.

    Keys and values have `kv` columns: fewer than `d` where several heads share one of them.
    """
    kv = d if kv is None else kv
    return {
        "attn_norm": norm(rng, d),
        "ffn_norm": norm(rng, d),
        "attn_q": matrix(rng, d, d),
        "attn_k": matrix(rng, d, kv),
        "attn_v": matrix(rng, d, kv),
        "attn_output": zeros(d, d) if mute else matrix(rng, d, d),
        "ffn_gate": matrix(rng, d, ff),
        "ffn_up": matrix(rng, d, ff),
        "ffn_down": zeros(ff, d) if mute else matrix(rng, ff, d),
    }


def lfm2(model: Gguf) -> Gguf:
    """Short convolutions and attention in turns, in four layers of 64 columns."""
    d, kernel, layers = 64, 3, 4
    del model.tensors["output.weight"], model.tensors["output_norm.weight"]
    model.set(lfm2__attention__head_count_kv=np.array([0, 2] * (layers // 2), np.int32))
    model.set(lfm2__shortconv__l_cache=kernel, lfm2__rope__freq_base=10000.0)
    rng = np.random.default_rng(72)
    # Strong enough that the token itself, embedding and output being one, is not the answer.
    model.tensors["token_embd.weight"] = q8(rng, d, 8192)
    model.tensors["token_embd_norm.weight"] = norm(rng, d, gain=6.0)
    for layer in range(layers):
        parts = llama_layer(rng, d, 128, mute=False)
        if layer % 2:
            parts |= {part: norm(rng, d // 2) for part in ("attn_q_norm", "attn_k_norm")}
        else:
            parts = {part: tensor for part, tensor in parts.items() if "attn_" not in part} | {
                "attn_norm": parts["attn_norm"],
                "shortconv.conv": f32(rng.normal(0, 0.5, (d, kernel))),
                "shortconv.in_proj": q8(rng, d, 3 * d),
                "shortconv.out_proj": q8(rng, d, d),
            }
        for part, tensor in parts.items():
            model.tensors[f"blk.{layer}.{part}.weight"] = tensor
    return model


def qwen35(
    model: Gguf,
    d: int = 64,
    ff: int = 128,
    heads: int = 2,
    *,
    kv_heads: int = 2,
    ssm_heads: int = 2,
    state: int = 16,
    layers: int = 4,
    experts: int = 0,
    matrix: Matrix = q8,
) -> Gguf:
    """Return a hybrid like Qwen3.5: three layers with a gated delta net, then one with attention.

    Args:
        model: Changed in place: has all but the layers, and the sizes that Llama has as well.
        d: Channels of an activation.
        ff: Width of the feed-forward part, or of each expert's.
        heads: Number of attention heads.
        kv_heads: Number of key and value heads of attention.
        ssm_heads: Number of heads of the delta net.
        state: Channels of each head of the delta net.
        layers: Number of layers.
        experts: Number of experts, half of which process a token, beside a shared one; 0 for none.
        matrix: Function that makes a matrix of weights.
    """
    kernel, inner, head = 4, ssm_heads * state, d // heads
    architecture = "qwen35moe" if experts else "qwen35"
    sizes = {"conv_kernel": kernel, "inner_size": inner, "state_size": state}
    sizes |= {"time_step_rank": ssm_heads, "group_count": ssm_heads}
    for key, value in sizes.items():
        model.set(**{f"{architecture}.ssm.{key}": value})
    sections = np.array([head // 4, head // 8, head // 8, 0], np.int32)
    model.set(**{f"{architecture}.rope.dimension_sections": sections})
    if experts:
        used = {"count": experts, "used_count": experts // 2}
        widths = {"feed_forward_length": ff, "shared_feed_forward_length": ff}
        for key, value in (used | widths).items():
            model.set(**{f"{architecture}.expert_{key}": value})
    rng = np.random.default_rng(73)
    for layer in range(layers):
        llama = llama_layer(rng, d, ff, mute=False, kv=kv_heads * head, matrix=matrix)
        parts = {f"{part}.weight": tensor for part, tensor in llama.items() if part != "ffn_norm"}
        parts["post_attention_norm.weight"] = norm(rng, d)
        if (layer + 1) % 4 == 0:
            parts["attn_q.weight"] = matrix(rng, d, 2 * d)  # with a gate for each head
            parts |= {f"attn_{part}_norm.weight": norm(rng, head) for part in "qk"}
        else:
            for part in ("q", "k", "v", "output"):
                del parts[f"attn_{part}.weight"]
            parts |= {
                "attn_qkv.weight": matrix(rng, d, 3 * inner),
                "attn_gate.weight": matrix(rng, d, inner),
                "ssm_conv1d.weight": f32(rng.normal(0, 0.5, (3 * inner, kernel))),
                "ssm_dt.bias": f32(rng.uniform(-2, 0, ssm_heads)),
                "ssm_a": f32(-rng.uniform(0.2, 1.0, ssm_heads)),
                "ssm_beta.weight": matrix(rng, d, ssm_heads),
                "ssm_alpha.weight": matrix(rng, d, ssm_heads),
                "ssm_norm.weight": norm(rng, state),
                "ssm_out.weight": matrix(rng, inner, d),
            }
        if experts:
            for part in ("gate", "up", "down"):
                dense = parts.pop(f"ffn_{part}.weight")
                row, rows = dense.shape
                flat = matrix(rng, row, rows * experts)
                stack = Tensor((row, rows, experts), flat.kind, flat.data)
                parts |= {f"ffn_{part}_exps.weight": stack, f"ffn_{part}_shexp.weight": dense}
            parts["ffn_gate_inp.weight"] = f32(rng.normal(0, d**-0.5, (experts, d)))
            parts["ffn_gate_inp_shexp.weight"] = f32(rng.normal(0, d**-0.5, d))
        _add(model, layer, parts)
    return model


def random_qwen35(tokenizer: Gguf, layers: int) -> Gguf:
    """The shape of Qwen3.5 0.8B, layers of 1,024 columns, but for a small vocabulary.

    Its text goes round in circles of 50 tokens, since the embedding outweighs what the layers add;
    at a temperature of 1 it leaves them now and then, at 2 nearly always.
    """
    d, ff, heads = 1024, 3584, 8
    model = Gguf({k: v for k, v in tokenizer.metadata.items() if k[:6] != "llama."})
    n_vocab = tokenizer.tensors["token_embd.weight"].shape[1]
    model.set(general__architecture="qwen35", general__name="Random weights, a hybrid")
    sizes = {"context_length": 8192, "embedding_length": d, "block_count": layers}
    sizes |= {"attention.head_count": heads, "attention.head_count_kv": 2, "vocab_size": n_vocab}
    sizes |= {"feed_forward_length": ff}
    for key, value in sizes.items():
        model.set(**{f"qwen35.{key}": value})
    model.set(**{"qwen35.attention.layer_norm_rms_epsilon": 1e-5})
    rng = np.random.default_rng(64)
    embedding = model.tensors["token_embd.weight"] = wide_matrix(rng, d, n_vocab, gain=2000.0)
    model.tensors["output_norm.weight"] = f32(np.ones(d))
    model.tensors["output.weight"] = _after(embedding, 0.4 / 2000.0)
    return qwen35(
        model, d, ff, heads, kv_heads=2, ssm_heads=16, state=128, layers=layers, matrix=wide_matrix
    )


def _after(embedding: Tensor, gain: float) -> Tensor:
    """Return an output that says each token after the one before it in circles of `CIRCLE`."""
    n_vocab = embedding.shape[1]
    token = np.arange(n_vocab)
    before = np.where(token % CIRCLE, token - 1, np.minimum(token + CIRCLE, n_vocab) - 1)

    def make() -> bytes:
        assert callable(embedding.data)
        blocks = np.frombuffer(embedding.data(), Q8_BLOCK).reshape(n_vocab, -1)[before]
        blocks["d"] *= np.float16(gain)
        return blocks.tobytes()

    return Tensor(embedding.shape, embedding.kind, make)


def nemotron_h(model: Gguf) -> Gguf:
    """Mamba 2, a feed-forward layer, attention, and again: Nemotron-H's kind, of 64 columns."""
    d, ff, heads, kernel, ssm_heads, state, groups, inner = 64, 128, 2, 4, 4, 16, 2, 128
    kinds = "mamba", "ffn", "attention", "mamba", "ffn", "mamba"
    sizes = {"conv_kernel": kernel, "inner_size": inner, "state_size": state}
    sizes |= {"time_step_rank": ssm_heads, "group_count": groups}
    for key, value in sizes.items():
        model.set(**{f"nemotron_h.ssm.{key}": value})
    model.set(**{"nemotron_h.attention.layer_norm_epsilon": 1e-5})
    of_heads = [heads * (kind == "attention") for kind in kinds]
    model.set(**{"nemotron_h.attention.head_count_kv": np.array(of_heads, np.int32)})
    widths = [ff * (kind == "ffn") for kind in kinds]
    model.set(**{"nemotron_h.feed_forward_length": np.array(widths, np.int32)})
    rng = np.random.default_rng(74)
    n_conv = inner + 2 * groups * state
    for layer, kind in enumerate(kinds):
        parts = {"attn_norm.weight": norm(rng, d)}
        if kind == "ffn":
            parts |= {"ffn_up.weight": q8(rng, d, ff), "ffn_down.weight": q8(rng, ff, d, gain=2.0)}
        elif kind == "attention":
            parts |= {f"attn_{part}.weight": q8(rng, d, d) for part in ("q", "k", "v", "output")}
        else:
            parts |= {
                "ssm_in.weight": q8(rng, d, inner + n_conv + ssm_heads),
                "ssm_conv1d.weight": f32(rng.normal(0, 0.5, (n_conv, kernel))),
                "ssm_conv1d.bias": f32(rng.normal(0, 0.1, n_conv)),
                "ssm_dt.bias": f32(rng.uniform(-4, -2, ssm_heads)),
                "ssm_a": f32(-rng.uniform(1.0, 16.0, (ssm_heads, 1))),
                "ssm_d": f32(np.ones((ssm_heads, 1))),
                "ssm_norm.weight": f32(np.ones((groups, inner // groups))),
                "ssm_out.weight": q8(rng, inner, d),
            }
        _add(model, layer, parts)
    return model


def _add(model: Gguf, layer: int, parts: Mapping[str, Tensor]) -> None:
    model.tensors |= {f"blk.{layer}.{part}": tensor for part, tensor in parts.items()}
