"""Layers with a sliding window: drafts, ways back, and the cache that keeps no more than windows.

`tiny-swa` has random weights and a window of 32 tokens, so that texts of 1,500 tokens go far
beyond it, and beyond the batch of 512 that llama.cpp keeps with it. A cell counts only with tokens
accepted and rejected. A mixture of experts without windows serves as a comparison.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

import make_pairs
from integration.engine import Engine, native_context, of_few_tokens
from paceline.catalog.inspect.inspector import Inspector
from paceline.catalog.memory.plan import plan
from paceline.engine.auto.costs import MAX_WIDTH
from paceline.engine.llama import LlamaBackend
from paceline.engine.llama.state_copies import state_bytes
from paceline.engine.model.context import PROMPT_END_TOKENS
from paceline.messages import ModelParams, PairLoaded, SamplingParams, TextDiverged

PROMPT = " ".join(str(i * i) for i in range(300)) + " abc abc hello"
STRATEGIES = (
    "suffix:min_match=1:p_min=0.1",
    "prompt-lookup",
    "draft:p_min=0",
    "suffix+draft",
)


@pytest.fixture(scope="module", params=["tiny-swa", "tiny-moe", "tiny-swa with windows alone"])
def engine(request: pytest.FixtureRequest, demo_pair: tuple[Path, Path]) -> Iterator[Engine]:
    name, _, how = request.param.partition(" ")
    with Engine(make_pairs.path(name), demo_pair[1], n_ctx=2048, swa_full=not how) as engine:
        engine.watch_positions()
        yield engine


@pytest.fixture(scope="module")
def read(engine: Engine) -> tuple[list[int], list[np.ndarray]]:
    """A text far beyond a window, and the row after each token where it is read one by one."""
    drawn = random.Random(2)
    tokens = [drawn.randrange(8192) for _ in range(1600)]
    engine.pair.empty()
    return tokens, [engine.pair.target.feed([token], 1)[0].copy() for token in tokens]


def ids(
    engine: Engine,
    strategy: str,
    temperature: float,
    max_tokens: int = 150,
    expected: tuple[int, ...] = (),
) -> tuple[int, ...]:
    return engine.reply(
        PROMPT,
        strategy=strategy,
        sampling=of_few_tokens(temperature),
        seed=3,
        max_tokens=max_tokens,
        ignore_eog=True,
        expected=expected,
    ).tokens


def limit(engine: Engine) -> float:
    """Return the allowed difference of a logit between batches; experts amplify rounding."""
    model = engine.pair.target.model
    if model.forgets:
        return 0.3
    return 0.15 if "moe" in Path(model.info.path).name else 0.05


@pytest.mark.grid(short=3)
@pytest.mark.parametrize("temperature", [0.5, 1.0])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_text_is_that_of_plain_decoding(
    engine: Engine, strategy: str, temperature: float
) -> None:
    """Or differs first where two tokens are about as near as rows are that other batches give.

    That is where cells are added up in another order, and where kernels round by the width.
    """
    engine.pair.empty()
    plain = ids(engine, "off", temperature)
    assert len(engine.pair.target.tokens) > 1000
    engine.pair.empty()
    drafted = ids(engine, strategy, temperature, expected=plain)
    margins = [event.margin for event in engine.events if isinstance(event, TextDiverged)]
    if drafted == plain:
        assert not margins
    else:
        (margin,) = margins
        assert margin is not None
        assert margin < limit(engine)
        ids(engine, strategy, temperature)  # which does not end there
    counts = [count for step in engine.steps for count in step.drafted]
    n_accepted = sum(count.n_accepted for count in counts)
    assert 5 <= n_accepted < sum(count.n_drafted for count in counts)
    ids(engine, "auto", temperature)
    assert engine.checks == len(engine.steps) > 0, "positions were compared after every step"


def test_another_reply_after_a_long_one_begins_in_the_prompt(engine: Engine) -> None:
    """Keep windows only; a copy from near the prompt's end restores them."""
    engine.pair.empty()
    first = ids(engine, "off", 0.5, max_tokens=900)
    again = engine.reply(PROMPT, sampling=SamplingParams(0), max_tokens=5, ignore_eog=True)
    n_kept = 1 if not engine.pair.target.model.forgets else PROMPT_END_TOKENS
    assert again.stats.n_reused == again.stats.n_prompt - n_kept
    assert len(set(first)) > 1


