"""What all lookups share: an index over the history that is never built in one go.

A lookup finds earlier places of the text's end and proposes what followed there. Its index follows
the history token by token. Where much is missing (a long chat that was just opened, a setting that
shapes the index was changed in mid-reply) it is built in slices: after the prefill one of 10 ms, or
of a hundredth of its time where that is more, then of at most a millisecond per step, and the
lookup proposes nothing until it has caught up. An index outlives its turn: the next turn of the
same chat goes on with it.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import ClassVar, Generic, Protocol, TypeVar, cast

from paceline.engine.draft.base import NO_DRAFT, Draft, Settings, Workbench
from paceline.engine.model.tokens import gaps_of

STEP_S = 0.001
"""Seconds of indexing per step."""
PREFILL_S = 0.010
"""Seconds of indexing right after a prefill."""


class Index(Protocol):
    """Knows a text from its beginning up to what was fed last."""

    def feed(self, history: Sequence[int], start: int, end: int) -> None:
        """Take in ``history[start:end]``. Calls come in order and leave nothing out.

        The cells of a gap are negative numbers that come only once: what holds one is found nowhere
        else, if it is not hidden by a hash of few bits.
        """


I = TypeVar("I", bound=Index)  # noqa: E741


class Lookup(ABC, Generic[I]):
    """A drafter with an index: subclasses say how to make one and how to look something up.

    Attributes:
        name: The drafter's id; also where its index lies on the shelf between two turns.
        text_start: The first place of the history after its last gap.
        chunk: Tokens fed between two looks at the clock.
    """

    name: ClassVar[str]
    chunk: ClassVar[int] = 64

    def __init__(self, bench: Workbench, settings: Settings) -> None:
        self.bench = bench
        self.settings = settings
        self._history: Sequence[int] = ()
        self._index = self.new_index()
        self._n_fed = 0
        self._made_s = time.perf_counter()
        self.text_start = 0

    # ---------------------------------------------------------------------- for subclasses

    @abstractmethod
    def new_index(self) -> I:
        """Return an empty index for the present settings."""

    def shape(self, settings: Settings) -> Hashable:
        """Return those settings that shape the index: when they change it is built again."""
        del settings
        return None

    @abstractmethod
    def look_up(self, index: I, history: Sequence[int], ahead: Sequence[int], n_max: int) -> Draft:
        """Return up to `n_max` tokens, at least 1, that may follow `history` and then `ahead`.

        The index has been fed the whole history and nothing of `ahead`. What may follow a drafted
        end of generation need not be cut off; the engine does it.
        """

    def learn(self, index: I, n_accepted: int | None) -> None:
        """See what became of the last proposal, before the index is fed; see `Drafter.observe`."""

    # ------------------------------------------------------------------------- as a drafter

    def begin(self, history: Sequence[int], n_prompt: int) -> None:
        """Take the index of the turn before if it fits, and catch up with the history."""
        self._history = history
        self.text_start = gaps_of(history).end
        self._take_kept()
        least_s = STEP_S if len(history) - n_prompt > 1 else PREFILL_S
        # What has passed since the turn began is nearly all prefill.
        self._catch_up(max(least_s, (time.perf_counter() - self._made_s) / 100))

    def propose(self, n_max: int) -> Draft:
        """Look up what followed the text's end."""
        return self.extend((), n_max)

    def extend(self, ahead: Sequence[int], n_max: int) -> Draft:
        """Look up what followed the text's end and `ahead`."""
        if self._n_fed < len(self._history):
            return NO_DRAFT
        draft = self.look_up(self._index, self._history, ahead, n_max)
        return _before_gap(draft) if self.text_start else draft

    def observe(self, n_accepted: int | None) -> None:
        """Index what was committed."""
        self.learn(self._index, n_accepted)
        self._catch_up(STEP_S)

    def tune(self, settings: Settings) -> None:
        """Use other settings; an index that no longer fits is built again, in slices."""
        old, self.settings = self.settings, settings
        if self.shape(old) != self.shape(settings):
            self._index, self._n_fed = self.new_index(), 0

    def close(self) -> None:
        """Put the index on the shelf and let go of the text."""
        if self._history and self._n_fed:
            kept = (self.shape(self.settings), self._index, self._history, self._n_fed)
            self.bench.kept[self.name] = kept
        self._history = ()
        self._forget()

    # ------------------------------------------------------------------------------ within

    def _forget(self) -> None:
        if self._n_fed:  # an automaton takes 13 us with cold caches
            self._index, self._n_fed = self.new_index(), 0

    def _take_kept(self) -> None:
        self._forget()
        kept = self.bench.kept.pop(self.name, None)
        if kept is None:
            return
        shape, index, text, n_fed = cast("tuple[Hashable, I, Sequence[int], int]", kept)
        same_chat = n_fed <= len(self._history) and text[:n_fed] == self._history[:n_fed]
        if same_chat and shape == self.shape(self.settings):
            self._index, self._n_fed = index, n_fed

    def _catch_up(self, seconds: float) -> None:
        n = len(self._history)
        if self._n_fed + self.chunk >= n:  # the usual case
            if self._n_fed < n:
                self._feed(n)
            return
        end = time.perf_counter() + seconds
        while self._n_fed < n:
            self._feed(min(self._n_fed + self.chunk, n))
            if time.perf_counter() > end:
                break

    def _feed(self, end: int) -> None:
        start, self._n_fed = self._n_fed, 0  # an index that was fed in part is of no use
        self._index.feed(self._history, start, end)
        self._n_fed = end


def _before_gap(draft: Draft) -> Draft:
    """Return the draft up to where it would copy a gap."""
    n = next((i for i, token in enumerate(draft.tokens) if token < 0), len(draft.tokens))
    return draft.first(n) if n else NO_DRAFT
