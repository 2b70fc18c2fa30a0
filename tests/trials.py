"""Counting of how often a test breaks something, less often in the usual run than with --long."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest


class Trials:
    """Counts how often a test breaks something: `for i in trials(short, long)`."""

    def __init__(self, config: pytest.Config) -> None:
        self._is_long = config.getoption("--long")
        self._most: int | None = config.getoption("--trials")
        self.n = 0

    def __call__(self, short: int, long: int) -> Iterator[int]:
        """Yield numbers from 0: `short` of them in the usual run, `long` with --long."""
        n = long if self._is_long else short
        for i in range(n if self._most is None else min(n, self._most)):
            self.n += 1
            yield i
