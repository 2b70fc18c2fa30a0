"""A reply generated once more on real weights, beside the one it must equal: under a grammar."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.engine import Engine
from paceline.messages import SamplingParams, TextDiverged

STRATEGIES = ("off", "draft:n_max=4:p_min=0", "suffix+draft:min_match=1:draft.p_min=0")
GRAMMAR = 'root ::= "{" [a-z ]{8,30} "}" [0-9]{4}'


@pytest.fixture(scope="module")
def engine(demo_pair: tuple[Path, Path]) -> Iterator[Engine]:
    with Engine(*demo_pair, n_ctx=512) as engine:
        yield engine


@pytest.mark.parametrize(
    "sampling",
    [
        SamplingParams(temperature=0, grammar=GRAMMAR),
        SamplingParams(temperature=1.0, top_k=0, grammar=GRAMMAR, repeat_penalty=1.1),
    ],
    ids=["cold", "warm"],
)
def test_under_a_grammar_every_strategy_reports_the_same(
    engine: Engine, sampling: SamplingParams
) -> None:
    options = {"sampling": sampling, "max_tokens": 60, "seed": 4}
    engine.reply("Say a word.", **options)
    plain = engine.reply("Say a word.", **options)
    assert plain.reason == "eog"  # the grammar's end
    places = (0, 3, len(plain.tokens) - 2, len(plain.tokens) - 1)
    told: list[list[TextDiverged]] = []
    for strategy in STRATEGIES:
        same = engine.reply("Say a word.", strategy=strategy, expected=plain.tokens, **options)
        assert (same.tokens, same.reason) == (plain.tokens, "eog")
        assert not any(isinstance(event, TextDiverged) for event in engine.events)
        found = []
        for place in places:
            other = plain.tokens[place - 1] if place else plain.tokens[-1]
            expected = (*plain.tokens[:place], other)
            again = engine.reply("Say a word.", strategy=strategy, expected=expected, **options)
            assert (again.reason, again.tokens) == ("cancelled", plain.tokens[: place + 1])
            found += [event for event in engine.events if isinstance(event, TextDiverged)]
        told.append(found)
    assert [event.index for event in told[0]] == list(places)
    for others in told[1:]:
        for one, other in zip(told[0], others, strict=True):
            assert (one.index, one.expected, one.found) == (
                other.index, other.expected, other.found,
            )  # fmt: skip
            assert (one.margin is None) == (other.margin is None)
