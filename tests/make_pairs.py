"""Makes the heavy twins and the tiny odd models that the tests use, once, into a cache.

``make_pairs.path(NAME)`` from a test, and ``python tests/make_pairs.py [NAME…] [--list] [--cache
DIR]``, where a name may be a pattern: ``'random-q4*'``.

A *heavy twin* has the demo target's function at a realistic price: layers are appended whose
`attn_output` and `ffn_down` are zero, so that each adds exactly nothing to the residual stream
while all of its arithmetic is done. The logits are those of the demo target, bit for bit. The
other weights of those layers are random and of ordinary size: nothing becomes denormal. Models
with rows of real length, `wide-twin` and `random-*`, come from `wide_models`.

The cache is the folder in PACELINE_TEST_MODELS, else `paceline/test-models` in the user's cache
folder; within it, a folder per version of these sources and of the demo pair.
"""

from __future__ import annotations

import argparse
import fnmatch
import functools
import hashlib
import os
import re
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import platformdirs

import hybrid_models
import mtp_models
import wide_models
from gguf_file import GGML_Q8_0, Q8_BLOCK, Gguf, Tensor, f32, norm, q8, read, strings
from hybrid_models import llama_layer
from requantised import Requantised, requantise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MODELS = Path(__file__).resolve().parent.parent / "resources" / "models"
DEMO_TARGET = MODELS / "paceline-demo-target-q8_0.gguf"
DEMO_DRAFT = MODELS / "paceline-demo-draft-q8_0.gguf"
CACHE_VARIABLE = "PACELINE_TEST_MODELS"

OTHER_TOKEN = (8191, "Ġpaceline-other")
"""Id and text of the one token in which `tiny-other-vocab` differs."""
EXTRA_TOKENS = 200
"""Number of extra tokens of `tiny-big-vocab-mismatch`; 128 would be accepted."""
SLIDING_WINDOW = 32
"""Tokens that the local layer of `tiny-swa` sees."""
EXPERTS = 4
"""Experts per layer of `tiny-moe`, of which half are used for a token."""
TWIN_LAYERS = {"twin-70m": 30, "twin-350m": 188}
"""Layers that are appended to the demo target's 8; each has 1.77 M parameters."""


# --------------------------------------------------------------------------------- the models


def twin(name: str) -> Gguf:
    """Return the demo target with additional layers that change nothing."""
    model = read(DEMO_TARGET)
    rng = np.random.default_rng(70)
    first = 1 + max(int(key.split(".")[1]) for key in model.tensors if key.startswith("blk."))
    d, ff = model.tensors["blk.0.ffn_up.weight"].shape
    _, kv = model.tensors["blk.0.attn_k.weight"].shape
    last = first + TWIN_LAYERS[name]
    for layer in range(first, last):
        for part, tensor in llama_layer(rng, d, ff, mute=True, kv=kv).items():
            model.tensors[f"blk.{layer}.{part}.weight"] = tensor
    model.set(general__name=f"Paceline heavy {name}", llama__block_count=last)
    return model


def tiny(name: str, architecture: str = "llama", layers: int = 2) -> Gguf:
    """The demo pair's tokenizer with a random embedding and output of 64 columns; no layers."""
    model = Gguf({k: v for k, v in read(DEMO_DRAFT).metadata.items() if k[:6] != "llama."})
    model.set(general__architecture=architecture, general__name=f"Paceline {name}")
    sizes = {"context_length": 2048, "embedding_length": 64, "block_count": layers}
    sizes |= {"attention.head_count": 2, "attention.head_count_kv": 2, "vocab_size": 8192}
    sizes |= {"feed_forward_length": 128}
    for key, value in sizes.items():
        model.set(**{f"{architecture}.{key}": value})
    model.set(**{f"{architecture}.attention.layer_norm_rms_epsilon": 1e-5})
    rng = np.random.default_rng(64)
    model.tensors["token_embd.weight"] = q8(rng, 64, 8192, gain=8.0)
    model.tensors["output_norm.weight"] = norm(rng, 64)
    model.tensors["output.weight"] = q8(rng, 64, 8192, gain=3.0)
    return model


