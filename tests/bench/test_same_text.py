"""The benchmark of sameness: it continues where it stopped, and counts broken promises."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.same_text import Line, Way, read_log, report, to_do
from upper_bound import at_most

WAYS = [
    Way(Path(f"{name}.gguf"), None, "own", 1, mode)
    for name in ("a", "b")
    for mode in ("default", "exact")
]


def line(way: Way, prompt: int, *, promised: bool | None = True, **drafted: object) -> Line:
    reply = {
        "temperature": 0.0, "strategy": "suffix", "accepted": 1, "drafted": 2, "seconds": 2.0,
        "rows": 9, "rows_off": 0, "same": True, "next_same": True,
    }  # fmt: skip
    plain = {"temperature": 0.0, "strategy": "off", "seconds": 2.0}
    return {
        **dict(zip(("target", "kernels", "threads", "mode"), way.key, strict=True)),
        "prompt": prompt, "promised": promised, "looks": 0, "apart": None, "widths": "1-1-63",
        "replies": [plain, {**reply, **drafted}],
    }  # fmt: skip


def test_every_way_has_a_prompt_before_one_has_its_second() -> None:
    lines: list[Line] = []
    done = []
    for way, number in to_do(WAYS, lines, 3, 1):
        done.append((WAYS.index(way), number))
        lines.append(line(way, number, promised=way is not WAYS[2]))
    assert done == [(w, n) for n in range(3) for w in range(4) if not (w == 2 and n)]
    assert not list(to_do(WAYS, lines, 3, 1))
    assert [n for _, n in to_do(WAYS, lines[1:], 3, 1)] == [0]
    assert [(WAYS.index(way), n) for way, n in to_do(WAYS, lines, 3, 2)] == [(2, 1)]


def test_a_line_that_was_cut_off_counts_as_missing(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert read_log(log) == []
    whole = json.dumps(line(WAYS[0], 0))
    log.write_text(f"{whole}\n{whole[:-9]}\n{whole}\n")
    assert len(read_log(log)) == 2


@pytest.mark.parametrize(
    ("found", "is_broken", "words"),
    [
        ({}, False, "a: 0 of 2 replies and next turns (77.64%), 0 of 9 rows (28.313%)"),
        ({"accepted": 2}, False, "a: 0 of 1 replies"),
        ({"same": False, "next_same": False}, True, "a: 1 of 1 replies"),
        ({"next_same": False}, True, "a: 1 of 2 replies"),
        ({"rows_off": 1}, True, "1 of 9 rows"),
        ({"promised": False, "same": False}, False, "a: 0 of 0 replies and next turns (100.00%)"),
    ],
)
def test_what_is_promised_and_differs_is_counted(
    found: dict[str, object], is_broken: bool, words: str
) -> None:
    text, broken = report([line(WAYS[0], 0, **found)])  # type: ignore[arg-type]
    assert words in text
    assert broken == is_broken


def test_a_promise_that_is_withdrawn_is_a_broken_one() -> None:
    text, broken = report([line(WAYS[0], 0), line(WAYS[0], 1, promised=False)])
    assert "withdrawn" in text
    assert broken


@pytest.mark.parametrize(
    ("n_seen", "n", "share"), [(0, 59, 0.0495), (0, 2000, 0.0015), (1, 30, 0.1486), (3, 3, 1.0)]
)
def test_the_upper_limit_is_that_of_clopper_and_pearson(n_seen: int, n: int, share: float) -> None:
    assert at_most(n_seen, n) == pytest.approx(share, abs=1e-4)
