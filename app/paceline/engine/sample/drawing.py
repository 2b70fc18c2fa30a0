"""The protocol of drawing tokens from rows of logits: settings, results and errors.

The order within a row: logit bias, penalties, grammar, top-k, top-p, min-p, temperature. Noise
takes the place of the random draw: the argmax of ``logit / temperature + gumbel`` has exactly the
truncated softmax distribution; of equal values the lowest id is drawn. `plain_rows.py` implements
this definition in NumPy, `native_rows.py` in native code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from paceline.engine.model.backend import Row, Rows
from paceline.engine.model.token_mask import TokenMask
from paceline.engine.sample.edits import Biases, Penalties
from paceline.errors import EngineError, NothingAllowedError
from paceline.params import SamplingParams

COLD = 1e-6
"""Temperatures below count as 0: noise could only decide between logits less than 3e-5 apart."""
TOP_OF_CONFIDENCE = 10
MAX_LIKELY = 20
"""Maximum number of most likely tokens that can be reported of a row."""


class RowSettings(NamedTuple):
    """The settings of a reply, for all its rows.

    Attributes:
        params: The user's settings.
        seed: 0 or more.
        biases: Biases of `params`, and other forbidden tokens.
        penalties: Penalties of `params`; their window moves with the reply.
        n_likely: Number of most likely tokens to report of each row; -1 reports nothing.
    """

    params: SamplingParams
    seed: int
    biases: Biases
    penalties: Penalties
    n_likely: int = -1


class Likely(NamedTuple):
    """Natural logarithms of probabilities by an unedited row: over all tokens, at temperature 1.

    Attributes:
        drawn: Value of the drawn token.
        best: The most likely tokens with their values, the most likely first.
    """

    drawn: float
    best: list[tuple[int, float]]


class RowDrawer(Protocol):
    """Draws the tokens of rows; implemented by `PlainRows` and `NativeRows`. Not thread-safe.

    Attributes:
        failure: Error of the row after the drawn ones, or None if it was not drawn from.
        confidence: Share of the most likely token among the ten most likely of the last row, 0..1,
            at temperature 1, as of the last call with `has_confidence`.
        likely: Likelihoods of the drawn tokens, where `n_likely` asks for them. The list grows
            until the caller replaces it by an empty one.
    """

    failure: EngineError | None
    confidence: float
    likely: list[Likely]

    def draw(
        self,
        rows: Rows | Row,
        draft: Sequence[int],
        position: int,
        allowed: TokenMask | None = None,
        *,
        has_confidence: bool = False,
    ) -> list[int]:
        """Draw rows in order until one disagrees with the draft, or gives no token.

        Args:
            rows: float32 [len(draft) + 1, n_vocab], or [n_vocab] without a draft; modified: biases
                and penalties are written into it, and -inf for some forbidden tokens.
            draft: The drafted tokens; may be empty. Penalties treat them as committed.
            position: Index within the reply of the first row's token, 0 or more.
            allowed: Tokens that the grammar allows in the first row, or None for all; only without
                a draft.
            has_confidence: Whether to compute the confidence.

        Returns:
            The tokens; fewer than rows if one disagrees with the draft or fails.
        """


MakeDrawer = Callable[[RowSettings], RowDrawer]
"""Factory of a reply's drawer."""


def invalid_numbers() -> EngineError:
    """Return the error of a row with NaN or +inf, or with nothing but -inf."""
    return EngineError(
        "invalid-numbers",
        "The model produced invalid numbers instead of logits.",
        "The file may be damaged: verify or download it again, or try another one.",
    )


def nothing_left(biases: Biases, n_vocab: int) -> EngineError:
    """Return the error of a row with nothing but -inf, before the grammar was applied."""
    if not biases.forbids_all(n_vocab):
        return invalid_numbers()
    return NothingAllowedError(
        "all-forbidden",
        "Every token is forbidden, so nothing can be written.",
        "Remove logit biases of -inf.",
    )


def grammar_stuck() -> EngineError:
    """Return the error of a row in which the grammar allows no token."""
    return NothingAllowedError(
        "grammar-stuck",
        "The grammar allows no token that the model could go on with.",
        "Check that every text that the grammar begins can be completed, and that no logit "
        "bias forbids what it needs.",
    )
