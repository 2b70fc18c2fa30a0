"""The draft model catches up with the target's text, whatever it holds of another one."""

from __future__ import annotations

import pytest

from engine.harness import random_language
from fake_model import FakeModel
from paceline.engine.facts import Facts
from paceline.engine.idle import PIECE, CatchingUp
from paceline.engine.pair import LoadedPair

TEXT = [i % 200 for i in range(PIECE + 30)]


@pytest.mark.parametrize(
    "held",
    [[], TEXT[:20], [*TEXT[:20], 255, 254, 253], [255] * 5, [*TEXT[:20], *[255] * PIECE * 2]],
    ids=["nothing", "a part", "wrong tokens behind it", "another text", "a longer one"],
)
def test_the_draft_model_ends_up_with_the_targets_tokens(held: list[int]) -> None:
    model = FakeModel(random_language(1))
    pair = LoadedPair(FakeModel(random_language(1)), model, Facts(""))
    assert pair.draft is not None
    pair.uses_draft = True
    pair.target.feed(TEXT, 0)
    if held:
        pair.draft.feed(held, 0)
    work, n_slices = CatchingUp(pair), 0
    while work.slice():
        n_slices += 1
        assert model.tokens == pair.draft.tokens == TEXT[: len(model.tokens)]
    assert n_slices == 2
    assert model.tokens == TEXT
