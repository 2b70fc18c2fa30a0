"""Models as values, for tests of what is said about them."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from paceline.catalog.card import Examined, ModelCard, Nature

N_TOKENS = 400
TEXTS = tuple(f"word{i}".encode() for i in range(N_TOKENS))
CARD = ModelCard(
    name="Wolf 8B Instruct", architecture="llama", family="Wolf-3", quantisation="Q4_K_M",
    license="mit", n_params=8_000_000_000, n_bytes=4_900_000_000, n_layers=32, n_ctx_train=32768,
    n_embd=4096, n_experts=0, n_vocab=N_TOKENS, tokenizer="gpt2/wolf",
    vocabulary="0123456789abcdef", has_template=True,
    layer_bytes=(140_000_000,) * 32, expert_bytes=(0,) * 32,
    input_bytes=210_000_000, output_bytes=210_000_000, kv_elements=((1024, 1024),) * 32,
)  # fmt: skip
SMALL = structs.replace(
    CARD, name="Wolf 0.5B Instruct", quantisation="Q8_0", n_params=500_000_000,
    n_bytes=530_000_000, n_layers=20, layer_bytes=(20_000_000,) * 20, expert_bytes=(0,) * 20,
    input_bytes=130_000_000, output_bytes=0, tied_bytes=130_000_000,
)  # fmt: skip
NATURE = Nature(
    kind=2, n_tokens=N_TOKENS, bos=0, eos=1, add_bos=True, add_eos=False, memory="attention",
    writes=True,
)  # fmt: skip
TARGET = Examined(CARD, NATURE, TEXTS)
DRAFT = Examined(SMALL, NATURE, TEXTS)


def changed(model: Examined, **changes: Any) -> Examined:
    """A model with other values in its card or its nature, whichever has the field."""
    of_nature = set(Nature.__struct_fields__) & changes.keys()
    nature = {name: changes.pop(name) for name in of_nature}
    texts = changes.pop("texts", model.texts)
    return Examined(
        structs.replace(model.card, **changes), structs.replace(model.nature, **nature), texts
    )


def with_text(model: Examined, token: int, text: bytes) -> Examined:
    """A model in whose vocabulary one token has another text."""
    texts = (*model.texts[:token], text, *model.texts[token + 1 :])
    return changed(model, texts=texts, vocabulary="fedcba9876543210")


def resized(model: Examined, n_tokens: int) -> Examined:
    """A model whose vocabulary ends earlier, or goes on."""
    more = tuple(f"more{i}".encode() for i in range(len(model.texts), n_tokens))
    return changed(
        model, texts=(*model.texts, *more)[:n_tokens], n_tokens=n_tokens, n_vocab=n_tokens
    )
