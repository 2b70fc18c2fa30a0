"""The last requests that were answered, in memory alone, for the window and the figures."""

from __future__ import annotations

import re
import threading
from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from paceline.chat.reply import Reply
    from paceline.messages import Event

MAX_REQUESTS = 50
"""Upper bound of the requests that are kept."""
MAX_STEPS = 100_000
"""Upper bound of the steps of all of them together; a step takes some 500 bytes for each of its
tokens."""
_VERSION = re.compile(r"/v?\d.*")


@dataclass(frozen=True, slots=True)
class Caller:
    """The program that asks.

    Attributes:
        name: Its name for itself.
        route: The path of the request.
    """

    name: str
    route: str

    @property
    def short(self) -> str:
        """The first word of the name, without a version: "curl" of "curl/8.5.0"."""
        return _VERSION.sub("", self.name.partition(" ")[0]) or self.name


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A request that was handed to the engine.

    Attributes:
        caller: The program and the path.
        reply: The reply with its text and all its steps.
    """

    caller: Caller
    reply: Reply


def _pass_over(_entry: Entry, _event: Event | None = None) -> None:
    """No-op listener."""


class _Listener(NamedTuple):
    began: Callable[[Entry], None]
    grew: Callable[[Entry, Event], None]
    ended: Callable[[Entry], None]


class Journal:
    """Keeps the last finished requests, and notifies listeners of all. Any thread."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque(maxlen=MAX_REQUESTS)
        self._listeners: tuple[_Listener, ...] = ()
        self._lock = threading.Lock()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The requests that are over, the newest last."""
        with self._lock:
            return tuple(self._entries)

    def forget(self) -> None:
        """Delete all of them."""
        with self._lock:
            self._entries.clear()

    def follow(
        self,
        ended: Callable[[Entry], None] = _pass_over,
        *,
        began: Callable[[Entry], None] = _pass_over,
        grew: Callable[[Entry, Event], None] = _pass_over,
    ) -> Callable[[], None]:
        """Register listeners for all further requests, on the server's thread.

        Args:
            ended: Called when it is over.
            began: Called when it is handed to the engine, where it may wait.
            grew: Called with each of its events, after the reply has been updated.

        Returns:
            A function that unregisters them.
        """
        listener = _Listener(began, grew, ended)
        with self._lock:
            self._listeners += (listener,)
        return partial(self._leave, listener)

    def _leave(self, listener: _Listener) -> None:
        with self._lock:
            self._listeners = tuple(each for each in self._listeners if each is not listener)

    def begin(self, entry: Entry) -> None:
        """Notify listeners of a request that is handed to the engine."""
        for listener in self._listeners:
            listener.began(entry)

    def grow(self, entry: Entry, event: Event) -> None:
        """Notify listeners of its event."""
        for listener in self._listeners:
            listener.grew(entry, event)

    def end(self, entry: Entry) -> None:
        """Keep a request that is over; the oldest go where all have too many steps."""
        with self._lock:
            self._entries.append(entry)
            n_steps = sum(len(each.reply.steps) for each in self._entries)
            while n_steps > MAX_STEPS and len(self._entries) > 1:
                n_steps -= len(self._entries.popleft().reply.steps)
        for listener in self._listeners:
            listener.ended(entry)
