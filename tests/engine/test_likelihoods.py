"""Likelihoods of the tokens of a reply, held against a slow reference."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.bench import Bench
from engine.failing import BROKEN, FULL, NO_MEMORY, REFUSED, Failing
from engine.harness import random_language
from engine.token_grammar import TokenGrammar, random_rule
from fake_model import EOG, N_VOCAB, ByteVocabulary, FakeModel
from paceline.engine.decode.likelihoods import Likelihoods
from paceline.engine.model.backend import Grammar, Reasoning
from paceline.engine.sample.drawing import MAX_LIKELY, MakeDrawer
from paceline.engine.sample.plain_rows import PlainRows
from paceline.engine.sample.sampling import Sampler
from paceline.errors import EngineError
from paceline.messages import (
    LogitBias,
    SamplingParams,
    StepCommitted,
    TokenLikelihood,
    TurnFinished,
)

LANGUAGE = random_language(5, spread=2.0)
WARM = SamplingParams(0.9, top_k=40, top_p=0.95, min_p=0.02)
EDITED = SamplingParams(
    0.8, top_k=0, repeat_penalty=1.4, presence_penalty=0.5, frequency_penalty=0.3,
    logit_bias=(LogitBias(101, 4.0), LogitBias(7, -math.inf)),
)  # fmt: skip
DRAFT = "draft:n_max=4:p_min=0"
STRATEGIES = ("off", "prompt-lookup:max_ngram=1:n_pred=8", "suffix:min_match=1:p_min=0", DRAFT)


def told_of(row: Sequence[float], token: int, n: int) -> tuple[float, list[tuple[int, float]]]:
    """Return the expected report on a drawn token, computed one number after the other."""
    top = max(row)
    total = top + math.log(math.fsum(math.exp(x - top) for x in row))
    ranked = sorted(range(len(row)), key=lambda t: (-row[t], t))
    best = [(t, row[t] - total) for t in ranked[:n] if row[t] > -math.inf]
    return row[token] - total, best


def check(likely: TokenLikelihood, row: np.ndarray, token: int, n: int) -> None:
    logprob, best = told_of(row.tolist(), token, n)
    assert likely.drawn.token == token
    assert likely.drawn.logprob == pytest.approx(logprob, abs=1e-9)
    assert [each.token for each in likely.best] == [t for t, _ in best]
    assert [each.logprob for each in likely.best] == pytest.approx([x for _, x in best], abs=1e-9)
    for each in (likely.drawn, *likely.best):
        assert each.piece == (b"<end>" if each.token == EOG else bytes([each.token]))


def steps_of(bench: Bench, n_before: int) -> list[StepCommitted]:
    return [event for event in bench.events[n_before:] if isinstance(event, StepCommitted)]


def check_reply(bench: Bench, n_before: int, n: int, tokens: Sequence[int]) -> None:
    """Compare each token's report with the row that the model gives after all tokens before it."""
    steps = steps_of(bench, n_before)
    assert all(len(step.likely) == len(step.tokens) for step in steps)
    told = [likely for step in steps for likely in step.likely]
    prompt = [*list(b"user: hi"), EOG, *b"\n"]
    assert len(told) <= len(tokens)
    first = len(tokens) - len(told)  # of a reply that goes on
    for place, likely in enumerate(told, first):
        check(likely, LANGUAGE([*prompt, *tokens[:place]]), tokens[place], n)


def bench_of(model: FakeModel | None = None) -> Bench:
    bench = Bench(target=model or FakeModel(LANGUAGE), draft=FakeModel(LANGUAGE))
    bench.load(draft="draft")
    for _ in range(2):  # the plain steps after a load
        bench.ask(max_tokens=20, ignore_eog=True)
    return bench


def finished(bench: Bench, **options: object) -> TurnFinished:
    return bench.finish(**{"sampling": WARM, "max_tokens": 40, "ignore_eog": True} | options)


