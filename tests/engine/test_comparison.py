"""A reply held against an earlier one: where it differs, and by how much."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from engine.bench import Bench
from engine.harness import random_language
from engine.plain_sampler import edit, truncate
from engine.token_grammar import TokenGrammar
from fake_model import EOG, N_VOCAB, FakeModel
from paceline.engine.decode.comparison import margin_of
from paceline.engine.sample.noise import gumbel_of, position_key
from paceline.engine.sample.sampling import Sampler
from paceline.messages import (
    Event,
    LogitBias,
    SamplingParams,
    StepCommitted,
    TextDiverged,
    TurnFinished,
)

WARM = SamplingParams(temperature=0.9, top_k=40, top_p=0.95, min_p=0.05)
STRATEGIES = ("off", "prompt-lookup:max_ngram=1:n_pred=8", "suffix:min_match=1:p_min=0")


class Desk:
    """One loaded model that always gets the same question."""

    def __init__(self, seed: int = 1) -> None:
        self.bench = Bench(target=FakeModel(random_language(seed, spread=2.0)))
        self.bench.load()
        for _ in range(2):  # the plain steps after a load
            self.ask()

    def ask(self, **options: object) -> TurnFinished:
        self.bench.events.clear()
        options = {"sampling": WARM, "max_tokens": 60, "ignore_eog": True} | options
        return self.bench.finish(**options)

    @property
    def divergences(self) -> list[Event]:
        return [event for event in self.bench.events if isinstance(event, TextDiverged)]


@pytest.fixture(scope="module")
def desk() -> Desk:
    return Desk()


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("sampling", [WARM, SamplingParams(temperature=0)])
def test_the_same_reply_ends_as_ever(desk: Desk, strategy: str, sampling: SamplingParams) -> None:
    plain = desk.ask(sampling=sampling)
    again = desk.ask(sampling=sampling, strategy=strategy, expected=plain.tokens)
    assert desk.divergences == []
    assert again.reason == "length"
    assert again.tokens == plain.tokens


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_longer_reply_differs_at_the_old_end(desk: Desk, strategy: str) -> None:
    plain = desk.ask()
    again = desk.ask(strategy=strategy, expected=plain.tokens[:20])
    assert desk.divergences == [TextDiverged(20, -1, plain.tokens[20])]
    assert (again.reason, len(again.tokens)) == ("cancelled", 21)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_reply_that_ends_earlier_differs_after_its_end(desk: Desk, strategy: str) -> None:
    plain = desk.ask()
    again = desk.ask(strategy=strategy, max_tokens=20, expected=plain.tokens)
    assert desk.divergences == [TextDiverged(20, plain.tokens[20], -1)]
    assert (again.reason, again.tokens) == ("cancelled", plain.tokens[:20])


SAMPLINGS = {
    "cold": SamplingParams(temperature=0),
    "warm": WARM,
    "free": SamplingParams(temperature=1.2, top_k=0, top_p=1, min_p=0),
    "penalties": SamplingParams(
        temperature=0.8,
        repeat_penalty=1.3,
        presence_penalty=0.4,
        frequency_penalty=0.2,
        logit_bias=(LogitBias(101, 3.0), LogitBias(5, -math.inf)),
    ),
}
PROMPT = list(b"ask")
N = 40


def drawn(row: np.ndarray, params: SamplingParams, key: int) -> int:
    """Draw from a row with biases and penalties, by the sampler's definition."""
    if not params.temperature:
        return int(row.argmax())
    kept = truncate(row, params).nonzero()[0]
    return max(kept.tolist(), key=lambda t: (row[t] / params.temperature + gumbel_of(key, t), -t))


