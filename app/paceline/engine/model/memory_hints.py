"""What to try instead when memory does not suffice: a smaller context, or something else to save.

llama.cpp says what it could not allocate and nothing about what would fit; that follows from the
cache's size per token, which grows with the context while weights and buffers stay as they are.
Pure functions.
"""

from __future__ import annotations

import re

from paceline.params import ModelParams
from paceline.sentence import joined, sentence
from paceline.sizes import readable_size

MIN_PROPOSAL = 512
"""Tokens; too few for a chat if there are less."""
CTX_STEP = 256
"""Tokens; llama.cpp pads contexts to it."""
_SHARE = 0.8  # of the free memory: the buffers for computing come on top
SMALLER_MODEL = sentence("a smaller model")
QUANTISED_CACHE = sentence("a quantised cache")
SLOW_CACHE = sentence(
    "On a processor a quantised cache makes long prompts slower to read: "
    "2,400 tokens take about three times as long with q8_0, and four to "
    "seven times with fewer bits."
)
"""SmolLM2-135M Q8_0 on two processors, keys and values, in times of f16: q8_0 2.6 to 3.3, q4_0 4.3
to 5.7, q5_0 6.6, iq4_nl 7.0. It grows with the prompt: at 512 tokens q8_0 1.7 and q4_0 2.5, at
1,200 2.0 and 4.0. A token of a reply takes 1.1 to 2.6 times as long after 2,400."""
FEWER_PROGRAMS = sentence("fewer other programs at the same time")
_PLAIN_TYPES = ("f32", "f16", "bf16")
_MEMORY = re.compile(
    r"bad_alloc|out of memory|cannot allocate|(unable|failed) to allocate|malloc failed"
    r"|insufficient memory|not enough (memory|space)",
    re.IGNORECASE,
)
_SIZE = re.compile(r"\bof size (\d+)(?![\d.])")


def is_about_memory(why: str) -> bool:
    """Whether a complaint of llama.cpp says that memory did not suffice."""
    return _MEMORY.search(why) is not None


def with_readable_sizes(why: str) -> str:
    """Return a complaint of llama.cpp with its bytes in words."""
    if not _SIZE.search(why):
        return why  # which may be a sentence
    return _SIZE.sub(lambda size: f"of {readable_size(int(size[1]))}", why)


def smaller_context(n_ctx: int, n_fits: float | None = None) -> int | None:
    """Return a context to try after one of `n_ctx` tokens failed.

    Args:
        n_ctx: Tokens of the one that failed.
        n_fits: Tokens for which the cache alone would fill the free memory; None: not known.

    Returns:
        Tokens, at least `MIN_PROPOSAL` and fewer than `n_ctx`; None when there is nothing between.
    """
    if n_fits is not None and n_fits < n_ctx:
        n = int(n_fits * _SHARE) // CTX_STEP * CTX_STEP
        return n if n >= MIN_PROPOSAL else None
    n = max(n_ctx // 2, MIN_PROPOSAL)  # the estimate says that it fits, and it did not
    return n if n < n_ctx else None


def what_to_do(params: ModelParams, n_ctx: int, n_fits: float | None = None) -> str:
    """Return a sentence about what to try when a context found no room; see `smaller_context`."""
    ways = []
    n = smaller_context(n_ctx, n_fits)
    if n is not None:
        ways.append(a_context_of(n))
    if has_plain_cache(params):
        ways.append(QUANTISED_CACHE)
    ways.append(SMALLER_MODEL)
    return what_helps(ways)


def a_context_of(n_ctx: int) -> str:
    """Return one of the ways for `what_helps`."""
    return sentence("a context of {n_ctx:,} tokens or fewer", n_ctx=n_ctx)


def has_plain_cache(params: ModelParams) -> bool:
    """Whether the cache could be quantised to save memory."""
    return params.kv_type_k in _PLAIN_TYPES


def has_quantised_cache(params: ModelParams) -> bool:
    """Whether keys or values are quantised."""
    return not {params.kv_type_k, params.kv_type_v} <= set(_PLAIN_TYPES)


def what_helps(ways: list[str]) -> str:
    """Return a sentence that lists these, at least one, by signs alone: no word joins them."""
    return sentence("What can help: {ways}.", ways=joined(ways, ", "))


def what_to_do_about_weights(params: ModelParams) -> str:
    """Return a sentence about what to try when a model's weights found no room."""
    ways = [SMALLER_MODEL, sentence("one with fewer bits per weight")]
    if params.extra_bufts:
        ways.append(sentence("a load without repacking (no second copy of the weights)"))
    return what_helps([*ways, FEWER_PROGRAMS])
