"""The engine in a thread of the window's process: a `QThread` that owns its own loop.

Whoever makes an `EngineThread` owns it; all its methods are called on that thread, and events are
delivered there. Within `run` there is no event loop: commands come from an `Inbox`, cancelling is
a flag beside it, and events leave by one signal that is queued to a bound slot. The thread is
never terminated; `close` asks it to end and waits. After an engine died of an unexpected error
the next command starts a new one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, QThread, Signal, Slot

from paceline.hosting.inbox import Inbox
from paceline.messages import EngineDied, Shutdown

if TYPE_CHECKING:
    from paceline.hosting.client import Listener
    from paceline.messages import Command, Event

CLOSE_TIMEOUT_MS = 5000

_logger = logging.getLogger(__name__)


class Service(Protocol):
    """What carries out commands; `EngineService` is one."""

    def handle(self, command: Command) -> None:
        """Carry the command out and return when it is done."""


ServiceFactory = Callable[[Callable[["Event"], None], Inbox], Service]
"""Makes a service from where its events go to and where its commands come from."""


def make_engine_service(emit: Callable[[Event], None], inbox: Inbox) -> Service:
    """The real engine; called within the engine's thread, since it loads the native library."""
    from paceline.engine.service import EngineService

    return EngineService(emit, take_tune=inbox.take_tune, cancel=inbox.flag)


class EngineThread(QThread):
    """An `EngineClient` whose engine runs in this thread."""

    _emitted = Signal(object)

    def __init__(
        self,
        make_service: ServiceFactory = make_engine_service,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("engine")
        self._make_service = make_service
        self._inbox = Inbox()
        self._listener: Listener | None = None
        self._is_started = False
        self._is_closed = False
        self._is_dead = False
        # The slot lives where this object was made, so events are queued from `run` to there.
        self._emitted.connect(self._deliver)

    def submit(self, command: Command) -> None:
        """Queue a command; starts the thread at first, and again after the engine died.

        What comes between the engine's death and the event that tells of it is lost with the rest.
        """
        if self._is_closed:
            return
        if self._is_dead:
            self.wait()  # `run` has nothing left to do but to return
            self._inbox = Inbox()
            self._is_dead = self._is_started = False
        self._inbox.put(command)
        if not self._is_started:
            self._is_started = True
            self.start()

    def cancel(self, request_id: str) -> None:
        """Stop the turn or load of this id. Never waits."""
        self._inbox.cancel(request_id)

    def set_listener(self, listener: Listener | None) -> None:
        """Deliver every event to `listener`, on the thread that owns this object."""
        self._listener = listener

    def close(self) -> bool:
        """Cancel what runs, shut the engine down, wait at most five seconds; False: it hangs.

        No event is delivered any more, not even one that is queued already.
        """
        self._is_closed = True
        self._listener = None
        self._inbox.cancel_current()
        self._inbox.put(Shutdown())
        ended = self.wait(CLOSE_TIMEOUT_MS)
        if not ended:
            _logger.error("the engine's thread did not end within %d ms", CLOSE_TIMEOUT_MS)
        return ended

    @property
    def is_alive(self) -> bool:
        """Whether commands are still taken."""
        return not self._is_closed and not self._is_dead

    def run(self) -> None:
        """Carry out commands until `Shutdown`; Qt calls this in the new thread."""
        inbox = self._inbox
        try:
            service = self._make_service(self._emitted.emit, inbox)
            while True:
                command = inbox.get()
                if command is None:
                    continue
                service.handle(command)
                if isinstance(command, Shutdown):
                    return
        except Exception as error:
            _logger.exception("the engine ended unexpectedly")
            self._emitted.emit(_death(error))

    @Slot(object)
    def _deliver(self, event: Event) -> None:
        if isinstance(event, EngineDied):
            self._is_dead = True
        if self._listener is not None:
            self._listener(event)


def _death(error: Exception) -> EngineDied:
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return EngineDied(
        f"The engine ended unexpectedly ({what:.200}).",
        "It starts again with the next message; the log tells more.",
    )
