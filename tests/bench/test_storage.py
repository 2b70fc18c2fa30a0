"""The benchmark of the store, small; its bounds are ten times those that are wanted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from benchmarks import storage

if TYPE_CHECKING:
    import pytest

SMALL = ["--conversations", "40", "--messages", "800"]


def test_a_small_database_is_fast(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(storage, "_EVERY", 200)  # some long replies
    monkeypatch.setattr(storage, "_ROUNDS", 5)
    storage.main([*SMALL, "--json"])
    results = json.loads(capsys.readouterr().out)
    measured = {result["name"]: result for result in results["results"]}
    assert results["bytes"] > 100_000
    assert measured["start"]["n_found"] == 40
    assert measured["search: common word"]["n_found"] > 0
    for name, result in measured.items():
        assert 0 < result["p50_ms"] <= result["p95_ms"] <= result["max_ms"]
        limit = storage.LIMITS_MS.get(name.split(":")[0])
        assert limit is None or result["p50_ms"] < 10 * limit


def test_the_table_and_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(storage, "_ROUNDS", 2)
    monkeypatch.setitem(storage.LIMITS_MS, "start", 0.0)
    assert storage.main(["--conversations", "5", "--messages", "40"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["n", "p50", "ms"]
    assert lines[1].startswith("start")
    assert lines[1].endswith("LATE")
