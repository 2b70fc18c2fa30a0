"""Likelihoods of a reply's tokens, for requests that ask for them.

A likelihood is the model's own: the softmax of its row over the whole vocabulary at temperature 1,
without biases, penalties and grammar.
"""

from __future__ import annotations

from collections.abc import Sequence

from paceline.engine.model.backend import Vocabulary
from paceline.engine.model.vocabularies import name_or_piece
from paceline.engine.sample.drawing import MAX_LIKELY, Likely
from paceline.engine.sample.sampling import Sampler
from paceline.errors import refuse
from paceline.figures import LikelyToken, TokenLikelihood


class Likelihoods:
    """Converts the likelihoods that a sampler has noted for the tokens it drew.

    Args:
        vocab: Vocabulary for the bytes of tokens.
        sampler: Sampler made with the number of most likely tokens to note.
    """

    def __init__(self, vocab: Vocabulary, sampler: Sampler) -> None:
        self._vocab = vocab
        self._sampler = sampler

    def take(self, tokens: Sequence[int]) -> tuple[TokenLikelihood, ...]:
        """Return the likelihoods of a step's committed tokens, and discard all notes of the step.

        There may be more notes than tokens: for a token that was refused, and for rows after an
        end.
        """
        return tuple(map(self._of, tokens, self._sampler.take_likely()))

    def _of(self, token: int, likely: Likely) -> TokenLikelihood:
        best = tuple(self._likely(*each) for each in likely.best)
        return TokenLikelihood(self._likely(token, likely.drawn), best)

    def _likely(self, token: int, logprob: float) -> LikelyToken:
        return LikelyToken(token, name_or_piece(self._vocab, token), logprob)


def check_likely(n: int) -> None:
    """Refuse a number of most likely tokens that is out of range.

    Raises:
        ValueOutOfRangeError: It is not from -1 (report none) to `MAX_LIKELY`.
    """
    if not -1 <= n <= MAX_LIKELY:
        refuse(
            "The likeliest {n} tokens are asked for.", "Ask for 0 to {most}.",
            n=n,
            most=MAX_LIKELY,
        )  # fmt: skip
