"""A model, how it is to be loaded, and the sizes of its caches.

Caches are measured, or follow from the header. A measurement may be of the same model with another
context or cache type: then it is changed by what the estimates differ. Pure functions; sizes in
bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from msgspec import structs

from paceline.catalog.card import ModelCard
from paceline.catalog.memory.values import Measurement
from paceline.engine.draft.heads import head_kind
from paceline.engine.model.memory_hints import CTX_STEP_TOKENS
from paceline.engine.model.model_params import DEFAULT_CTX, KV_TYPES
from paceline.params import ModelParams

BATCH = 512
"""Upper bound of the tokens that are computed together."""


@dataclass(frozen=True, slots=True)
class Load:
    """A model and how it is loaded.

    Attributes:
        card: The model.
        params: Parameters of the load.
        n_rows: Upper bound of the rows of logits of one decode.
        measured: Result of a dry run, or None if there was none.
        measured_for: Parameters of the dry run.
        n_states: Upper bound of the earlier states of a recurrent memory that it keeps.
        head: The target's head, which is loaded as the target is, or None if it has none.
        n_hidden: Width of the target's states that are kept for a head; 0 without one.
    """

    card: ModelCard
    params: ModelParams
    n_rows: int
    measured: Measurement | None = None
    measured_for: ModelParams | None = None
    n_states: int = 0
    head: Load | None = None
    n_hidden: int = 0

    @property
    def n_ctx(self) -> int:
        """Tokens of its context, as the engine chooses them."""
        return n_ctx_of(self.params, self.card)

    def changed(self, **params: Any) -> Load:
        """Return the same model, loaded with these parameters in place of its own."""
        changed = replace(self.params, **params)
        return replace(self, params=changed, head=self.head and self.head.changed(**params))

    def with_head(self, card: ModelCard, measured: Measurement | None) -> Load:
        """Return the same target with a head, which may be in the same file."""
        params = self.params
        head = Load(_heads_of(card), params, 1, measured, params, n_hidden=self.card.n_embd)
        return replace(self, head=head)


def without_heads(card: ModelCard) -> ModelCard:
    """Return a model without its heads, for when they are not loaded or counted separately."""
    n = card.n_layers - card.n_heads
    return card if card.sidecar or not card.n_heads else _with_layers(card, range(n))


def _heads_of(card: ModelCard) -> ModelCard:
    """Return the card of a file's heads alone; they share the target's embeddings and output."""
    kind = head_kind(card.sidecar)
    if kind is not None and not kind.has_cache:
        return structs.replace(card, kv_elements=((0, 0),) * card.n_layers)
    if card.sidecar:
        return card
    heads = _with_layers(card, range(card.n_layers - card.n_heads, card.n_layers))
    return structs.replace(heads, input_bytes=0, output_bytes=0, tied_bytes=0)


def _with_layers(card: ModelCard, kept: range) -> ModelCard:
    """Return a model of which only these layers are loaded; the others keep their places."""
    kv = card.kv_elements
    return structs.replace(
        card,
        layer_bytes=tuple(n if i in kept else 0 for i, n in enumerate(card.layer_bytes)),
        expert_bytes=tuple(n if i in kept else 0 for i, n in enumerate(card.expert_bytes)),
        kv_elements=tuple(n if i in kept else (0, 0) for i, n in enumerate(kv)),
    )


def n_ctx_of(params: ModelParams, card: ModelCard) -> int:
    """Return the context in tokens that the engine would choose; see `choose_ctx`."""
    return params.n_ctx or min(DEFAULT_CTX, card.n_ctx_train or DEFAULT_CTX)


def windows_of(load: Load, caches: list[int]) -> list[int]:
    """Return the size of each layer's cache where no more than its sliding window is kept.

    Args:
        load: The model.
        caches: Their sizes with the whole text in them.
    """
    if load.measured is None or load.measured_for is None or not load.measured.window_layers:
        return caches
    then, now = load.measured_for, load.params
    windows = (*load.measured.window_layers, *(0,) * len(caches))
    change = _bytes_per_element(now) / _bytes_per_element(then)
    return [min(whole, round(n * change)) for whole, n in zip(caches, windows, strict=False)]


def _bytes_per_element(params: ModelParams) -> float:
    return KV_TYPES[params.kv_type_k][1] + KV_TYPES[params.kv_type_v][1]


def caches_of(load: Load) -> list[int]:
    """Return the size of each layer's cache, with the whole text in it."""
    wanted = _estimated_caches(load.params, load.card)
    if load.measured is None or load.measured_for is None:
        return wanted
    then = _estimated_caches(load.measured_for, load.card)
    # llama.cpp does not count layers that predict several tokens, which come last.
    measured = (*load.measured.kv_layers, *(0,) * len(wanted))[: len(wanted)]
    # A recurrent state is as large for any context, and has no elements per token.
    return [
        round(size * now / before) if before else size
        for size, now, before in zip(measured, wanted, then, strict=True)
    ]


def _estimated_caches(params: ModelParams, card: ModelCard) -> list[int]:
    cells = cells_of(params, card)
    of_k, of_v = KV_TYPES[params.kv_type_k][1], KV_TYPES[params.kv_type_v][1]
    return [round(cells * (k * of_k + v * of_v)) for k, v in card.kv_elements]


def cells_of(params: ModelParams, card: ModelCard) -> int:
    """Return how many tokens a cache with the whole text has room for."""
    return -(-n_ctx_of(params, card) // CTX_STEP_TOKENS) * CTX_STEP_TOKENS
