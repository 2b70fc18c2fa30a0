"""Makes a model's card from the headers of its files.

Everything in a header was written by a stranger: texts are shortened and freed of control
characters, numbers that no model can have are refused. Pure; the inspector's process calls it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from paceline.catalog.cache_sizes import kv_elements
from paceline.catalog.card import ModelCard
from paceline.catalog.quantisation import quantisation_of
from paceline.catalog.words import one_line
from paceline.engine.gguf import GgufHeader
from paceline.engine.vocab import hash_of_texts
from paceline.errors import ModelError

TOKENS = "tokenizer.ggml.tokens"
"""The key of the tokens' texts, which `make_card` hashes when the header has them."""
_MOST_LAYERS = 512
"""LLAMA_MAX_LAYERS; llama.cpp ends the process at more."""
_BLOCK = re.compile(r"blk\.(\d{1,4})\.")
_EXPERTS = re.compile(r"_(ch)?exps(\.|$)")
_INPUT = ("token_embd.", "per_layer_token_embd.", "position_embd.", "token_types.")
"""Tables of which a token reads a row: LLM_TENSOR_LAYER_INPUT in src/llama-arch.cpp."""
_EMBEDDINGS, _OUTPUT = "token_embd.weight", "output.weight"
_FILE_ENDING = re.compile(r"(-\d{5}-of-\d{5})?\.gguf$", re.IGNORECASE)


def make_card(headers: Sequence[GgufHeader], file_name: str) -> ModelCard:
    """Return the card of a model.

    Args:
        headers: Of all its files in order; the first one holds the metadata.
        file_name: The first file's, to name the model by where its header does not.

    Raises:
        ModelError: It is no model, or has more blocks than llama.cpp can take.
    """
    header = headers[0]
    tensors = [tensor for each in headers for tensor in each.tensors]
    if not header.text("general.architecture"):
        raise ModelError(
            "cannot-load",
            f"“{file_name}” holds no model: its header names no architecture.",
            "Of a split model choose the first part, else another file.",
        )
    n_layers = header.of_architecture("block_count")
    if not 0 <= n_layers <= _MOST_LAYERS:
        raise ModelError(
            "cannot-load",
            f"“{file_name}” cannot be loaded: it says that it has {n_layers} blocks, and "
            f"llama.cpp takes at most {_MOST_LAYERS}.",
            "Download it again, or choose another one.",
        )
    layers, experts = [0] * n_layers, [0] * n_layers
    n_params = input_bytes = output_bytes = embedding_bytes = 0
    for tensor in tensors:
        n = 1
        for size in tensor.shape:
            n *= size
        n_params += n
        block = _BLOCK.match(tensor.name)
        if block and int(block[1]) < n_layers:
            layers[int(block[1])] += tensor.n_bytes
            if _EXPERTS.search(tensor.name):
                experts[int(block[1])] += tensor.n_bytes
        elif tensor.name.startswith(_INPUT):
            input_bytes += tensor.n_bytes
            embedding_bytes += tensor.n_bytes if tensor.name == _EMBEDDINGS else 0
        else:
            output_bytes += tensor.n_bytes
    is_tied = all(tensor.name != _OUTPUT for tensor in tensors)
    texts = token_texts(header)
    return ModelCard(
        name=one_line(header.text("general.name")) or one_line(_FILE_ENDING.sub("", file_name)),
        architecture=one_line(header.text("general.architecture")),
        family=one_line(header.text("general.basename")),
        quantisation=quantisation_of(header, tensors),
        license=one_line(header.text("general.license")),
        n_params=n_params,
        n_bytes=sum(tensor.n_bytes for tensor in tensors),
        n_layers=n_layers,
        n_ctx_train=_count(header, "context_length"),
        n_embd=_count(header, "embedding_length"),
        n_experts=_count(header, "expert_count"),
        n_vocab=header.arrays.get(TOKENS, 0),
        tokenizer=_tokenizer(header),
        vocabulary=hash_of_texts(texts) if texts else "",
        has_template="tokenizer.chat_template" in header.values,
        layer_bytes=tuple(layers),
        expert_bytes=tuple(experts),
        input_bytes=input_bytes,
        output_bytes=output_bytes,
        kv_elements=kv_elements(header, n_layers),
        n_experts_used=_count(header, "expert_used_count"),
        tied_bytes=embedding_bytes if is_tied else 0,
    )


def token_texts(header: GgufHeader) -> tuple[bytes, ...]:
    """Return the texts of a header's tokens as llama.cpp has them behind a load.

    It gives a name to those that have no text (`llama_vocab::impl::load`, src/llama-vocab.cpp).
    """
    texts = header.texts.get(TOKENS, ())
    if all(texts):
        return texts
    return tuple(text or b"[EMPTY_%d]" % token for token, text in enumerate(texts))


def _tokenizer(header: GgufHeader) -> str:
    names = (header.text(f"tokenizer.ggml.{part}") for part in ("model", "pre"))
    return "/".join(filter(None, map(one_line, names)))


def _count(header: GgufHeader, name: str) -> int:
    return max(header.of_architecture(name), 0)