@pytest.mark.parametrize("n", [0, MAX_LIKELY])
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "sampling", [SamplingParams(0), WARM, EDITED], ids=["cold", "warm", "edited"]
)
def test_each_token_of_a_reply_is_reported_with_any_draft(
    strategy: str, sampling: SamplingParams, n: int
) -> None:
    bench = bench_of()
    plain = finished(bench, sampling=sampling, strategy=strategy)
    assert all(step.likely == () for step in steps_of(bench, 0)), "nothing is told unasked"
    n_before = len(bench.events)
    asked = finished(bench, sampling=sampling, strategy=strategy, n_likely=n)
    assert (asked.tokens, asked.text) == (plain.tokens, plain.text)
    check_reply(bench, n_before, n, asked.tokens)
    assert sum(len(step.likely) for step in steps_of(bench, n_before)) == 40
    if strategy == DRAFT:
        assert asked.stats.n_accepted > 10


def test_the_end_is_told_by_its_name_and_what_comes_after_a_stop_is_not() -> None:
    bench = bench_of()
    n_before = len(bench.events)
    ended = finished(bench, ignore_eog=False, max_tokens=400, strategy=DRAFT, n_likely=2)
    assert ended.tokens[-1] == EOG
    check_reply(bench, n_before, 2, ended.tokens)
    assert steps_of(bench, n_before)[-1].likely[-1].drawn.piece == b"<end>"
    whole = finished(bench, strategy="off")
    stop = next(text for text in whole.text[8:] if text.isascii())
    n_before = len(bench.events)
    stopped = finished(bench, stop=(stop,), strategy=DRAFT, n_likely=2)
    assert stopped.reason == "stop"
    check_reply(bench, n_before, 2, stopped.tokens)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("cut", [1, 13])
def test_a_continued_reply_reports_only_its_new_part(strategy: str, cut: int) -> None:
    bench = bench_of()
    whole = finished(bench)
    begun = finished(bench, max_tokens=cut)
    n_before = len(bench.events)
    rest = finished(
        bench, begun=begun.tokens, begun_text=begun.text, n_likely=3, strategy=strategy,
        max_tokens=40 - cut,
    )  # fmt: skip
    assert rest.tokens == whole.tokens
    check_reply(bench, n_before, 3, rest.tokens)
    assert sum(len(step.likely) for step in steps_of(bench, n_before)) == 40 - cut


def test_a_forbidden_end_of_a_continued_reply_keeps_its_reported_probability() -> None:
    def ending(tokens: Sequence[int]) -> np.ndarray:
        row = LANGUAGE(tokens)
        row[EOG] = 30.0
        return row

    bench = Bench(target=FakeModel(ending))
    bench.load()
    n_before = len(bench.events)
    bench.ask(begun=(97, EOG), begun_text="a", n_likely=1, max_tokens=1)
    (likely,) = steps_of(bench, n_before)[0].likely
    assert likely.drawn.token != EOG
    assert likely.drawn.logprob < -20
    assert likely.best[0].token == EOG
    assert likely.best[0].logprob == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_reply_that_is_compared_is_told_up_to_the_first_difference(strategy: str) -> None:
    bench = bench_of()
    plain = finished(bench)
    n_before = len(bench.events)
    expected = (*plain.tokens[:21], (plain.tokens[21] + 1) % N_VOCAB)
    again = finished(bench, expected=expected, strategy=strategy, n_likely=1)
    assert (again.reason, len(again.tokens)) == ("cancelled", 22)
    check_reply(bench, n_before, 1, again.tokens)
    assert sum(len(step.likely) for step in steps_of(bench, n_before)) == 22


@pytest.mark.parametrize("failure", [FULL, REFUSED, NO_MEMORY])
@pytest.mark.parametrize("at", [1, 2, 5])
def test_decodes_that_are_mended_are_reported_like_others(failure: EngineError, at: int) -> None:
    model = Failing(LANGUAGE)
    bench = bench_of(model)
    n_before, plain = len(bench.events), finished(bench, strategy=DRAFT)
    model.plan = {model.n_decodes + at: failure}
    n_before = len(bench.events)
    last = bench.ask(sampling=WARM, max_tokens=40, ignore_eog=True, strategy=DRAFT, n_likely=2)
    assert model.n_hits == 1
    told = [token.token for step in steps_of(bench, n_before) for token in step.tokens]
    assert tuple(told) == plain.tokens[: len(told)]
    check_reply(bench, n_before, 2, told)
    if isinstance(last, TurnFinished) and last.reason != "context":
        assert len(told) == 40