def tiny_llama(name: str, layers: int = 2) -> Gguf:
    """Two random layers."""
    model = tiny(name, layers=layers)
    rng = np.random.default_rng(65)
    for layer in range(layers):
        for part, tensor in llama_layer(rng, 64, 128, mute=False).items():
            model.tensors[f"blk.{layer}.{part}.weight"] = tensor
    return model


def tiny_other_vocab(name: str) -> Gguf:
    """The text of one token differs."""
    model = tiny_llama(name)
    tokens = strings(model.metadata["tokenizer.ggml.tokens"])
    tokens[OTHER_TOKEN[0]] = OTHER_TOKEN[1]
    model.set(tokenizer__ggml__tokens=tokens)
    return model


def tiny_big_vocab(name: str) -> Gguf:
    """Return a model with too many extra tokens for a pair, all after the common ones."""
    model = tiny_llama(name)
    tokens = strings(model.metadata["tokenizer.ggml.tokens"])
    kinds = np.frombuffer(model.metadata["tokenizer.ggml.token_type"], np.int32, offset=16)
    unused = np.full(EXTRA_TOKENS, 5, np.int32)
    tokens += [f"<|extra_{i}|>" for i in range(EXTRA_TOKENS)]
    model.set(tokenizer__ggml__tokens=tokens, llama__vocab_size=len(tokens))
    model.set(tokenizer__ggml__token_type=np.concatenate((kinds, unused)))
    rng = np.random.default_rng(66)
    for part in ("token_embd.weight", "output.weight"):
        model.tensors[part] = q8(rng, 64, len(tokens), gain=3.0)
    return model


def tiny_foreign(name: str) -> Gguf:
    """Return a model whose only tokens are the single characters of the demo pair."""
    model = tiny_llama(name)
    tokens = strings(model.metadata["tokenizer.ggml.tokens"])
    tokens = [text if len(text) == 1 else f"foreign-{i}" for i, text in enumerate(tokens)]
    model.set(tokenizer__ggml__tokens=tokens)
    return model


def tiny_bos(name: str) -> Gguf:
    """Every prompt begins with token 0."""
    model = tiny_llama(name)
    model.set(tokenizer__ggml__add_bos_token=True)
    return model


def tiny_no_template(name: str) -> Gguf:
    """No chat template."""
    model = tiny_llama(name)
    del model.metadata["tokenizer.chat_template"]
    return model


