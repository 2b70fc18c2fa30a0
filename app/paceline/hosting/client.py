"""The one door to the engine, the same whether it runs inline, in a thread or in a process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from paceline.messages import Command, Event

Listener = Callable[[Event], None]


class EngineClient(Protocol):
    """Commands in, events out. All methods may be called from the thread that owns the client."""

    def submit(self, command: Command) -> None:
        """Hand over a command. Inline it is carried out before this returns; else at once back."""

    def cancel(self, request_id: str) -> None:
        """Stop the turn or load of this id, running or still queued. Never waits."""

    def set_listener(self, listener: Listener | None) -> None:
        """Deliver every event to `listener`, on the thread that owns the client."""

    def close(self) -> bool:
        """Cancel what runs, shut the engine down and wait for it; False when it did not end."""

    @property
    def is_alive(self) -> bool:
        """Whether commands are still taken."""
