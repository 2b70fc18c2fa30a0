"""How well n-gram counts would have foretold a text, without running a model.

After `examples/lookup/lookup-stats.cpp` of llama.cpp: the text is cut into pieces as long as a
chat, each piece is “generated” with drafts from the counts, and what one piece taught is known as
an earlier chat's in the next. Other than there, the last piece counts as well, though it is
shorter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paceline.engine.drafters import lookup_cache
from paceline.engine.drafters.lookup_cache import LONGEST, LookupCache
from paceline.engine.drafters.ngram_cache import MOST_FOLLOWERS, draft
from paceline.engine.drafters.ngram_counts import LAX, STRICT, Counts, StaticBigrams

PIECE = 4096
"""Tokens of a piece: the context that a chat has by default."""
N_DRAFT = 8


@dataclass(slots=True)
class Trial:
    """What came out.

    Attributes:
        n_tokens: Tokens foretold or not, without the first of each piece.
        n_steps: Verify decodes that they would have taken.
        n_drafted: Tokens drafted.
        n_accepted: How many of them were right.
    """

    n_tokens: int = 0
    n_steps: int = 0
    n_drafted: int = 0
    n_accepted: int = 0

    @property
    def acceptance_rate(self) -> float | None:
        """Accepted over drafted; None when nothing was drafted."""
        return self.n_accepted / self.n_drafted if self.n_drafted else None

    @property
    def mean_committed_per_step(self) -> float | None:
        """Tokens per verify decode; None without any."""
        return self.n_tokens / self.n_steps if self.n_steps else None


def try_out(cache: LookupCache, text: Sequence[int], n_vocab: int, *, piece: int = PIECE) -> Trial:
    """Foretell a text with a static cache.

    Args:
        cache: The cache; its bigrams count.
        text: Token ids.
        n_vocab: Size of the vocabulary that all ids are from.
        piece: Tokens per piece.
    """
    bits = n_vocab.bit_length()
    static = StaticBigrams(cache, bits)
    dynamic, earlier = Counts(bits, STRICT), lookup_cache.empty()
    trial = Trial()
    for start in range(0, len(text), piece):
        chat = text[start : start + piece]
        _generate(chat, Counts(bits, LAX), dynamic, static, trial)
        learned = lookup_cache.count(chat, range(1, LONGEST + 1))
        earlier = lookup_cache.prune(lookup_cache.merge([earlier, learned]), MOST_FOLLOWERS)
        dynamic.load(earlier)
    return trial


def _generate(
    chat: Sequence[int], context: Counts, dynamic: Counts, static: StaticBigrams, trial: Trial
) -> None:
    context.feed(chat, 0, 1)
    n = 1
    while n < len(chat):
        drafted = draft(context, dynamic, static, chat[max(n - LONGEST, 0) : n], N_DRAFT)
        n_right = 0
        for token, true in zip(drafted, chat[n:], strict=False):
            if token != true:
                break
            n_right += 1
        n_committed = min(n_right + 1, len(chat) - n)
        context.feed(chat, n, n + n_committed)
        n += n_committed
        trial.n_steps += 1
        trial.n_tokens += n_committed
        trial.n_drafted += len(drafted)
        trial.n_accepted += n_right
