"""The engine's process: what runs in it, from its first line to its last.

Three threads. The main thread carries out commands, as the window's engine thread does when it
hosts the engine itself. A reader takes commands off the pipe, so that a cancel reaches the flag
while the main thread is in native code; when the pipe ends, the window is gone and so is this
process. A pulse says twice a second that the process lives and how far the running decode is.

Started with `multiprocessing`'s "spawn": nothing of the window is in it, neither Qt nor its memory.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import threading
from typing import TYPE_CHECKING

from paceline.hosting.frames import FrameReader
from paceline.hosting.guard import guard_process
from paceline.hosting.inbox import Inbox
from paceline.hosting.pulse import Pulse
from paceline.hosting.service import next_command
from paceline.hosting.uplink import LogHandler, Uplink
from paceline.hosting.wire import Done, Dying, Ready, decode_command
from paceline.messages import CancelTurn, Shutdown, Tune

if TYPE_CHECKING:
    from collections.abc import Callable

_FAILED = 70  # EX_SOFTWARE of sysexits.h


def run_child(
    pipe: socket.socket,
    parent_pid: int,
    output: str,
    prepare: Callable[[], None] | None = None,
) -> None:
    """Be the engine's process; returns never.

    Args:
        pipe: One end of a socket pair; the window's process has the other one.
        parent_pid: The window's process.
        output: File for what is printed.
        prepare: Called before anything else, for tests that break things on purpose.
    """
    guard_process(parent_pid, output)
    pipe.settimeout(None)
    uplink = Uplink(pipe)
    log = logging.getLogger("paceline")
    log.setLevel(logging.INFO)
    log.addHandler(LogHandler(uplink))
    code = 0
    try:
        if prepare is not None:
            prepare()
        _work(pipe, uplink)
    except Exception as error:
        logging.getLogger(__name__).exception("the engine ended unexpectedly")
        uplink.send_last(Dying(f"{type(error).__name__}: {error}"[:300]))
        code = _FAILED
    with contextlib.suppress(OSError):
        pipe.shutdown(socket.SHUT_RDWR)
    # Without the interpreter's long goodbye: the models are freed, and a plug-in's thread that
    # does not end would keep the process.
    os._exit(code)


def _work(pipe: socket.socket, uplink: Uplink) -> None:
    inbox = Inbox()
    threading.Thread(target=_read, args=(pipe, inbox, uplink), name="reader", daemon=True).start()
    from paceline.engine.native import report_aborts
    from paceline.engine.service import EngineService

    report_aborts(lambda text: uplink.send_last(Dying(text)))

    def take_tune(turn_id: str) -> Tune | None:
        tune = inbox.take_tune(turn_id)
        if tune is not None:
            uplink.send(Done())
        return tune

    service = EngineService(uplink.send, take_tune=take_tune, cancel=inbox.flag)
    pulse = Pulse(uplink, service)

    def idle() -> bool:
        # With a pulse: else a command that finds a long decode here would find no sign of life.
        pulse.start()
        try:
            return service.idle()
        finally:
            pulse.stop()

    uplink.send(Ready(os.getpid()))
    while True:
        command = next_command(inbox, idle)
        if command is None:
            continue
        pulse.start()
        service.handle(command)
        pulse.stop()
        uplink.send(Done())
        if isinstance(command, Shutdown):
            return


def _read(pipe: socket.socket, inbox: Inbox, uplink: Uplink) -> None:
    """Take commands off the pipe until it ends, and the process with it."""
    reader = FrameReader()
    try:
        while data := pipe.recv(1 << 16):
            for payload in reader.feed(data):
                command = decode_command(payload)
                if isinstance(command, CancelTurn):
                    inbox.cancel(command.turn_id)
                else:
                    inbox.put(command)
    except OSError:
        pass
    except Exception as error:  # nothing gets through to a process whose reader is gone
        uplink.send_last(Dying(f"{type(error).__name__}: {error}"[:300]))
        os._exit(_FAILED)
    os._exit(0)
