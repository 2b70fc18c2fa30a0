"""Suffix drafting: the longest match of any length, in this chat or an earlier one.

After SuffixDecoding (arXiv 2411.04975): the longest end of the text that occurred before is looked
up in the present chat and in earlier ones; what mostly followed is drafted, token by token, while
that is likely enough. Unlike there, only the longest match counts, and this chat comes before the
others.

A token that followed in a share s of the places, after L equal tokens, is given the probability s *
L / (L + 1): by the rule of succession a text that has agreed L times in a row continues to agree
about that often. So a single place is no certainty, a short match makes a short draft, and a long
match a long one: if all places agree, L / (L + k) for k tokens.

This chat is held in a suffix automaton (Blumer et al. 1985): a state stands for all substrings with
the same end places, a path from the root for a substring, and the link of a state leads to the
longest of its suffixes that also ends at other places. So the link of the last state *is* the
longest end of the text that occurred before, of any length, at the cost of a memory read.

Followers are counted with PPM's update exclusion (Moffat 1990), which the automaton provides for
free: a token is counted for the longest end of the text that it already followed earlier, and for
all longer ones, which see it for the first time; shorter ones stay unchanged. What long contexts
explain thus does not distort the short ones.

States and edges are rows of integer arrays and not objects, which takes a tenth of the memory:
about 100 bytes per token of prose.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from paceline.engine.draft.base import NO_DRAFT, Draft, DrafterInfo, Parameter
from paceline.engine.draft.lookups.earlier_texts import MAX_MATCH
from paceline.engine.draft.lookups.lookup import Lookup

_MAX_LISTED = 12  # followers of a state before its edges move from a list into a dictionary
_MAX_SHORTER = 300  # number of shorter matches tried for the tokens ahead


class SuffixAutomaton:
    """The followers of every substring of a text, with their counts and the most likely one.

    The edges of a state form a list, the latest first, or stand in a dictionary by token where a
    list would be long to search. Edge 0 means none, state 0 is the root. Not thread-safe.
    """

    def __init__(self) -> None:
        # arrays by state
        self._length = array("i", [0])  # length of the longest substring, in tokens
        self._link = array("i", [-1])
        self._first = array("i", [0])  # first edge; -1 where `_wide` has them
        self._best = array("i", [0])  # edge with the highest count; of equal ones the latest
        self._total = array("i", [0])  # sum of the edges' counts
        self._repeats = bytearray([1])  # whether its substrings end in several places
        self._wide: dict[int, dict[int, int]] = {}
        # arrays by edge
        self._token = array("i", [-1])
        self._target = array("i", [0])
        self._count = array("i", [0])
        self._next = array("i", [0])

        self._last = 0

    def feed(self, history: Sequence[int], start: int, end: int) -> None:
        """Append ``history[start:end]``; a few microseconds per token on average."""
        length, link, first, best, total = (
            self._length, self._link, self._first, self._best, self._total,
        )  # fmt: skip
        tokens, targets, counts, following = self._token, self._target, self._count, self._next
        for place in range(start, end):
            token = history[place]
            new = self._add_state(place + 1)
            state, edge = self._last, 0
            self._last = new
            while state >= 0:
                edge = first[state]
                if edge >= 0:
                    while edge and tokens[edge] != token:
                        edge = following[edge]
                else:
                    edge = self._wide[state].get(token, 0)
                if edge:
                    break
                self._add_edge(state, token, new)
                state = link[state]
            if not edge:
                continue  # the token is new in the text, and the link is the root
            total[state] += 1
            count = counts[edge] = counts[edge] + 1
            if count >= counts[best[state]]:
                best[state] = edge
            target = targets[edge]
            if length[target] != length[state] + 1:
                target = self._split(state, token, target)
            link[new] = target
            self._repeats[target] = 1

    def match(self, ahead: Sequence[int] = ()) -> tuple[int, int]:
        """Return the longest end of the text and `ahead` that the text has with a token after it.

        Where `ahead` leaves a period that has run for hundreds of rounds, this gives up and returns
        the root: every round is one more shorter match to try.

        Returns:
            Its state and its length in tokens.
        """
        link, lengths = self._link, self._length
        state = self._last
        length = lengths[state]
        patience = _MAX_SHORTER
        for token in ahead:
            edge = self._edge(state, token)
            while not edge and state:
                patience -= 1
                if not patience:
                    return 0, 0
                state = link[state]
                length = lengths[state]
                edge = self._edge(state, token)
            if edge:
                state = self._target[edge]
                length += 1
        if state == self._last and state:
            state = link[state]
            length = lengths[state]
        return state, length

    def followers(self, state: int) -> dict[int, int]:
        """Return the tokens that followed a state, with their counts."""
        return {self._token[edge]: self._count[edge] for edge in self._edges(state)}

    def follow(
        self, history: Sequence[int], match: tuple[int, int], n: int, min_match: int, p_min: float
    ) -> tuple[list[int], list[float]]:
        """Walk along the most likely followers, each after the longest match at that place.

        Args:
            history: The text, exactly as far as it was fed.
            match: Result of `match` to begin with.
            n: Maximum number of tokens.
            min_match: Minimum length of a match; the walk ends where the longest one is shorter.
            p_min: Minimum of the product of the shares; the walk ends before it falls below.

        Returns:
            The tokens, and for each its share of its state's counts.
        """
        drafted: list[int] = []
        shares: list[float] = []
        product = 1.0
        state, length = match
        if length < min_match:
            return drafted, shares
        while len(drafted) < n:
            if not self._repeats[state]:  # it ends in one place: copy what follows
                place = self._length[state]
                copied = history[place : place + n - len(drafted)]
                drafted += copied
                shares += [1.0] * len(copied)
                state = self._link[self._last]  # used only if the text's end was reached
                if self._length[state] < min_match:
                    break
                continue
            edge = self._best[state]
            if not edge:
                break
            share = self._count[edge] / self._total[state]
            product *= share
            if product < p_min:
                break
            drafted.append(self._token[edge])
            shares.append(share)
            state = self._target[edge]
        return drafted, shares

    # ------------------------------------------------------------------------------ within

    def _edge(self, state: int, token: int) -> int:
        """Return the edge from `state` by `token`, or 0 if there is none."""
        edge = self._first[state]
        if edge < 0:
            return self._wide[state].get(token, 0)
        while edge and self._token[edge] != token:
            edge = self._next[edge]
        return edge

    def _edges(self, state: int) -> list[int]:
        edge = self._first[state]
        if edge < 0:
            return list(self._wide[state].values())
        edges = []
        while edge:
            edges.append(edge)
            edge = self._next[edge]
        return edges

    def _add_state(self, length: int) -> int:
        state = len(self._length)
        self._length.append(length)
        self._link.append(0)
        self._first.append(0)
        self._best.append(0)
        self._total.append(0)
        self._repeats.append(0)
        return state

    def _add_edge(self, state: int, token: int, target: int, count: int = 1) -> int:
        """Add an edge and count it; the state must have none by this token."""
        edge = len(self._token)
        self._token.append(token)
        self._target.append(target)
        self._count.append(count)
        first = self._first[state]
        if first < 0:
            self._next.append(0)
            self._wide[state][token] = edge
        else:
            self._next.append(first)
            self._first[state] = edge
        total = self._total[state] = self._total[state] + count
        if count >= self._count[self._best[state]]:
            self._best[state] = edge
        if total > _MAX_LISTED and first >= 0:
            self._wide[state] = {self._token[e]: e for e in self._edges(state)}
            self._first[state] = -1
        return edge

    def _split(self, state: int, token: int, target: int) -> int:
        """Give the shorter substrings of `target` a state of their own, since they now end here.

        Those are the ones that lead there from `state` and from its links by `token`.
        """
        twin = self._add_state(self._length[state] + 1)
        self._link[twin] = self._link[target]
        self._link[target] = twin
        best, twin_best = self._best[target], 0
        for edge in reversed(self._edges(target)):
            copy = self._add_edge(twin, self._token[edge], self._target[edge], self._count[edge])
            if edge == best:
                twin_best = copy
        self._best[twin] = twin_best
        while state >= 0:
            edge = self._edge(state, token)
            if self._target[edge] != target:
                break
            self._target[edge] = twin
            state = self._link[state]
        return twin


class Suffix(Lookup[SuffixAutomaton]):
    """Confidences are probabilities of a token given those before it; see the module."""

    name = "suffix"

    def new_index(self) -> SuffixAutomaton:
        """Return an empty automaton."""
        return SuffixAutomaton()

    def look_up(
        self, index: SuffixAutomaton, history: Sequence[int], ahead: Sequence[int], n_max: int
    ) -> Draft:
        """Follow the longest match; a match in this chat wins over an equally long earlier one."""
        n = min(n_max, int(self.settings["max"]))
        shortest, p_min = int(self.settings["min_match"]), self.settings["p_min"]
        here, earlier = index.match(ahead), self.bench.earlier
        if earlier is not None:
            tail = [*history[-MAX_MATCH:], *ahead][-MAX_MATCH:]
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
            "p_min", "float", 0.4, 0, 1, "Min. confidence",
            "A draft ends where it becomes less likely than this, judged by the match's length "
            "and by how often each token followed. Lower makes longer drafts.",
        ),
    ),
    make=Suffix,
)  # fmt: skip
