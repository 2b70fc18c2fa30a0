"""Texts with gaps: made-up pictures between token ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from hypothesis import strategies as st

from paceline.engine.model.tokens import Gap, TokenSequence, gaps_of


def gap(digest: str, n_cells: int, n_positions: int | None = None) -> Gap:
    """A picture; without a number of positions it takes one for each of its cells."""
    rows = np.zeros((n_cells, 4), np.float32)
    return Gap(digest, n_cells, n_cells if n_positions is None else n_positions, rows)


def sequence(parts: Iterable[int | Gap]) -> TokenSequence:
    """The parts one after the other."""
    tokens = TokenSequence()
    for part in parts:
        if isinstance(part, Gap):
            tokens.add(part)
        else:
            tokens.append(part)
    return tokens


def seen(tokens: Sequence[int], n: int) -> tuple[int, ...]:
    """Return the last cells as a model sees them: ids, or a number above them for a picture."""
    cells = list(tokens)
    for start, part in gaps_of(tokens):
        cells[start : start + part.n_cells] = [1000 + ord(part.digest)] * part.n_cells
    return tuple(cells[-n:])


GAPS = st.builds(gap, st.sampled_from("xy"), st.integers(1, 4), st.integers(1, 6))
PARTS = st.lists(st.integers(0, 2) | GAPS, max_size=9)
"""Few different ones, so that two texts often begin alike."""
PROMPTS = st.builds(lambda parts, last: [*parts, last], PARTS, st.integers(0, 2))
"""Texts that end with an id, as a prompt does."""
