"""The engine's client for the window: events are delivered on the thread that owns the bridge.

The engine calls its listeners on its own thread. Here, listener and event are sent by a signal to a
slot of this object, which calls the listener.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Qt, Signal, Slot

from paceline.hosting.broker import EngineEvent, Listener, Priority, Ticket
from paceline.hosting.client import EngineClient
from paceline.messages import Command, Event


class EngineBridge(QObject):
    """An `EngineClient` whose listeners are called on its own thread, with the events in order.

    Args:
        client: The engine.
        parent: Owns this object.
    """

    _received = Signal(object, object)

    def __init__(self, client: EngineClient, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self._is_closed = False
        # Always queued: a cancelled waiting request must not be answered within the cancelling
        # call.
        self._received.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def request(
        self,
        command: Command,
        priority: Priority = Priority.PERSON,
        on_event: Listener | None = None,
        asker: str = "window",
    ) -> Ticket:
        """Queue a command; see `Broker.request`."""
        queued = None if on_event is None else partial(self._received.emit, on_event)
        return self._client.request(command, priority, queued, asker)

    def watch(self, listener: Callable[[EngineEvent], None]) -> None:
        """Call `listener` with the events that concern all askers."""
        self._client.watch(partial(self._received.emit, listener))

    @property
    def running(self) -> Ticket | None:
        """The request being carried out, of any asker, or None."""
        return self._client.running

    def close(self) -> bool:
        """Shut the engine down; nothing is delivered any more. Return False if it hangs."""
        self._is_closed = True
        return self._client.close()

    @Slot(object, object)
    def _deliver(self, listener: Listener, event: Event) -> None:
        if not self._is_closed:
            listener(event)
