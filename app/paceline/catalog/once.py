"""Something that is made on demand, by whichever thread comes first, and ended once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from paceline.errors import CancelledError

T = TypeVar("T")


class Once(Generic[T]):
    """A value that is made when it is first asked for, once, whatever threads ask."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: list[T] = []
        self._is_over = False

    def get(self) -> T:
        """Return it.

        Raises:
            CancelledError: It is over.
        """
        with self._lock:
            if self._is_over:
                raise CancelledError
            if not self._made:
                self._made.append(self._make())
            return self._made[0]

    def made(self) -> T | None:
        """Return it if somebody has asked for it before."""
        with self._lock:
            return self._made[0] if self._made else None

    def end(self) -> T | None:
        """Return it if it was made; nobody gets or makes it from now on."""
        with self._lock:
            self._is_over = True
            return self._made.pop() if self._made else None
