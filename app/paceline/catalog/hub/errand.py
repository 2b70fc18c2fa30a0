"""A request to the Hub on a thread of its own, which the caller may abandon.

Looking up a name, connecting and waiting for bytes cannot be interrupted from outside. So they
happen on a thread that is never waited for: the caller polls for the next result and its stop flag
in turn, and returns within a fraction of a second. The thread ends when the time limit of its
request is over, delivers nothing until then, and does not keep the program alive.
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

POLL_S = 0.1
"""Seconds between two polls of the stop flag."""
_MAX_RESULTS_AHEAD = 2
"""Upper bound of the results that wait for the caller; chunks of a file are 1 MiB."""


@dataclass(frozen=True, slots=True)
class ErrandCaller:
    """The Hub, the token and the proxy of a request.

    Attributes:
        endpoint: Address of the Hub, without a slash at the end.
        token: Access token for that address and no other, or empty if there is none.
        proxy: Address of the proxy that it goes by; empty means as the environment says.
    """

    endpoint: str
    token: str
    proxy: str = ""


@dataclass(frozen=True, slots=True)
class _End:
    """The end of the results: None, or the error that ended them."""

    error: BaseException | None


class LeftBehindError(Exception):
    """The caller has abandoned the errand; ends its thread."""


class Errand(threading.Thread, Generic[T]):
    """Yields results on a thread of its own; see `results`.

    Attributes:
        caller: Read by the session when a request is made on this thread.
    """

    def __init__(self, caller: ErrandCaller, work: Callable[[], Generator[T, None, None]]) -> None:
        super().__init__(name="hub", daemon=True)
        self.caller = caller
        self._work = work
        self._results: queue.Queue[T | _End] = queue.Queue(_MAX_RESULTS_AHEAD)
        self._is_left = threading.Event()

    def run(self) -> None:
        """Pass on the work's results until it is abandoned."""
        end = _End(None)
        try:
            with contextlib.closing(self._work()) as results:  # a connection may hang on it
                for result in results:
                    self._hand_over(result)
        except BaseException as failure:  # noqa: BLE001  the caller of `results` gets it
            end = _End(failure)
        with contextlib.suppress(LeftBehindError):
            self._hand_over(end)

    def check(self) -> None:
        """Raise if the errand is abandoned; called between the pieces of an answer.

        Raises:
            LeftBehindError: It is abandoned.
        """
        if self._is_left.is_set():
            raise LeftBehindError

    def results(
        self, is_stopped: Callable[[], bool], limit_s: float, host: str
    ) -> Generator[T, None, None]:
        """Start the thread and yield its results, on the caller's thread.

        Args:
            is_stopped: Polled while there is nothing to yield.
            limit_s: Upper bound of the wait for each result, in seconds.
            host: The host that is asked, for the error.

        Raises:
            HubError: "stopped", "timed-out", or what the work raised.
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
                return self._results.get(timeout=POLL_S)
            except queue.Empty:
                if time.monotonic() > until:
                    raise errors.timed_out(host) from None

    def _hand_over(self, result: T | _End) -> None:
        while True:
            self.check()
            try:
                self._results.put(result, timeout=POLL_S)
            except queue.Full:
                continue
            return
