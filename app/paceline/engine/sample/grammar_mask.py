"""What a grammar leaves of a row, asking it about as few tokens as possible.

The definition is: tokens that the grammar forbids lose their logit, then the row is truncated.
But asking about a vocabulary of 152k tokens takes tens of milliseconds, and what is drawn is
nearly always among the largest logits. So the row is walked downwards in growing blocks until the
tokens that were not asked about cannot change the result any more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from paceline.engine.model.backend import Grammar, Row
from paceline.engine.sample.gumbel_argmax import scores_of
from paceline.engine.sample.noise import GUMBEL_MAX
from paceline.engine.sample.truncation import Tokens, Values, largest, survivors
from paceline.errors import NothingAllowedError
from paceline.params import SamplingParams

BLOCKS = (64, 512, 8192)
_SAFE = 1e-9  # relative; more than any rounding of weights and their sums


class Block(NamedTuple):
    """The next tokens of a walk.

    Attributes:
        tokens: The allowed ones among them, int64 [n], sorted downwards by value.
        values: Their values, [n].
        bound: What is left has no larger value.
        n_left: How many tokens are left.
    """

    tokens: Tokens
    values: Values
    bound: float
    n_left: int


class Allowed(NamedTuple):
    """What grammar and truncation leave.

    Attributes:
        tokens: Ids, int64 [n], sorted downwards by logit.
        logits: Their logits, [n].
        weights: exp(logit - largest allowed logit) of these and perhaps some more allowed tokens.
    """

    tokens: Tokens
    logits: Values
    weights: list[float]


class Walk:
    """Walks rows from the largest value down."""

    def __init__(self, blocks: Sequence[int] = BLOCKS) -> None:
        self._blocks = blocks

    def blocks(self, grammar: Grammar, row: Values) -> Iterator[Block]:
        """Yield blocks until nothing above -inf is left; the lower id comes first among equals.

        Args:
            grammar: Says what is allowed.
            row: Floats [n_vocab] without NaN.
        """
        n = len(row)
        asked: Tokens = np.empty(0, np.int64)
        for k in self._blocks:
            if k >= n:
                break
            tokens, values = largest(row, k)
            fresh = slice(len(asked), None)
            yield _block(grammar, tokens[fresh], values[fresh], float(values[-1]), n - k)
            asked = tokens
        rest = row > -math.inf
        rest[asked] = False
        tokens = rest.nonzero()[0]
        block = _block(grammar, tokens, row[tokens], -math.inf, 0)
        order = (-block.values).argsort(kind="stable")
        yield Block(block.tokens[order], block.values[order], -math.inf, 0)

    def leaders(self, grammar: Grammar, row: Values) -> tuple[Tokens, Values]:
        """Return some allowed tokens and their values, sorted downwards from the largest on.

        Raises:
            NothingAllowedError: There is none.
        """
        for block in self.blocks(grammar, row):
            if len(block.tokens):
                return block.tokens, block.values
        raise _stuck()

    def truncate(self, grammar: Grammar, row: Row, params: SamplingParams, key: int) -> Allowed:
        """Return what the grammar and then top-k, top-p and min-p leave of a row.

        With noise alone left to decide, it may also leave out what cannot win.

        Raises:
            NothingAllowedError: Nothing is left.
        """
        k = params.top_k or len(row)
        tokens: Tokens = np.empty(0, np.int64)
        logits: Values = np.empty(0, row.dtype)
        for block in self.blocks(grammar, row):
            tokens = np.concatenate((tokens, block.tokens))[:k]
            logits = np.concatenate((logits, block.values))[:k]
            if not len(tokens):
                continue
            best = np.float64(logits[0])
            weights: list[float] = np.exp(logits - best).tolist()
            n_left = min(k - len(tokens), block.n_left)
            next_weight = math.exp(block.bound - best) if n_left else 0.0
            n = _decided(weights, n_left, next_weight, params)
            if n is None and params.top_p == 1:
                scores = scores_of(tokens, logits, params.temperature, key)
                if block.bound / params.temperature + GUMBEL_MAX < scores.max():
                    n = len(tokens)
            if n is not None:
                return Allowed(tokens[:n], logits[:n], weights)
        raise _stuck()


def _block(grammar: Grammar, tokens: Tokens, values: Values, bound: float, n_left: int) -> Block:
    above = values > -math.inf
    if not above.all():
        tokens, values = tokens[above], values[above]
    if len(tokens):
        allowed = grammar.allowed(tokens)
        tokens, values = tokens[allowed], values[allowed]
    return Block(tokens, values, bound, n_left)


def _decided(
    weights: list[float], n_left: int, next_weight: float, params: SamplingParams
) -> int | None:
    """Return how many tokens survive; None while it depends on tokens not asked about.

    Args:
        weights: Of the allowed tokens so far, sorted.
        n_left: How many more there may be.
        next_weight: None of them weighs more.
        params: Top-p and min-p.
    """
    if not n_left:
        enough = params.top_p * sum(weights) if params.top_p < 1 else math.inf
        return survivors(weights, enough, params.min_p)
    least, most = math.inf, math.inf
    total = list(accumulate(weights))[-1]
    if params.top_p < 1:
        least = params.top_p * total * (1 - _SAFE)
        most = params.top_p * (total + n_left * next_weight) * (1 + _SAFE)
    n = survivors(weights, most, params.min_p)
    if n != survivors(weights, least, params.min_p):
        return None
    ends = n < len(weights) or total >= most or next_weight * (1 + _SAFE) < params.min_p
    return n if ends else None


def _stuck() -> NothingAllowedError:
    return NothingAllowedError(
        "grammar-stuck",
        "The grammar allows no token that the model could go on with.",
        "Check that every text that the grammar begins can be completed, and that no logit bias "
        "forbids what it needs.",
    )
