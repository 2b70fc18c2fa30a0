"""Which strategy for which work: a small table of recommendations.

Sources: `docs/speculative.md` of llama.cpp (which drafter is for what) and how each lookup works.
A recommendation is a start, not a promise: the figures of the user's own replies say more, and
`chat/advice/reply_advice.py` reads them. Pure functions, any thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from paceline.engine.draft.strategy import Needs, parse_strategy
from paceline.errors import UserError

UseCase = Literal["general", "editing", "structured", "long", "reasoning", "memory"]
USE_CASES: tuple[UseCase, ...] = (
    "general", "editing", "structured", "long", "reasoning", "memory",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The strategy to start with for one kind of work.

    Attributes:
        use_case: The kind of work.
        strategy: A text that `parse_strategy` takes.
        draft_is_spare: Whether a loaded draft model, or head, would only take memory.
    """

    use_case: UseCase
    strategy: str
    draft_is_spare: bool = False


# With a draft model first, in whose place a head may stand, then without one; the first that there
# is here counts.
_TABLE: dict[UseCase, tuple[tuple[str, ...], tuple[str, ...]]] = {
    # Nothing is known about the text: Auto measures; otherwise only a model can draft.
    "general": (("auto", "draft"), ("auto", "suffix", "prompt-lookup")),
    # Most of the reply stands in the prompt already: copies of any length, the model between them.
    "editing": (("suffix+draft", "prompt-lookup+draft"), ("suffix", "ngram-simple")),
    # The same keys are repeated with other values after them.
    "structured": (
        (
            "ngram-map-k4v+draft:ngram-map-k4v.n=8:ngram-map-k4v.m=8:ngram-map-k4v.min_hits=2",
            "draft",
        ),
        ("ngram-map-k4v:n=8:m=8:min_hits=2", "prompt-lookup"),
    ),
    # A pool of constant size over the whole chat.
    "long": (("ngram-mod+draft", "suffix+draft"), ("ngram-mod", "suffix")),
    # What was thought is said once more in the answer, in long pieces.
    "reasoning": (
        ("ngram-mod+draft:ngram-mod.n_min=16", "suffix+draft"),
        ("ngram-mod:n_min=16", "suffix"),
    ),
    # No second model and an index of the prompt alone.
    "memory": (("prompt-lookup",), ("prompt-lookup",)),
}


def recommend(
    use_case: UseCase, *, model: Needs, is_known: Callable[[str], bool] | None = None
) -> Recommendation:
    """Return the strategy to start with.

    Args:
        use_case: The kind of work.
        model: What is loaded to draft: a draft model, an MTP head, or nothing.
        is_known: Whether a strategy can be used here; by default, whether it can be parsed.
    """
    with_draft, without = _TABLE[use_case]
    with_model = [text.replace("draft", model) for text in with_draft] if model else ()
    texts = (*with_model, *without)
    return Recommendation(
        use_case,
        _first(texts, is_known or can_be_used),
        draft_is_spare=bool(model) and use_case == "memory",
    )


def can_be_used(strategy: str) -> bool:
    """Whether all drafters and settings of a text exist."""
    try:
        parse_strategy(strategy)
    except UserError:
        return False
    return True


def _first(texts: Sequence[str], is_known: Callable[[str], bool]) -> str:
    return next((text for text in texts if is_known(text)), "off")
