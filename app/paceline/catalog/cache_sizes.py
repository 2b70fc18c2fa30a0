"""How large a model's caches of keys and values are, by its header: elements per token and block.

The rules are llama.cpp's: `load_hparams` in src/llama-model.cpp, llama-hparams.cpp,
llama-kv-cache.cpp, and the files of the families below src/models. Where a family is not known,
every block counts as one with attention: a bound from above. Pure functions; any header, also one
that makes no sense.
"""

from __future__ import annotations

from collections.abc import Sequence

from paceline.engine.gguf import GgufHeader

_EVERY_NTH = {"qwen3next": 4, "qwen35": 4, "qwen35moe": 4, "qwen4exp": 4, "minimax-01": 8}
"""Families in which only every n-th block has attention, and their n where no key says it."""
_FIRST_BLOCKS = {"gemma3n": 20}
"""Families in which only the first blocks have caches, and the others use theirs."""


def kv_elements(header: GgufHeader, n_layers: int) -> tuple[tuple[int, int], ...]:
    """Return per block the elements of one token's keys and values.

    Args:
        header: With the model's metadata.
        n_layers: Blocks, those for predicting several tokens included.
    """
    heads = _per_layer(header, "attention.head_count", n_layers, [0] * n_layers)
    kv_heads = _per_layer(header, "attention.head_count_kv", n_layers, heads)
    head = header.of_architecture("embedding_length") // heads[0] if heads and heads[0] else 0
    full = _lengths(header, "", (head, head))
    windowed = _lengths(header, "_swa", full)
    is_windowed = _windowed(header, n_layers)
    if is_windowed is None and windowed != full:  # which blocks, the header does not tell
        full = max(full[0], windowed[0]), max(full[1], windowed[1])
    has_cache = _with_cache(header, n_layers, has_heads=bool(head or full != (0, 0)))
    mla = [header.of_architecture(f"attention.{side}_length_mla") for side in ("key", "value")]
    found = []
    for i in range(n_layers):
        keys, values = windowed if is_windowed and is_windowed[i] else full
        n = kv_heads[i] if has_cache[i] else 0
        found.append((n * keys, 0 if all(mla) else n * values))  # MLA's keys hold the values
    return tuple(found)


def _lengths(header: GgufHeader, ending: str, otherwise: tuple[int, int]) -> tuple[int, int]:
    keys, values = (
        header.of_architecture(f"attention.{side}_length{ending}") for side in ("key", "value")
    )
    return keys if keys > 0 else otherwise[0], values if values > 0 else otherwise[1]


def _with_cache(header: GgufHeader, n_layers: int, *, has_heads: bool) -> list[bool]:
    """Return which blocks have caches of their own."""
    architecture = header.text("general.architecture")
    if not has_heads or header.of_architecture("wkv.head_size"):
        return [False] * n_layers
    has = [True] * n_layers
    if "attention.recurrent_layers" in _own_arrays(header):
        recurrent = _per_layer(header, "attention.recurrent_layers", n_layers, [0] * n_layers)
        has = [not value for value in recurrent]
    elif architecture in _EVERY_NTH:
        n = header.of_architecture("full_attention_interval") or _EVERY_NTH[architecture]
        has = [(i + 1) % n == 0 for i in range(n_layers)]
    n_shared = header.of_architecture("attention.shared_kv_layers")
    n_own = min(_FIRST_BLOCKS.get(architecture, n_layers), n_layers - n_shared)
    n_own = min(n_own, n_layers - header.of_architecture("nextn_predict_layers"))
    return [value and i < n_own for i, value in enumerate(has)]


def _windowed(header: GgufHeader, n_layers: int) -> list[bool] | None:
    """Return which blocks' attention sees a window only; None where the header does not tell."""
    key = "attention.sliding_window_pattern"
    if key in _own_arrays(header):
        return [bool(value) for value in _per_layer(header, key, n_layers, [0] * n_layers)]
    n = header.of_architecture(key)
    return [i % n < n - 1 for i in range(n_layers)] if n > 0 else None


def _own_arrays(header: GgufHeader) -> set[str]:
    prefix = f"{header.text('general.architecture')}."
    return {key.removeprefix(prefix) for key in header.numbers if key.startswith(prefix)}


def _per_layer(
    header: GgufHeader, name: str, n_layers: int, otherwise: Sequence[int]
) -> Sequence[int]:
    """Return a value per block, whether the header has one for all or one for each."""
    key = f"{header.text('general.architecture')}.{name}"
    if key in header.numbers:
        given = header.numbers[key][:n_layers]
        numbers = [max(n, 0) if isinstance(n, int) else 0 for n in given]
        return numbers + [0] * (n_layers - len(numbers))
    if key in header.values:
        return [max(header.whole(key), 0)] * n_layers
    return otherwise
