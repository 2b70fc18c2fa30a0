"""Measuring in idle time on real weights: the next reply and the contexts do not change."""

from __future__ import annotations

import ctypes
import random
import threading
import time
from pathlib import Path

import llama_cpp
import pytest

from integration.engine import WARM, Engine, native_context
from paceline.engine.auto.costs import VerifyCosts
from paceline.engine.idle import IdleWork
from paceline.engine.model.context import CachedContext
from paceline.messages import ChatMessage, Reset, TurnFinished

FIRST = "How do I read a file line by line?"
NEXT = "And how do I write one?"


class Idling(Engine):
    """An engine that a test lets measure between two replies."""

    def first(self) -> TurnFinished:
        return self.reply(FIRST, strategy="draft", sampling=WARM, max_tokens=60)

    def next(self, before: TurnFinished) -> TurnFinished:
        messages = (
            ChatMessage.of_text("user", FIRST),
            ChatMessage.of_text("assistant", before.text),
            ChatMessage.of_text("user", NEXT),
        )
        return self.reply("", messages=messages, strategy="draft", sampling=WARM, max_tokens=60)

    def new_work(self) -> IdleWork:
        """Return what is to be done in idle time, with everything to be measured once more."""
        self.pair.knowledge.costs = VerifyCosts()
        self.pair.knowledge.draft_costs.clear()
        work = IdleWork(self.pair)
        work.calibrate_anew()
        return work

    def state(self) -> list[tuple[bytes, list[int], int]]:
        """Every cell of both contexts, and their books."""
        assert self.pair.draft
        return [
            (_cells(context), list(context.tokens), context.n_owed)
            for context in (self.pair.target, self.pair.draft)
        ]


def _cells(context: CachedContext) -> bytes:
    native = native_context(context.model)
    size = llama_cpp.llama_state_seq_get_size(native, 0)
    buffer = (ctypes.c_uint8 * size)()
    assert llama_cpp.llama_state_seq_get_data(native, buffer, size, 0) == size
    return bytes(buffer)


def idle_to_the_end(_engine: Idling, work: IdleWork) -> int:
    n = 0
    while work.slice():
        n += 1
    return n


def idle_with_interruptions(engine: Idling, work: IdleWork) -> int:
    """Let another thread set the flag again and again, at any moment; returns how often."""
    flag, chance = engine.client.flag, random.Random(5)
    n_set, is_over = 0, threading.Event()

    def disturb() -> None:
        nonlocal n_set
        while not is_over.is_set():
            time.sleep(0.004 * chance.random())
            flag.set()
            n_set += 1

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        for _ in range(100):
            flag.clear()
            work.slice()
    finally:
        is_over.set()
        thread.join()
        flag.clear()
    return n_set


@pytest.mark.grid(short=2)
@pytest.mark.parametrize("exact", [False, True], ids=["plain", "exact"])
@pytest.mark.parametrize("idle", [idle_to_the_end, idle_with_interruptions])
def test_replies_and_contexts_are_those_without_it(
    demo_pair: tuple[Path, Path], idle: object, *, exact: bool
) -> None:
    assert callable(idle)
    with Idling(*demo_pair, n_ctx=512, exact=exact) as engine:
        first = engine.first()
        expected = engine.next(first)
        engine.client.request(Reset())
        assert idle(engine, engine.new_work()) > 5
        assert engine.first().tokens == first.tokens
        engine.idle()  # the draft model catches up
        before = engine.state()
        assert len(before[0][1]) > 40
        assert idle(engine, engine.new_work()) > 5
        assert engine.state() == before
        found = engine.next(first)
    assert found.tokens == expected.tokens
    assert found.text == expected.text
    assert found.stats.n_reused == expected.stats.n_reused
