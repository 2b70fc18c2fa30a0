"""Facts of a model without its weights: the card of its file, and its nature.

A card comes from the header alone and is cheap; a nature needs llama.cpp to read the file (a load
without weights), since special tokens and the kind of memory follow from rules inside it. Both are
plain values that may be kept in a file; `inspect.inspector` makes them.

Names of quantisations are those of llama.cpp's quantiser (tools/quantize/quantize.cpp), which
publishers put into file names, too. Numbers: `enum llama_ftype` (include/llama.h) and `enum
ggml_type` (ggml.h). Bits per weight are llama.cpp's measurements on an 8B model
(tools/quantize/README.md); where it has none, those of the block format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from paceline.codec import Checked
from paceline.engine.draft.heads import HEAD_KINDS
from paceline.engine.model.model_file import GgufHeader, GgufTensor

Memory = Literal["attention", "recurrent", "hybrid"]


class ModelCard(Checked, frozen=True):
    """A model by its header; sizes in bytes over all parts of a split model.

    Attributes:
        name: Its name in the header; the file's name where the header has none.
        architecture: E.g. ``llama``, ``qwen3``.
        family: ``general.basename``, or empty.
        quantisation: E.g. ``Q4_K_M``.
        license: Licence in the header, or empty.
        n_params: Weights, counted over all tensors.
        n_bytes: Size of all tensors.
        n_layers: Blocks.
        n_ctx_train: Context length in tokens that the model was trained for, or 0 if not known.
        n_embd: Width of the residual stream.
        n_experts: 0 for a dense model.
        n_vocab: Tokens.
        tokenizer: Kind and way of splitting, e.g. ``gpt2/qwen2``.
        vocabulary: 16 hex digits of all token texts, or empty if the file has no tokenizer.
        has_template: Whether it brings a chat template.
        layer_bytes: Weights of each block, experts included.
        expert_bytes: Of these, the weights of experts.
        input_bytes: Token embeddings and other tables of which a token reads a row; they stay in
            the CPU's memory.
        output_bytes: All other weights outside the blocks, mostly the output.
        kv_elements: Per block: elements of a token's keys and values; (0, 0) for one without
            attention. An upper bound where a window limits attention: `Measurement` is exact.
        n_experts_used: Number of experts that work on one token, or 0 if the header does not say.
        tied_bytes: Part of `input_bytes` that also serves as the output and is then read in full; 0
            if the output has weights of its own.
        sidecar: Id in `engine.draft.heads` of a drafter that is no model of its own, or empty for a
            model.
        n_heads: Number of its last blocks that are MTP heads.
        n_embd_out: Width of its output states, or of the states that a head reads, if the header
            names it. 0 means `n_embd`; for an assistant it means unknown.
    """

    name: str
    architecture: str
    family: str
    quantisation: str
    license: str
    n_params: int
    n_bytes: int
    n_layers: int
    n_ctx_train: int
    n_embd: int
    n_experts: int
    n_vocab: int
    tokenizer: str
    vocabulary: str
    has_template: bool
    layer_bytes: tuple[int, ...]
    expert_bytes: tuple[int, ...]
    input_bytes: int
    output_bytes: int
    kv_elements: tuple[tuple[int, int], ...]
    n_experts_used: int = 0
    tied_bytes: int = 0
    sidecar: str = ""
    n_heads: int = 0
    n_embd_out: int = 0


_MADE = 2  # changes when cards are made differently of the same header


def card_version() -> list[int | str]:
    """Return the values that must match for a stored card to be used: version, fields and kinds."""
    return [_MADE, *ModelCard.__struct_fields__, *(kind.id for kind in HEAD_KINDS)]


class Nature(Checked, frozen=True):
    """A model by llama.cpp's reading of its header.

    Attributes:
        kind: `enum llama_vocab_type`.
        n_tokens: Tokens of the vocabulary.
        bos: Id of the token that begins a text, or -1 if there is none.
        eos: Id of the token that ends one, or -1 if there is none.
        add_bos: Whether texts begin with it.
        add_eos: Whether texts end with it.
        memory: "attention" can take back single tokens; the other kinds restore a saved state.
        writes: Whether it generates text from left to right; false for encoders and diffusion.
    """

    kind: int
    n_tokens: int
    bos: int
    eos: int
    add_bos: bool
    add_eos: bool
    memory: Memory
    writes: bool


@dataclass(frozen=True, slots=True)
class Examined:
    """All that a judgement about a model needs.

    Attributes:
        card: Facts from the header.
        nature: Facts from llama.cpp.
        texts: Every token's text by id, UTF-8 or not.
    """

    card: ModelCard
    nature: Nature
    texts: tuple[bytes, ...]


_FILE_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K",
    11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S",
    17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS",
    23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S", 29: "IQ2_M",
    30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4", 39: "NVFP4",
    40: "Q1_0", 41: "Q2_0",
}  # fmt: skip
_TENSOR_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 8: "Q8_0", 10: "Q2_K",
    11: "Q3_K", 12: "Q4_K", 13: "Q5_K", 14: "Q6_K", 16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS",
    19: "IQ1_S", 20: "IQ4_NL", 21: "IQ3_S", 22: "IQ2_S", 23: "IQ4_XS", 28: "F64", 29: "IQ1_M",
    30: "BF16", 34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4", 40: "NVFP4", 41: "Q1_0", 42: "Q2_0",
}  # fmt: skip
_BITS = {
    "F64": 64.0, "F32": 32.0, "F16": 16.0, "BF16": 16.0, "Q8_0": 8.5, "Q6_K": 6.56,
    "Q5_K_M": 5.70, "Q5_K_S": 5.57, "Q5_K": 5.70, "Q5_1": 6.0, "Q5_0": 5.5, "Q4_K_M": 4.89,
    "Q4_K_S": 4.67, "Q4_K": 4.89, "Q4_1": 5.0, "Q4_0": 4.5, "Q3_K_L": 4.30, "Q3_K_M": 4.00,
    "Q3_K_S": 3.64, "Q3_K": 4.00, "Q2_K": 3.16, "Q2_K_S": 2.97, "IQ4_NL": 4.68, "IQ4_XS": 4.46,
    "IQ3_M": 3.76, "IQ3_S": 3.66, "IQ3_XS": 3.50, "IQ3_XXS": 3.25, "IQ2_M": 2.93, "IQ2_S": 2.74,
    "IQ2_XS": 2.59, "IQ2_XXS": 2.38, "IQ1_M": 2.15, "IQ1_S": 2.00, "TQ2_0": 2.06, "TQ1_0": 1.69,
    "MXFP4": 4.25, "NVFP4": 4.5, "Q2_0": 2.25, "Q1_0": 1.125,
}  # fmt: skip
_LARGER = re.compile(r"_(L|XL|XXL)$")
"""Suffixes of publishers to llama.cpp's names: Q6_K_L, Q4_K_XL; slightly more bits."""
_NAME = re.compile(
    r"(?:^|[-_. ])"
    r"((?:UD-)?(?:I?Q\d_(?:K(?:_(?:XXS|XS|S|M|L|XL|XXL))?|XXS|XS|S|M|L|XL|NL|\d)|TQ\d_0)"
    r"|BF16|F?P?16|F?P?32|MXFP4(?:_MOE)?|NVFP4)"
    r"(?=$|[-_. ])",
    re.IGNORECASE,
)
_OTHER_NAMES = {"FP16": "F16", "FP32": "F32", "MXFP4_MOE": "MXFP4"}


