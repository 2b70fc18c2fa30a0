"""Steps in which a device may have compiled programs teach nothing about what steps take."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.harness import (
    TIMED,
    Clock,
    PricedModel,
    decoder_for,
    draft_price,
    random_language,
    run,
    target_price,
)
from paceline.engine.auto.knowledge import Knowledge
from paceline.engine.model.backend import Rows


class Compiling(PricedModel):
    """A device for which every decode, or none, is the first one of its width."""

    compiles = True
    time = Clock()

    @staticmethod
    def price(_width: int) -> float:
        """Take no time, where a test says nothing else."""
        return 0.0

    def decode(self, tokens: Sequence[int], n_rows: int) -> Rows:
        self.n_firsts += self.compiles
        return super().decode(tokens, n_rows)


@pytest.mark.parametrize("strategy", ["off", "auto"])
@pytest.mark.parametrize("compiles", [False, True])
def test_a_step_with_a_first_decode_is_not_timed(strategy: str, *, compiles: bool) -> None:
    model, knowledge = Compiling(random_language(1)), Knowledge()
    model.compiles = compiles
    decoder = decoder_for(model, strategy, knowledge=knowledge, warm=False, max_tokens=30)
    steps = run(decoder)
    assert len(steps) > 20
    assert not compiles or not any(step.plain for step in steps[1:])
    assert (knowledge.recent.n_needed > 0) == compiles
    assert (knowledge.pace.plain is None) == (compiles or strategy == "off")
    estimate = decoder.meter.plain.estimate()
    assert (estimate is None) == compiles  # the time of plain decoding is unknown


@pytest.mark.parametrize("compiles", [False, True])
def test_a_draft_model_s_first_decode_counts_too(
    monkeypatch: pytest.MonkeyPatch, *, compiles: bool
) -> None:
    knowledge, clock = Knowledge(), Clock()
    for module in TIMED:
        monkeypatch.setattr(module, "_clock", clock)
    for _ in range(3):
        model, draft = Compiling(random_language(1)), Compiling(random_language(1))
        model.compiles, draft.compiles = False, compiles
        model.time = draft.time = clock
        model.price, draft.price = target_price, draft_price
        run(decoder_for(model, "auto", draft=draft, knowledge=knowledge))
    assert draft.widths
    assert knowledge.pace.plain is not None
    assert (knowledge.draft_costs["draft"].per_token is None) == compiles
