"""Drawing in NumPy: the definition, for machines without the native library.

`native_rows.py` gives the same token for every input, which is tested.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from paceline.engine.model.backend import Row, Rows
from paceline.engine.model.token_mask import TokenMask
from paceline.engine.sample.drawing import (
    COLD,
    TOP_OF_CONFIDENCE,
    Likely,
    RowSettings,
    grammar_stuck,
    invalid_numbers,
    nothing_left,
)
from paceline.engine.sample.edits import forbid
from paceline.engine.sample.noise import GUMBEL_MAX, GUMBEL_MIN, gumbel, gumbel_of, position_key
from paceline.engine.sample.truncation import Tokens, Values, kept, largest
from paceline.errors import EngineError


class PlainRows:
    """Implements `RowDrawer` in NumPy."""

    def __init__(self, settings: RowSettings) -> None:
        self._settings = settings
        self.failure: EngineError | None = None
        self.confidence = 0.0
        self.likely: list[Likely] = []

    def draw(
        self,
        rows: Rows | Row,
        draft: Sequence[int],
        position: int,
        allowed: TokenMask | None = None,
        *,
        has_confidence: bool = False,
    ) -> list[int]:
        """Draw rows in order; see `RowDrawer`."""
        tokens: list[int] = []
        self.failure = None
        for i, row in enumerate(np.atleast_2d(rows)[: len(draft) + 1]):
            own = row.copy() if self._settings.n_likely >= 0 else row
            try:
                top = self._edit(row, draft[:i], allowed)
            except EngineError as failure:
                self.failure = failure
                break
            token = self._choose(row, top, position + i)
            tokens.append(token)
            if self._settings.n_likely >= 0:
                self.likely.append(likely_of(own, token, self._settings.n_likely))
            if has_confidence:
                self.confidence = _confidence_of(row, top)
            if i < len(draft) and token != draft[i]:
                break
        return tokens

    def _edit(self, row: Row, ahead: Sequence[int], allowed: TokenMask | None) -> float:
        """Write biases, penalties and the grammar's mask into a row; return its largest logit."""
        settings = self._settings
        settings.biases.apply(row)
        if settings.penalties.is_active:
            settings.penalties.apply(row, ahead)
        top = float(row.max())  # NaN if there is one
        if top == -math.inf:
            raise nothing_left(settings.biases, len(row))
        if not math.isfinite(top):
            raise invalid_numbers()
        if allowed is not None:
            forbid(row, allowed)
            top = float(row.max())
            if top == -math.inf:
                raise grammar_stuck()
        return top

    def _choose(self, row: Row, top: float, position: int) -> int:
        params = self._settings.params
        if params.temperature < COLD:
            return int(row.argmax())  # the lowest id among equals
        tokens, logits = kept(row, top, params)
        # A logit this far below the largest one loses to it with any noise.
        reach = np.float64(top + (GUMBEL_MIN - GUMBEL_MAX) * params.temperature)
        can_win = logits >= reach - 1e-6 * abs(reach)
        key = position_key(self._settings.seed, position)
        return winner(tokens[can_win], logits[can_win], params.temperature, key)


def winner(tokens: Tokens, logits: Values, temperature: float, key: int) -> int:
    """Return the token with the largest logit / temperature + noise; the lowest id among equals.

    Args:
        tokens: Ids, int64 [n], n > 0.
        logits: Logits of `tokens`, float32 [n], finite.
        temperature: Above 0.
        key: Key of the position, see `noise.position_key`.
    """
    scores = logits / np.float64(temperature)
    scores += gumbel(key, tokens)
    best = float(scores.max())
    # Logarithms of NumPy and of Python may differ in the last digit.
    near = (scores >= best - 1e-9 - 1e-12 * abs(best)).nonzero()[0]
    if len(near) == 1:
        return int(tokens[near[0]])
    pairs = zip(logits[near].tolist(), tokens[near].tolist(), strict=True)
    _, token = min((-(x / temperature + gumbel_of(key, token)), token) for x, token in pairs)
    return int(token)


def _confidence_of(row: Row, top: float) -> float:
    _, logits = largest(row, min(TOP_OF_CONFIDENCE, len(row)))
    return 1.0 / sum(math.exp(logit - top) for logit in logits.tolist())


def likely_of(row: Row, token: int, n: int) -> Likely:
    """Return the likelihoods of a token and of the `n` most likely ones, by an unedited row."""
    top = float(row.max())
    if not math.isfinite(top):  # only edits make it a row from which a token can be drawn
        return Likely(math.nan, [])
    total = top + math.log(float(np.exp(row - np.float64(top)).sum()))
    tokens, logits = largest(row, min(n, len(row))) if n else (np.empty(0, np.int64), row[:0])
    pairs = zip(tokens.tolist(), logits.tolist(), strict=True)
    best = [(each, logit - total) for each, logit in pairs if logit > -math.inf]
    return Likely(row.item(token) - total, best)
