"""Decodes of many widths: what is measured and in which order, the bits, the tables."""

from __future__ import annotations

import json
from collections import Counter
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from benchmarks import widths
from benchmarks.wide_decodes import OWN, STOCK, Sides, WideDecodes, own_library
from benchmarks.widths import Cell, Table, report
from paceline.bench.recommend import Interval
from paceline.engine.model.own_kernels import NoKernelsError
from paceline.engine.native import llama_backend
from paceline.params import ModelParams
from paceline.paths import Paths, demo_pair

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from paceline.engine.model.backend import Rows


class StandIn:
    """A library that computes nothing, but notes what is switched on."""

    isa = "none"

    def __init__(self) -> None:
        self.kernels = tuple(SimpleNamespace(name=name) for name in ("q8_0", "q4_0", "attention"))
        self.masks: list[int] = []

    def enable(self, mask: int) -> None:
        self.masks.append(mask)

    def called(self) -> int:
        return self.masks[-1] & 0b101  # the model has no Q4_0


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    library = StandIn()
    monkeypatch.setattr(widths, "own_library", lambda _path, _cache: library)
    return library


@pytest.fixture
def no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_path: Path | None, _cache: Path) -> None:
        raise NoKernelsError("there is no compiler")

    monkeypatch.setattr(widths, "own_library", refuse)


@pytest.fixture
def demo() -> Iterator[WideDecodes]:
    params = ModelParams(str(demo_pair()[0]), n_ctx=512, n_threads=1)
    decodes = WideDecodes(llama_backend(), params, Sides(StandIn()))  # type: ignore[arg-type]
    decodes.set_threads(1)
    yield decodes
    decodes.close()


def test_a_run_with_own_kernels(
    library: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.json"
    arguments = ["--widths", "2-3,70", "--repeat", "5", "--threads", "1,2", "--cells", "40"]
    assert widths.main([*arguments, "--json", str(out)]) in {0, 1}
    (result,) = json.loads(out.read_text("utf-8"))
    one, two = result["tables"]
    assert (one["n_threads"], two["n_threads"], one["n_cells"]) == (1, 2, 40)
    assert [each["width"] for each in one["cells"]] == [1, 2, 3, 70]
    assert [each["n_pairs"] for each in one["cells"]] == [5, 5, 5, 2]
    assert one["kernels"] == ["attention", "q8_0"]
    assert 0 < one["plain_s"] < 5
    for each in one["cells"]:
        assert 0 < each["own_by_stock"]["low"] <= each["own_by_stock"]["median"]
    assert result["model"]["file"] == demo_pair()[0].name
    text = capsys.readouterr().out
    assert "own kernels at work: attention, q8_0" in text
    assert "stock → own" in text
    assert library.masks[-1] == 0


@pytest.mark.usefixtures("no_library")
def test_a_run_without_own_kernels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.json"
    assert widths.main(["--widths", "2", "--repeat", "2", "--json", str(out)]) == 0
    (result,) = json.loads(out.read_text("utf-8"))
    assert result["tables"][0]["cells"][1]["own"] is None
    assert "there is no compiler" in capsys.readouterr().out


def test_a_kernel_must_have_a_name(library: StandIn, capsys: pytest.CaptureFixture[str]) -> None:
    assert widths.main(["--only", "q8_0,q9"]) == 2
    assert "no kernel q9" in capsys.readouterr().err
    assert library.masks == []


def test_the_order_alternates(demo: WideDecodes, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, int]] = []

    def seconds(side: str, tokens: list[int]) -> float:
        seen.append((side, len(tokens)))
        return float(len(seen))

    monkeypatch.setattr(demo, "seconds", seconds)
    samples, _ = widths.measure(demo, (1, 2, 512), 8)
    per_turn = [seen[:9], seen[9:15], seen[15:21], seen[21:27], seen[27:36]]
    assert per_turn[0][:3] == [(STOCK, 1), (STOCK, 1), (OWN, 1)]
    assert per_turn[1][:3] == [(OWN, 1), (OWN, 1), (STOCK, 1)]
    assert [width for _, width in per_turn[2][::3]] == [2, 1]
    # A prefill in every fourth turn, whose order alternates, too.
    assert [each for each in seen if each[1] == 512] == [
        (STOCK, 512), (STOCK, 512), (OWN, 512), (OWN, 512), (OWN, 512), (STOCK, 512),
    ]  # fmt: skip
    assert {key: len(found) for key, found in samples.items()} == Counter(
        {(side, width): 8 if width < 64 else 2 for side in (STOCK, OWN) for width in (1, 2, 512)}
    )


