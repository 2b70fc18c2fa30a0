"""Cases with a line each: what was tried, seconds, a figure, and pass or what came instead."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


class TrialError(Exception):
    """Ends a case that failed; says what came instead."""


class CannotTryError(Exception):
    """Ends a trial that cannot be made here; says in one sentence what is missing."""


@dataclass
class Case:
    """A case while it runs.

    Attributes:
        figure: The measurement or observation, in words; may be empty.
    """

    figure: str = ""


class Report:
    """Prints the cases of a trial and keeps which of them failed.

    Attributes:
        failed: Names of the cases that failed.
        n_cases: Cases that were run.
    """

    def __init__(self, trial: str, show: Callable[[str], None]) -> None:
        """Begin.

        Args:
            trial: The name of the trial, with which every line begins.
            show: Called with a line for each case.
        """
        self._trial = trial
        self._show = show
        self.failed: list[str] = []
        self.n_cases = 0

    @contextmanager
    def case(self, name: str) -> Iterator[Case]:
        """Run a case, which fails by an exception; what it does is the body of the `with`."""
        case, start = Case(), time.monotonic()
        full, outcome = f"{self._trial}: {name}", "pass"
        self.n_cases += 1
        try:
            yield case
        except (TrialError, OSError, ValueError, LookupError, subprocess.SubprocessError) as error:
            said = (
                str(error) if isinstance(error, TrialError) else f"{type(error).__name__}: {error}"
            )
            outcome = f"FAILED: {said}"
            self.failed.append(full)
        taken = f"{time.monotonic() - start:.1f} s"
        self._show("; ".join(filter(None, (f"{full}: {taken}", case.figure, outcome))))


def expect(is_so: bool, instead: str) -> None:
    """Fail the case where something is not as it must be.

    Raises:
        TrialError: It is not; with what came instead.
    """
    if not is_so:
        raise TrialError(instead)
