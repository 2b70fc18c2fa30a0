"""The base of all lookups: an index over the history that is never built in one go.

A lookup finds earlier occurrences of the text's end and proposes what followed there. Its index
follows the history token by token. Where much is missing (a long chat that was just opened, or a
setting of the index that was changed in mid-reply), the index is built in slices: one after the
prefill, of 10 ms or of a hundredth of the prefill's time if that is longer, then one of at most a
millisecond per step. The lookup proposes nothing until it has caught up. An index outlives its
turn: the next turn of the same chat continues it.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import ClassVar, Generic, Protocol, TypeVar, cast

from paceline.engine.draft.base import NO_DRAFT, Draft, Settings, Workbench
from paceline.engine.model.tokens import gaps_of

STEP_S = 0.001
"""Maximum seconds of indexing per step."""
PREFILL_S = 0.010
"""Minimum seconds available for indexing right after a prefill."""


class Index(Protocol):
    """An index over a text, up to what was fed last."""

    def feed(self, history: Sequence[int], start: int, end: int) -> None:
        """Add ``history[start:end]``; calls come in order and leave no gaps between them.

        The cells of a gap in a prompt are negative numbers that each occur once: an n-gram with one
        is never found again, except by a collision in a hash of few bits.
        """


I = TypeVar("I", bound=Index)  # noqa: E741


class Lookup(ABC, Generic[I]):
    """A drafter with an index; subclasses define how to make the index and how to search it.

    Attributes:
        name: The drafter's id; also the key under which its index is stored between two turns.
        text_start: Index in the history after its last gap.
        chunk: Number of tokens fed between two looks at the clock.
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
        """Return the settings that shape the index; when they change, it is built again."""
        del settings
        return None

    @abstractmethod
    def look_up(self, index: I, history: Sequence[int], ahead: Sequence[int], n_max: int) -> Draft:
        """Return up to `n_max` tokens, at least 1, that may follow `history` and then `ahead`.

        The index contains the whole history and nothing of `ahead`. A draft may continue after an
        end of generation; the engine cuts it there.
        """

    def learn(self, index: I, n_accepted: int | None) -> None:
        """Observe the last proposal's outcome before the index is fed; see `Drafter.observe`."""

    # ------------------------------------------------------------------------- as a drafter

    def begin(self, history: Sequence[int], n_prompt: int) -> None:
        """Reuse the index of the previous turn if it fits, and catch up with the history."""
        self._history = history
        self.text_start = gaps_of(history).end
        self._take_kept()
        least_s = STEP_S if len(history) - n_prompt > 1 else PREFILL_S
        # Nearly all the time since the turn began was prefill.
        self._catch_up(max(least_s, (time.perf_counter() - self._made_s) / 100))

    def propose(self, n_max: int) -> Draft:
        """Return tokens that followed an earlier occurrence of the text's end."""
        return self.extend((), n_max)

    def extend(self, ahead: Sequence[int], n_max: int) -> Draft:
        """Return tokens that followed an earlier occurrence of the text's end and `ahead`."""
        if self._n_fed < len(self._history):
            return NO_DRAFT
        draft = self.look_up(self._index, self._history, ahead, n_max)
        return _before_gap(draft) if self.text_start else draft

    def observe(self, n_accepted: int | None) -> None:
        """Index the committed tokens."""
        self.learn(self._index, n_accepted)
        self._catch_up(STEP_S)

    def tune(self, settings: Settings) -> None:
        """Change the settings; an index that no longer fits is built again, in slices."""
        old, self.settings = self.settings, settings
        if self.shape(old) != self.shape(settings):
            self._index, self._n_fed = self.new_index(), 0

    def close(self) -> None:
        """Store the index for the next turn and release the text."""
        if self._history and self._n_fed:
            kept = (self.shape(self.settings), self._index, self._history, self._n_fed)
            self.bench.kept[self.name] = kept
        self._history = ()
        self._forget()

    # ------------------------------------------------------------------------------ within

    def _forget(self) -> None:
        if self._n_fed:  # making an automaton takes 13 us with cold caches
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
        start, self._n_fed = self._n_fed, 0  # an index that fails midway is of no use
        self._index.feed(self._history, start, end)
        self._n_fed = end


def _before_gap(draft: Draft) -> Draft:
    """Return the draft up to the first cell of a gap."""
    n = next((i for i, token in enumerate(draft.tokens) if token < 0), len(draft.tokens))
    return draft.first(n) if n else NO_DRAFT
