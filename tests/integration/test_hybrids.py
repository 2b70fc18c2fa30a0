"""Targets with a recurrent memory of which llama.cpp keeps states: they speculate, text unchanged.

The models are hybrids with random weights: short convolutions, and a gated delta net. Few of their
tokens are allowed, so that texts repeat and lookups are right now and then; a cell counts only with
tokens accepted and rejected.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import make_pairs
from integration.engine import PROMPT, Engine, ids, of_few_tokens
from paceline.engine.model.backend import LanguageModel
from paceline.messages import Calibrate, Calibrated

STRATEGIES = ("suffix:min_match=1:p_min=0.1", "prompt-lookup", "draft:p_min=0", "suffix+draft")


WITH_STATES = "tiny-lfm2", "tiny-lfm2-swa", "tiny-qwen35", "tiny-qwen35moe", "tiny-nemotron-h"
WITH_COPIES = "tiny-mamba", "tiny-qwen35 with copies"


@pytest.fixture(scope="module", params=[*WITH_STATES, *WITH_COPIES])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def engine(demo_pair: tuple[Path, Path], kind: str) -> Iterator[Engine]:
    with Engine(make_pairs.path(kind.split(maxsplit=1)[0]), demo_pair[1]) as engine:
        if kind in WITH_COPIES:  # as where memory is too short for states beside the present one
            engine.pair.target.model.keep_states(0)
        engine.watch_positions()
        yield engine


@pytest.fixture
def model(engine: Engine) -> Iterator[LanguageModel]:
    """The target's bare model, without the pair's record of its tokens; both are emptied."""
    engine.pair.empty()
    yield engine.pair.target.model
    engine.pair.empty()


def test_it_says_how_far_it_goes_back(engine: Engine, model: LanguageModel, kind: str) -> None:
    assert not model.can_rollback
    assert engine.loaded.target.can_rollback
    assert model.needs_copies == (kind in WITH_COPIES)
    assert model.needs_copies == ("copies" in model.facts_key.split("|"))
    if not model.needs_copies:
        assert model.max_rollback == 16
        notes = engine.loaded.notes
        assert not any("take back" in note for note in notes), "no harm: doctor and picker say it"


def test_exact_mode_is_refused_in_words() -> None:
    with Engine(make_pairs.path("tiny-lfm2"), exact=True) as engine:
        sameness = engine.pair.promise.sameness
        assert not sameness.is_exact
        assert sameness.holds is None
        assert engine.pair.target.prefill_piece == 0
        assert any("Exact mode is not possible" in note for note in engine.loaded.notes)


@pytest.mark.grid(short=7)
@pytest.mark.parametrize("temperature", [0.5, 1.0])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_text_is_that_of_plain_decoding(
    engine: Engine, strategy: str, temperature: float
) -> None:
    engine.pair.empty()
    plain = ids(engine, "off", temperature)
    engine.pair.empty()
    assert ids(engine, strategy, temperature) == plain
    n_accepted = [sum(c.n_accepted for c in step.drafted) for step in engine.steps]
    n_drafted = [sum(c.n_drafted for c in step.drafted) for step in engine.steps]
    assert sum(n_accepted) >= 5
    assert sum(n_drafted) > sum(n_accepted)
    assert max(n_drafted) <= engine.pair.target.model.max_rollback
    assert len(engine.pair.target.tokens) > 120, "it holds the reply"
    assert engine.checks == len(engine.steps) > 0, "positions were compared after every step"


@pytest.mark.grid(short=3)
def test_a_short_reply_once_more_and_after_idle_time(engine: Engine) -> None:
    """The state before the last token alone is not kept: the prompt is read again."""

    def short(strategy: str = "off") -> tuple[int, ...]:
        return engine.reply(
            PROMPT, strategy=strategy, sampling=of_few_tokens(0.5), seed=3, max_tokens=8,
            ignore_eog=True,
        ).tokens  # fmt: skip

    engine.pair.empty()
    first = short()
    engine.idle()
    held = list(engine.pair.target.tokens)
    assert held, "idle time leaves the context as it is"
    assert short() == first
    assert short("suffix") == first
    engine.idle()
    held = list(engine.pair.target.tokens)
    row = engine.pair.target.feed([105], 1)[0].copy()
    engine.pair.empty()
    expected = engine.pair.target.feed([*held, 105], 1)[0]
    assert np.abs(row - expected).max() < 0.01


def test_what_the_last_decode_did_not_bring_is_not_taken_back(
    model: LanguageModel, kind: str
) -> None:
    model.decode(list(range(8)), 1)
    assert not model.rollback(0)
    assert model.rollback(1) == (kind not in WITH_COPIES)
    assert not model.rollback(0)
    n_past = model.n_past
    for token in range(3):
        model.decode([token], 1)
    assert not model.rollback(model.n_past - 1)
    assert model.n_past == n_past + 3


@pytest.mark.grid(short=4)
def test_two_turns_a_reply_once_more_and_an_edit(engine: Engine) -> None:
    def course(strategy: str) -> list[tuple[int, ...]]:
        engine.pair.empty()
        first = ids(engine, strategy, 0.5)
        second = ids(engine, strategy, 0.5, PROMPT + " and more")
        again = ids(engine, strategy, 0.5)
        return [first, second, again, ids(engine, strategy, 0.5, "abc edited hello")]

    assert course("suffix") == course("off")


@pytest.mark.grid(short=3)
def test_a_reply_once_more_after_a_short_second_question(engine: Engine) -> None:
    """No copy lies in its prompt, so that it goes back to the first one's."""
    engine.pair.empty()
    context = engine.pair.target
    drawn = random.Random(4)
    first = [drawn.randrange(8192) for _ in range(200)]
    second = [*first, *(drawn.randrange(8192) for _ in range(60))]

    def row(prompt: list[int]) -> np.ndarray:
        row: np.ndarray = context.prefill(prompt, 512, lambda _: None)[0].copy()
        assert context.tokens == prompt
        assert context.n_owed == 0
        assert context.model.n_past == len(prompt)
        return row

    row(first)
    for token in second[200:240]:
        context.feed([token], 1)
    expected = row(second)
    for token in range(20):
        context.feed([token], 1)
    again = row(second)
    engine.pair.empty()
    fresh = row(second)
    spread = fresh.std()
    assert np.abs(again - expected).max() < 0.2 * spread
    assert np.abs(again - fresh).max() < 0.2 * spread


