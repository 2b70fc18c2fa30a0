"""N-gram pool: the hash of the last `n_match` tokens predicts the next one, repeatedly.

After llama.cpp's `ngram-mod` (`common/ngram-mod.cpp`, pull request 19164): one table of constant
size, no keys, the last write wins. A chain of look-ups is drafted if it is long enough, so it works
on long verbatim repeats: code that is written again, quoted text.

Differences from llama.cpp's code:

- A pool that is too full is emptied before the prompt is added, not after (its issue 27852).
- Every token is added at once, not when 32 are waiting.
- After five drafts in a row with less than a quarter accepted, the chat does not use the pool
  for a while. llama.cpp empties it and feeds the chat again, which gives the very same content.
- Every chat has a pool of its own; the drafter ``suffix`` searches other chats.
- The accepted share is relative to what was drafted, not to what a chain would have given without
  the step's limit; and a draft that the target did not contradict is not a bad one, since a part
  of it may not have been verified.
"""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Hashable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from paceline.engine.draft.base import (
    NO_DRAFT,
    Draft,
    DrafterInfo,
    Parameter,
    Settings,
    Workbench,
)
from paceline.engine.draft.lookups.hashes import MULTIPLIER, window_hashes
from paceline.engine.draft.lookups.lookup import Lookup

SLOT_BITS = 22
_MAX_FULL_SHARE = 0.25
"""Maximum share of used slots, above which a pool is emptied; as in llama.cpp."""


class Pool:
    """A table of ``2 ** bits`` slots, each with a token id + 1, or 0 if never written.

    A slot that a gap followed holds 0 or less.

    Attributes:
        slots: The slots for single reads and writes, several times as fast as with numpy.
        table: The same memory, int32 [2 ** bits].
        n_used: Number of slots that hold a token.
    """

    slots: memoryview[int]
    table: NDArray[np.int32]
    n_used: int

    def __init__(self, bits: int = SLOT_BITS) -> None:
        # Unlike numpy's memory, which comes in huge pages, this is cleared only where it is used.
        held = mmap.mmap(-1, 4 << bits)
        if hasattr(mmap, "MADV_NOHUGEPAGE"):
            with contextlib.suppress(OSError):
                held.madvise(mmap.MADV_NOHUGEPAGE)
        self.table = np.frombuffer(held, np.int32)
        self.slots = memoryview(held).cast("i")
        self.n_used = 0

    @property
    def is_too_full(self) -> bool:
        """Return whether it is so full that unrelated texts often share slots."""
        return self.n_used > _MAX_FULL_SHARE * len(self.table)


MAX_BAD_DRAFTS = 5
GOOD_SHARE = 0.25
REST_STEPS = 64
"""Number of steps without a draft after five bad ones."""

_MASK = (1 << 64) - 1
_SHIFT = 64 - SLOT_BITS
_BLOCK = 1024  # tokens hashed by one set of numpy calls
_FEW = 24  # tokens up to which plain Python is faster than that


class NextTokens:
    """The pool as an index over a text; keeps the hash of the text's last `n_match` tokens.

    The upper bits of the hash (`hashes.py`) select the slot.

    Args:
        n_match: Number of tokens to hash.
    """

    def __init__(self, n_match: int) -> None:
        self._n = n_match
        self._hash = 0
        self._drop = pow(MULTIPLIER, n_match, 1 << 64)

    @cached_property
    def pool(self) -> Pool:
        """The table; made on first use."""
        return Pool()

    def feed(self, history: Sequence[int], start: int, end: int) -> None:
        """Add ``history[start:end]``; a `start` of 0 begins a text."""
        if start == 0:
            self._hash = 0
        if end - start <= _FEW:
            self._feed_few(history, start, end)
            return
        for block in range(start, end, _BLOCK):
            self._feed_block(history, block, min(block + _BLOCK, end))

    def follow(self, history: Sequence[int], ahead: Sequence[int], n: int) -> list[int]:
        """Return up to `n` tokens that the pool predicts after `history` and then `ahead`."""
        n_match, drop = self._n, self._drop
        chain = [*history[-n_match:], *ahead]
        if len(chain) < n_match:
            return []
        chain = chain[-n_match:]
        value = self._hash_of(chain) if ahead else self._hash
        slots = self.pool.slots
        for place in range(n):
            entry = slots[value >> _SHIFT]
            if entry <= 0:
                break
            token = entry - 1
            value = ((value + token - chain[place] * drop) * MULTIPLIER) & _MASK
            chain.append(token)
        return chain[n_match:]

    # ------------------------------------------------------------------------------ within

    def _hash_of(self, tokens: Sequence[int]) -> int:
        value = 0
        for token in tokens:
            value = ((value + token) * MULTIPLIER) & _MASK
        return value

    def _feed_few(self, history: Sequence[int], start: int, end: int) -> None:
        n, pool, value = self._n, self.pool, self._hash
        slots = pool.slots
        for place in range(start, end):
            token = history[place]
            if place >= n:
                slot = value >> _SHIFT
                if not slots[slot]:
                    pool.n_used += 1
                slots[slot] = token + 1
                value += token - history[place - n] * self._drop
            else:
                value += token
            value = (value * MULTIPLIER) & _MASK
        self._hash = value

    def _feed_block(self, history: Sequence[int], start: int, end: int) -> None:
        """Add tokens with numpy."""
        n = self._n
        first = max(start - n, 0)
        tokens = np.array(history[first:end], np.int64).view(
            np.uint64
        )  # cells of gaps are negative
        if len(tokens) < n:
            self._feed_few(history, start, end)
            return
        hashes = window_hashes(tokens, n)
        self._hash = int(hashes[-1])
        slots = (hashes[:-1] >> np.uint64(_SHIFT)).astype(np.int64)
        if len(slots) == 0:
            return
        # numpy does not define which of several writes to one slot comes last, so only one is kept.
        slots, latest = np.unique(slots[::-1], return_index=True)
        pool = self.pool
        pool.n_used += len(slots) - int(np.count_nonzero(pool.table[slots]))
        pool.table[slots] = tokens[n:][::-1][latest] + np.uint64(1)


