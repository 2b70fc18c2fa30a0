"""What Paceline knows of a model without its weights: the card of its file, and its nature.

A card comes from the header alone and is cheap; a nature needs llama.cpp's own reading of the file
(a load without weights), since special tokens and the kind of memory follow from rules inside it.
Both are plain values that may be kept in a file. How they are made: `inspector`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Memory = Literal["attention", "recurrent", "hybrid"]


@dataclass(frozen=True, slots=True)
class ModelCard:
    """A model by its header; sizes in bytes over all parts of a split model.

    Attributes:
        name: What its maker calls it; the file's name where the header has none.
        architecture: E.g. ``llama``, ``qwen3``.
        family: ``general.basename``, or empty.
        quantisation: E.g. ``Q4_K_M``.
        license: As the header names it, or empty.
        n_params: Weights, counted over all tensors.
        n_bytes: Of all tensors.
        n_layers: Blocks.
        n_ctx_train: Tokens the model was trained for; 0: not said.
        n_embd: Width of the residual stream.
        n_experts: 0 for a dense model.
        n_vocab: Tokens.
        tokenizer: Kind and way of splitting, e.g. ``gpt2/qwen2``.
        vocabulary: 16 hex digits of all token texts; empty: the file has no tokenizer.
        has_template: Whether it brings a chat template.
        layer_bytes: Weights of each block, experts included.
        expert_bytes: Of these, the weights of experts.
        input_bytes: Token embeddings and other tables of which a token reads a row; they stay in
            the CPU's memory.
        output_bytes: Everything else outside the blocks, the output above all.
        kv_elements: Per block: elements of a token's keys and values; (0, 0) for one without
            attention. An upper bound where a window limits attention: `Measurement` is exact.
        n_experts_used: Of the experts, how many work on one token; 0: not said.
        tied_bytes: Of `input_bytes`, what serves as the output, too, and is read in full then; 0
            where the output has weights of its own.
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


@dataclass(frozen=True, slots=True)
class Nature:
    """A model by llama.cpp's reading of its header.

    Attributes:
        kind: `enum llama_vocab_type`.
        n_tokens: Tokens of the vocabulary.
        bos: Id of the token that begins a text; -1: none.
        eos: Id of the token that ends one; -1: none.
        add_bos: Whether texts begin with it.
        add_eos: Whether texts end with it.
        memory: "attention" can be rolled back token by token, the others cannot without help.
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
        card: From the header.
        nature: From llama.cpp.
        texts: Every token's text by id, UTF-8 or not.
    """

    card: ModelCard
    nature: Nature
    texts: tuple[bytes, ...]
