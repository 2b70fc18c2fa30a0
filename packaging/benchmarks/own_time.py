"""The engine's own time: ``python packaging/benchmarks own_time [FILE…] [--beside CHECKOUT]``.

What Paceline adds to the native decodes is its own code on the engine's thread: the thread's CPU
time minus the CPU time within llama.cpp. It is measured by step and by token, since a step with a
draft is wider, for targets without a draft model: each strategy at temperature 0 and 0.7, with
penalties, and by a JSON schema. Half of the replies write again what stands in the question, so
that lookups find drafts; the others do not.

With ``--beside`` the same is measured of another checkout's version, by its ``.venv`` where it has
one. Each version is a process of its own (`sides/own_time_child.py`), all on one core. A round has
new processes, since where a process happens to lie in memory changes its times by up to 5 %, and
two replies of every cell by every version; all orders change from round to round. A round's figure
is the median of its steps. Shown are the medians of the rounds, and how much longer this version
takes than the other one: the median of the rounds' ratios, with its 95 % interval.

A fourth of the rounds end with replies of this version by part: sampling, the target's decode, what
Auto takes to ask its lookups and decide, and to learn, the clock and the text.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

from benchmarks.sides.own_time_child import PARTS, REST
from benchmarks.sides.turns import Side, SideCommand, ratio, shown, turned
from paceline.cli.output import in_columns
from paceline.errors import UserError
from paceline.paths import demo_pair

STRATEGIES = ("off", "suffix", "auto")
_SCHEMA = {
    "type": "array",
    "minItems": 1000,  # the reply never ends by itself
    "items": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 30},
            "pages": {"type": "integer", "minimum": 1, "maximum": 2000},
            "language": {"enum": ["English", "French", "German", "Spanish"]},
        },
        "required": ["name", "pages", "language"],
    },
}
SAMPLINGS: dict[str, dict[str, Any]] = {
    "0": {"temperature": 0.0},
    "0.7": {"temperature": 0.7},
    "penalties": {
        "temperature": 0.7,
        "repeat_penalty": 1.1,
        "presence_penalty": 0.2,
        "frequency_penalty": 0.2,
    },
    "schema": {"temperature": 0.7, "json_schema": json.dumps(_SCHEMA)},
}
"""Ways to draw tokens, as fields of `SamplingParams`."""
REAL = (("smollm2-135m", "q8_0"), ("gemma3-270m", "q8_0"))
"""Models of 49k and 262k tokens; see ``tests/real_models.py``."""
_CODE = """\
def read_settings(path):
    # Read the settings of a file.
    settings = {}
    with open(path) as file:
        for line in file:
            name, _, value = line.partition("=")
            settings[name.strip()] = value.strip()
    return settings

def write_settings(path, settings):
    # Write the settings to a file.
    with open(path, "w") as file:
        for name, value in settings.items():
            file.write(f"{name} = {value}\\n")
"""
PROMPTS = (
    f"Write this Python module again, without its comments.\n\n{_CODE}",
    "What does os.path.join do? Show an example.",
)
"""Questions of each cell in a round."""
NOW, BEFORE = "now", "before"
_EVERY = 4
"""Parts are measured in a fourth of the rounds."""


class Cell(NamedTuple):
    """A strategy with a key of `SAMPLINGS`."""

    strategy: str
    sampling: str


@dataclass
class Measured:
    """Figures of a version in a cell, an item for each round.

    Attributes:
        step_us: The median of the steps.
        token_us: The sum of the steps by the number of their tokens.
        tokens: Tokens per step.
        parts_us: Microseconds per step by part, "rest" included; a fourth of the rounds.
    """

    step_us: list[float] = field(default_factory=list)
    token_us: list[float] = field(default_factory=list)
    tokens: list[float] = field(default_factory=list)
    parts_us: dict[str, list[float]] = field(
        default_factory=lambda: {name: [] for name in (*PARTS, REST)}
    )

    def add(self, replies: Sequence[dict[str, Any]]) -> None:
        """Add the replies of a round."""
        steps = [us for reply in replies for us in reply["steps_us"]]
        n_tokens = sum(reply["n_tokens"] for reply in replies)
        self.step_us.append(median(steps))
        self.token_us.append(sum(steps) / n_tokens)
        self.tokens.append(n_tokens / len(steps))

    def add_by_part(self, replies: Sequence[dict[str, Any]]) -> None:
        """Add the replies of a round that were measured by part."""
        n_steps = sum(len(reply["steps_us"]) for reply in replies)
        for name, rounds in self.parts_us.items():
            rounds.append(sum(reply["parts_us"][name] for reply in replies) / n_steps)


@dataclass
class Figures:
    """Figures of a target.

    Attributes:
        cells: Figures by cell and version; the examined version comes first.
        n_vocab: Tokens of the vocabulary.
    """

    cells: dict[Cell, dict[str, Measured]]
    n_vocab: int = 0


def measure(
    versions: Sequence[SideCommand], cells: Sequence[Cell], n_tokens: int, rounds: int
) -> Figures:
    """Make replies of so many tokens by turns; the parts are those of the first version.

    Raises:
        UserError: A version cannot be used.
    """
    figures = Figures({cell: {each.name: Measured() for each in versions} for cell in cells})
    for turn in range(rounds):
        with ExitStack() as stack:
            started = [stack.enter_context(Side(each)) for each in turned(versions, turn)]
            sides = sorted(started, key=lambda side: side.name != versions[0].name)
            replies: dict[tuple[Cell, str], list[Any]] = defaultdict(list)
            for side in sides:
                figures.n_vocab = side.ready
                # The first steps after a load are always plain.
                _answer(side, cells[0], PROMPTS[0], 16, turn)
            for i, prompt in enumerate(PROMPTS):
                for cell in turned(cells, turn):
                    for side in turned(sides, turn + i):
                        answer = _answer(side, cell, prompt, n_tokens, turn)
                        replies[cell, side.name].append(answer)
            for (cell, name), answers in replies.items():
                figures.cells[cell][name].add(answers)
            if turn % _EVERY == 0:
                for cell in cells:
                    figures.cells[cell][versions[0].name].add_by_part(
                        [_answer(sides[0], cell, p, n_tokens, turn, by_part=True) for p in PROMPTS]
                    )
    return figures


def _answer(
    side: Side, cell: Cell, prompt: str, n_tokens: int, seed: int, *, by_part: bool = False
) -> Any:
    options = {"strategy": cell.strategy, "max_tokens": n_tokens, "seed": seed}
    return side.ask("reply", prompt, SAMPLINGS[cell.sampling], options, by_part)


def table(figures: Figures) -> str:
    """Return the times of all versions in microseconds, for people."""
    first, *others = next(iter(figures.cells.values()))
    names = [first, *others]
    pairs = [f"{first} / {other}" for other in others]
    rows = [
        ["µs per step and token", *names, *pairs, *(f"{name}, token" for name in names), *pairs]
    ]
    rows[0].append("tokens")
    for cell, by_side in figures.cells.items():
        row = [f"{cell.strategy} {cell.sampling}"]
        for kind in ("step_us", "token_us"):
            found = {name: getattr(measured, kind) for name, measured in by_side.items()}
            row += [f"{median(each):.0f}" for each in found.values()]
            row += [shown(ratio(found[first], found[other])) for other in others]
        rows.append([*row, f"{fmean(by_side[first].tokens):.2f}"])
    return in_columns(rows, right=range(1, len(rows[0])))


def table_of_parts(figures: Figures) -> str:
    """Return this version's time per step by part, for people."""
    parts = (*PARTS, REST)
    rows = [["µs per step by part", *parts]]
    for cell, by_side in figures.cells.items():
        measured, *_ = by_side.values()
        means = (fmean(measured.parts_us[part]) for part in parts)
        rows.append([f"{cell.strategy} {cell.sampling}", *(f"{us:.0f}" for us in means)])
    return in_columns(rows, right=range(1, len(rows[0])))


