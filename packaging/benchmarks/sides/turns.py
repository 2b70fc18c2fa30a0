"""Sides that are measured by turns, and what is said of them: a ratio with its interval.

A side is a process of its own, which loads a model once and then waits for its turn. It is told by
a line of JSON on stdin, an order and its arguments, and answers with a line of JSON on stdout; the
first line says that it is ready (`serving.py`).
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

from paceline.bench.recommend import Interval, bootstrap
from paceline.errors import UserError

_PACKAGING = Path(__file__).resolve().parents[2]
_T = TypeVar("_T")


class SideCommand(NamedTuple):
    """The command that starts the process of a side.

    Attributes:
        name: Name of the side in tables.
        python: The interpreter of its process.
        module: Module that it runs.
        words: Arguments of the process.
        app: The folder that holds its version of the package paceline, or None for the version
            installed in its interpreter.
    """

    name: str
    python: str
    module: str
    words: tuple[str, ...]
    app: Path | None = None


class Side:
    """The process of a side; for a with statement, which ends it.

    Attributes:
        name: Name of the side.
        ready: The value that it sent when it was ready.
    """

    def __init__(self, command: SideCommand) -> None:
        """Start the process, and wait until it is ready.

        Raises:
            UserError: The process ended before.
        """
        self.name = command.name
        self._log = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 - see __exit__
        places = (str(place) for place in (_PACKAGING, command.app) if place)
        self._process = subprocess.Popen(
            [command.python, "-m", command.module, *command.words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
        )
        self.ready: Any = self._answer()

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()
        self._log.close()

    def ask(self, *order: Any) -> Any:
        """Send an order and return its answer.

        Raises:
            UserError: The process has ended.
        """
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the answer says why
        return self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            self._log.seek(0)
            said = self._log.read().strip().splitlines()[-1:]
            self.__exit__(None, None, None)
            raise UserError("side-ended", f"The process of {self.name} has ended: {''.join(said)}")
        return json.loads(line)


def turned(them: Sequence[_T], turn: int) -> list[_T]:
    """Return all in the order of a round: another one begins, and odd rounds go backwards."""
    first = turn // 2 % len(them)
    turned = [*them[first:], *them[:first]]
    return turned[::-1] if turn % 2 else turned


def ratio(ours: Sequence[float], base: Sequence[float]) -> Interval:
    """Return the median ratio of ours to the base over the rounds, with its 95 % interval."""
    return bootstrap([[own / other for own, other in zip(ours, base, strict=True)]])


def shown(found: Interval) -> str:
    """Return a ratio for a table."""
    return f"{found.median:.2f} [{found.low:.2f}, {found.high:.2f}]"
