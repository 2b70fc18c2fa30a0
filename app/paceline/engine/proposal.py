"""What a step verifies: drafted tokens, and which of them are whose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from paceline.engine.drafters.base import Draft
from paceline.engine.drafting import GuardedDrafter
from paceline.engine.verify import Verdict
from paceline.messages import SOURCE_TARGET, TokenTrace


class Part(NamedTuple):
    """The tokens of one drafter within a draft: `n` of them from place `first` on."""

    drafter: GuardedDrafter
    first: int
    n: int


class Proposal(NamedTuple):
    """What a step verifies, and per token who proposed it and how sure (None: not said)."""

    tokens: list[int]
    confidences: list[float | None]
    sources: list[str]
    parts: list[Part]

    def add(self, drafter: GuardedDrafter, draft: Draft) -> None:
        """Append one drafter's draft as another part."""
        n = len(draft.tokens)
        self.parts.append(Part(drafter, len(self.tokens), n))
        self.tokens.extend(draft.tokens)
        self.confidences.extend(draft.confidences or (None,) * n)
        self.sources.extend((drafter.info.id,) * n)

    def cut(self, n: int) -> None:
        """Keep the first `n` tokens alone."""
        if n >= len(self.tokens):
            return
        del self.tokens[n:], self.confidences[n:], self.sources[n:]
        self.parts[:] = [
            Part(drafter, first, min(own, n - first))
            for drafter, first, own in self.parts
            if first < n
        ]

    def traces(self, verdict: Verdict, ends: Sequence[int]) -> tuple[TokenTrace, ...]:
        """Return where every committed token came from.

        Args:
            verdict: What became of this draft.
            ends: Where the reply's text ended behind every committed token.
        """
        tokens, sources, sure = verdict.tokens, self.sources, self.confidences
        traces = [
            TokenTrace(tokens[n], sources[n], n, sure[n], ends[n])
            for n in range(verdict.n_accepted)
        ]
        if len(tokens) > verdict.n_accepted:
            traces.append(TokenTrace(tokens[-1], SOURCE_TARGET, -1, None, ends[-1]))
        return tuple(traces)


NOTHING = Proposal([], [], [], [])
"""Never changed."""