def plain(figures: Figures) -> dict[str, Any]:
    """Return all figures for JSON."""
    cells = []
    for cell, by_version in figures.cells.items():
        first, *others = (asdict(measured) for measured in by_version.values())
        ratios = {
            kind: asdict(ratio(first[kind], other[kind]))
            for other in others
            for kind in ("step_us", "token_us")
        }
        versions = {name: asdict(measured) for name, measured in by_version.items()}
        cells.append({**cell._asdict(), "versions": versions, "ratios": ratios})
    return {"n_vocab": figures.n_vocab, "cells": cells}


def commands(target: Path, beside: Path | None) -> Iterator[SideCommand]:
    """Yield what starts the versions' processes, this one's first.

    Raises:
        UserError: There is no version of Paceline.
    """
    words: tuple[str, ...] = (str(target),)
    if hasattr(os, "sched_setaffinity"):
        words += ("--core", str(max(os.sched_getaffinity(0))))
    module = "benchmarks.sides.own_time_child"
    yield SideCommand(NOW, sys.executable, module, words)
    if beside is None:
        return
    app = beside / "app"
    if not (app / "paceline" / "__init__.py").is_file():
        raise UserError("no-checkout", f"There is no checkout of Paceline in {beside}.")
    pythons = (beside / ".venv" / name for name in ("bin/python", "Scripts/python.exe"))
    python = next((str(each) for each in pythons if each.exists()), sys.executable)
    yield SideCommand(BEFORE, python, module, words, app)


def targets() -> list[Path]:
    """Return the built-in target and the real models, with a word for those that are not there."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
    import real_models  # noqa: PLC0415 - it lies with the tests

    found = [demo_pair()[0]]
    for model, kind in REAL:
        try:
            found.append(real_models.path(model, kind))
        except real_models.NoPackageIndexError as error:
            print(f"{model}-{kind} is left out: {error}.", file=sys.stderr)
    return found


def _numbered(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def main(argv: Sequence[str] | None = None) -> int:
    """Print tables for each target, or JSON; exit 2 when a version cannot be used."""
    parser = argparse.ArgumentParser(prog="python packaging/benchmarks own_time")
    add = parser.add_argument
    add("targets", nargs="*", type=Path, metavar="FILE", help="default: demo pair, real models")
    add("--beside", type=Path, metavar="CHECKOUT", help="another version of Paceline")
    add("--strategies", nargs="+", default=STRATEGIES, metavar="STRATEGY")
    add("--samplings", nargs="+", default=[*SAMPLINGS], choices=SAMPLINGS)
    add("--tokens", type=_numbered, default=80, help="of a reply")
    add("--rounds", type=_numbered, default=8)
    add("--json", action="store_true", help="print all figures as JSON")
    args = parser.parse_args(argv)
    cells = [Cell(strategy, name) for name in args.samplings for strategy in args.strategies]
    found: list[dict[str, Any]] = []
    try:
        for target in args.targets or targets():
            versions = list(commands(target, args.beside))
            figures = measure(versions, cells, args.tokens, args.rounds)
            if not args.json:
                print(f"{target.stem}, {figures.n_vocab:,} tokens")
                print(table(figures), table_of_parts(figures), sep="\n", flush=True)
            found.append({"target": target.stem} | plain(figures))
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    if args.json:
        print(json.dumps(found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