def quantisation_of(header: GgufHeader, tensors: Iterable[GgufTensor] | None = None) -> str:
    """Return a model's quantisation, e.g. ``Q4_K_M``.

    Args:
        header: Header of the file, or of a split model's first part.
        tensors: Tensors of all parts, used if the header does not name it: then the type of most
            bytes is returned.
    """
    named = _FILE_TYPES.get(header.whole("general.file_type"))
    if named and "general.file_type" in header.values:
        return named
    n_bytes: dict[int, int] = {}
    for tensor in header.tensors if tensors is None else tensors:
        n_bytes[tensor.kind] = n_bytes.get(tensor.kind, 0) + tensor.n_bytes
    if not n_bytes:
        return ""
    return _TENSOR_TYPES.get(max(n_bytes, key=lambda kind: n_bytes[kind]), "")


def quantisation_in_name(file_name: str) -> str:
    """Return the quantisation in a file's name, in capitals; empty when there is none.

    The last one counts: one before it may belong to the model's own name.
    """
    found: list[str] = _NAME.findall(file_name)
    if not found:
        return ""
    name = found[-1].upper()
    return _OTHER_NAMES.get(name, name)


def without_quantisation(file_name: str) -> str:
    """Return a file's name without the quantisation in it."""
    return _NAME.sub("", file_name)


def bits_per_weight(name: str) -> float:
    """Return the average number of bits of a weight; 0 for an unknown name."""
    name = name.upper().removeprefix("UD-").removesuffix("_MOE")
    base = _LARGER.sub("", name)
    for known in (name, f"{base}_L", f"{base}_M", base, f"{base.removesuffix('_K')}_0"):
        if known in _BITS:
            return _BITS[known]
    return 0.0
