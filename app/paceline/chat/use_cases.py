"""Which strategy for which work: what is handed down for llama.cpp's drafters, as a small table.

The grounds are `docs/speculative.md` of llama.cpp (which drafter is for what) and the way each
lookup works. A recommendation is where to begin, not a promise: figures of the own replies say
more, and `chat/advice.py` reads them. Pure functions, any thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from paceline.engine.drafters.strategy import parse_strategy
from paceline.errors import UserError

UseCase = Literal["general", "editing", "structured", "long", "reasoning", "memory"]
USE_CASES: tuple[UseCase, ...] = (
    "general", "editing", "structured", "long", "reasoning", "memory",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Where to begin with one kind of work.

    Attributes:
        use_case: The kind of work.
        strategy: A text that `parse_strategy` takes.
        needs_learning: Whether it gains from what is kept across chats.
        draft_is_spare: Whether a draft model that is loaded would only take memory.
    """

    use_case: UseCase
    strategy: str
    needs_learning: bool = False
    draft_is_spare: bool = False


# With a draft model first, then without one; the first that there is here counts.
_TABLE: dict[UseCase, tuple[tuple[str, ...], tuple[str, ...]]] = {
    # Nothing is known about the text: what pays is measured, else only a model can write ahead.
    "general": (("auto", "draft"), ("auto", "suffix", "prompt-lookup")),
    # Most of the reply stands in the prompt already: copies of any length, the model between them.
    "editing": (("suffix+draft", "prompt-lookup+draft"), ("suffix", "ngram-simple")),
    # The same keys come again and again with other values behind them.
    "structured": (
        ("ngram-map-k4v:n=8:m=8:min_hits=2+draft", "draft"),
        ("ngram-map-k4v:n=8:m=8:min_hits=2", "prompt-lookup"),
    ),
    # A pool of constant size over all chats.
    "long": (("ngram-mod+draft", "suffix+draft"), ("ngram-mod", "suffix")),
    # What was thought is said once more in the answer, in long pieces.
    "reasoning": (("ngram-mod:n_min=16+draft", "suffix+draft"), ("ngram-mod:n_min=16", "suffix")),
    # No second model and an index of the prompt alone.
    "memory": (("prompt-lookup",), ("prompt-lookup",)),
}


def recommend(
    use_case: UseCase, *, has_draft: bool, is_known: Callable[[str], bool] | None = None
) -> Recommendation:
    """Return where to begin.

    Args:
        use_case: The kind of work.
        has_draft: Whether a draft model is loaded.
        is_known: Whether a strategy can be used here; by default, whether it can be parsed.
    """
    with_draft, without = _TABLE[use_case]
    texts = [_chain(text) for text in (*(with_draft if has_draft else ()), *without, "off")]
    return Recommendation(
        use_case,
        _first(texts, is_known or can_be_used),
        needs_learning=use_case == "long",
        draft_is_spare=has_draft and use_case == "memory",
    )


def can_be_used(strategy: str) -> bool:
    """Whether all drafters and settings of a text exist."""
    try:
        parse_strategy(strategy)
    except UserError:
        return False
    return True


def _chain(text: str) -> str:
    """Put the settings of a chain's members behind all names, with their owners."""
    names, settings = [], []
    members = text.split("+")
    for member in members:
        name, *assignments = member.split(":")
        names.append(name)
        prefix = f"{name}." if len(members) > 1 else ""
        settings += [f"{prefix}{assignment}" for assignment in assignments]
    return ":".join(["+".join(names), *settings])


def _first(texts: Sequence[str], is_known: Callable[[str], bool]) -> str:
    return next((text for text in texts if is_known(text)), "off")
