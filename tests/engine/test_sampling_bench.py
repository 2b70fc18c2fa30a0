"""The benchmark of sampling measures every setting, shape and size, and fails above a limit."""

from __future__ import annotations

import json

import pytest

from benchmarks import sampling as bench


def test_every_cell_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    bench.main(["--vocabularies", "8192,9000", "--calls", "2", "--json"])
    cells = json.loads(capsys.readouterr().out)
    names = {(cell["setting"], cell["n_vocab"], cell["shape"]) for cell in cells}
    n_under_schema = 3
    assert len(names) == len(cells)
    assert len(cells) == len(bench.settings()) * 2 * len(bench.SHAPES) + n_under_schema
    for cell in cells:
        assert cell["row_us"] > 0
        assert cell["share_of_limit"] == pytest.approx(cell["row_us"] / cell["limit_us"])


@pytest.mark.parametrize(("factor", "code"), [(1e6, 0), (1e-6, 1)])
def test_the_exit_code_tells_whether_a_limit_is_broken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], factor: float, code: int
) -> None:
    for name in ("GREEDY_US", "LEAST_TRUNCATED_US", "LEAST_US"):
        monkeypatch.setattr(bench, name, getattr(bench, name) * factor)
    assert bench.main(["--vocabularies", "8192", "--calls", "2"]) == code
    assert "top-p 0.95" in capsys.readouterr().out


def test_the_stated_limits_hold_for_large_vocabularies() -> None:
    """Loosely, on a machine that is busy with other things: the benchmark itself is exact."""
    for shape in bench.SHAPES:
        for cell in bench.measure(151_936, shape, 10):
            assert cell.row_us < 4 * cell.limit_us, cell


def test_rows_have_their_shape() -> None:
    tops = {}
    for shape in bench.SHAPES:
        rows = bench.make_rows(shape, 8192, 4)
        assert rows.shape == (4, 8192)
        tops[shape] = float((rows.max(axis=1) - rows.mean(axis=1)).mean())
    assert tops["peaked"] > 20 > tops["usual"] > 5 > tops["flat"]
