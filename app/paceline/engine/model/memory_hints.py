"""Hints for insufficient memory: a smaller context, or something else that saves memory.

llama.cpp reports the allocation that failed and not what would fit; that follows from the cache's
size per token, which grows with the context while weights and buffers stay the same. Pure
functions.
"""

from __future__ import annotations

import re

from paceline.params import ModelParams
from paceline.sentence import joined, sentence
from paceline.sizes import readable_size

MIN_PROPOSAL_TOKENS = 512
"""Minimum size of a proposed context in tokens; a smaller one is of no use for a chat."""
CTX_STEP_TOKENS = 256
"""Multiple to which llama.cpp pads contexts, in tokens."""
_FREE_SHARE = 0.8  # of the free memory for the cache: buffers for computing come on top
SMALLER_MODEL = sentence("a smaller model")
QUANTISED_CACHE = sentence("a quantised cache")
SLOW_CACHE = sentence(
    "On a processor a quantised cache makes long prompts slower to read: "
    "2,400 tokens take about three times as long with q8_0, and four to "
    "seven times with fewer bits."
)
"""SmolLM2-135M Q8_0 on two processors, keys and values, relative to the time with f16: q8_0 2.6 to
3.3, q4_0 4.3 to 5.7, q5_0 6.6, iq4_nl 7.0. The factor grows with the prompt: at 512 tokens q8_0 1.7
and q4_0 2.5, at 1,200 2.0 and 4.0. A token of a reply takes 1.1 to 2.6 times as long after
2,400."""
FEWER_PROGRAMS = sentence("fewer other programs at the same time")
_PLAIN_TYPES = ("f32", "f16", "bf16")
_MEMORY = re.compile(
    r"bad_alloc|out of memory|cannot allocate|(unable|failed) to allocate|malloc failed"
    r"|insufficient memory|not enough (memory|space)",
    re.IGNORECASE,
)
_SIZE = re.compile(r"\bof size (\d+)(?![\d.])")


def is_about_memory(why: str) -> bool:
    """Return whether an error message of llama.cpp reports insufficient memory."""
    return _MEMORY.search(why) is not None


def with_readable_sizes(why: str) -> str:
    """Return an error message of llama.cpp with its bytes in readable units."""
    if not _SIZE.search(why):
        return why  # it may be a `Sentence`
    return _SIZE.sub(lambda size: f"of {readable_size(int(size[1]))}", why)


def smaller_context(n_ctx: int, n_fits: float | None = None) -> int | None:
    """Return the size of a context to try after one of `n_ctx` tokens failed.

    Args:
        n_ctx: Tokens of the context that failed.
        n_fits: Tokens for which the cache alone would fill the free memory, or None if not known.

    Returns:
        Tokens, at least `MIN_PROPOSAL_TOKENS` and fewer than `n_ctx`; None if there are none.
    """
    if n_fits is not None and n_fits < n_ctx:
        n = int(n_fits * _FREE_SHARE) // CTX_STEP_TOKENS * CTX_STEP_TOKENS
        return n if n >= MIN_PROPOSAL_TOKENS else None
    n = max(n_ctx // 2, MIN_PROPOSAL_TOKENS)  # the estimate was too optimistic
    return n if n < n_ctx else None


def what_to_do(params: ModelParams, n_ctx: int, n_fits: float | None = None) -> str:
    """Return a sentence about what to try after a context did not fit; see `smaller_context`."""
    ways = []
    n = smaller_context(n_ctx, n_fits)
    if n is not None:
        ways.append(a_context_of(n))
    if has_plain_cache(params):
        ways.append(QUANTISED_CACHE)
    ways.append(SMALLER_MODEL)
    return what_helps(ways)


def a_context_of(n_ctx: int) -> str:
    """Return a smaller context as one of the options of `what_helps`."""
    return sentence("a context of {n_ctx:,} tokens or fewer", n_ctx=n_ctx)


def has_plain_cache(params: ModelParams) -> bool:
    """Return whether the cache could be quantised to save memory."""
    return params.kv_type_k in _PLAIN_TYPES


def has_quantised_cache(params: ModelParams) -> bool:
    """Return whether keys or values are quantised."""
    return not {params.kv_type_k, params.kv_type_v} <= set(_PLAIN_TYPES)


def what_helps(ways: list[str]) -> str:
    """Return a sentence that lists these options, at least one, separated by signs alone."""
    return sentence("What can help: {ways}.", ways=joined(ways, ", "))


def what_to_do_about_weights(params: ModelParams) -> str:
    """Return a sentence about what to try after a model's weights did not fit."""
    ways = [SMALLER_MODEL, sentence("one with fewer bits per weight")]
    if params.extra_bufts:
        ways.append(sentence("a load without repacking (no second copy of the weights)"))
    return what_helps([*ways, FEWER_PROGRAMS])
