"""N-gram pool: the hash of the last `n_match` tokens tells the next one, over and over.

After llama.cpp's `ngram-mod` (`common/ngram-mod.cpp`, pull request 19164): one table of constant
size, no keys, the last write wins. What a chain of look-ups gives is drafted if it is long enough,
so it fires on long verbatim repeats: code that is written out again, quoted text.

Where this differs from llama.cpp's code:

- A pool that is too full is emptied before the prompt is taken in, not after (its issue 27852).
- Every token is learned at once, not when 32 are waiting.
- Behind five drafts in a row of which less than a quarter was accepted the chat takes a rest from
  the pool. llama.cpp empties it and feeds it the chat once more: that would cost others what they
  have taught a pool on disk, and would give a pool of the chat's own the very same content.
- The share that was accepted is that of what was drafted, not of what a chain would have given
  without the limit of the step; and a draft that the target did not contradict is not a bad one,
  since a part of it may have been left out of the step.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path

import numpy as np

from paceline.engine.drafters.base import (
    NO_DRAFT,
    Draft,
    DrafterInfo,
    Parameter,
    Settings,
    Workbench,
)
from paceline.engine.drafters.chat_log import ChatLog
from paceline.engine.drafters.lookup import Lookup
from paceline.engine.drafters.ngram_pool import SLOT_BITS, Pool
from paceline.engine.drafters.windows import MULTIPLIER, window_hashes

MOST_BAD_DRAFTS = 5
GOOD_SHARE = 0.25
REST = 64
"""Steps without a draft behind five bad ones."""

_POOL = "ngram-mod-{}.pool"
_MASK = (1 << 64) - 1
_BLOCK = 1024  # tokens hashed by one set of numpy calls
_FEW = 24  # tokens up to which plain Python is faster than those


class NextTokens:
    """The pool as an index: knows the hash of the text's last `n_match` tokens.

    The upper bits of the hash (`windows.py`) name the slot.

    Args:
        n_match: Tokens that are hashed.
        folder: Where the pool is kept; None keeps it in memory.
        bits: Size of the pool, see `Pool`.
    """

    def __init__(self, n_match: int, folder: Path | None, bits: int = SLOT_BITS) -> None:
        self._n = n_match
        self._path = folder / _POOL.format(n_match) if folder else None
        self._bits = bits
        self._shift = 64 - bits
        self._pool: Pool | None = None
        self._hash = 0
        self._written: int | None = None  # a slot that cannot be empty
        self._drop = pow(MULTIPLIER, n_match, 1 << 64)

    @property
    def pool(self) -> Pool:
        """The table; opened when it is needed first."""
        if self._pool is None:
            self._pool = Pool.open(self._path, self._bits) if self._path else Pool(self._bits)
        return self._pool

    def open(self) -> bool:
        """Get ready for a turn; False when what this index was fed has to be fed again."""
        pool = self.pool
        if pool.is_too_full:
            pool.reset()
            return False
        # Somebody else may have emptied or deleted the file since.
        return self._written is None or pool.slots[self._written] != 0

    def close(self) -> None:
        """Let go of the file; a pool without one stays for the next turn of this chat."""
        if self._pool is not None and self._path is not None:
            self._pool.close()
            self._pool = None

    def feed(self, history: Sequence[int], start: int, end: int) -> None:
        """Take in ``history[start:end]``; a `start` of 0 begins a text."""
        if start == 0:
            self._hash, self._written = 0, None
        if end - start <= _FEW:
            self._feed_few(history, start, end)
            return
        for block in range(start, end, _BLOCK):
            self._feed_block(history, block, min(block + _BLOCK, end))

    def follow(self, history: Sequence[int], ahead: Sequence[int], n: int) -> list[int]:
        """Return up to `n` tokens that the pool gives behind `history` and then `ahead`."""
        n_match, shift, drop = self._n, self._shift, self._drop
        chain = [*history[-n_match:], *ahead]
        if len(chain) < n_match:
            return []
        chain = chain[-n_match:]
        value = self._hash_of(chain) if ahead else self._hash
        slots = self.pool.slots
        for place in range(n):
            entry = slots[value >> shift]
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
        n, pool, value, slot = self._n, self.pool, self._hash, self._written
        slots = pool.slots
        for place in range(start, end):
            token = history[place]
            if place >= n:
                slot = value >> self._shift
                if not slots[slot]:
                    pool.n_used += 1
                slots[slot] = token + 1
                value += token - history[place - n] * self._drop
            else:
                value += token
            value = (value * MULTIPLIER) & _MASK
        self._hash, self._written = value, slot

    def _feed_block(self, history: Sequence[int], start: int, end: int) -> None:
        """Do the same with numpy."""
        n = self._n
        first = max(start - n, 0)
        tokens = np.array(history[first:end], np.uint64)
        if len(tokens) < n:
            self._feed_few(history, start, end)
            return
        hashes = window_hashes(tokens, n)
        self._hash = int(hashes[-1])
        slots = (hashes[:-1] >> np.uint64(self._shift)).astype(np.int64)
        if len(slots) == 0:
            return
        # Which of several writes to one slot numpy does last is not promised, so one is left.
        slots, latest = np.unique(slots[::-1], return_index=True)
        pool = self.pool
        pool.n_used += len(slots) - int(np.count_nonzero(pool.table[slots]))
        pool.table[slots] = tokens[n:][::-1][latest] + np.uint64(1)
        self._written = int(slots[0])


class NgramMod(Lookup[NextTokens]):
    """Feeding costs one write per token, proposing one read and one multiplication per token."""

    name = "ngram-mod"
    chunk = _BLOCK

    def __init__(self, bench: Workbench, settings: Settings) -> None:
        super().__init__(bench, settings)
        self._drafted: list[int] = []
        self._first = 0  # the place in the history that its first token is for
        self._n_bad = 0
        self._rest = 0

    def shape(self, settings: Settings) -> Hashable:
        """Return how many tokens are hashed, and where the pool lies."""
        return settings["n_match"], self.bench.memory

    def new_index(self) -> NextTokens:
        """Return an index whose pool is opened when it is needed."""
        return NextTokens(int(self.settings["n_match"]), self.bench.memory)

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
        if self._n_bad < MOST_BAD_DRAFTS:
            return
        self._n_bad = 0
        self._rest = REST

    def begin(self, history: Sequence[int], n_prompt: int) -> None:
        """Open the pool, then as every lookup."""
        self._drafted = []
        self._n_bad = self._rest = 0
        super().begin(history, n_prompt)

    def tune(self, settings: Settings) -> None:
        """Use other settings; another `n_match` means another pool."""
        index = self._index
        super().tune(settings)
        if self._index is not index:
            index.close()
            if self._history:
                self._index.open()

    def close(self) -> None:
        """Close the pool's file and put the index on the shelf."""
        self._index.close()
        super().close()

    def _take_kept(self) -> None:
        self._index.close()
        super()._take_kept()
        if not self._index.open():
            self._n_fed = 0


