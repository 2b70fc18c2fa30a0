"""Chats learned, forgotten and learned again in any order, with crashes: against a fresh start."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest import mock

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from engine.learned import LEARNERS, Vocabulary, grams, pairs, split, text, writes, written
from paceline.engine.drafters import lookup_cache, ngram_cache, ngram_mod, suffix
from paceline.engine.drafters.chat_log import ChatLog
from paceline.engine.drafters.ngram_pool import Pool
from paceline.engine.drafters.suffix_segment import CONTEXT
from paceline.engine.drafters.suffix_store import SuffixStore

BITS = 17
N_MATCH = 4
VOCABULARIES = ("one", "other")
CHATS = ("first", "second", "third")
PARAGRAPHS = [text(i, n) for i, n in enumerate((7, 20, 40, 70, 110, 150))]

chats = st.sampled_from(CHATS)
vocabularies = st.sampled_from(VOCABULARIES)
crashes = st.integers(1, 12)


class Crashed(BaseException):
    """The program is gone."""


class Crash:
    """Ends the program at the n-th change of a file."""

    def __init__(self, at: int) -> None:
        self._left = at
        changes = ((Path, "replace"), (Path, "unlink"), (ChatLog, "_append"), (Pool, "sync"))
        self._patches = [
            mock.patch.object(owner, name, self._counted(getattr(owner, name)))
            for owner, name in changes
        ]

    def _counted(self, original: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object, **options: object) -> object:
            self._left -= 1
            if self._left == 0:
                raise Crashed
            return original(*args, **options)

        return call

    def during(self, action: Callable[[], object]) -> bool:
        for patch in self._patches:
            patch.start()
        try:
            action()
        except Crashed:
            return True
        finally:
            for patch in self._patches:
                patch.stop()
        return False


class Forgetting(RuleBasedStateMachine):
    """What is learned, what may be there since a crash, and how far it was generated."""

    def __init__(self) -> None:
        super().__init__()

        def new_index(drafter: ngram_mod.NgramMod) -> ngram_mod.NextTokens:
            return ngram_mod.NextTokens(N_MATCH, drafter.bench.memory, bits=BITS)

        self._patch = mock.patch.object(ngram_mod.NgramMod, "new_index", new_index)
        self._patch.start()
        self._root = Path(tempfile.mkdtemp())
        self._memory = {name: Vocabulary(self._root, name) for name in VOCABULARIES}
        self._sure: dict[str, list[tuple[str, list[int], int]]] = {n: [] for n in VOCABULARIES}
        self._unsure: dict[str, list[tuple[str, list[int], int]]] = {n: [] for n in VOCABULARIES}
        self._has_crashed: set[str] = set()  # counts are not exact any more

    def teardown(self) -> None:
        self._patch.stop()
        shutil.rmtree(self._root)

    def _last(self, name: str, chat: str) -> list[int]:
        return next((t for c, t, _ in reversed(self._sure[name]) if c == chat), [])

    def _next(self, name: str, chat: str, kept: int, more: list[int]) -> tuple[list[int], int]:
        """A turn's prompt and reply: goes on, regenerates, or lost its oldest messages."""
        last = self._last(name, chat)
        last = last[:-40] if kept == 1 else last[60:] if kept == 2 else last
        prompt = [*last, *PARAGRAPHS[more[0]]]
        reply = [token for i in more[1:] for token in PARAGRAPHS[i]]
        return prompt + reply, len(prompt)

    turns = st.lists(st.integers(0, len(PARAGRAPHS) - 1), min_size=2, max_size=4)

    @rule(name=vocabularies, chat=chats, kept=st.integers(0, 3), more=turns)
    def learn(self, name: str, chat: str, kept: int, more: list[int]) -> None:
        history, n_prompt = self._next(name, chat, kept, more)
        self._memory[name].learn(chat, history, n_prompt)
        self._sure[name].append((chat, history, n_prompt))

    @rule(name=vocabularies, chat=chats, more=turns, at=crashes)
    def learn_and_crash(self, name: str, chat: str, more: list[int], at: int) -> None:
        history, n_prompt = self._next(name, chat, 0, more)
        memory = self._memory[name]
        if Crash(at).during(lambda: memory.learn(chat, history, n_prompt)):
            self._has_crashed.add(name)
            self._unsure[name].append((chat, history, n_prompt))
        else:
            self._sure[name].append((chat, history, n_prompt))

    @precondition(lambda self: any(self._sure.values()) or any(self._unsure.values()))
    @rule(chat=chats, n_crashes=st.lists(crashes, max_size=2))
    def forget(self, chat: str, n_crashes: list[int]) -> None:
        memory = self._memory[VOCABULARIES[0]]
        for at in n_crashes:
            if Crash(at).during(lambda: memory.forget(chat)):
                self._has_crashed.update(VOCABULARIES)
        assert memory.forget(chat) == ""
        for kept in (self._sure, self._unsure):
            for name in VOCABULARIES:
                kept[name] = [turn for turn in kept[name] if turn[0] != chat]

    @invariant()
    def nothing_more_and_nothing_less_is_known(self) -> None:
        for name in VOCABULARIES:
            sure, may_be = self._sure[name], self._sure[name] + self._unsure[name]
            self._check_texts(name, [t for _, t, _ in sure], [t for _, t, _ in may_be])
            self._check_pool(name, [t for _, t, _ in may_be])
            self._check_counts(name, sure, may_be)
            logs = self._memory[name].folder / "chats"
            names = {ChatLog(self._memory[name].folder, chat).path for chat, _, _ in may_be}
            assert not logs.exists() or set(logs.iterdir()) <= names

    def _check_texts(
        self, name: str, sure: Sequence[list[int]], may_be: Sequence[list[int]]
    ) -> None:
        store = SuffixStore(self._memory[name].folder / suffix.FOLDER)
        pieces = [p for s in store._segments for p in split(s.text().tolist())]
        store.close()
        assert grams(pieces, 2) <= grams(may_be, 2)
        assert grams(sure, CONTEXT + 1) <= grams(pieces, CONTEXT + 1)
        for whole in sure:
            if len(whole) <= CONTEXT:
                assert tuple(whole) in grams(pieces, len(whole))

    def _check_pool(self, name: str, may_be: Sequence[list[int]]) -> None:
        path = self._memory[name].folder / f"ngram-mod-{N_MATCH}.pool"
        if path.exists():
            assert written(path) <= writes(may_be, N_MATCH, BITS)

    def _check_counts(
        self,
        name: str,
        sure: Sequence[tuple[str, list[int], int]],
        may_be: Sequence[tuple[str, list[int], int]],
    ) -> None:
        path = self._memory[name].folder / ngram_cache.DYNAMIC_FILE
        held = lookup_cache.read(path) if path.exists() else lookup_cache.empty()
        most, least = (
            lookup_cache.merge(
                [
                    lookup_cache.count(t[max(n - 4, 0) :], range(1, 5), min(n, 4))
                    for _, t, n in turns
                ]
            )
            if turns
            else lookup_cache.empty()
            for turns in (may_be, sure)
        )
        if name in self._has_crashed:
            assert {row[:-1] for row in pairs(held)} <= {row[:-1] for row in pairs(most)}
        else:
            assert pairs(held) == pairs(least)


TestForgetting = Forgetting.TestCase
TestForgetting.settings = settings(max_examples=25, stateful_step_count=12)


def test_every_drafter_that_learns_is_in_it() -> None:
    assert {info.id for info in LEARNERS} == {"suffix", "ngram-mod", "ngram-cache"}
