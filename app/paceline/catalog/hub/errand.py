"""A conversation with the Hub on a thread of its own, which may be left behind.

Looking up a name, connecting and waiting for bytes cannot be interrupted from outside. So they
happen on a thread that nobody has to wait for: whoever asked looks for the next result and at his
stop flag in turn, and goes away within a fraction of a second. The thread ends by itself when the
time limit of its request is over, hands nothing on until then, and does not keep the program alive.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Generic, TypeVar

from paceline.catalog.hub import errors

T = TypeVar("T")

_LOOK_S = 0.1
"""How often the stop flag is looked at."""
_AHEAD = 2
"""Results that may wait to be taken; chunks of a file are 1 MiB."""


@dataclass(frozen=True, slots=True)
class Caller:
    """On whose behalf a request is made.

    Attributes:
        endpoint: Address of the Hub, without a slash at the end.
        token: Access token for that address and no other; empty: none.
    """

    endpoint: str
    token: str


@dataclass(frozen=True, slots=True)
class _End:
    """What comes behind the last result: nothing, or why there are no more."""

    error: BaseException | None


class LeftBehindError(Exception):
    """Nobody waits for the errand any more; ends its thread."""


class Errand(threading.Thread, Generic[T]):
    """Yields results on a thread of its own; see `results`.

    Attributes:
        caller: Read by the session when a request is made on this thread.
    """

    def __init__(self, caller: Caller, work: Callable[[], Generator[T, None, None]]) -> None:
        super().__init__(name="hub", daemon=True)
        self.caller = caller
        self._work = work
        self._results: queue.Queue[T | _End] = queue.Queue(_AHEAD)
        self._is_left = threading.Event()

    def run(self) -> None:
        """Hand over what the work yields, until nobody wants it any more."""
        error: BaseException | None = None
        try:
            with contextlib.closing(self._work()) as results:  # a connection may hang on it
                for result in results:
                    self._hand_over(result)
        except LeftBehindError:
            return
        except BaseException as failure:  # noqa: BLE001  whoever waits for the results gets it
            error = failure
        try:
            self._hand_over(_End(error))
        except LeftBehindError:
            return

    def check(self) -> None:
        """Raise if nobody waits any more; called between the pieces of an answer.

        Raises:
            LeftBehindError: Nobody does.
        """
        if self._is_left.is_set():
            raise LeftBehindError

    def results(
        self, is_stopped: Callable[[], bool], limit_s: float, host: str
    ) -> Generator[T, None, None]:
        """Start the thread and yield what it finds, on the thread that asks.

        Args:
            is_stopped: Polled while there is nothing to yield.
            limit_s: How long to wait for each result.
            host: Who is asked, for the error.

        Raises:
            HubError: "stopped", "timed-out", or whatever the work raised.
        """
        self.start()
        try:
            while True:
                result = self._next(is_stopped, time.monotonic() + limit_s, host)
                if isinstance(result, _End):
                    if result.error is not None:
                        raise result.error
                    return
                yield result
        finally:
            self._is_left.set()

    def _next(self, is_stopped: Callable[[], bool], until: float, host: str) -> T | _End:
        while True:
            if is_stopped():
                raise errors.stopped()
            try:
                return self._results.get(timeout=_LOOK_S)
            except queue.Empty:
                if time.monotonic() > until:
                    raise errors.timed_out(host) from None

    def _hand_over(self, result: T | _End) -> None:
        while True:
            self.check()
            try:
                self._results.put(result, timeout=_LOOK_S)
            except queue.Full:
                continue
            return
