"""Paceline's kernels against others' by turns: ``python packaging/benchmarks rivals --ik PYTHON``.

Compared are decodes of n tokens after a context, and the reading of prompts in pieces of 512, by
- own: Paceline's kernels; the first of the sides, which the others are compared with;
- before: those of another version, by the interpreter that ``--before`` names, such as another
  checkout's;
- stock: llama.cpp's, of the library that Paceline uses;
- ik, ik-repacked: ik_llama.cpp's, as the model file has the weights and with its run-time
  repacking, by an interpreter that has the package ik-llama-cpp-python (``--ik``).

Each side is a process of its own (`sides/rival_child.py`). A round has a sample of every cell by
every side, and the order of both changes from round to round. With one thread, times are the
thread's CPU time; with more, elapsed time.

Shown are medians in milliseconds, and by how much each side takes longer than the first one: the
median of the rounds' ratios, with its 95 % interval.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks.sides.turns import Side, SideCommand, ratio, shown, turned
from paceline.bench.recommend import Interval
from paceline.cli.output import in_columns
from paceline.engine.model.threads import calm_waiting_threads
from paceline.errors import UserError
from paceline.paths import demo_pair

BEFORE = "before"
WIDTHS = (1, 2, 4, 8, 16, 63)
CELLS = (64, 500)
PROMPTS = (500, 2000)
_EVERY = 4
"""Prompts are read in a fourth of the rounds."""
_FIRST_TOKEN = 300
"""Tokens below are control tokens in many vocabularies."""


class RivalCell(NamedTuple):
    """A decode, or the reading of a prompt, that is timed.

    Attributes:
        order: ``decode`` or ``read``.
        n: Tokens.
        n_cells: Tokens in the context.
    """

    order: str
    n: int
    n_cells: int

    def __str__(self) -> str:
        """Return its name in the table."""
        return f"read {self.n}" if self.order == "read" else f"{self.n} after {self.n_cells}"


Samples = dict[RivalCell, dict[str, list[float]]]
"""Seconds by cell and side, in the order of the rounds."""


class Rival(Side):
    """A side with a model.

    Attributes:
        n_vocab: Tokens of the model's vocabulary.
    """

    def __init__(self, side: SideCommand, model: Path, n_ctx: int) -> None:
        """Load the model.

        Raises:
            UserError: It cannot be loaded there.
        """
        words = (*side.words, str(model), "--ctx", str(n_ctx))
        super().__init__(side._replace(words=words))
        self.n_vocab = int(self.ready)


def measure(rivals: Sequence[Rival], cells: Sequence[RivalCell], rounds: int) -> Samples:
    """Time cells of one context on all sides.

    Args:
        rivals: The sides.
        cells: All with as many tokens in the context.
        rounds: Samples of each.
    """
    samples: Samples = {cell: {rival.name: [] for rival in rivals} for cell in cells}
    n_vocab = min(rival.n_vocab for rival in rivals)
    for rival in rivals:
        rival.ask("fill", cells[0].n_cells)
    for turn in range(rounds):
        drawn = random.Random(turn)
        for cell in turned(cells, turn):
            tokens = [drawn.randrange(_FIRST_TOKEN, n_vocab) for _ in range(cell.n)]
            for rival in turned(rivals, turn):
                samples[cell][rival.name].append(rival.ask(cell.order, tokens))
    return samples


def by_first(seconds: dict[str, list[float]]) -> dict[str, Interval]:
    """Return by how much each side but the first takes longer than that one."""
    first, *others = seconds
    return {side: ratio(seconds[side], seconds[first]) for side in others}


def table(samples: Samples) -> str:
    """Return the medians in milliseconds and the ratios, for people."""
    first, *others = next(iter(samples.values()))
    rows = [["", first, *others, *(f"{side} / {first}" for side in others)]]
    for cell, seconds in samples.items():
        medians = [f"{median(each) * 1e3:.2f}" for each in seconds.values()]
        ratios = [shown(r) for r in by_first(seconds).values()]
        rows.append([str(cell), *medians, *ratios])
    return in_columns(rows, right=range(1, len(rows[0])))


def sides(args: argparse.Namespace) -> list[SideCommand]:
    """Return the sides that were asked for, or all that there can be."""

    def command(name: str, python: str, *words: str) -> SideCommand:
        return SideCommand(name, python, "benchmarks.sides.rival_child", words)

    def own(name: str, python: str, library: Path | None) -> SideCommand:
        words = ("--library", str(library)) if library else ()
        return command(name, python, "own", *words)

    found = {
        "own": own("own", sys.executable, args.library),
        "stock": command("stock", sys.executable, "stock"),
    }
    if args.before:
        found[BEFORE] = own(BEFORE, args.before, args.before_library)
    if args.ik:
        found |= {kind: command(kind, args.ik, kind) for kind in ("ik", "ik-repacked")}
    if missing := set(args.sides or ()) - set(found):
        raise UserError("no-such-side", f"Nothing says where {min(missing)} is.")
    return [found[name] for name in args.sides or found]


def compare(path: Path, args: argparse.Namespace) -> Iterator[tuple[int, Samples]]:
    """Yield numbers of threads and what was measured with one model."""
    n_ctx = max(*args.cells, *args.prompts) + max(*args.widths, 0)
    with ExitStack() as stack:
        rivals = [
            stack.enter_context(Rival(side, path, -(-n_ctx // 256) * 256)) for side in sides(args)
        ]
        for n_threads in args.threads:
            for rival in rivals:
                rival.ask("threads", n_threads)
            samples: Samples = {}
            for n in args.cells:
                decodes = [RivalCell("decode", width, n) for width in args.widths]
                samples |= measure(rivals, decodes, args.rounds)
            reads = [RivalCell("read", n, 0) for n in args.prompts if n]
            if reads:
                samples |= measure(rivals, reads, -(-args.rounds // _EVERY))
            yield n_threads, samples


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python packaging/benchmarks rivals")
    add = parser.add_argument
    add("--target", nargs="+", type=Path, default=[demo_pair()[0]], metavar="MODEL")
    add("--sides", nargs="+", choices=("own", BEFORE, "stock", "ik", "ik-repacked"))
    add("--library", type=Path, help="own kernels; default: the engine's")
    add("--before", metavar="PYTHON", help="interpreter that has another version of Paceline")
    add("--before-library", type=Path, metavar="LIBRARY", help="its kernels; default: its engine's")
    add("--ik", metavar="PYTHON", help="interpreter that has ik-llama-cpp-python")
    add("--threads", type=_numbers, default=(1,), help="e.g. 1,2")
    add("--cells", type=_numbers, default=CELLS, help="tokens in the context")
    add("--widths", type=_numbers, default=WIDTHS, help="tokens per decode")
    add("--prompts", type=_numbers, default=PROMPTS, help="tokens; 0 for none")
    add("--rounds", type=int, default=20, help="samples of a decode; a prompt has a fourth")
    add("--json", type=Path, metavar="FILE", help="write all samples there")
    return parser


def main(argv: list[str] | None = None) -> int:
    """Print a table for each model and number of threads; exit 2 when a side cannot be used."""
    args = _parser().parse_args(argv)
    calm_waiting_threads()  # of all sides alike, since their processes get this one's environment
    found: list[dict[str, Any]] = []
    try:
        for path in args.target:
            for n_threads, samples in compare(path, args):
                print(f"{path.name}, {n_threads} thread{'s' * (n_threads > 1)}, ms")
                print(table(samples), flush=True)
                cells = [cell._asdict() | {"seconds": took} for cell, took in samples.items()]
                found.append({"file": path.name, "n_threads": n_threads, "cells": cells})
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    finally:
        if args.json:
            args.json.write_text(json.dumps(found), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
