"""Likelihoods of the tokens of real replies: the same with any strategy, and as in the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from integration.engine import WARM, Engine
from paceline.messages import SamplingParams, TokenLikelihood

QUESTION = "What does os.path.join do?"


@pytest.fixture(scope="module")
def engine(demo_pair: tuple[Path, Path]) -> Iterator[Engine]:
    with Engine(*demo_pair, n_ctx=512, kernels="own") as engine:
        yield engine


def told(engine: Engine) -> list[TokenLikelihood]:
    return [likely for step in engine.steps for likely in step.likely]


def by_rows(engine: Engine, tokens: Sequence[int]) -> list[np.ndarray]:
    """Logarithms of probabilities after each token of the reply but the last, row by row."""
    model = engine.pair.target.model
    prompt = engine.pair.target.tokens.first(len(engine.pair.target.tokens) - len(tokens) + 1)
    assert list(engine.pair.target.tokens[len(prompt) :]) == list(tokens[:-1])
    model.clear()
    rows = []
    model.decode(prompt[:-1], 0)
    for token in (prompt[-1], *tokens[:-1]):
        row = model.decode([token], 1)[0].astype(np.float64)
        rows.append(row - row.max() - np.log(np.exp(row - row.max()).sum()))
    engine.pair.empty()
    return rows


@pytest.mark.parametrize(
    "sampling",
    [SamplingParams(0), WARM, SamplingParams(0.7, repeat_penalty=1.3)],
    ids=["cold", "warm", "penalties"],
)
def test_every_strategy_reports_the_same(engine: Engine, sampling: SamplingParams) -> None:
    options = {"sampling": sampling, "max_tokens": 48, "n_likely": 5}
    engine.reply(QUESTION, **options)  # from here on, all begin with the same context
    plain = engine.reply(QUESTION, **options)
    expected = told(engine)
    assert [likely.drawn.token for likely in expected] == list(plain.tokens)
    for strategy in ("draft:n_max=4:p_min=0", "suffix+draft:min_match=1:draft.p_min=0", "auto"):
        other = engine.reply(QUESTION, strategy=strategy, **options)
        assert other.tokens == plain.tokens
        if strategy != "auto":
            assert other.stats.n_accepted > 0
        if engine.pair.promise.sameness.holds:
            assert told(engine) == expected, "to the last digit"
        for one, two in zip(expected, told(engine), strict=True):
            assert one.drawn.token == two.drawn.token
            assert two.drawn.logprob == pytest.approx(one.drawn.logprob, abs=1e-3)
            assert [b.logprob for b in two.best] == pytest.approx(
                [b.logprob for b in one.best], abs=1e-3
            )
    rows = by_rows(engine, plain.tokens)
    for likely, row in zip(expected, rows, strict=True):
        assert likely.drawn.logprob == pytest.approx(row[likely.drawn.token], abs=1e-3)
        assert [b.logprob for b in likely.best] == pytest.approx(
            np.sort(row)[::-1][:5].tolist(), abs=1e-3
        )
        for each in (likely.drawn, *likely.best):
            assert each.piece
