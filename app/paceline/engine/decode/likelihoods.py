"""Likelihoods of a reply's tokens by the model's own rows, for those who ask for them.

A likelihood is the model's own: the softmax of its row over the whole vocabulary at temperature 1,
without biases, penalties and what a grammar forbids.
"""

from __future__ import annotations

from collections.abc import Sequence

from paceline.engine.model.backend import Vocabulary
from paceline.engine.model.vocabularies import name_or_piece
from paceline.engine.sample.drawing import MOST_LIKELY, Likely
from paceline.engine.sample.sampling import Sampler
from paceline.errors import refuse
from paceline.figures import LikelyToken, TokenLikelihood


class Likelihoods:
    """Tells what a sampler has noted of the tokens that it drew.

    Args:
        vocab: Tells the tokens' bytes.
        sampler: Made with the number of likeliest tokens to note.
    """

    def __init__(self, vocab: Vocabulary, sampler: Sampler) -> None:
        self._vocab = vocab
        self._sampler = sampler

    def take(self, tokens: Sequence[int]) -> tuple[TokenLikelihood, ...]:
        """Return what was noted of a step's committed tokens, and keep nothing of the step.

        There may be more notes than tokens: of one that was refused, and of rows after an end.
        """
        return tuple(map(self._of, tokens, self._sampler.take_likely()))

    def _of(self, token: int, likely: Likely) -> TokenLikelihood:
        best = tuple(self._likely(*each) for each in likely.best)
        return TokenLikelihood(self._likely(token, likely.drawn), best)

    def _likely(self, token: int, logprob: float) -> LikelyToken:
        return LikelyToken(token, name_or_piece(self._vocab, token), logprob)


def check_likely(n: int) -> None:
    """Refuse a number of likeliest tokens that cannot be told.

    Raises:
        ValueOutOfRangeError: It is not -1 (nothing is told) to `MOST_LIKELY`.
    """
    if not -1 <= n <= MOST_LIKELY:
        refuse(
            "The likeliest {n} tokens are asked for.", "Ask for 0 to {most}.",
            n=n,
            most=MOST_LIKELY,
        )  # fmt: skip
