"""The n-gram drafters once more, the slow and obvious way.

Each reference looks through the whole text whenever it is asked. It shares no code with what it
checks: no index, no hashes, no places that outlive a question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Tokens = list[int]


class Reference(Protocol):
    """A slow, obvious drafter to compare with."""

    def propose(self, history: Tokens, ahead: Tokens, n_max: int) -> Tokens:
        """Return tokens that may follow the history and then `ahead`."""

    def refused(self, n_accepted: int) -> None:
        """Record that the target accepted so many tokens of the last proposal, then disagreed."""

    def forget(self) -> None:
        """Forget refusals, as for another chat or other settings."""


class SlowSimple:
    """The tokens after the latest earlier copy of the last `n` ones."""

    def __init__(self, n: int, m: int) -> None:
        self.n, self.m = n, m

    def propose(self, history: Tokens, ahead: Tokens, n_max: int) -> Tokens:
        text = history + ahead
        for place in range(len(history) - 1, self.n - 1, -1):
            if history[place - self.n : place] == text[-self.n :]:
                return self._copy(text, place, min(self.m, n_max))
        return []

    def _copy(self, text: Tokens, place: int, n: int) -> Tokens:
        period = len(text) - place
        one, other = text[-period:], text[-2 * period : -period]
        written = list(text)
        while len(written) < len(text) + n and (one == other or len(written) < len(text) + period):
            written.append(written[-period])
        return written[len(text) :]

    def refused(self, n_accepted: int) -> None:
        pass

    def forget(self) -> None:
        pass


class SlowMapK:
    """The latest of those m-grams that have followed the last `n` tokens `min_hits` times."""

    def __init__(self, n: int, m: int, min_hits: int) -> None:
        self.n, self.m, self.min_hits = n, m, min_hits
        # (key, m-gram, how often it has followed the key) → accepted tokens
        self._limits: dict[tuple[tuple[int, ...], tuple[int, ...], int], int] = {}
        self._last: tuple[tuple[int, ...], tuple[int, ...], int] | None = None

    def propose(self, history: Tokens, ahead: Tokens, n_max: int) -> Tokens:
        key = (history + ahead)[-self.n :]
        starts = range(len(history) - self.n - self.m + 1)
        followers = [
            history[i + self.n : i + self.n + self.m]
            for i in starts
            if history[i : i + self.n] == key
        ]
        choice = self.choose(followers)
        if choice is None:
            return []
        self._last = (tuple(key), tuple(choice), followers.count(choice))
        return choice[: min(n_max, self._limits.get(self._last, self.m))]

    def choose(self, followers: list[Tokens]) -> Tokens | None:
        """Pick one of the m-grams that followed a key; they are in the text's order."""
        for i in range(len(followers) - 1, -1, -1):
            if followers[: i + 1].count(followers[i]) >= self.min_hits:
                return followers[i]
        return None

    def refused(self, n_accepted: int) -> None:
        assert self._last is not None
        self._limits[self._last] = n_accepted

    def forget(self) -> None:
        self._limits = {}


class SlowMapK4V(SlowMapK):
    """The m-gram that is twice as frequent as all others; four are remembered."""

    def choose(self, followers: list[Tokens]) -> Tokens | None:
        known: list[Tokens] = []
        hits: list[int] = []
        for follower in followers:
            if follower in known:
                i = known.index(follower)
                known.append(known.pop(i))  # the one seen last stands last
                hits.append(hits.pop(i) + 1)
                continue
            if len(known) == 4:
                rarest = hits.index(min(hits))
                del known[rarest], hits[rarest]
            known.append(follower)
            hits.append(1)
        if not known or len(followers) < self.min_hits:
            return None
        most = max(hits)
        return known[hits.index(most)] if most >= 2 * (len(followers) - most) else None


def common(one: Sequence[int], other: Sequence[int]) -> int:
    """Return the length of the common beginning of two texts, in tokens."""
    n = 0
    while n < min(len(one), len(other)) and one[n] == other[n]:
        n += 1
    return n