class NgramMod(Lookup[NextTokens]):
    """Feeding costs one write per token, proposing one read and one multiplication per token."""

    name = "ngram-mod"
    chunk = _BLOCK

    def __init__(self, bench: Workbench, settings: Settings) -> None:
        super().__init__(bench, settings)
        self._drafted: list[int] = []
        self._first = 0  # the index in the history for which its first token is proposed
        self._n_bad = 0
        self._rest = 0

    def shape(self, settings: Settings) -> Hashable:
        """Return the number of hashed tokens."""
        return settings["n_match"]

    def new_index(self) -> NextTokens:
        """Return an index whose pool is made on first use."""
        return NextTokens(int(self.settings["n_match"]))

    def look_up(
        self, index: NextTokens, history: Sequence[int], ahead: Sequence[int], n_max: int
    ) -> Draft:
        """Follow the pool; a chain shorter than `n_min` is a stray hit."""
        self._drafted = []
        if self._rest:
            return NO_DRAFT
        longest = int(self.settings["n_max"])
        n_min = min(int(self.settings["n_min"]), longest)
        chain = index.follow(history, ahead, max(min(longest, n_max), n_min))
        if len(chain) < n_min:
            return NO_DRAFT
        del chain[n_max:]
        for place, token in enumerate(chain):
            if token in self.bench.eog:
                del chain[place + 1 :]
                break
        self._drafted, self._first = chain, len(history) + len(ahead)
        return Draft(chain) if chain else NO_DRAFT

    def learn(self, index: NextTokens, n_accepted: int | None) -> None:
        """Count bad drafts, see the module's docstring."""
        del index
        self._rest = max(self._rest - 1, 0)
        drafted, self._drafted = self._drafted, []
        if n_accepted is None or not drafted:
            return
        if n_accepted >= GOOD_SHARE * len(drafted):
            self._n_bad = 0
            return
        refuted = self._first + n_accepted
        if refuted < len(self._history) and self._history[refuted] != drafted[n_accepted]:
            self._n_bad += 1
        if self._n_bad < MAX_BAD_DRAFTS:
            return
        self._n_bad = 0
        self._rest = REST_STEPS

    def begin(self, history: Sequence[int], n_prompt: int) -> None:
        """Forget the last turn's outcomes, then begin like every lookup."""
        self._drafted = []
        self._n_bad = self._rest = 0
        super().begin(history, n_prompt)

    def _take_kept(self) -> None:
        super()._take_kept()
        if self._index.pool.is_too_full:
            self._index, self._n_fed = self.new_index(), 0


INFO = DrafterInfo(
    id=NgramMod.name,
    title="N-gram pool",
    summary="Recognises long passages from this chat by their hash, in constant memory.",
    family="lookup",
    parameters=(
        Parameter(
            "n_match", "int", 24, 1, 128, "Match length",
            "Tokens that must agree with an earlier place. Below 16 stray hits become frequent.",
        ),
        Parameter(
            "n_min", "int", 48, 0, 1024, "Shortest draft",
            "Drafts shorter than this are dropped. Less pays with dense models, whose wide steps "
            "cost little more than narrow ones.",
        ),
        Parameter(
            "n_max", "int", 64, 1, 1024, "Longest draft",
            "Tokens drafted per step at most; the batch and the context may allow fewer.",
            can_be_auto=True,
        ),
    ),
    make=NgramMod,
)  # fmt: skip