@pytest.mark.grid(short=2)
def test_any_rejection_leaves_the_rows_of_a_fresh_context(
    engine: Engine, read: tuple[list[int], list[np.ndarray]]
) -> None:
    """Keep windows only; rows may differ by the order in which attention adds its cells."""
    drawn = random.Random(3)
    tokens, fresh = read
    engine.pair.empty()
    context = engine.pair.target
    context.feed(tokens[:1], 1)
    n_patterns = 0
    while len(context.tokens) < 1560:
        at = len(context.tokens)
        n_drafted = drawn.randrange(1, 17)
        n_right = drawn.randrange(n_drafted + 1)
        wrong = [drawn.randrange(8192) for _ in range(n_drafted - n_right)]
        rows = context.feed([*tokens[at : at + 1 + n_right], *wrong], n_drafted + 1)
        for n in range(n_right + 1):
            assert np.abs(rows[n] - fresh[at + n]).max() < limit(engine), (at, n, n_drafted)
        context.rollback(at + 1 + n_right)
        assert context.tokens == tokens[: at + 1 + n_right], "nothing is read again"
        n_patterns += bool(wrong)
    assert n_patterns > 100


def test_only_with_the_whole_text_the_same_text_is_promised(engine: Engine) -> None:
    words = engine.pair.promise.sameness.words
    assert ("memory overwrites what is far back" in words) == engine.pair.target.model.forgets
    engine.pair.empty()
    ids(engine, "suffix", 0.5)
    engine.idle()
    if engine.pair.target.model.forgets:
        assert engine.pair.promise.sameness.holds is None


def test_exact_mode_says_that_it_needs_the_whole_text() -> None:
    path = make_pairs.path("tiny-swa")
    for n_ctx, is_possible in ((2048, False), (512, True)):
        with Engine(path, n_ctx=n_ctx, swa_full=False, exact=True) as engine:
            assert isinstance(engine.loaded, PairLoaded)
            refusals = [note for note in engine.loaded.notes if "overwrites" in note]
            assert bool(refusals) != is_possible


def test_exact_mode_stays_possible_in_a_context_that_is_made_anew() -> None:
    """Remake the context, as after a lack of memory; smaller batches would keep windows only."""
    with Engine(make_pairs.path("tiny-swa"), n_ctx=512, swa_full=False, exact=True) as engine:
        context = engine.pair.target
        assert not context.model.forgets
        context.remake(512, 64)
        assert not context.model.forgets
        tokens = [i % 8192 for i in range(400)]
        context.prefill(tokens, 64, lambda _: None)
        context.rollback(50)
        assert context.tokens == tokens[:50], "any place can be gone back to"


def test_no_copy_outlives_the_text_that_it_was_made_of() -> None:
    with Engine(make_pairs.path("tiny-swa"), n_ctx=2048, swa_full=False) as engine:
        model = engine.pair.target.model
        for n_back, place in ((0, 900), (5, -1)):
            engine.pair.empty()
            for _ in range(3):
                model.decode([5] * 300, 0)
            model.save("prompt")
            assert model.rollback(900 - n_back)
            model.decode([6] * 40, 0)
            assert model.restore(920) == place


def test_the_copy_of_windows_is_as_large_as_planned() -> None:
    params = ModelParams(str(make_pairs.path("tiny-swa")), n_ctx=2048, swa_full=False, device="CPU")
    with closing(Inspector()) as inspector:
        card = inspector.card(Path(params.path))
        measured = inspector.measure(params, n_rows=MAX_WIDTH)
    with Engine(Path(params.path), n_ctx=2048, swa_full=False) as engine:
        context = engine.pair.target
        context.prefill([i % 8192 for i in range(1500)], 512, lambda _: None)
        found = state_bytes(native_context(context.model))
    devices = [structs.replace(d, free_bytes=2**34) for d in LlamaBackend().describe().devices]
    main = plan(card, params, None, None, devices, measured_target=measured).devices[-1]
    in_cell = found / make_pairs.SLIDING_WINDOW
    assert 0.9 * found <= main.target.states <= found + 256 * in_cell


@pytest.mark.grid(short=2)
def test_no_window_is_gone_back_to_that_is_not_whole(
    engine: Engine, read: tuple[list[int], list[np.ndarray]]
) -> None:
    """Roll back any distance: the rows are right, or the context is empty."""
    tokens, fresh = read
    context = engine.pair.target
    n_refused, worst = 0, []
    for back in (1, 100, 400, 511, 544, 576, 700, 900, 1200, 1500):
        engine.pair.empty()
        context.prefill(tokens, 512, lambda _: None)
        context.rollback(len(tokens) - back)
        n_refused += not context.tokens
        if context.tokens:
            row = context.feed(tokens[len(tokens) - back :][:1], 1)[0]
            worst.append(float(np.abs(row - fresh[len(tokens) - back]).max()))
    assert max(worst) < 0.2, "what prefill in other batches changes; another window: above 1"
    assert (n_refused > 0) == context.model.forgets
    assert n_refused < 10
