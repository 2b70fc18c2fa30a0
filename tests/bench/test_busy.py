"""The trace of a machine that others begin to use."""

from __future__ import annotations

import json

import pytest

from benchmarks import busy
from benchmarks.busy import Look, Trace, is_right


def looks(*found: tuple[int, float, float, float]) -> tuple[Look, ...]:
    return tuple(Look(*each) for each in found)


def test_the_estimate_has_to_be_right_in_the_end() -> None:
    early = (20, 0.01, 0.0, 0.0)
    assert is_right([Trace(0.01, 0.02, looks(early, (80, 0.021, 1.0, 1.0)))])
    for wrong_s in (0.015, 0.026):
        assert not is_right([Trace(0.01, 0.02, looks(early, (80, wrong_s, 1.0, 1.0)))])


def test_the_slow_down_must_not_be_booked() -> None:
    assert is_right([Trace(0.01, 0.02, looks((80, 0.02, 6.0, 3.0)))])
    assert not is_right([Trace(0.01, 0.02, looks((80, 0.02, 60.0, 3.0)))])


def test_a_real_reply_is_traced(capsys: pytest.CaptureFixture[str]) -> None:
    busy.main(["--repeat", "1", "--busy", "1", "--json"])
    (trace,) = json.loads(capsys.readouterr().out)
    assert trace["looks"][-1]["n_tokens"] == busy.WITHIN_TOKENS + busy.N_MORE
    assert 0 < trace["quiet_s"] < 1
    assert 0 < trace["busy_s"] < 5
    for look in trace["looks"]:
        assert look["plain_s"] > 0
        # Neither can be lost more than the ledger allows, nor won more than the tokens' time.
        assert -300 < look["booked"] < 60
