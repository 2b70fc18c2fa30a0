"""Rolling back a model: its ways to remove tokens, and the number of kept recurrent states.

For each token that can be removed, one state is kept beside the present one in the context, if the
library can do that; otherwise the present one is copied. A loaded model and a memory plan both use
these rules and words. The same holds for stored states of texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from paceline.sentence import Sentence, sentence

MAX_STATES = 16
"""Maximum number of states in the context: longer drafts are seldom accepted whole, and each of
their tokens takes one state, 150 MB with 27 B weights."""
N_COPIES = 2
"""Maximum number of copies: from before the last draft, and within the last prompt."""
_FREE_SHARE = 0.1  # of the memory that is free after the load
_MIN_STATES = 4  # with fewer states, copies are better: they limit no draft


def states_in(free_bytes: int, state_bytes: int, n_most: int = MAX_STATES) -> int:
    """Return the number of states in a context by the free memory of its device; 0 for copies."""
    n = min(int(_FREE_SHARE * free_bytes) // max(state_bytes, 1), n_most)
    return n if n >= _MIN_STATES else 0


def has_copies(free_bytes: int, state_bytes: int) -> bool:
    """Return whether copies fit into the free memory of the CPU."""
    return N_COPIES * state_bytes <= _FREE_SHARE * free_bytes


def state_memory(free_bytes: int, most_bytes: int = -1) -> int:
    """Return the maximum bytes of memory for stored states.

    Args:
        free_bytes: Free memory after a load; 0 if not known.
        most_bytes: The wanted maximum, which is limited to half of that; -1 if not set.
    """
    if most_bytes < 0:
        return min(free_bytes // 8, 4 << 30)
    return min(most_bytes, free_bytes // 2) if free_bytes else most_bytes


def no_copies(part: str) -> Sentence:
    """Return the reason why nothing is drafted; `part` names the part of the model."""
    return sentence(
        "This {part} has a recurrent memory, and copies of its state find no room or do not work "
        "here, so it cannot take tokens back.",
        part=part,
    )


@dataclass(frozen=True, slots=True)
class GoingBack:
    """A target's way to remove rejected tokens.

    Attributes:
        way: "cells" removes cells of attention, "windows" does so where only sliding windows are
            kept, "states" uses states kept in the context, "copies" copies of the state; "none"
            means that it cannot.
        n_tokens: Maximum number of tokens to remove, with "states".
    """

    way: Literal["cells", "windows", "states", "copies", "none"]
    n_tokens: int = 0

    @property
    def sentence(self) -> Sentence:
        """The meaning for the user, with the reason if nothing can be drafted."""
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
