"""The engine on a thread of its own: the client of the window, the command line and scripts.

One thread owns the service and carries out the requests, from the first one to `close`. Within it
there is no event loop: requests come from the broker, cancelling is a flag beside it, and events
leave by the listeners of their askers, which are called on this thread. The thread is never
terminated; `close` asks it to end and waits.

Commands are carried out by a service: the engine itself, on this thread, or one that passes them to
an engine in a process of its own. Such a process may die without harm to this thread, and its
service starts another one. After an uncaught exception of a service all open requests are answered
with the engine's death, and the next request gets a new service.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import psutil

from paceline.hosting.broker import Broker
from paceline.hosting.client import (
    Idler,
    QueuedClient,
    Service,
    ServiceFactory,
    Watcher,
    next_ticket,
)
from paceline.messages import EngineDied, Event, Shutdown
from paceline.sentence import sentence
from paceline.settings import EngineHost

if TYPE_CHECKING:
    from paceline.engine.model.backend import Backend

POLL_EVERY_S = 0.5
"""Seconds between two checks of a `Watcher` while it has no command."""
CLOSE_S = 5.0
KILL_AFTER_S = 3.0
"""Seconds after which a process that hangs while the client closes is killed."""

_logger = logging.getLogger(__name__)


@runtime_checkable
class _HasProcess(Protocol):
    """A service whose engine is in a process of its own."""

    @property
    def pid(self) -> int:
        """The process's id; 0 when there is none."""


def make_engine_service(
    emit: Callable[[Event], None],
    broker: Broker,
    *,
    backend: Callable[[], Backend] | None = None,
) -> Service:
    """Make the engine itself; it loads the native library, or `backend`, on the first need."""
    from paceline.engine.service import EngineService

    return EngineService(
        emit, take_between=broker.take_between, cancel=broker.flag, backend=backend
    )


def make_process_service(emit: Callable[[Event], None], broker: Broker) -> Service:
    """Make an engine in a process of its own; the engine's thread pays for the import."""
    from paceline.hosting.process import ProcessService

    return ProcessService(emit, broker)


def service_factory(host: EngineHost) -> ServiceFactory:
    """Return the factory of a service for the host that the settings name."""
    return make_process_service if host == "process" else make_engine_service


class ThreadedClient(QueuedClient):
    """An `EngineClient` whose engine is driven by a thread of its own.

    Args:
        make_service: Makes the service; called on that thread.
    """

    def __init__(self, make_service: ServiceFactory = make_engine_service) -> None:
        super().__init__()
        self._make_service = make_service
        self._service: Service | None = None
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._starting = threading.Lock()
        self._is_closed = False

    def _drive(self) -> None:
        """Start the thread, at the first request."""
        with self._starting:
            if not (self._is_closed or self._thread.ident):
                self._thread.start()

    def change_host(self, host: EngineHost) -> None:
        """Carry out later requests by another service. Never waits.

        It replaces the old one when that has carried out the earlier requests of the same priority;
        models must be loaded again.
        """
        self._make_service = service_factory(host)
        if self._thread.ident:
            self._broker.request(Shutdown())

    def close(self) -> bool:
        """Stop the running command and shut the engine down; return False if it hangs after 5 s.

        Waiting requests are answered. A process with the engine is gone after this, also one that
        hangs.
        """
        with self._starting:
            self._is_closed = True
        self._broker.close()
        if not self._thread.ident:
            return True
        deadline = time.monotonic() + CLOSE_S
        self._thread.join(min(KILL_AFTER_S, CLOSE_S))
        while self._thread.is_alive() and time.monotonic() < deadline:
            _kill_process(self._service)
            self._thread.join(0.1)
        if self._thread.is_alive():
            _logger.error("the engine's thread did not end within %.0f s", CLOSE_S)
            return False
        return True

    # -------------------------------------------------------------------- on the engine's thread

    def _run(self) -> None:
        """Carry out requests until `close`."""
        while not self._is_closed:
            try:
                self._serve()
            except Exception as error:
                _logger.exception("the engine ended unexpectedly")
                self._end_service()
                self._broker.fail(_death(error))
            finally:
                self._service = None

    def _end_service(self) -> None:
        """End the process of a service, which does not end with the service."""
        service = self._service
        if service is not None and isinstance(service, Watcher):
            with contextlib.suppress(Exception):
                service.handle(Shutdown())

    def _serve(self) -> None:
        """Make a service at the first request, and let it carry out all up to a `Shutdown`."""
        ticket = self._broker.take()
        service = self._service = self._make_service(self._broker.emit, self._broker)
        watcher = service if isinstance(service, Watcher) else None
        idle = service.idle if isinstance(service, Idler) else None
        while True:
            if ticket is not None:
                service.handle(ticket.command)
                self._broker.done()
                if isinstance(ticket.command, Shutdown):
                    return
            elif watcher is not None:
                watcher.look()
            ticket = next_ticket(self._broker, idle, None if watcher is None else POLL_EVERY_S)


def _kill_process(service: object) -> None:
    """End a service's process from outside, for the case that the service waits for it."""
    # It may be gone at any moment: then there is no id, or the id is that of no process
    # or of no child.
    with contextlib.suppress(psutil.Error, ValueError):
        if isinstance(service, _HasProcess) and service.pid:
            process = psutil.Process(service.pid)
            if process.ppid() == os.getpid():
                _logger.warning("the engine's process does not end by itself and is killed")
                process.kill()


def _death(error: Exception) -> EngineDied:
    text = " ".join(str(error).split())
    what = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return EngineDied(
        sentence("The engine ended unexpectedly ({what}).", what=what[:200]),
        sentence("It starts again with the next message; the log tells more."),
    )
