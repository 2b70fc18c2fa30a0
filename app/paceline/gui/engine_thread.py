"""The engine in a thread of the window's process: a `QThread` that owns its own loop.

The maker of an `EngineThread` owns it; all its methods are called on that thread, and events are
delivered there. Within `run` there is no event loop: commands come from an `Inbox`, cancelling is
a flag beside it, and events leave by one signal that is queued to a bound slot. The thread is
never terminated; `close` asks it to end and waits.

What carries the commands out is a service: the engine itself, in this thread, or one that hands
them to an engine in a process of its own. Such a process may die without harm to this thread, and
its service starts another one; only an exception that leaves a service ends the thread, and then
the next command starts it anew.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable
from typing import Protocol, runtime_checkable

import psutil
from PySide6.QtCore import QObject, QThread, Signal, Slot

from paceline.gui.kit.translation import translator
from paceline.hosting.client import (
    Idler,
    Inbox,
    Listener,
    Service,
    ServiceFactory,
    Watcher,
    next_command,
)
from paceline.hosting.inline import make_engine_service
from paceline.messages import Command, EngineDied, Event, Shutdown
from paceline.settings import EngineHost

LOOK_EVERY_S = 0.5
"""How often a service that watches something may look when there is nothing to do."""
CLOSE_TIMEOUT_MS = 5000
KILL_AFTER_MS = 3000
"""A process that hangs while the window closes is ended after this time."""

_logger = logging.getLogger(__name__)

_tr = translator("EngineThread")


@runtime_checkable
class _HasProcess(Protocol):
    """A service whose engine is in a process of its own."""

    @property
    def pid(self) -> int:
        """The process's id; 0 when there is none."""


def make_process_service(emit: Callable[[Event], None], inbox: Inbox) -> Service:
    """Make an engine in a process of its own; the engine thread pays for the import."""
    from paceline.hosting.process import ProcessService

    return ProcessService(emit, inbox)


def service_factory(host: EngineHost) -> ServiceFactory:
    """Return what makes the engine where the settings want it."""
    return make_process_service if host == "process" else make_engine_service


class EngineThread(QThread):
    """An `EngineClient` whose engine is driven by this thread.

    Args:
        make_service: Makes what carries out commands; called in this thread.
        parent: Owns this object.
    """

    _emitted = Signal(object)
    _crashed = Signal(object)

    def __init__(
        self,
        make_service: ServiceFactory = make_engine_service,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("engine")
        self._make_service = make_service
        self._service: Service | None = None
        self._inbox = Inbox()
        self._listener: Listener | None = None
        self._is_started = False
        self._is_closed = False
        self._is_dead = False
        # The slots live where this object was made, so events are queued from `run` to there.
        self._emitted.connect(self._deliver)
        self._crashed.connect(self._on_crashed)

    def submit(self, command: Command) -> None:
        """Queue a command; starts the thread at first, and again after it ended by an error.

        What comes between this end and the event that tells of it is lost with the rest.
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

    def change_host(self, host: EngineHost) -> None:
        """Let another service carry out what is submitted from now on. Never waits.

        It follows the old one when that is done with what was submitted before; models must be
        loaded again.
        """
        self._make_service = service_factory(host)
        if self._is_started and not self._is_dead and not self._is_closed:
            self._inbox.put(Shutdown())

    def close(self) -> bool:
        """Cancel what runs, shut the engine down, wait at most five seconds; False: it hangs.

        No event is delivered any more, not even one that is queued already. A process with the
        engine is gone after this, also one that hangs.
        """
        self._is_closed = True
        self._listener = None
        self._inbox.cancel_current()
        self._inbox.flag.set()  # what has no id, such as the start of a process, heeds it too
        self._inbox.put(Shutdown())
        deadline = time.monotonic() + CLOSE_TIMEOUT_MS / 1000
        ended = self.wait(min(KILL_AFTER_MS, CLOSE_TIMEOUT_MS))
        while not ended and time.monotonic() < deadline:
            _kill_process(self._service)
            ended = self.wait(100)
        if not ended:
            _logger.error("the engine's thread did not end within %d ms", CLOSE_TIMEOUT_MS)
        return ended

    @property
    def is_alive(self) -> bool:
        """Whether commands are still taken."""
        return not self._is_closed and not self._is_dead

    def run(self) -> None:
        """Carry out commands until `close`; Qt calls this in the new thread."""
        inbox = self._inbox
        try:
            self._serve(inbox)
            while not self._is_closed:  # another host was asked for
                self._serve(inbox)
        except Exception as error:
            _logger.exception("the engine ended unexpectedly")
            service = self._service
            if service is not None and isinstance(service, Watcher):
                with contextlib.suppress(Exception):  # what it watches does not end with it
                    service.handle(Shutdown())
            self._crashed.emit(_death(error))
        finally:
            self._service = None

    def _serve(self, inbox: Inbox) -> None:
        """Make a service and let it carry out commands up to the next `Shutdown`."""
        service = self._service = self._make_service(self._emitted.emit, inbox)
        watcher = service if isinstance(service, Watcher) else None
        idle = service.idle if isinstance(service, Idler) else None
        while True:
            command = next_command(inbox, idle, None if watcher is None else LOOK_EVERY_S)
            if isinstance(command, Shutdown):
                service.handle(command)
                return
            if command is not None and not self._is_closed:
                service.handle(command)
            elif watcher is not None:
                watcher.look()

    @Slot(object)
    def _deliver(self, event: Event) -> None:
        if self._listener is not None:
            self._listener(event)

    @Slot(object)
    def _on_crashed(self, death: EngineDied) -> None:
        self._is_dead = True
        self._deliver(death)


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
        _tr("The engine ended unexpectedly ({}).").format(what[:200]),
        _tr("It starts again with the next message; the log tells more."),
    )