def tiny_nan(name: str) -> Gguf:
    """Every logit is NaN."""
    model = tiny_llama(name)
    blocks = np.zeros(64 * 8192 // 32, Q8_BLOCK)
    blocks["d"] = np.nan
    model.tensors["output.weight"] = Tensor((64, 8192), GGML_Q8_0, blocks.tobytes())
    return model


def tiny_mamba(name: str) -> Gguf:
    """A recurrent model: its state cannot be rolled back."""
    d, inner, state, rank, kernel = 64, 128, 16, 32, 4
    model = tiny(name, "mamba")
    sizes = {"conv_kernel": kernel, "inner_size": inner, "state_size": state}
    for key, value in (sizes | {"time_step_rank": rank}).items():
        model.set(**{f"mamba.ssm.{key}": value})
    model.set(mamba__feed_forward_length=0)
    model.set(mamba__attention__head_count=0, mamba__attention__head_count_kv=0)
    rng = np.random.default_rng(67)
    for layer in range(2):
        parts = {
            "attn_norm.weight": norm(rng, d),
            "ssm_in.weight": q8(rng, d, 2 * inner),
            "ssm_conv1d.weight": f32(rng.normal(0, 0.5, (inner, kernel))),
            "ssm_conv1d.bias": f32(rng.normal(0, 0.1, inner)),
            "ssm_x.weight": q8(rng, inner, rank + 2 * state),
            "ssm_dt.weight": q8(rng, rank, inner),
            "ssm_dt.bias": f32(rng.uniform(-4, -2, inner)),
            "ssm_a": f32(-np.tile(np.arange(1.0, state + 1), (inner, 1))),
            "ssm_d": f32(np.ones(inner)),
            "ssm_out.weight": q8(rng, inner, d),
        }
        model.tensors |= {f"blk.{layer}.{part}": tensor for part, tensor in parts.items()}
    return model


def tiny_lfm2_swa(name: str) -> Gguf:
    """LFM2's kind with a sliding window in its layers with attention."""
    model = hybrid_models.lfm2(tiny(name, "lfm2", 4))
    model.set(lfm2__attention__sliding_window=SLIDING_WINDOW)
    return model


def tiny_swa(name: str) -> Gguf:
    """One layer that sees a sliding window and one that sees everything, as in Gemma 2."""
    model = tiny(name, "gemma2")
    del model.tensors["output.weight"]
    model.set(gemma2__attention__sliding_window=SLIDING_WINDOW)
    model.set(gemma2__attention__key_length=32, gemma2__attention__value_length=32)
    rng = np.random.default_rng(68)
    model.tensors["token_embd.weight"] = q8(rng, 64, 8192)
    for layer in range(2):
        parts = llama_layer(rng, 64, 128, mute=False)
        # Strong enough that the token itself, embedding and output being one, is not the answer.
        parts |= {
            part: norm(rng, 64, gain=12.0) for part in ("post_attention_norm", "post_ffw_norm")
        }
        for part, tensor in parts.items():
            model.tensors[f"blk.{layer}.{part}.weight"] = tensor
    return model


def tiny_moe(name: str) -> Gguf:
    """Two layers whose feed-forward part is a mixture of experts, as in Mixtral."""
    d, ff = 64, 128
    model = tiny(name)
    model.set(llama__expert_count=EXPERTS, llama__expert_used_count=EXPERTS // 2)
    rng = np.random.default_rng(71)
    for layer in range(2):
        parts = llama_layer(rng, d, ff, mute=False)
        parts["ffn_gate_inp"] = f32(rng.normal(0, d**-0.5, (EXPERTS, d)))
        for part in ("gate", "up", "down"):
            row, rows = parts.pop(f"ffn_{part}").shape
            flat = q8(rng, row, rows * EXPERTS)
            parts[f"ffn_{part}_exps"] = Tensor((row, rows, EXPERTS), flat.kind, flat.data)
        for part, tensor in parts.items():
            model.tensors[f"blk.{layer}.{part}.weight"] = tensor
    return model


def draft_corrupt(name: str) -> Gguf:
    """The demo draft with the rows of its output shuffled: sure of itself, and always wrong."""
    model = read(DEMO_DRAFT)
    embedding = model.tensors["token_embd.weight"]
    assert isinstance(embedding.data, bytes)
    rows = np.frombuffer(embedding.data, np.uint8).reshape(embedding.shape[1], -1)
    shuffled = np.random.default_rng(69).permutation(rows).tobytes()
    model.tensors["output.weight"] = Tensor(embedding.shape, embedding.kind, shuffled)
    model.set(general__name=f"Paceline {name}")
    return model


def random_model(name: str) -> Gguf:
    """Random layers of real width, with the demo pair's tokenizer."""
    return wide_models.random_llama(read(DEMO_DRAFT), **wide_models.originals()[name])


MAKERS: dict[str, Callable[[str], Gguf | bytes | Requantised]] = {
    "twin-70m": twin,
    "twin-350m": twin,
    "tiny-target": tiny_llama,
    "tiny-draft": functools.partial(tiny_llama, layers=1),
    "tiny-other-vocab": tiny_other_vocab,
    "tiny-big-vocab-mismatch": tiny_big_vocab,
    "tiny-foreign": tiny_foreign,
    "tiny-bos": tiny_bos,
    "tiny-no-template": tiny_no_template,
    "tiny-lfm2": lambda name: hybrid_models.lfm2(tiny(name, "lfm2", 4)),
    "tiny-lfm2-swa": tiny_lfm2_swa,
    "tiny-qwen35": lambda name: hybrid_models.qwen35(tiny(name, "qwen35", 4)),
    "tiny-qwen35moe": lambda name: hybrid_models.qwen35(
        tiny(name, "qwen35moe", 4), experts=EXPERTS
    ),
    "tiny-nemotron-h": lambda name: hybrid_models.nemotron_h(tiny(name, "nemotron_h", 6)),
    "short-qwen35": lambda _: hybrid_models.random_qwen35(read(DEMO_DRAFT), layers=4),
    "tiny-mtp": lambda name: mtp_models.qwen35(tiny, name),
    "tiny-mtp-true": lambda name: mtp_models.qwen35(tiny, name, "true"),
    "tiny-mtp-false": lambda name: mtp_models.qwen35(tiny, name, "false"),
    "tiny-mtp-glm4moe": lambda name: mtp_models.glm4moe(tiny, name),
    "tiny-unused-head": lambda name: mtp_models.glm4(tiny, name),
    "tiny-mtp-step35": lambda name: mtp_models.step35(tiny, name),
    "tiny-mtp-step35-true": lambda name: mtp_models.step35(tiny, name, "true"),
    "tiny-gemma4": lambda name: mtp_models.gemma4(tiny, name),
    "tiny-gemma4-assistant": lambda name: mtp_models.gemma4_assistant(tiny, name),
    "tiny-mamba": tiny_mamba,
    "tiny-swa": tiny_swa,
    "tiny-moe": tiny_moe,
    "tiny-nan": tiny_nan,
    "draft-corrupt": draft_corrupt,
    "truncated": lambda _: DEMO_TARGET.read_bytes()[: DEMO_TARGET.stat().st_size // 2],
    "not-a-model": lambda _: b"This file says gguf in its name and holds a sentence.\n",
    "wide-twin": lambda _: wide_models.wide_twin(read(DEMO_TARGET)),
    **dict.fromkeys(wide_models.originals(), random_model),
    **dict.fromkeys(wide_models.others(), wide_models.others().__getitem__),
}
NAMES = tuple(MAKERS)
USUAL = tuple(name for name in NAMES if not name.startswith("random-"))
"""Pairs that the script makes by default; the random models take seven gigabytes."""


# ---------------------------------------------------------------------------------- the cache


@functools.cache
def version() -> str:
    """A key that changes with the sources of this module and with the demo pair."""
    digest = hashlib.sha256()
    here = Path(__file__)
    parts = "gguf_file", "hybrid_models", "mtp_models", "requantised", "wide_models"
    modules = [here.with_name(f"{part}.py") for part in parts]
    for source in (here, *modules, DEMO_TARGET, DEMO_DRAFT):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]


def cache_folder() -> Path:
    """Return the default folder of all models."""
    default = Path(platformdirs.user_cache_dir("paceline", appauthor=False)) / "test-models"
    return Path(os.environ.get(CACHE_VARIABLE) or default)


def path(name: str, cache: Path | None = None) -> Path:
    """The file of this model; made now if it is not there yet."""
    make = MAKERS[name]
    folder = (cache or cache_folder()) / version()
    file = folder / f"{name}.gguf"
    if file.exists():
        return file
    folder.mkdir(parents=True, exist_ok=True)
    forget_old_versions(folder)
    model = make(name)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".making-") as scratch:
        written = Path(scratch) / file.name
        if isinstance(model, Requantised):
            requantise(path(model.source, cache), model.kind, written)
        elif isinstance(model, bytes):
            written.write_bytes(model)
        else:
            with written.open("wb") as out:
                model.write(out)
        written.replace(file)
    return file


def forget_old_versions(current: Path) -> None:
    """Remove what earlier versions made, once nothing was added to it for a month."""
    for folder in current.parent.iterdir():
        is_old = folder.stat().st_mtime < time.time() - 30 * 24 * 3600
        if is_old and folder != current and re.fullmatch("[0-9a-f]{12}", folder.name):
            shutil.rmtree(folder, ignore_errors=True)


def main(arguments: Iterable[str] | None = None) -> None:
    """Make the models that are named, or all."""
    parser = argparse.ArgumentParser(description="Make the models that the tests use.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all but random-*")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("--cache", type=Path, help=f"default: ${CACHE_VARIABLE}, else the user's")
    options = parser.parse_args(None if arguments is None else list(arguments))
    if options.list:
        print("\n".join(NAMES))
        return
    chosen = {pattern: fnmatch.filter(NAMES, pattern) for pattern in options.names or USUAL}
    if unknown := [pattern for pattern, names in chosen.items() if not names]:
        parser.error(f"no such model: {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    for names in chosen.values():
        for name in names:
            print(path(name, options.cache), flush=True)


if __name__ == "__main__":
    main()
