"""The GGUF file of a network: weights, tokenizer, chat template, and what it says about itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np

from demo_pair.chats.chat import SPECIAL, TEMPLATE
from demo_pair.learning.sizes import N_CONTEXT, Size

CUT = "qwen2"
"""How llama.cpp is to cut texts before it looks for tokens; see `tokenizer`."""
LICENCE = "PSF-2.0"
LICENCE_NAME = "Python Software Foundation License Version 2"
LICENCE_LINK = "https://docs.python.org/3.11/license.html"


@dataclass(frozen=True)
class Label:
    """What a file says about itself.

    Attributes:
        name: E.g. ``Paceline demo target 60M``.
        part: ``target`` or ``draft``.
        description: A sentence.
    """

    name: str
    part: str
    description: str


def label_for(part: str, size: Size) -> Label:
    """Return the label of one of the two models."""
    millions = f"{size.n_params / 1e6:.{0 if size.n_params > 9.5e6 else 1}f}M"
    role = "decides the text" if part == "target" else "drafts for the demo target"
    text = f"A small model that has read the documentation of CPython 3.11; it {role}."
    return Label(f"Paceline demo {part} {millions}", part, text)


def write_gguf(
    path: Path, size: Size, tensors: Mapping[str, np.ndarray], tokenizer: Path, label: Label
) -> None:
    """Write a model.

    Args:
        path: The file.
        size: The network's shape.
        tensors: From `load_pieces`, matrices in Q8_0.
        tokenizer: Its JSON file.
        label: What the file says about itself.
    """
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_type("model")
    writer.add_name(label.name)
    writer.add_basename(f"paceline-demo-{label.part}")
    writer.add_description(label.description)
    writer.add_license(LICENCE)
    writer.add_license_name(LICENCE_NAME)
    writer.add_license_link(LICENCE_LINK)
    writer.add_languages(["en"])
    writer.add_tags(["python", "documentation", "speculative-decoding"])
    _add_shape(writer, size)
    _add_tokenizer(writer, json.loads(tokenizer.read_text(encoding="utf-8")))
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    for name, tensor in tensors.items():
        is_matrix = tensor.dtype == np.uint8
        kind = gguf.GGMLQuantizationType.Q8_0 if is_matrix else gguf.GGMLQuantizationType.F32
        writer.add_tensor(name, np.array(tensor), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_shape(writer: gguf.GGUFWriter, size: Size) -> None:
    writer.add_context_length(N_CONTEXT)
    writer.add_embedding_length(size.width)
    writer.add_block_count(size.layers)
    writer.add_feed_forward_length(size.inner)
    writer.add_head_count(size.heads)
    writer.add_head_count_kv(size.kv_heads)
    writer.add_layer_norm_rms_eps(size.eps)
    writer.add_rope_freq_base(size.rope_base)
    writer.add_rope_dimension_count(size.width // size.heads)
    writer.add_vocab_size(size.n_vocab)


def _add_tokenizer(writer: gguf.GGUFWriter, tokenizer: dict[str, dict[str, object]]) -> None:
    entries, merges = vocabulary(tokenizer)
    control, normal = gguf.TokenType.CONTROL, gguf.TokenType.NORMAL
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(CUT)
    writer.add_token_list(entries)
    writer.add_token_types([control if each in SPECIAL else normal for each in entries])
    writer.add_token_merges(merges)
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(SPECIAL.index("<|im_end|>"))
    writer.add_pad_token_id(0)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)


def vocabulary(tokenizer: Mapping[str, object]) -> tuple[list[str], list[str]]:
    """Return entries by id, and merges as GGUF has them, of a tokenizer's JSON."""
    model = tokenizer["model"]
    assert isinstance(model, dict)
    by_id = model["vocab"]
    merges = [each if isinstance(each, str) else " ".join(each) for each in model["merges"]]
    return sorted(by_id, key=by_id.__getitem__), merges
