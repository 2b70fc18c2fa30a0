"""A reply on a machine that others use: the real engine reports to Auto the time that it waited."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.busy_machine import others
from integration.engine import Engine
from paceline.engine.draft.auto_chain import AutoChain
from paceline.engine.draft.step_clock import Lap
from paceline.engine.model.threads import own_clock


def test_waiting_for_other_programs_is_reported_and_not_learned(
    demo_pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    laps: list[Lap] = []
    timed = AutoChain.timed

    def noted(chain: AutoChain, lap: Lap, *step: float) -> object:
        laps.append(lap)
        return timed(chain, lap, *step)  # type: ignore[arg-type]

    monkeypatch.setattr(AutoChain, "timed", noted)
    with Engine(*demo_pair) as engine, others(2 * (os.cpu_count() or 1)) as go:
        pair = engine.pair
        if own_clock(pair.target.model, pair.draft.model) is None:
            pytest.skip("the system does not tell, or a device may compute")
        go()
        stats = engine.reply("What is a dict?", strategy="auto", max_tokens=250).stats
        pace = pair.knowledge.pace
        assert 0 < sum(lap.held_s for lap in laps) < stats.decode_s
        assert pace.wait > 1.05
        assert pace.plain is not None
        assert pace.plain * pace.wait < 10 * stats.decode_s / stats.n_steps
