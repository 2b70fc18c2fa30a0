"""A vocabulary's folder, in which chats are learned as turns do it, and what lies in it then."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from engine.drafters.rehearsal import bench
from paceline.engine.drafters import lookup_cache, ngram_cache, ngram_mod, suffix
from paceline.engine.drafters.base import DrafterInfo, Keeper, Workbench
from paceline.engine.drafters.chat_log import ChatLog
from paceline.engine.drafters.ngram_pool import Pool
from paceline.engine.drafters.windows import window_hashes
from paceline.engine.forgetting import forget

LEARNERS = (suffix.INFO, ngram_mod.INFO, ngram_cache.INFO)
SETTINGS = {
    suffix.INFO.id: {"max": 32, "min_match": 2, "p_min": 0.0},
    ngram_mod.INFO.id: {"n_match": 4, "n_min": 2, "n_max": 16},
    ngram_cache.INFO.id: {"n_max": 8},
}


def text(seed: int, n: int = 120, low: int = 1000) -> list[int]:
    rng = random.Random(seed)
    return [low + rng.randrange(5000) for _ in range(n)]


class Vocabulary:
    """A vocabulary's folder, in which chats are learned as turns do it."""

    def __init__(self, root: Path, name: str = "vocabulary") -> None:
        self.root = root
        self.folder = root / name

    def bench(self, chat: str) -> Workbench:
        class Wide(type(bench().vocab)):  # type: ignore[misc]
            n_tokens = 20_000

            def text(self, token: int) -> bytes:
                return str(token).encode()

        log = ChatLog(self.folder, chat) if chat else None
        return replace(bench(), vocab=Wide(), memory=self.folder, log=log)

    def learn(self, chat: str, history: Sequence[int], n_prompt: int = 0) -> None:
        """One turn with all drafters that learn."""
        workbench = self.bench(chat)
        if workbench.log is not None:
            workbench.log.add_text(history)
        growing = list(history[: n_prompt or len(history) // 2])
        n_prompt = len(growing)
        drafters = [info.make(workbench, SETTINGS[info.id]) for info in LEARNERS]
        for drafter in drafters:
            drafter.begin(growing, n_prompt)
        for token in history[n_prompt:]:
            growing.append(token)
            for drafter in drafters:
                drafter.observe(None)
        for drafter in drafters:
            drafter.close()
            assert isinstance(drafter, Keeper) or drafter.name == "ngram-mod"  # type: ignore[attr-defined]
            if isinstance(drafter, Keeper):
                drafter.keep()

    def drafts(self, tail: Sequence[int]) -> dict[str, list[int]]:
        """What each drafter proposes to a chat that knows no more than these last tokens."""
        workbench = self.bench("")
        found = {}
        for info in LEARNERS:
            # The pool would learn what it is asked with, so it is asked on a copy.
            copy = self.root / f"copy-{info.id}"
            shutil.copytree(self.folder, copy)
            drafter = info.make(replace(workbench, memory=copy), SETTINGS[info.id])
            drafter.begin(list(tail), len(tail))
            found[info.id] = list(drafter.propose(16).tokens)
            drafter.close()
            shutil.rmtree(copy)
        return found

    def forget(self, chat: str, infos: Sequence[DrafterInfo] = LEARNERS) -> str:
        return forget(self.root, chat, infos)

    def holds(self, tokens: Sequence[int]) -> list[str]:
        """Files in which the tokens stand in a row, in any order and byte order."""
        found = []
        for path in self.root.rglob("*"):
            data = path.read_bytes() if path.is_file() else b""
            for words in (tokens, list(reversed(tokens))):
                for kind in ("<u4", ">u4"):
                    if np.array(words, kind).tobytes() in data:
                        found.append(path.name)
        return found

    @property
    def n_slots(self) -> int:
        return len(written(self.folder / "ngram-mod-4.pool"))


def pairs(cache: lookup_cache.LookupCache) -> set[tuple[int, ...]]:
    grams = np.repeat(cache.ngrams, cache.sizes, axis=0)
    return set(map(tuple, np.column_stack([grams, cache.tokens, cache.counts]).tolist()))


def split(words: list[int]) -> list[list[int]]:
    pieces: list[list[int]] = [[]]
    for word in words:
        if word == 0x7FFF_FFFF:
            pieces.append([])
        else:
            pieces[-1].append(word)
    return [list(reversed(piece)) for piece in pieces if piece]


def grams(texts: Sequence[Sequence[int]], n: int = 33) -> set[tuple[int, ...]]:
    return {tuple(t[i : i + n]) for t in texts for i in range(len(t) - n + 1)}


def writes(texts: Sequence[Sequence[int]], n: int, bits: int) -> set[tuple[int, int]]:
    """Which slot of the n-gram pool gets which content from the texts."""
    found = set()
    for history in texts:
        tokens = np.array(history, np.uint64)
        slots = window_hashes(tokens, n)[:-1] >> np.uint64(64 - bits)
        found |= set(zip(slots.tolist(), (tokens[n:] + 1).tolist(), strict=True))
    return found


def written(path: Path) -> set[tuple[int, int]]:
    """Which slot of a pool holds what."""
    pool = Pool.existing(path)
    assert pool is not None
    try:
        used = np.flatnonzero(pool.table)
        return set(zip(used.tolist(), pool.table[used].tolist(), strict=True))
    finally:
        pool.close()