def is_the_margin(
    margin: float | None,
    logits: np.ndarray,
    params: SamplingParams,
    key: int,
    tokens: tuple[int, int],
) -> bool:
    """Say whether `expected` is drawn with one logit changed by `margin`, and with nothing less."""
    found, expected = tokens
    if not 0 <= expected < len(logits) or logits[expected] == -math.inf:
        return margin is None
    assert margin is not None
    likely = np.argsort(-logits, kind="stable")[:3].tolist()

    def brings_it(change: float) -> bool:
        for token in {found, expected, *likely}:
            for by in (change, -change):
                moved = logits.astype(np.float64)
                moved[token] += by
                if drawn(moved, params, key) == expected:
                    return True
        return False

    border = (margin, margin * 1.001 + 1e-5, margin * 1.01)  # it is known to a part of it
    smaller = np.linspace(0.0, margin * 0.99 - 2e-5, 12) if margin > 1e-4 else []
    is_enough = any(map(brings_it, border)) or len(logits) > 40  # then top-k's border counts, too
    return is_enough and not any(map(brings_it, smaller))


@pytest.mark.grid(short=2)
@pytest.mark.parametrize("name", SAMPLINGS)
def test_every_strategy_finds_every_place_with_the_same_margin(desk: Desk, name: str) -> None:
    params = SAMPLINGS[name]
    options = {"sampling": params, "max_tokens": N, "seed": 7, "prompt_tokens": tuple(PROMPT)}
    plain = desk.ask(**options).tokens
    margins = []
    for place in range(0, N, 3):
        strategy = (*STRATEGIES, "suffix+prompt-lookup:min_match=1:p_min=0:max_ngram=1")[place % 4]
        row = random_language(1, spread=2.0)([*PROMPT, *plain[:place]])
        other = int(np.argsort(row)[-1 - place % 5])
        if other == plain[place]:
            continue
        expected = (*plain[:place], other, *plain[place + 1 :])
        again = desk.ask(strategy=strategy, expected=expected, **options)
        (divergence,) = desk.divergences
        assert isinstance(divergence, TextDiverged)
        assert (again.reason, again.tokens) == ("cancelled", plain[: place + 1])
        assert desk.bench.events[-2] == divergence  # after the last step, before the end
        assert (divergence.index, divergence.expected) == (place, other)
        assert divergence.found == plain[place]
        row = random_language(1, spread=2.0)([*PROMPT, *plain[:place]])
        row[EOG] = -math.inf
        logits = edit(row, params, [*PROMPT, *plain[:place]], None)
        tokens = plain[place], other
        key = position_key(7, place)
        assert is_the_margin(divergence.margin, logits, params, key, tokens)
        margins.append(divergence.margin)
    assert sum(margin is not None for margin in margins) > N / 9


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_stop_text_ends_both_replies_alike(desk: Desk, strategy: str) -> None:
    free = desk.ask(max_tokens=N)
    stop = free.text[20:23]
    stopped = desk.ask(max_tokens=N, stop=(stop,))
    assert stopped.reason == "stop"
    again = desk.ask(max_tokens=N, stop=(stop,), strategy=strategy, expected=stopped.tokens)
    assert (again.reason, again.tokens, desk.divergences) == ("stop", stopped.tokens, [])
    # Without it the reply goes on, and with it a longer one ends too soon.
    n = len(stopped.tokens)
    desk.ask(max_tokens=N, strategy=strategy, expected=stopped.tokens)
    assert desk.divergences == [TextDiverged(n, -1, free.tokens[n])]
    desk.ask(max_tokens=N, stop=(stop,), strategy=strategy, expected=free.tokens)
    assert desk.divergences == [TextDiverged(n, free.tokens[n], -1)]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_stopped_in_mid_reply_or_in_the_step_that_differs(desk: Desk, strategy: str) -> None:
    plain = desk.ask()
    client = desk.bench.client
    other = (*plain.tokens[:30], (plain.tokens[30] + 1) % N_VOCAB)
    for at in (0, 5, 29, 30, 31):

        def stop(event: Event, at: int = at) -> None:
            if isinstance(event, StepCommitted):
                stop.n += len(event.tokens)  # type: ignore[attr-defined]
                if stop.n > at:  # type: ignore[attr-defined]
                    client.cancel()

        stop.n = 0  # type: ignore[attr-defined]
        desk.bench.on_event = stop
        try:
            stopped = desk.ask(strategy=strategy, expected=other)
        finally:
            desk.bench.on_event = lambda event: None
        assert stopped.reason == "cancelled"
        assert bool(desk.divergences) == (len(stopped.tokens) > 30)
        assert stopped.tokens == plain.tokens[: len(stopped.tokens)]


