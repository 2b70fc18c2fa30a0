"""Runs of several programs in turns: their processes, their order, the table."""

from __future__ import annotations

import json
import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks import rivals
from benchmarks.rivals import RivalCell, measure, table
from benchmarks.sides import rival_child
from benchmarks.sides.ik_decodes import CannotLoadError, IkDecodes
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


class Bindings(ModuleType):
    """The functions of ik_llama.cpp's bindings that are called; notes decodes and removals."""

    def __init__(self) -> None:
        super().__init__("ik_llama_cpp._ctypes_api")
        self.decodes: list[tuple[list[int], list[int], list[int]]] = []
        self.removed: list[tuple[int, ...]] = []
        self.n_threads: tuple[int, ...] = ()
        self.status = 0
        self.model: int | None = 1
        self.model_params = SimpleNamespace()
        self.context_params = SimpleNamespace()

        def remove(_context: int, *places: int) -> bool:
            self.removed.append(places)
            return True

        def threads(_context: int, *numbers: int) -> None:
            self.n_threads = numbers

        self._lib = SimpleNamespace(llama_kv_cache_seq_rm=remove, llama_set_n_threads=threads)
        self.llama_backend_init = lambda: None
        self.llama_model_default_params = lambda: self.model_params
        self.llama_context_default_params = lambda: self.context_params
        self.llama_model_load_from_file = lambda _path, _params: self.model
        self.llama_init_from_model = lambda _model, _params: 2
        self.llama_model_get_vocab = lambda _model: 3
        self.llama_vocab_n_tokens = lambda _vocab: 400
        self.llama_kv_cache_clear = lambda _context: None
        self.llama_get_logits_ith = lambda _context, _row: None

    def llama_batch_init(self, n: int, _embd: int, _n_seq: int) -> SimpleNamespace:
        names = "token", "pos", "n_seq_id", "logits"
        batch = SimpleNamespace(**{name: [0] * n for name in names}, seq_id=[[9] for _ in range(n)])
        batch.n_tokens = 0
        return batch

    def llama_decode(self, _context: int, batch: SimpleNamespace) -> int:
        n = batch.n_tokens
        assert batch.n_seq_id[:n] == [1] * n
        assert batch.seq_id[:n] == [[0]] * n
        wanted = [i for i in range(n) if batch.logits[i]]
        self.decodes.append((batch.token[:n], batch.pos[:n], wanted))
        return self.status


@pytest.fixture
def bindings(monkeypatch: pytest.MonkeyPatch) -> Bindings:
    found = Bindings()
    package = ModuleType("ik_llama_cpp")
    package._ctypes_api = found  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ik_llama_cpp", package)
    monkeypatch.setitem(sys.modules, "ik_llama_cpp._ctypes_api", found)
    return found


@pytest.mark.parametrize("kind", ["ik", "ik-repacked"])
def test_weights_are_repacked_where_that_is_asked_for(kind: str, bindings: Bindings) -> None:
    args: Any = SimpleNamespace(side=kind, model="a.gguf", ctx=1024)
    assert rival_child.LOADERS[kind](args).n_vocab == 400
    repacks = kind == "ik-repacked"
    assert vars(bindings.model_params) == {"repack_tensors": repacks, "use_mmap": not repacks}
    assert bindings.context_params.n_ctx == 1024
    assert bindings.context_params.n_ubatch == 512


def test_decodes_of_ik_follow_its_context(bindings: Bindings) -> None:
    decodes = IkDecodes("a.gguf", 1024, repack=False)
    decodes.fill(600)
    assert [len(tokens) for tokens, _, _ in bindings.decodes] == [512, 88]
    decodes.seconds([301, 302, 303])
    assert bindings.decodes[-1] == ([301, 302, 303], [600, 601, 602], [0, 1, 2])
    assert bindings.removed == [(0, 600, -1)]
    decodes.seconds(range(300, 370))
    assert bindings.decodes[-1][2] == [69]


def test_ik_reads_prompts_in_pieces(bindings: Bindings) -> None:
    decodes = IkDecodes("a.gguf", 1024, repack=False)
    decodes.fill(64)
    decodes.seconds_of_prompt([*range(300, 900)])
    first, last = bindings.decodes[-2:]
    assert (first[0], first[1][0], first[2]) == ([*range(300, 812)], 0, [])
    assert (last[0], last[1][0], last[2]) == ([*range(812, 900)], 512, [87])
    decodes.seconds([301])
    assert bindings.decodes[-1][1] == [0]


def test_ik_says_what_it_cannot_do(bindings: Bindings) -> None:
    decodes = IkDecodes("a.gguf", 1024, repack=False)
    decodes.set_threads(2)
    assert bindings.n_threads == (2, 2)
    bindings.status = 1
    with pytest.raises(ValueError, match="a decode of 2 tokens gives 1"):
        decodes.seconds([301, 302])
    bindings.model = None
    with pytest.raises(CannotLoadError):
        IkDecodes("a.gguf", 1024, repack=False)
