"""Runs of several programs in turns: their processes, their order, the table."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks import rivals
from benchmarks.rivals import RivalCell, measure, table
from benchmarks.sides.rival_child import Decodes, carry_out
from paceline.paths import demo_pair

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

DECODE, READ = RivalCell("decode", 4, 64), RivalCell("read", 500, 0)


class Puppet:
    """A side that answers with 1, 2, 3 … seconds."""

    n_vocab = 400

    def __init__(self, name: str, asked: list[tuple[Any, ...]]) -> None:
        self.name = name
        self.asked = asked

    def ask(self, *order: Any) -> float:
        self.asked.append((self.name, *order))
        return float(len(self.asked))


# ----------------------------------------------------------------------------------- the rounds


def test_every_side_takes_every_turn() -> None:
    asked: list[tuple[Any, ...]] = []
    cells = [RivalCell("decode", n, 64) for n in (1, 2)]
    samples = measure([Puppet(name, asked) for name in "ab"], cells, 4)  # type: ignore[misc]
    assert asked[:2] == [("a", "fill", 64), ("b", "fill", 64)]
    order = [(name, len(tokens)) for name, _, tokens in asked[2:]]
    assert order[:4] == [("a", 1), ("b", 1), ("a", 2), ("b", 2)]
    assert order[4:8] == [("b", 2), ("a", 2), ("b", 1), ("a", 1)]
    assert order[8:12] == [("b", 2), ("a", 2), ("b", 1), ("a", 1)]
    assert order[12:] == [("a", 1), ("b", 1), ("a", 2), ("b", 2)]
    assert {cell: [*map(len, found.values())] for cell, found in samples.items()} == {
        cell: [4, 4] for cell in cells
    }


def test_all_sides_get_the_same_tokens() -> None:
    asked: list[tuple[Any, ...]] = []
    measure([Puppet(name, asked) for name in "abc"], [READ], 3)  # type: ignore[misc]
    tokens = [each[2] for each in asked if each[1] == "read"]
    assert tokens[0] == tokens[1] == tokens[2] != tokens[3] == tokens[4] == tokens[5]
    assert {300 <= token < 400 for token in tokens[0]} == {True}


def test_the_table_has_medians_and_ratios_to_the_first_side() -> None:
    samples = {
        DECODE: {"own": [0.010, 0.020, 0.012], "ik": [0.020, 0.030, 0.018]},
        READ: {"own": [1.0], "ik": [0.5]},
    }
    title, decode, read = table(samples).splitlines()
    assert title.split("  ")[-1].strip() == "ik / own"
    assert decode.split() == ["4", "after", "64", "12.00", "20.00", "1.50", "[1.50,", "2.00]"]
    assert read.split() == ["read", "500", "1000.00", "500.00", "0.50", "[0.50,", "0.50]"]


# -------------------------------------------------------------------------------- the processes


def test_a_run_of_real_processes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.json"
    arguments = ["--sides", "stock", "--rounds", "2", "--widths", "1,3", "--cells", "40"]
    arguments += ["--prompts", "70", "--threads", "1,2", "--json", str(out)]
    assert rivals.main(arguments) == 0
    one, two = json.loads(out.read_text())
    assert (one["n_threads"], two["n_threads"]) == (1, 2)
    assert [(cell["order"], cell["n"], cell["n_cells"]) for cell in one["cells"]] == [
        ("decode", 1, 40), ("decode", 3, 40), ("read", 70, 0),
    ]  # fmt: skip
    assert [len(cell["seconds"]["stock"]) for cell in one["cells"]] == [2, 2, 1]
    assert all(0 < s < 5 for cell in one["cells"] for s in cell["seconds"]["stock"])
    assert f"{demo_pair()[0].name}, 2 threads" in capsys.readouterr().out


def test_a_side_that_cannot_load_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "nothing.gguf"
    file.write_text("nothing")
    assert rivals.main(["--sides", "stock", "--target", str(file)]) == 2
    assert "process of stock has ended" in capsys.readouterr().err
    # An interpreter without ik-llama-cpp-python.
    assert rivals.main(["--sides", "ik", "--ik", sys.executable]) == 2
    assert "ik_llama_cpp" in capsys.readouterr().err


def test_a_side_needs_a_place(capsys: pytest.CaptureFixture[str]) -> None:
    assert rivals.main(["--sides", "own", "before"]) == 2
    assert "before" in capsys.readouterr().err


def test_sides_are_processes_of_their_own() -> None:
    args: Any = SimpleNamespace(
        library="a.so", before="/b", before_library="b.so", ik="/ik", sides=None
    )
    sides = rivals.sides(args)
    assert {side.module for side in sides} == {"benchmarks.sides.rival_child"}
    assert [(side.name, side.python, side.words) for side in sides] == [
        ("own", sys.executable, ("own", "--library", "a.so")),
        ("stock", sys.executable, ("stock",)),
        ("before", "/b", ("own", "--library", "b.so")),
        ("ik", "/ik", ("ik",)),
        ("ik-repacked", "/ik", ("ik-repacked",)),
    ]


def test_orders_are_carried_out() -> None:
    done: list[Any] = []

    def seconds(tokens: Sequence[int]) -> float:
        done.append(tokens)
        return len(done) / 8

    decodes = Decodes(400, done.append, done.append, seconds, seconds)
    orders = [["threads", 2], ["fill", 64], ["decode", [301, 302]], ["read", [303]]]
    assert [carry_out(decodes, order) for order in orders] == [0.0, 0.0, 4 / 8, 5 / 8]
    assert done == [2, 64, [301, 302], [301, 302], [303]]
    with pytest.raises(ValueError, match="stop"):
        carry_out(decodes, ["stop"])