def test_a_timed_decode_leaves_the_context_as_it_was(demo: WideDecodes) -> None:
    demo.fill(40)
    assert demo.model.n_past == 40
    for width in (1, 63, 100):
        assert demo.seconds(STOCK, demo.tokens(width, seed=1)) > 0
        assert demo.model.n_past == 40


def test_equal_bits_are_equal(
    library: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.json"
    arguments = ["--check", "--widths", "2,16,63,512", "--cells", "64,5000", "--json", str(out)]
    assert widths.main(arguments) == 0
    (result,) = json.loads(out.read_text("utf-8"))
    compared = ((2, 62), (16, 48), (63, 63))
    assert [(bits["side"], bits["width"], bits["n_rows"]) for bits in result["bits"]] == [
        (side, *each) for side in (STOCK, OWN) for each in compared
    ]
    assert not any(bits["n_different"] for bits in result["bits"])
    assert {bits["from_stock"] for bits in result["bits"]} == {0.0}
    text = capsys.readouterr().out
    assert "largest difference of own rows from stock's: 0" in text
    assert "a context of 5000 is too long" in text
    assert "own kernels at work: attention, q8_0" in text


def test_one_bit_is_found(
    library: StandIn, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    decode = WideDecodes.decode

    def changed(self: WideDecodes, side: str, tokens: list[int]) -> Rows:
        rows = decode(self, side, tokens)
        if side == OWN and len(tokens) == 4:
            rows.view("uint32")[1, 700] ^= 1
        return rows

    monkeypatch.setattr(WideDecodes, "decode", changed)
    assert widths.main(["--check", "--widths", "3,4", "--cells", "64"]) == 1
    lines = capsys.readouterr().out.splitlines()
    (own,) = (
        line.split() for line in lines if line.startswith(OWN + " ") and "kernels" not in line
    )
    assert own[:5] == [OWN, "1", "64", "123", "15"]
    assert own[-1] == "4"


def rows_of(out: str) -> list[list[str]]:
    """The words of each line of a table of bits but the first."""
    lines = map(str.split, out.splitlines())
    return [words for words in lines if words[1:2] and words[1].isdigit()]


def test_a_bit_that_is_another_one_the_next_time_is_found(
    library: StandIn, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--again", "5", "--busy", "1", "--threads", "1,2", "--widths", "1,3"]
    arguments += ["--cells", "40"]
    assert widths.main(arguments) == 0
    assert [row[:5] for row in rows_of(capsys.readouterr().out)] == [
        [name, threads, "40", "20", "0"] for threads in "12" for name in (STOCK, OWN)
    ]
    decode, n = WideDecodes.decode, 0

    def changed(self: WideDecodes, used: str, tokens: list[int]) -> Rows:
        nonlocal n
        rows = decode(self, used, tokens)
        is_meant = used == OWN and len(tokens) == 3
        n += is_meant
        if is_meant and n == 4:
            rows.view("uint32")[2, 700] ^= 1
        return rows

    monkeypatch.setattr(WideDecodes, "decode", changed)
    assert widths.main(arguments) == 1
    found = [row[4:] for row in rows_of(capsys.readouterr().out) if row[0] == OWN]
    assert [(n, widths) for n, _, *widths in found] == [("1", ["3"]), ("0", [])]


def test_own_kernels_change_no_bit(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        own_library(None, Paths.from_environment().cache_dir)
    except NoKernelsError as error:
        pytest.skip(error.message)
    assert (
        widths.main(["--check", "--threads", "1,2", "--cells", "700", "--widths", "1,2,5,16,63"])
        == 0
    )
    assert "own kernels at work: none" not in capsys.readouterr().out


# ---------------------------------------------------------------------------------- the tables


def table(own_by_stock: Interval | None) -> Table:
    own = own_by_stock and Interval(1.1, 1.0, 1.2)
    cells = (
        Cell(1, Interval(1.0, 0.9, 1.1), None, None, 3),
        Cell(2, Interval(1.9, 1.8, 2.0), own, own_by_stock, 3),
    )
    return Table("a-model.gguf", 1, 64, 0.01, (), cells)


def test_a_cell_that_may_be_slower_is_marked() -> None:
    slow, fast = table(Interval(1.01, 0.99, 1.03)), table(Interval(1.01, 0.99, 1.02))
    assert (slow.too_slow, fast.too_slow, table(None).too_slow) == ([2], [], [])
    assert "1.100 [1.000, 1.200]" in report(slow)
    assert "may be above 1.02" in report(slow)
    assert "*" not in report(fast)