def test_a_token_that_does_not_exist_is_no_other_one(desk: Desk) -> None:
    desk.ask(expected=(10**9,))
    (divergence,) = desk.divergences
    assert isinstance(divergence, TextDiverged)
    assert divergence.margin is None


# ------------------------------------------------------------------------------------- margins

ROWS = st.lists(st.floats(-8, 8, width=32).map(lambda x: round(x, 1)), min_size=4, max_size=14)


@given(
    row=ROWS,
    params=st.builds(
        SamplingParams,
        temperature=st.sampled_from([0.0, 0.5, 1.3]),
        top_k=st.sampled_from([0, 1, 5, 100]),
        top_p=st.sampled_from([1.0, 0.9, 0.4]),
        min_p=st.sampled_from([0.0, 0.1]),
        repeat_penalty=st.sampled_from([1.0, 1.5]),
    ),
    allowed=st.none() | st.sets(st.integers(0, 13), min_size=1),
    seed=st.integers(0, 99),
)
def test_a_margin_is_the_least_change_that_draws_the_other_token(
    row: list[float], params: SamplingParams, allowed: set[int] | None, seed: int
) -> None:
    n = len(row)
    legal = sorted(t for t in allowed if t < n) if allowed is not None else None
    if legal == []:
        return
    grammar = TokenGrammar(lambda _text: legal) if legal is not None else None
    sampler = Sampler(params, seed, n_vocab=n, grammar=grammar)
    sampler.start([0, 2])
    given_row = np.array(row, np.float32)
    logits = edit(row, params, [0, 2], legal)
    found = sampler.sample(given_row, 7)
    key = position_key(seed, 7)
    for other in {*range(n), n, -1} - {found}:
        margin = margin_of(sampler, given_row, 7, found, other)
        assert is_the_margin(margin, logits, params, key, (found, other))
    sampler.close()


def test_a_flip_at_the_border_of_the_truncation_is_near_whatever_the_scores() -> None:
    """The winner weighs 0.0501 of the most probable token, and min-p is 0.05."""
    row = np.full(40, -20.0, np.float32)
    row[3], row[8] = 0.0, math.log(0.0501)
    params = SamplingParams(temperature=1, top_k=0, top_p=1, min_p=0.05)
    seed = next(s for s in range(10_000) if Sampler(params, s).sample(row.copy(), 0) == 8)
    margin = margin_of(Sampler(params, seed), row, 0, 8, 3)
    assert margin == pytest.approx(math.log(0.0501 / 0.05), rel=0.01)
    key = position_key(seed, 0)
    gap = row[8] + gumbel_of(key, 8) - row[3] - gumbel_of(key, 3)
    assert margin < gap


def test_what_no_change_brings_has_no_margin() -> None:
    row = np.array([0.0, -5.0, 5000.0], np.float32)
    assert margin_of(Sampler(SamplingParams(temperature=0), 1), row, 0, 2, 0) is None
    assert margin_of(Sampler(SamplingParams(temperature=100), 1), row, 0, 2, 0) is None


def test_a_reply_that_meets_its_own_end_diverges_with_the_end_token() -> None:
    desk = Desk(2)
    free = desk.ask(ignore_eog=True)
    ended = next(
        reply
        for seed in range(1, 40)
        if (reply := desk.ask(seed=seed, ignore_eog=False)).reason == "eog"
    )
    expected = (*ended.tokens[:-1], free.tokens[0])
    again = desk.ask(seed=ended.seed, ignore_eog=False, expected=expected)
    (divergence,) = desk.divergences
    assert isinstance(divergence, TextDiverged)
    assert (divergence.index, divergence.found) == (len(ended.tokens) - 1, EOG)
    assert again.reason == "cancelled"
    assert structs.replace(divergence, margin=None).expected == free.tokens[0]
