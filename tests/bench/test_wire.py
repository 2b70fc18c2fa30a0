"""The cost of HTTP, as the benchmark `wire` reports it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import wire
from versus.sides import Answer


def answer(first_s: float, rest_s: float, prompt_ms: float) -> Answer:
    return Answer(first_s, rest_s, "text", 3, {"prompt_ms": prompt_ms}, {})


def test_figures_are_medians_over_the_turns() -> None:
    found = [
        (answer(0.105, 1.00, 100.0), 0.99),  # the server took longer
        (answer(0.306, 2.00, 300.0), 2.02),
        (answer(0.207, 4.00, 200.0), 3.92),
    ]
    share, beyond = wire.share_of_http(found), wire.beyond_the_engine_ms(found)
    assert (share.median, share.low, share.high) == pytest.approx((0.01, -0.01, 0.02))
    assert (beyond.median, beyond.low, beyond.high) == pytest.approx((6.0, 5.0, 7.0))


def test_the_server_and_the_program_write_the_same(
    demo_pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert wire.main([str(demo_pair[0]), "--tokens", "24", "--turns", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["share"]["median"] < 1
    assert told["beyond_ms"]["median"] > 0
