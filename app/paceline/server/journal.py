"""The last requests that were answered, in memory alone, for those who look on."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from paceline.chat.reply import Reply

KEPT = 50
"""Requests that are kept."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The program that asks.

    Attributes:
        name: What it calls itself.
        route: The path that it asks at.
    """

    name: str
    route: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A request that is over.

    Attributes:
        caller: Who asked, and where.
        reply: What became of it, with all its steps; its text is in it, too.
    """

    caller: Caller
    reply: Reply


class Journal:
    """Keeps the last requests. Any thread."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque(maxlen=KEPT)
        self._listeners: list[Callable[[Entry], None]] = []
        self._lock = threading.Lock()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The requests, the newest last."""
        with self._lock:
            return tuple(self._entries)

    def follow(self, listener: Callable[[Entry], None]) -> None:
        """Call `listener` with every further request, on the server's thread."""
        self._listeners.append(listener)

    def add(self, caller: Caller, reply: Reply) -> None:
        """Take a request that is over."""
        entry = Entry(caller, reply)
        with self._lock:
            self._entries.append(entry)
        for listener in self._listeners:
            listener(entry)
