"""The benchmark of the hosts, on the demo pair; its bounds are ten times those that are wanted."""

from __future__ import annotations

import json
import time

import pytest

from benchmarks import hosts
from benchmarks.hosts import Comparison, Reply, busy_python, summarise
from paceline.messages import LoadPair, ModelParams

FAST = Reply((1, 2, 3, 4), 1.0, 0.5)
SLOW = Reply((1, 2, 3, 4), 4.0, 2.0)
OTHER = Reply((1, 2, 3, 5), 1.0, 0.5)


def test_the_process_host_keeps_up_and_stops_soon(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(hosts, "N_PROMPT", 300)
    monkeypatch.setattr(hosts, "N_TOKENS", 100)
    hosts.main(["--pairs", "3", "--tokens", "30", "--cancel", "2", "--json"])
    results = json.loads(capsys.readouterr().out)
    assert [c["strategy"] for c in results["comparisons"]] == ["off", "draft"]
    for comparison in results["comparisons"]:
        assert comparison["n_pairs"] == 3
        assert comparison["n_different"] == 0
        for clock in ("wall", "decode"):
            assert comparison[clock]["median"] > hosts.LEAST_RATIO / 10
            assert comparison[f"process_{clock}"] > 0
    measured = {(c["stage"], c["host"]) for c in results["cancels"]}
    assert measured == {(s, h) for s in ("prefill", "decode") for h in ("thread", "process")}
    for cancel in results["cancels"]:
        assert cancel["n"] == 2
        assert 0 < cancel["p50_s"] <= cancel["p95_s"] <= cancel["max_s"]
        assert cancel["p95_s"] < hosts.MOST_CANCEL_S * 10


def test_the_table_and_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(hosts, "LEAST_RATIO", 1e6)
    assert hosts.main(["--pairs", "1", "--tokens", "8", "--strategy", "off", "--busy", "4"]) == 1
    head, row = capsys.readouterr().out.splitlines()
    assert head.split()[0] == "strategy"
    assert row.split()[:3] == ["off", "4", "1"]


def compared(thread: Reply, process: Reply) -> Comparison:
    return summarise("off", 0.0, [{"thread": thread, "process": process}] * 3)


def test_what_pairs_say() -> None:
    slower = compared(FAST, SLOW)
    assert (slower.thread_wall, slower.process_wall) == (4.0, 1.0)
    assert slower.wall.median == slower.decode.median == 0.25
    assert slower.is_slower
    assert not compared(SLOW, FAST).is_slower
    assert not compared(FAST, FAST).is_slower
    assert [compared(FAST, r).n_different for r in (FAST, OTHER)] == [0, 3]


def test_models_that_cannot_be_loaded_are_told() -> None:
    pair = LoadPair("bench", ModelParams("nowhere.gguf"))
    with pytest.raises(hosts.BenchError, match=r"nowhere\.gguf"), hosts.loaded_clients(pair):
        pass


def test_busy_is_busy_and_ends() -> None:
    def cpu_s(busy_ms: float) -> float:
        began = time.process_time()
        with busy_python(busy_ms):
            time.sleep(0.4)
        return time.process_time() - began

    assert cpu_s(0) < 0.02
    assert cpu_s(15) > 0.06
    assert cpu_s(0) < 0.02
