"""Auto on simulated machines: what the benchmark promises, and what it prints."""

from __future__ import annotations

from statistics import geometric_mean

import pytest

from benchmarks import machines
from benchmarks.machines import LEAST, MOST_LATE, TEXTS, USELESS, Row, is_kept, measure, report
from engine.auto.simulator import HEADS


@pytest.mark.parametrize("is_known", [True, False], ids=["known", "learned"])
def test_it_is_late_nowhere_and_close_to_the_best_everywhere(is_known: bool) -> None:
    rows = list(measure(n_runs=1, n_tokens=400, is_known=is_known))
    assert len(rows) == 11 * len(TEXTS)
    assert is_kept(rows)
    useful = [row.share for row in rows if row.text not in USELESS]
    assert geometric_mean(useful) > 1.0
    assert min(useful) > 0.87


def test_of_heads_it_takes_what_is_foreseen() -> None:
    """Acceptances of MTP heads as published: of prose, of code, and of both by turns."""
    rows = list(measure(["3090", "m4", "9950x", "own"], list(HEADS), n_runs=3))
    assert is_kept(rows)
    assert min(row.gain for row in rows) > 0.98
    assert min(row.share for row in rows) > 0.93
    by_turns = [row.share for row in rows if row.text == "turns"]
    assert geometric_mean(by_turns) > 1.0, "it is better than any fixed depth"


def test_a_prompt_takes_its_share() -> None:
    for n_prompt in (1000, 4000):
        rows = list(measure(["own", "3090"], ["code", "useless"], n_runs=1, n_prompt=n_prompt))
        assert is_kept(rows, least=0.97)
        assert all(row.gain > 1.1 for row in rows if row.text == "code")


def row(text: str, gain: float, late: float = 0.0) -> Row:
    return Row("own", text, gain, 1.0, late)


def test_its_limits() -> None:
    kept = [row("code", 1.7), row("hard", 0.5), row("useless", LEAST), row("free", 1.0, MOST_LATE)]
    assert is_kept(kept)
    assert not is_kept([*kept, row("useless", LEAST - 0.01)])
    assert not is_kept([*kept, row("code", 2.0, MOST_LATE + 0.1)])


def test_it_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "--runs",
        "1",
        "--machines",
        "stock",
        "flat",
        "--texts",
        "copy",
        "free",
        "--prompt",
        "9",
    ]
    assert machines.main([*arguments, "--learned"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split() == ["machine", "text", "gain", "share", "late"]
    assert [line.split()[:2] for line in printed[1:5]] == [
        ["stock", "copy"], ["stock", "free"], ["flat", "copy"], ["flat", "free"]
    ]  # fmt: skip
    assert report([row("code", 1.5)]).endswith("latest: 0.0 plain steps (own, code)")


def test_a_machine_that_there_is_not_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        machines.main(["--machines", "abacus"])
    assert "choose from 'own', 'stock'" in capsys.readouterr().err
