"""The largest values of a row against a plain sort."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.sample.truncation import largest


@given(
    n=st.integers(1, 3000) | st.sampled_from([4096, 32_001, 49_152]),
    share=st.floats(0, 1),
    n_values=st.sampled_from([1, 2, 30, 1000, 1 << 30]),
    n_possible=st.integers(0, 5000),
    seed=st.integers(0, 1 << 30),
    kind=st.sampled_from([np.float32, np.float64]),
)
def test_they_are_those_of_a_sort(
    n: int, share: float, n_values: int, n_possible: int, seed: int, kind: type[np.floating]
) -> None:
    rng = np.random.default_rng(seed)
    row = rng.integers(n_values, size=n).astype(kind)
    row[rng.permutation(n)[n_possible:]] = -math.inf
    k = max(int(share**4 * n), 1)
    order = sorted(range(n), key=lambda token: (-row[token], token))
    tokens, values = largest(row, k)
    assert tokens.tolist() == order[:k]
    assert values.tolist() == row[order[:k]].tolist()