def test_what_a_failed_decode_has_cut_off_is_not_reported_later() -> None:
    model = Failing(LANGUAGE)
    bench = bench_of(model)
    model.plan = {model.n_decodes + 3: BROKEN}
    n_before = len(bench.events)
    bench.fail(sampling=WARM, max_tokens=40, ignore_eog=True, n_likely=2)
    steps = steps_of(bench, n_before)
    assert [len(step.likely) for step in steps] == [len(step.tokens) for step in steps]


@pytest.mark.parametrize(
    "options", [{"can_rollback": False}, {"can_rollback": False, "n_states": 8}]
)
def test_models_that_hardly_go_back_tell_the_same(options: dict[str, object]) -> None:
    bench = bench_of(FakeModel(LANGUAGE, **options))  # type: ignore[arg-type]
    strategy = "suffix:min_match=1:p_min=0" if "n_states" in options else "off"
    n_before = len(bench.events)
    check_reply(bench, n_before, 4, finished(bench, strategy=strategy, n_likely=4).tokens)


class RuledVocabulary(ByteVocabulary):
    """Its grammars allow a tenth of all tokens at each place."""

    def grammar(self, gbnf: str, after: Reasoning | None = None) -> Grammar:
        return TokenGrammar(random_rule(int(gbnf), N_VOCAB, 0.1))


@pytest.mark.parametrize("strategy", ["off", DRAFT])
def test_a_grammar_does_not_change_what_is_told(strategy: str) -> None:
    model = FakeModel(LANGUAGE)
    model.vocab = RuledVocabulary()
    bench = bench_of(model)
    sampling = SamplingParams(0.9, grammar="3")
    n_before = len(bench.events)
    reply = finished(bench, sampling=sampling, ignore_eog=False, strategy=strategy, n_likely=6)
    check_reply(bench, n_before, 6, reply.tokens)
    steps = steps_of(bench, n_before)
    assert any(likely.drawn not in likely.best for step in steps for likely in step.likely)


@pytest.mark.parametrize("n", [-2, MAX_LIKELY + 1, 2**40])
def test_other_numbers_are_refused_in_words(n: int) -> None:
    bench = bench_of()
    failed = bench.fail(n_likely=n)
    assert failed.code == "value-out-of-range"
    assert str(MAX_LIKELY) in str(failed.hint)


@pytest.mark.parametrize("make_drawer", [None, PlainRows], ids=["best", "numpy"])
@given(
    seed=st.integers(0, 10**6),
    spread=st.sampled_from([0.0, 1e-3, 1.0, 30.0, 1e4]),
    n_vocab=st.integers(1, N_VOCAB),
    n=st.integers(0, MAX_LIKELY),
    n_ruled_out=st.integers(0, 50),
    n_equal=st.integers(0, 50),
)
def test_random_rows_are_told_as_by_the_reference(
    make_drawer: MakeDrawer | None,
    seed: int,
    spread: float,
    n_vocab: int,
    n: int,
    n_ruled_out: int,
    n_equal: int,
) -> None:
    """Equal ones and ones that cannot be, too; what draws may write into the row as it likes."""
    rng = np.random.default_rng(seed)
    row = (rng.normal(size=n_vocab) * spread).astype(np.float32)
    row[rng.integers(n_vocab, size=n_equal)] = row[0]
    row[rng.integers(n_vocab, size=n_ruled_out)] = -np.inf
    token = int(rng.integers(n_vocab))
    row[token] = spread
    own = row.copy()
    params = SamplingParams(0.9, repeat_penalty=1.5, logit_bias=(LogitBias(token, 100.0),))
    sampler = Sampler(params, seed, n_likely=n, make_drawer=make_drawer)
    sampler.start([token, 0])
    likelihoods = Likelihoods(ByteVocabulary(), sampler)
    drawn = sampler.sample(row, 3)
    (likely,) = likelihoods.take([drawn])
    check(likely, own, drawn, n)
    assert likelihoods.take([drawn]) == ()


def test_a_token_that_was_refused_is_not_told() -> None:
    sampler = Sampler(SamplingParams(temperature=0), 1, n_likely=1)
    likelihoods = Likelihoods(ByteVocabulary(), sampler)
    row = np.arange(N_VOCAB, dtype=np.float32)
    rows = np.stack([np.roll(row, shift) for shift in (6, 7, 8)])
    assert list(sampler.draws(rows, [5, 6], 0)) == [5, 6, 7]
    assert [likely.drawn.token for likely in likelihoods.take([5, 6])] == [5, 6]
    assert likelihoods.take([7]) == ()
