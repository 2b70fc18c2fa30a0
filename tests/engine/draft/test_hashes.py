"""All n-gram hashes of a text against one after the other."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.draft.lookups.hashes import MULTIPLIER, window_hashes


@given(st.lists(st.integers(0, 2**31 - 1), max_size=40), st.integers(1, 45))
def test_every_window_has_the_hash_of_its_tokens(tokens: list[int], n: int) -> None:
    wanted = []
    for at in range(len(tokens) - n + 1):
        value = 0
        for token in tokens[at : at + n]:
            value = (value + token) * MULTIPLIER % 2**64
        wanted.append(value)
    assert window_hashes(np.array(tokens, np.uint64), n).tolist() == wanted
