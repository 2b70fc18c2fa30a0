"""A matrix of cases, each against the processor of this machine with the same options.

Devices may compute other roundings than the processor, so a text may differ: that is told with its
first token and with the largest difference of logits, and is no failure. A crash, a hang and an
error without a word are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from device_trials.outcomes import Case, Outcome, Rows, reply, rows, told

LIMIT_S = 1200.0
"""Time limit of a start in seconds; some starts compile shaders."""


class Place(NamedTuple):
    """Devices to compute on: environment of the program, and options that every start gets."""

    variables: Mapping[str, str]
    options: tuple[str, ...] = ()


class Matrix:
    """Runs cases and prints a line for each.

    Attributes:
        failed: Names of the cases that failed.
        seconds: Seconds of decodes of each width, by case with rows.
    """

    def __init__(
        self, here: Place, there: Callable[[int], Place], print_line: Callable[[str], None]
    ) -> None:
        """Start without results.

        Args:
            here: The processor.
            there: Function of a number of devices; returns where to compute.
            print_line: Called with the outcome of a case.
        """
        self._here = here
        self._there = there
        self._print = print_line
        self._usual: dict[tuple[str, ...], Outcome] = {}
        self._usual_rows: dict[tuple[str, ...], Rows | str] = {}
        self.failed: list[str] = []
        self.seconds: dict[str, tuple[float, ...]] = {}

    def warm(self, *options: str) -> None:
        """Start the program once and ignore the outcome."""
        _reply(self._there(1), options)

    def run(self, cases: Iterable[Case], *, with_rows: bool) -> None:
        """Run the cases one by one."""
        for case in cases:
            text = self._outcome(case, with_rows=with_rows)
            if text.startswith("FAILED"):
                self.failed.append(case.name)
            shown = "" if with_rows else f" [{' '.join(_short((*case.what, *case.where)))}]"
            self._print(f"{case.name}{shown}: {text}")

    def _outcome(self, case: Case, *, with_rows: bool) -> str:
        if case.what not in self._usual:
            self._usual[case.what] = _reply(self._here, case.what)
        usual = self._usual[case.what]
        place, options = self._there(case.n_devices), (*case.what, *case.where)
        found = _reply(place, options)
        if not (with_rows and found.tokens and usual.tokens):
            return told(found, usual)
        if case.what not in self._usual_rows:
            self._usual_rows[case.what] = _rows(self._here, case.what, usual)
        theirs = _rows(place, options, usual)
        if isinstance(theirs, Rows):
            self.seconds[case.name] = theirs.seconds
        return told(found, usual, theirs, self._usual_rows[case.what])


def _reply(place: Place, options: Sequence[str]) -> Outcome:
    return reply((*options, *place.options), place.variables, LIMIT_S)


def _rows(place: Place, options: Sequence[str], usual: Outcome) -> Rows | str:
    return rows((*options, *place.options), usual.tokens, place.variables, LIMIT_S)


def _short(words: Sequence[str]) -> list[str]:
    """Return options as people read them: without the folders of files."""
    return [Path(word).name if word.startswith("/") else word for word in words]
