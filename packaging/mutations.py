#!/usr/bin/env python3
"""Change random lines of the program, one at a time, and count how many the usual tests notice.

    python3 packaging/mutations.py REPORT [--lines N] [--seed N] [--again OTHER] [--room ROOM]...

Cosmic Ray makes the changes: another operator, number, keyword, exception, a loop that never runs.
For each changed line those tests of its room run that execute it, the quickest first. REPORT is a
file of JSON lines, which is added to: a run that was stopped goes on there. With --again the
changes are those of another report, as far as their lines are still there; so two versions of the
tests are compared on the same faults.

It takes the Python that runs it, with the extra `mutations`: `pip install -e ".[dev,mutations]"`.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from coverage import CoverageData
from parso.tree import NodeOrLeaf

from planted.tree import Copy

ROOMS = {
    "engine/decode": ("tests/engine", "tests/integration"),
    "engine/model": ("tests/engine", "tests/integration"),
    "server": ("tests/server",),
    "storage": ("tests/storage", "tests/chat"),
}
"""Test folders by room of the program: their tests should notice a fault there."""
MAX_TESTS_S = 40.0
"""Upper bound of the tests for one change, in seconds of their duration without it."""
MAX_TESTS = 80
TIMEOUT_S = 240.0


class Mutation(NamedTuple):
    """A change of one line.

    Attributes:
        file: Path below `app/paceline`.
        text: The line, without blanks around it.
        operator: Cosmic Ray's name of the change.
        nth: Index of the place in that line where the operator applies, from 0.
    """

    file: str
    text: str
    operator: str
    nth: int


class Place(NamedTuple):
    """The place of a mutation in the present file: its line, and its number for Cosmic Ray."""

    line: int
    occurrence: int


def is_evaluated(node: NodeOrLeaf) -> bool:
    """Return whether a node is outside of type annotations, which Python does not evaluate."""
    while (parent := node.parent) is not None:
        is_annotation = (
            parent.type == "tfpdef"
            or (parent.type == "annassign" and node is parent.children[1])
            or (parent.type == "funcdef" and node is parent.annotation)
        )
        if is_annotation:
            return False
        node = parent
    return True


def mutations(app: Path, room: str) -> Iterator[tuple[Mutation, Place]]:
    """Yield every mutation of a room."""
    for path in sorted((app / room).rglob("*.py")):
        text = path.read_text("utf-8")
        lines, tree = text.splitlines(), get_ast(text)
        nodes = list(ast_nodes(tree))
        for name in operator_names():
            operator_class = get_operator(name)
            if operator_class.arguments() or name.endswith("NoOp"):
                continue
            operator, seen, occurrence = operator_class(), Counter[int](), -1
            for node in nodes:
                for (line, _), _ in operator.mutation_positions(node):
                    occurrence += 1
                    if is_evaluated(node):
                        file = path.relative_to(app).as_posix()
                        change = Mutation(file, lines[line - 1].strip(), name, seen[line])
                        yield change, Place(line, occurrence)
                        seen[line] += 1


class Coverage:
    """The tests of some folders that execute a line, and how long each takes."""

    def __init__(self, copy: Copy, folders: Sequence[str], scratch: Path) -> None:
        scratch.mkdir()
        measured, times = scratch / "coverage", scratch / "times.xml"
        copy.run(
            *folders, "--cov=app/paceline", "--cov-context=test", "--cov-report=",
            f"--junitxml={times}", COVERAGE_FILE=str(measured),
        )  # fmt: skip
        self._data = CoverageData(str(measured))
        self._data.read()
        self._files = {Path(name).as_posix(): name for name in self._data.measured_files()}
        self._seconds: dict[str, float] = defaultdict(float)
        for case in ET.parse(times).getroot().iter("testcase"):
            file = case.get("classname", "").replace(".", "/")
            test = f"{file}.py::{_function(case.get('name', ''))}"
            self._seconds[test] += float(case.get("time", 0))

    def tests(self, file: str, line: int) -> list[str]:
        """Return the ids of the tests that execute a line, fastest first."""
        name = next((n for f, n in self._files.items() if f.endswith(f"paceline/{file}")), "")
        contexts = self._data.contexts_by_lineno(name).get(line, []) if name else []
        ids = {_function(context.rpartition("|")[0]) for context in contexts} - {""}
        chosen, seconds = [], 0.0
        for test in sorted(ids, key=lambda test: self._seconds[test]):
            seconds += self._seconds[test]
            if chosen and seconds > MAX_TESTS_S:
                break
            chosen.append(test)
        return chosen[:MAX_TESTS]


def _function(test: str) -> str:
    """Return the name or id of a test without its case."""
    return test.partition("[")[0]


def choose(args: argparse.Namespace, app: Path) -> list[tuple[str, Mutation, Place]]:
    """Return the mutations to try, each with its room."""
    found: dict[Mutation, tuple[str, Place]] = {}
    lines: dict[tuple[str, int], list[Mutation]] = defaultdict(list)
    for room in args.room or ROOMS:
        for change, place in mutations(app, room):
            if change not in found:  # of equal lines the first
                found[change] = (room, place)
                lines[change.file, place.line].append(change)
    if args.again:
        before = [json.loads(line) for line in args.again.read_text("utf-8").splitlines()]
        wanted = [Mutation(*each["mutation"]) for each in before]
        print(f"{sum(w in found for w in wanted)} of {len(wanted)} changes are possible still")
        return [(found[w][0], w, found[w][1]) for w in wanted if w in found]
    chance = random.Random(args.seed)
    places = chance.sample(sorted(lines), min(args.lines, len(lines)))
    chosen = [chance.choice(lines[place]) for place in places]
    return [(found[change][0], change, found[change][1]) for change in chosen]


class Report:
    """The results so far, in a file of JSON lines."""

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        self.results: list[dict[str, Any]] = [json.loads(line) for line in lines]
        self.tried = {Mutation(*each["mutation"]) for each in self.results}

    def add(self, room: str, change: Mutation, tests: Sequence[str], by: str) -> None:
        """Note the test that noticed a mutation, or empty if none did."""
        result = {"room": room, "mutation": change, "tests": len(tests), "by": by}
        self.results.append(result)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")

    def summary(self) -> Iterator[str]:
        """Yield a line with the number of noticed mutations for each room, then for all."""
        for room in (*ROOMS, "all"):
            some = [each for each in self.results if room in ("all", each["room"])]
            yield f"{room}: {sum(bool(each['by']) for each in some)} of {len(some)} were noticed"


def noticed_by(copy: Copy, change: Mutation, place: Place, tests: Sequence[str]) -> str:
    """Return the test that fails with a mutation, or why none can run; empty if all pass."""
    if not tests:
        return ""
    path = copy.folder / "app" / "paceline" / change.file
    text = path.read_text("utf-8")
    path.write_text(mutate_code(text, get_operator(change.operator)(), place.occurrence), "utf-8")
    try:
        return next(iter(copy.failures(tuple(tests), TIMEOUT_S)), "")
    except RuntimeError as error:  # nothing can be imported
        return str(error).strip().splitlines()[-1]
    finally:
        path.write_text(text, "utf-8")


def main() -> int:
    """Choose the mutations, run the tests on each, and print the counts; see the module."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path)
    parser.add_argument("--lines", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", type=Path)
    parser.add_argument("--room", action="append", choices=ROOMS)
    args = parser.parse_args()
    report = Report(args.report)
    with tempfile.TemporaryDirectory(prefix="mutations-") as scratch:
        copy = Copy(Path(scratch, "tree"))
        covered: dict[tuple[str, ...], Coverage] = {}
        for room, change, place in choose(args, copy.folder / "app" / "paceline"):
            if change in report.tried:
                continue
            folders = ROOMS[room]
            if folders not in covered:
                covered[folders] = Coverage(copy, folders, Path(scratch, str(len(covered))))
            tests = covered[folders].tests(change.file, place.line)
            by = noticed_by(copy, change, place, tests)
            report.add(room, change, tests, by)
            print(f"{change.file}:{place.line} {change.operator}: {by or 'SURVIVED'}", flush=True)
    print("\n".join(report.summary()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
