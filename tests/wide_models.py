"""Models with rows as long as in files that people use: `make_pairs` makes them.

What a kernel gains depends on the length of a row and on the type of the weights, so both are
those of real models here, and only the number of layers is small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gguf_file import GGML_Q8_0, Q8_BLOCK, Gguf, Tensor, f32, norm
from requantised import TYPES, Requantised

if TYPE_CHECKING:
    from numpy.typing import NDArray

HEAD = 64
"""Channels of a head of the demo target, and of the models of 2,048 channels."""
SHARED = 4
"""Heads that share keys and values, as in most models of today."""
EXPERTS, EXPERTS_USED = 8, 2
SIZES = {
    "random-{}": {"d": 2048, "ff": 8192, "layers": 3, "heads": 32},
    "random-{}-4096": {"d": 4096, "ff": 11008, "layers": 1, "heads": 32},
    "random-moe-{}": {"d": 1024, "ff": 2048, "layers": 4, "heads": 16, "experts": EXPERTS},
}
"""The random models; a name is completed by a type. About 200 M weights are read in a step of the
first two, and 70 M of the 230 M in one of the third."""
ORIGINAL = "q8_0"
"""The type that the others are made from."""


def originals() -> dict[str, dict[str, int]]:
    """The random models that are made from nothing: what `random_llama` gets, by name."""
    return {name.format(ORIGINAL): size for name, size in SIZES.items()}


def others() -> dict[str, Requantised]:
    """The random models in every other type, by name."""
    return {
        name.format(kind): Requantised(name.format(ORIGINAL), kind)
        for name in SIZES
        for kind in TYPES
        if kind != ORIGINAL
    }


# ------------------------------------------------------------------------------- random weights


def matrix(rng: np.random.Generator, row: int, rows: int, gain: float = 1.0) -> Tensor:
    """A random matrix whose weights are normal, and whose blocks of 32 differ in their scale."""
    seed = int(rng.integers(2**63))

    def make() -> bytes:
        drawn = np.random.default_rng(seed)
        blocks = np.empty(row * rows // 32, Q8_BLOCK)
        # Weights have a deviation of 40 steps; that of the scales' own spread is 1.04.
        blocks["d"] = gain / (40 * 1.04 * row**0.5) * drawn.uniform(0.5, 1.5, len(blocks))
        weights = drawn.standard_normal((len(blocks), 32), np.float32)
        blocks["q"] = np.clip(np.rint(weights * 40), -127, 127)
        return blocks.tobytes()

    return Tensor((row, rows), GGML_Q8_0, make)


def random_llama(
    tokenizer: Gguf, d: int, ff: int, layers: int, heads: int, experts: int = 0
) -> Gguf:
    """Return a model of random layers in Q8_0, with the tokenizer of another model.

    Args:
        tokenizer: Model whose vocabulary and chat template are copied.
        d: Channels of an activation.
        ff: Width of the feed-forward part, or of each expert's.
        layers: Number of layers.
        heads: Number of attention heads, of which `SHARED` each share keys and values.
        experts: Number of experts, of which a token uses `EXPERTS_USED`; 0 for a dense model.
    """
    model = Gguf({k: v for k, v in tokenizer.metadata.items() if k[:6] != "llama."})
    n_vocab = tokenizer.tensors["token_embd.weight"].shape[1]
    model.set(general__name=f"Random weights, {d} channels")
    model.set(
        llama__context_length=8192,
        llama__embedding_length=d,
        llama__block_count=layers,
        llama__feed_forward_length=ff,
        llama__attention__head_count=heads,
        llama__attention__head_count_kv=heads // SHARED,
        llama__vocab_size=n_vocab,
    )
    model.set(**{"llama.attention.layer_norm_rms_epsilon": 1e-5})
    if experts:
        model.set(llama__expert_count=experts, llama__expert_used_count=EXPERTS_USED)
    rng = np.random.default_rng(d)
    model.tensors["token_embd.weight"] = matrix(rng, d, n_vocab, gain=8.0)
    model.tensors["output_norm.weight"] = norm(rng, d)
    model.tensors["output.weight"] = matrix(rng, d, n_vocab, gain=3.0)
    for layer in range(layers):
        parts = {"attn_norm": norm(rng, d), "ffn_norm": norm(rng, d)}
        parts["attn_q"] = matrix(rng, d, d)
        parts["attn_k"] = matrix(rng, d, d // SHARED)
        parts["attn_v"] = matrix(rng, d, d // SHARED)
        parts["attn_output"] = matrix(rng, d, d)
        feed_forward = {"gate": (d, ff), "up": (d, ff), "down": (ff, d)}
        for part, (row, rows) in feed_forward.items():
            if experts:
                flat = matrix(rng, row, rows * experts)
                stack = Tensor((row, rows, experts), flat.kind, flat.data)
                parts[f"ffn_{part}_exps"] = stack
            else:
                parts[f"ffn_{part}"] = matrix(rng, row, rows)
        if experts:
            parts["ffn_gate_inp"] = f32(rng.normal(0, d**-0.5, (experts, d)))
        for part, tensor in parts.items():
            model.tensors[f"blk.{layer}.{part}.weight"] = tensor
    return model


# -------------------------------------------------------------------------------- the wide twin


def wide_twin(model: Gguf, d: int = 2048, ff: int = 2560) -> Gguf:
    """A model with more channels, heads and feed-forward columns, and the function that it had.

    The new channels of the residual stream are zero: nothing writes to them. The new heads and
    feed-forward columns compute something random that nothing reads. RMS norm divides by the mean
    square of all channels, which `d_old / d` makes smaller; so the norms' weights and their epsilon
    are made smaller, too. Where that ratio is a power of four this is exact, and the logits are the
    model's own bit for bit. Else each norm differs by a rounding, which is seen in the logits only
    where it takes an activation to the next of its 256 steps.

    Args:
        model: Changed in place; in Q8_0, with a head of 64 channels of its own for every key.
        d: Channels, a multiple of 256.
        ff: Feed-forward columns, a multiple of 32.
    """
    old_d, old_ff = model.tensors["blk.0.ffn_up.weight"].shape
    ratio = old_d / d
    rng = np.random.default_rng(d)
    channels = np.arange(old_d)
    # Only the first head of a group does something; the others read its keys and add nothing.
    head, within = np.divmod(channels, HEAD)
    queries = head * SHARED * HEAD + within
    columns = np.arange(old_ff)
    d_kv = d // SHARED
    for name, tensor in model.tensors.items():
        match name.split(".")[-2]:
            case "attn_norm" | "ffn_norm" | "output_norm":
                model.tensors[name] = widened_norm(tensor, d, ratio)
            case "token_embd":
                every = np.arange(tensor.shape[1])
                model.tensors[name] = placed(tensor, (d, len(every)), channels, every)
            case "attn_q":
                model.tensors[name] = placed(tensor, (d, d), channels, queries, rng)
            case "attn_k" | "attn_v":
                model.tensors[name] = placed(tensor, (d, d_kv), channels, channels, rng)
            case "attn_output":
                model.tensors[name] = placed(tensor, (d, d), queries, channels)
            case "ffn_gate" | "ffn_up":
                model.tensors[name] = placed(tensor, (d, ff), channels, columns, rng)
            case "ffn_down":
                model.tensors[name] = placed(tensor, (ff, d), columns, channels)
            case other:
                raise ValueError(other)
    model.set(general__name=f"Paceline wide twin, {d} channels")
    model.set(llama__embedding_length=d, llama__feed_forward_length=ff)
    model.set(llama__attention__head_count=d // HEAD)
    model.set(llama__attention__head_count_kv=d // HEAD // SHARED)
    epsilon = float(np.frombuffer(model.metadata[_EPSILON], "<f4", offset=4)[0])
    model.set(**{_EPSILON: epsilon * ratio})
    return model


_EPSILON = "llama.attention.layer_norm_rms_epsilon"


def widened_norm(weights: Tensor, d: int, ratio: float) -> Tensor:
    """The weights of a norm over `d` channels, of which only the old ones are not zero."""
    assert isinstance(weights.data, bytes)
    old = np.frombuffer(weights.data, "<f4").astype(np.float64)
    return f32(np.concatenate((old * ratio**0.5, np.ones(d - len(old)))))


def placed(
    old: Tensor,
    shape: tuple[int, int],
    columns: NDArray[np.int64],
    rows: NDArray[np.int64],
    rng: np.random.Generator | None = None,
) -> Tensor:
    """Return a larger matrix in Q8_0 that contains an old one.

    Args:
        old: The matrix to copy.
        shape: Row length and number of rows.
        columns: New indices of the old columns, in whole blocks of 32.
        rows: New indices of the old rows.
        rng: Source of all other weights, or None if they are zero.
    """
    length, n_rows = shape
    assert isinstance(old.data, bytes)
    kept = np.frombuffer(old.data, Q8_BLOCK).reshape(old.shape[1], -1)
    new = np.zeros((n_rows, length // 32), Q8_BLOCK)
    if rng is not None:
        filling = matrix(rng, length, n_rows).data
        assert callable(filling)
        new[:] = np.frombuffer(filling(), Q8_BLOCK).reshape(new.shape)
    new[np.ix_(rows, columns[::32] // 32)] = kept
    return Tensor(shape, GGML_Q8_0, new.tobytes())
