"""Suffix drafting: the longest match of any length, in this chat or an earlier one.

After SuffixDecoding (arXiv 2411.04975): the longest end of the text that stood there before is
looked up in the present chat and among earlier ones; what mostly followed is drafted, token by
token, for as long as that is likely enough. Unlike there, the longest match alone counts, with
this chat before the others; and counts in this chat are those of PPM (`suffix_automaton.py`), where
what long contexts explain does not blur the short ones.

How likely is the next token? What followed in a share s of the places, after L tokens that agree,
comes with s * L / (L + 1): a text that has agreed L times in a row goes on agreeing, by Laplace's
reasoning, about that often. So one single place is no certainty, a short match makes a short
draft, and a long match a long one: with all places alike, L / (L + k) for k tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

from paceline.engine.draft.base import NO_DRAFT, Draft, DrafterInfo, Parameter
from paceline.engine.draft.lookups.earlier_texts import CONTEXT
from paceline.engine.draft.lookups.lookup import Lookup
from paceline.engine.draft.lookups.suffix_automaton import SuffixAutomaton


class Suffix(Lookup[SuffixAutomaton]):
    """Confidences say how likely a token is, given those before it; see the module."""

    name = "suffix"

    def new_index(self) -> SuffixAutomaton:
        """Return an empty automaton."""
        return SuffixAutomaton()

    def look_up(
        self, index: SuffixAutomaton, history: Sequence[int], ahead: Sequence[int], n_max: int
    ) -> Draft:
        """Follow the longest match, in this chat if it is as long there as in earlier ones."""
        n = min(n_max, int(self.settings["max"]))
        shortest, p_min = int(self.settings["min_match"]), self.settings["p_min"]
        here, earlier = index.match(ahead), self.bench.earlier
        if earlier is not None:
            tail = [*history[-CONTEXT:], *ahead][-CONTEXT:]
            length, places = earlier.longest(tail, max(shortest, here[1] + 1))
            if places:
                n_likely = int(length / p_min) - length + 1 if p_min else n  # L / (L + k) >= p_min
                return _likely(length, *earlier.follow(places, min(n, n_likely), p_min), p_min)
        return _likely(here[1], *index.follow(history, here, n, shortest, p_min), p_min)


def _likely(length: int, tokens: list[int], shares: list[float], p_min: float) -> Draft:
    """Return the tokens that are likely enough after a match of `length` tokens."""
    product = 1.0
    confidences: list[float] = []
    for agreed, share in enumerate(shares, length):
        confidence = share * agreed / (agreed + 1)
        product *= confidence
        if product < p_min:
            break
        confidences.append(confidence)
    return Draft(tokens[: len(confidences)], confidences) if confidences else NO_DRAFT


INFO = DrafterInfo(
    id=Suffix.name,
    title="Suffix match",
    summary="Copies what mostly followed the longest match in this chat or earlier ones; "
    "needs no second model.",
    family="lookup",
    parameters=(
        Parameter(
            "max", "int", 32, 1, 62, "Tokens ahead",
            "Tokens drafted per step at most. More pays where the text repeats itself for long "
            "stretches.",
            can_be_auto=True,
        ),
        Parameter(
            "min_match", "int", 2, 1, 32, "Shortest match",
            "Tokens that must agree with an earlier place. More makes drafts rarer and surer.",
        ),
        Parameter(
            "p_min", "float", 0.4, 0, 1, "Least probability",
            "A draft ends where it becomes less likely than this, judged by the match's length "
            "and by how often each token followed. Lower makes longer drafts.",
        ),
    ),
    make=Suffix,
)  # fmt: skip
