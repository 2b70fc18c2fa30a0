"""Drawing the tokens of rows: what it is asked, and what comes of it.

The order within a row: logit bias, penalties, grammar, top-k, top-p, min-p, temperature. Then noise
takes the place of the random draw: the argmax of ``logit / temperature + gumbel`` has exactly the
truncated softmax distribution; of equals the lowest id is drawn. `plain_rows.py` writes this
definition out in NumPy, `native_rows.py` has it in native code.
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
"""A lower temperature is 0: the noise could only decide between logits less than 3e-5 apart."""
TOP_OF_CONFIDENCE = 10
MOST_LIKELY = 20
"""Likeliest tokens that can be told of a row."""


class RowSettings(NamedTuple):
    """Settings of a reply, for all its rows.

    Attributes:
        params: What the user set.
        seed: 0 or more.
        biases: Of `params`, with what else is forbidden.
        penalties: Of `params`; their window moves with the reply.
        n_likely: How many of the likeliest tokens are told of each row; -1: nothing is told.
    """

    params: SamplingParams
    seed: int
    biases: Biases
    penalties: Penalties
    n_likely: int = -1


class Likely(NamedTuple):
    """Natural logarithms of probabilities by a row as it came: over all tokens, at temperature 1.

    Attributes:
        drawn: That of the drawn token.
        best: The likeliest tokens and theirs, the likeliest first.
    """

    drawn: float
    best: list[tuple[int, float]]


class RowDrawer(Protocol):
    """Draws the tokens of rows; `PlainRows` and `NativeRows`. Not thread-safe.

    Attributes:
        failure: Why the row after the drawn ones gave no token; None: it was not asked.
        confidence: The share of the likeliest token in the ten likeliest of the last row, 0..1, at
            temperature 1, as of the last call that asked for it.
        likely: What the rows told of the drawn tokens, where it is asked for. It grows until
            someone puts an empty list in its place.
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
            rows: float32 [len(draft) + 1, n_vocab], or [n_vocab] without a draft; biases and
                penalties are written into it, and -inf for some of what is not allowed.
            draft: The drafted tokens, may be empty; penalties take them for committed.
            position: Index within the reply of the first row's token, 0 or more.
            allowed: Which tokens the grammar allows in the first row; None: all. Only without a
                draft.
            has_confidence: Whether the confidence is asked for.

        Returns:
            The tokens, of fewer rows where one disagrees with the draft or fails.
        """


MakeDrawer = Callable[[RowSettings], RowDrawer]
"""Makes the drawer of a reply."""


def invalid_numbers() -> EngineError:
    """Return the error of a row with NaN or +inf, or with nothing but -inf."""
    return EngineError(
        "invalid-numbers",
        "The model produced invalid numbers instead of logits.",
        "The file may be damaged: verify or download it again, or try another one.",
    )


def nothing_left(biases: Biases, n_vocab: int) -> EngineError:
    """Return the error of a row with nothing but -inf, before the grammar was asked."""
    if not biases.forbids_all(n_vocab):
        return invalid_numbers()
    return NothingAllowedError(
        "all-forbidden",
        "Every token is forbidden, so nothing can be written.",
        "Remove logit biases of -inf.",
    )


def grammar_stuck() -> EngineError:
    """Return the error of a row of which the grammar leaves nothing."""
    return NothingAllowedError(
        "grammar-stuck",
        "The grammar allows no token that the model could go on with.",
        "Check that every text that the grammar begins can be completed, and that no logit "
        "bias forbids what it needs.",
    )
