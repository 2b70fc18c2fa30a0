"""How a model takes tokens back, and how many states of a recurrent memory are kept for that.

One state for each token that can be taken back stands beside the present one in the context, where
the library can do that; elsewhere, copies are made of the present one. A loaded model and a plan
of the memory count alike by this, and say it in the same words. So they do with what is stored of
texts that were read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from paceline.sentence import Sentence, sentence

MOST_STATES = 16
"""In the context at most: longer drafts are seldom accepted whole, and each of their tokens takes
one state, 150 MB with 27 B weights."""
N_COPIES = 2
"""Copies at most: from before the last draft, and within the last prompt."""
_SHARE = 0.1  # of the memory that is free after the load
_LEAST = 4  # with fewer states, copies are better: they limit no draft


def states_in(free_bytes: int, state_bytes: int, n_most: int = MOST_STATES) -> int:
    """Return how many states a context keeps, by what is free where it lies; 0: it has copies."""
    n = min(int(_SHARE * free_bytes) // max(state_bytes, 1), n_most)
    return n if n >= _LEAST else 0


def has_copies(free_bytes: int, state_bytes: int) -> bool:
    """Whether copies find room, by what is free of the CPU's memory."""
    return N_COPIES * state_bytes <= _SHARE * free_bytes


def state_memory(free_bytes: int, most_bytes: int = -1) -> int:
    """Return how many bytes of memory stored states may take.

    Args:
        free_bytes: What is free after a load; 0: it is not known.
        most_bytes: What is wanted at most, which counts up to half of that; -1: it is not said.
    """
    if most_bytes < 0:
        return min(free_bytes // 8, 4 << 30)
    return min(most_bytes, free_bytes // 2) if free_bytes else most_bytes


def no_copies(part: str) -> Sentence:
    """Return why nothing is drafted, with the model's part in it."""
    return sentence(
        "This {part} has a recurrent memory, and copies of its state find no room or do not work "
        "here, so it cannot take tokens back.",
        part=part,
    )


@dataclass(frozen=True, slots=True)
class GoingBack:
    """How a target takes back rejected tokens.

    Attributes:
        way: By removing cells of attention; by that where no more than sliding windows is kept; by
            states that are kept in the context; by copies of the state; or not at all.
        n_tokens: How many it can take back, with "states".
    """

    way: Literal["cells", "windows", "states", "copies", "none"]
    n_tokens: int = 0

    @property
    def sentence(self) -> Sentence:
        """What that means, and why it is so where nothing can be drafted."""
        match self.way:
            case "cells":
                return sentence("All that was drafted can be taken back.")
            case "windows":
                return sentence(
                    "Its layers keep no more than their sliding windows: drafts can be taken back, "
                    "but what is far back is read again, and the same text is not promised."
                )
            case "states":
                return sentence(
                    "This model can take back {n} tokens: drafts end there.", n=self.n_tokens
                )
            case "copies":
                return sentence(
                    "This model's state is copied before each draft. After a wrong guess the "
                    "tokens before it are decoded once more."
                )
            case "none":
                return sentence(
                    "{why} It runs without speculation.", why=no_copies(sentence("model"))
                )