def forget(memory: Path, log: ChatLog) -> None:
    """Empty the slots that hold what a chat wrote to them, in every pool of a folder.

    Another chat that wrote the same loses it as well.

    Raises:
        OSError: A pool cannot be opened, or the log cannot be read.
    """
    for path in memory.glob(_POOL.format("*")):
        n = path.stem.rpartition("-")[2]
        if not n.isdecimal():
            continue
        pool = Pool.existing(path)
        if pool is None:  # a drafter that finds no pool there makes one anew
            path.unlink()
            continue
        try:
            bits = len(pool.table).bit_length() - 1
            for words in log.texts():
                text = words.astype(np.uint64)
                slots = (window_hashes(text, int(n))[:-1] >> np.uint64(64 - bits)).astype(np.int64)
                mine = pool.table[slots] == text[int(n) :] + np.uint64(1)
                pool.table[slots[mine]] = 0
            pool.sync()
        finally:
            pool.close()


INFO = DrafterInfo(
    id=NgramMod.name,
    title="N-gram pool",
    summary="Recognises long passages from this and earlier chats by their hash, in constant "
    "memory.",
    family="lookup",
    parameters=(
        Parameter(
            "n_match", "int", 24, 1, 128, "Tokens hashed",
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
    forget=forget,
)  # fmt: skip