@pytest.mark.grid(short=3)
def test_without_memory_for_states_it_continues_by_copies(engine: Engine, kind: str) -> None:
    """Make the context again, as after a decode that ran out of memory."""
    target = engine.pair.target
    plain = ids(engine, "off", 0.5)
    model, states = target.model, target.model.max_rollback
    try:
        target.remake(model.n_ctx, model.n_batch)
        assert model.needs_copies
        assert ids(engine, "suffix", 0.5) == plain
        assert ids(engine, "auto", 0.5) == plain
    finally:
        engine.pair.empty()
        model.keep_states(0 if kind in WITH_COPIES else 16)
    assert model.max_rollback == states


@pytest.mark.grid(short=3)
def test_auto_drafts_once_costs_are_measured(engine: Engine) -> None:
    engine.pair.empty()
    plain = ids(engine, "off", 0.5)
    engine.client.request(Calibrate())
    measured = engine.events[-1]
    assert isinstance(measured, Calibrated)
    assert not measured.problem
    assert {cost.width for cost in measured.costs} >= {1, 2, 4, 8, 16}
    assert ids(engine, "auto", 0.5) == plain
    engine.idle()
    assert ids(engine, "auto", 0.5) == plain


def test_any_rejection_leaves_the_state_of_a_fresh_context(
    engine: Engine, *, is_long: bool
) -> None:
    """The rows after what was taken back are those of a text without it.

    On most processors that is so bit by bit; some round by the width of the batch.
    """
    drawn = random.Random(1)
    engine.pair.empty()
    context = engine.pair.target
    tokens = [drawn.randrange(8192) for _ in range(400 if is_long else 150)]
    fresh = [context.feed([token], 1)[0].copy() for token in tokens]
    n_patterns = 0
    while n_patterns < (1000 if is_long else 100):
        at = len(context.tokens)
        if at > len(tokens) - 20:
            engine.pair.empty()
            context.feed(tokens[:1], 1)
            continue
        n_drafted = drawn.randrange(1, 17)
        n_right = drawn.randrange(n_drafted + 1)
        wrong = [drawn.randrange(8192) for _ in range(n_drafted - n_right)]
        rows = context.feed([*tokens[at : at + 1 + n_right], *wrong], n_drafted + 1)
        for n in range(n_right + 1):
            assert np.abs(rows[n] - fresh[at + n]).max() < 0.01, (at, n, n_drafted)
        context.rollback(at + 1 + n_right)
        assert context.tokens == tokens[: at + 1 + n_right], "not even a part is read again"
        assert context.model.n_past == len(context.tokens) - context.n_owed
        n_patterns += bool(wrong)


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("draft", ["tiny-qwen35", "tiny-mamba"])
def test_a_draft_model_goes_back_by_copies(draft: str) -> None:
    with Engine(make_pairs.path("tiny-lfm2"), make_pairs.path(draft)) as engine:
        engine.watch_positions()
        for temperature in (0.5, 1.0):
            engine.pair.empty()
            plain = ids(engine, "off", temperature)
            engine.pair.empty()
            assert ids(engine, "draft:n_max=4:p_min=0", temperature) == plain
            counts = [count for step in engine.steps for count in step.drafted]
            n_drafted = sum(count.n_drafted for count in counts)
            n_accepted = sum(count.n_accepted for count in counts)
            assert n_drafted > n_accepted > 10
            held = engine.pair.draft
            assert held is not None
            n_read_again = engine.pair.draft.model.last_decode[0]
            assert n_read_again < 8, "a rejection does not make it read the text again"
            engine.idle()
            assert ids(engine, "auto", temperature) == plain
            assert engine.checks == len(engine.steps) > 0
