"""Several conversations on one pair: none is drafted from what another one holds.

Programs share the pair with the person at the window. A drafter that knew another conversation
would change no text, but the drafted and accepted tokens would reveal it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.bench import Bench
from fake_model import N_VOCAB, FakeModel
from paceline.engine.draft.heads import usable_heads
from paceline.engine.draft.lookups import lookup
from paceline.engine.draft.registry import built_in
from paceline.messages import (
    Remember,
    SamplingParams,
    StepCommitted,
    Tokens,
    TurnFinished,
)

SECRET = b"The safe is opened by four, seven, one, nine, and then by the small key. "
STRATEGIES = (
    "prompt-lookup:max_ngram=1",
    "ngram-simple:n=2:m=8",
    "ngram-map-k:n=2:m=8",
    "ngram-map-k4v:n=2:m=8",
    "ngram-mod:n_match=2:n_min=1",
    "ngram-cache",
    "suffix:min_match=1:p_min=0",
    "earlier",
    "draft:n_max=4:p_min=0",
    "suffix+draft:suffix.min_match=1:draft.p_min=0",
)
USER, PROGRAM = "user", "program"


def secretive(tokens: Sequence[int]) -> np.ndarray:
    """Write the secret, over and over, in every conversation: a drafter that knows it drafts it."""
    row = np.zeros(N_VOCAB, np.float32)
    row[SECRET[len(tokens) % len(SECRET)]] = 20.0
    return row


@pytest.fixture(autouse=True, scope="module")
def no_hurry() -> object:
    """Indexes are made at once, so that none depends on the machine's speed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lookup, "PREFILL_S", 600.0)
        patch.setattr(lookup, "STEP_S", 600.0)
        yield


class Desk:
    """One pair, and the conversations that are held with it."""

    def __init__(self) -> None:
        self.bench = Bench(target=FakeModel(secretive, n_ctx=4096), draft=FakeModel(secretive))
        self.bench.load(draft="draft")
        self._texts: dict[str, list[int]] = {}
        for _ in range(2):  # the plain steps after a load
            self.bench.ask(prompt="zzz", max_tokens=8)

    def remember(self) -> None:
        self.bench.client.request(Remember("chat", (SECRET.decode(),), at_once=True))

    def say(self, who: str, words: bytes, strategy: str, n: int) -> list[tuple[object, ...]]:
        """Go on with a conversation; what was drafted and accepted in each step, and by which."""
        text = self._texts.setdefault(who, [])
        text += words
        n_before = len(self.bench.events)
        reply = self.bench.ask(
            prompt=Tokens(tuple(text)), strategy=strategy, max_tokens=n, remember=who == USER,
            sampling=SamplingParams(0), ignore_eog=True,
        )  # fmt: skip
        assert isinstance(reply, TurnFinished), reply
        text += reply.tokens
        steps = [e for e in self.bench.events[n_before:] if isinstance(e, StepCommitted)]
        return [(step.drafted, step.tokens) for step in steps]


def test_every_drafter_is_tried() -> None:
    tried = {part.partition(":")[0] for each in STRATEGIES for part in each.split("+")}
    heads = {head.id for head in usable_heads()}  # these know their contexts alone
    others = {info.id for info in built_in() if info.family in ("lookup", "model")} - heads
    assert others <= tried


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_program_is_not_drafted_from_a_chat(strategy: str) -> None:
    shared, alone = Desk(), Desk()
    shared.remember()
    shared.say(USER, b"Where is it?", strategy, 2 * len(SECRET))
    here = shared.say(PROGRAM, b"Say it now:", strategy, len(SECRET) // 2)
    assert here == alone.say(PROGRAM, b"Say it now:", strategy, len(SECRET) // 2)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_chat_is_drafted_from_what_it_holds_after_a_program_has_asked(strategy: str) -> None:
    shared, alone = Desk(), Desk()
    for desk in (shared, alone):
        desk.remember()
        desk.say(USER, b"Where is it?", strategy, 40)
    shared.say(PROGRAM, SECRET[20:] + SECRET, strategy, 2 * len(SECRET))
    here = shared.say(USER, b" And then?", strategy, len(SECRET))
    assert here == alone.say(USER, b" And then?", strategy, len(SECRET))


TURNS = st.lists(
    st.tuples(
        st.sampled_from([USER, PROGRAM, "another program"]),
        st.sampled_from([b"Well?", SECRET[:9], SECRET[30:50], b"The safe", b"x"]),
        st.sampled_from(STRATEGIES),
        st.integers(1, 40),
    ),
    max_size=8,
)


@given(TURNS)
def test_each_conversation_is_drafted_as_if_there_were_no_other(
    turns: list[tuple[str, bytes, str, int]],
) -> None:
    shared = Desk()
    shared.remember()
    told: dict[str, list[object]] = {}
    for who, *turn in turns:
        told.setdefault(who, []).append(shared.say(who, *turn))
    for who, steps in told.items():
        alone = Desk()
        if who == USER:
            alone.remember()
        assert steps == [alone.say(*turn) for turn in turns if turn[0] == who]
