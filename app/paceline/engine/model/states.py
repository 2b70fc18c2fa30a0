"""How many states of a recurrent memory are kept, so that drafts can be taken back.

One state for each token that can be taken back stands beside the present one in the context, where
the library can do that; elsewhere, copies are made of the present one. A loaded model and a plan
of the memory count alike by this.
"""

from __future__ import annotations

MOST_STATES = 16
"""In the context at most: longer drafts are seldom accepted whole, and each of their tokens takes
one state, 150 MB with 27 B weights."""
N_COPIES = 2
"""Copies at most: from before the last draft, and within the last prompt."""
NO_COPIES = (
    "This {} has a recurrent memory, and copies of its state find no room or do not work here, so "
    "it cannot take tokens back."
)
"""Why nothing is drafted, with the model's part in it."""
_SHARE = 0.1  # of the memory that is free after the load
_LEAST = 4  # with fewer states, copies are better: they limit no draft


def states_in(free_bytes: int, state_bytes: int, n_most: int = MOST_STATES) -> int:
    """Return how many states a context keeps, by what is free where it lies; 0: it has copies."""
    n = min(int(_SHARE * free_bytes) // max(state_bytes, 1), n_most)
    return n if n >= _LEAST else 0


def has_copies(free_bytes: int, state_bytes: int) -> bool:
    """Whether copies find room, by what is free of the CPU's memory."""
    return N_COPIES * state_bytes <= _SHARE * free_bytes
