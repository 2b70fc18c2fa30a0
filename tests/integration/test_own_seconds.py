"""A reply on a machine that others use: the real engine tells Auto what it waited for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from integration.engine import Engine
from paceline.engine.auto_chain import AutoChain
from paceline.engine.llama.library import devices
from paceline.engine.step_clock import Lap

needs_linux = pytest.mark.skipif(
    not Path("/proc/thread-self/schedstat").exists(), reason="the system does not tell"
)


@contextmanager
def busy_machine() -> Iterator[None]:
    """Every core has two others that compute."""
    n = 2 * (os.cpu_count() or 1)
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


@needs_linux
def test_waiting_for_others_is_told_and_not_learned(
    demo_pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    if any(info.kind != "cpu" for _, info in devices()):
        pytest.skip("a device may compute")
    laps: list[Lap] = []
    timed = AutoChain.timed

    def noted(chain: AutoChain, n_ctx: int, width: int, lap: Lap) -> object:
        laps.append(lap)
        return timed(chain, n_ctx, width, lap)

    monkeypatch.setattr(AutoChain, "timed", noted)
    with Engine(*demo_pair) as engine, busy_machine():
        stats = engine.reply("What is a dict?", strategy="auto", max_tokens=250).stats
        pace = engine.client._service._pair.knowledge.pace  # type: ignore[attr-defined]
        assert 0 < sum(lap.held_s for lap in laps) < stats.decode_s
        assert pace.wait > 1.05
        assert pace.plain is not None
        assert pace.plain * pace.wait < 10 * stats.decode_s / stats.n_steps
