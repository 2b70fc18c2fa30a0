"""Likelihoods of a reply's tokens by the model's own rows, for those who ask for them.

A likelihood is the model's own: the softmax of its row over the whole vocabulary at temperature 1.
The sampler writes biases, penalties and what a grammar forbids into the row, so the row is copied
before; without a request for them nothing of this is called.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from paceline.engine.model.backend import Row, Vocabulary
from paceline.engine.model.vocabularies import name_or_piece
from paceline.engine.sample.truncation import largest
from paceline.errors import refuse
from paceline.figures import LikelyToken, TokenLikelihood

Draw = Callable[[Row, int], int]
"""Draws the token of a row for a position of the reply."""

MOST = 20
"""Tokens that may be asked for besides the drawn one."""


class Likelihoods:
    """Stands between the decoder and what draws its tokens, and notes how likely these were.

    Args:
        vocab: Tells the tokens' bytes.
        n_best: How many of the likeliest tokens are told of each row, 0..`MOST`.

    Raises:
        ValueOutOfRangeError: So many cannot be told.
    """

    def __init__(self, vocab: Vocabulary, n_best: int) -> None:
        if not 0 <= n_best <= MOST:
            refuse(
                "The likeliest {n} tokens are asked for.", "Ask for 0 to {most}.",
                n=n_best,
                most=MOST,
            )  # fmt: skip
        self._vocab = vocab
        self._n_best = n_best
        self._noted: list[TokenLikelihood] = []

    def noting(self, draw: Draw) -> Draw:
        """Return what draws as `draw` does, and notes each token's likelihood."""
        return partial(self._draw, draw)

    def take(self, n_committed: int) -> tuple[TokenLikelihood, ...]:
        """Return what was noted of a step's committed tokens; a last one that was refused is not.

        Nothing of the step is kept.
        """
        taken = tuple(self._noted[:n_committed])
        self._noted.clear()
        return taken

    def _draw(self, draw: Draw, row: Row, position: int) -> int:
        own = row.copy()
        token = draw(row, position)  # raises where the row has invalid numbers
        self._noted.append(self._of(own, token))
        return token

    def _of(self, row: Row, token: int) -> TokenLikelihood:
        """Return how likely a token is by a model's row."""
        top = float(row.max())
        total = top + math.log(float(np.exp(row - np.float64(top)).sum()))
        best: tuple[LikelyToken, ...] = ()
        if self._n_best:
            tokens, logits = largest(row, min(self._n_best, len(row)))
            pairs = zip(tokens.tolist(), logits.tolist(), strict=True)
            best = tuple(self._likely(t, x - total) for t, x in pairs if x > -math.inf)
        return TokenLikelihood(self._likely(token, row.item(token) - total), best)

    def _likely(self, token: int, logprob: float) -> LikelyToken:
        return LikelyToken(token, name_or_piece(self._vocab, token), logprob)
