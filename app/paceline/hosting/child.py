"""The engine's process: everything that runs in it.

Three threads. The main thread carries out commands, as the window's engine thread does when it
hosts the engine itself. A reader takes commands off the pipe, so that a cancel reaches the flag
while the main thread is in native code; when the pipe ends, the window is gone and so is this
process. A pulse says twice a second that the process lives and how far the running decode is.

Nothing of the window is in it, neither Qt nor its memory.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import threading
import time
from typing import TYPE_CHECKING

import psutil

from paceline.errors import LibraryError
from paceline.hosting.broker import Broker
from paceline.hosting.client import next_ticket
from paceline.hosting.wire import (
    Beat,
    Done,
    LogLine,
    Upward,
    decode_command,
    encode_message,
)
from paceline.messages import Cancel, DropStates, Remember, Shutdown, Tune
from paceline.workers.child import FAILED, ChildPipe, last_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from paceline.engine.service import EngineService

BEAT_EVERY_S = 0.5
MIN_DECODE_LIMIT_S = 10.0
MAX_SLOWDOWN = 20.0
"""Factor over the slowest decode before, per token, from which a decode counts as hanging."""

_MAX_OUTPUT_BYTES = 1 << 20


def run_child(pipe: socket.socket, prepare: Callable[[], None] | None = None) -> None:
    """Run the engine in this process; never returns.

    Args:
        pipe: One end of a socket pair; the window's process has the other one.
        prepare: Called before the engine is made, for tests that inject faults.
    """
    line = ChildPipe(pipe)
    uplink = Uplink(line)
    log = logging.getLogger("paceline")
    log.setLevel(logging.INFO)
    log.addHandler(LogHandler(uplink))
    code = 0
    try:
        if prepare is not None:
            prepare()
        _work(line, uplink)
    except LibraryError:
        raise  # `child.run` reports it
    except Exception as error:
        logging.getLogger(__name__).exception("the engine ended unexpectedly")
        line.send_last(last_words(error))
        code = FAILED
    with contextlib.suppress(OSError):
        pipe.shutdown(socket.SHUT_RDWR)
    # Without the interpreter's shutdown: the models are freed, and a plug-in's thread that does
    # not end would keep the process alive.
    os._exit(code)


def _work(line: ChildPipe, uplink: Uplink) -> None:
    broker = Broker()
    threading.Thread(target=_read, args=(line, broker), name="reader", daemon=True).start()
    from paceline.engine.native import report_aborts
    from paceline.engine.service import EngineService

    report_aborts(line.send_last)

    def take_between() -> Tune | Remember | DropStates | None:
        command = broker.take_between()
        if command is not None:
            uplink.send(Done())
        return command

    service = EngineService(uplink.send, take_between=take_between, cancel=broker.flag)
    pulse = Pulse(uplink, service)

    def idle() -> bool:
        # With a pulse: a command that comes during a long decode must find a sign of life.
        pulse.start()
        try:
            return service.idle()
        finally:
            pulse.stop()

    line.send_ready()
    while True:
        ticket = next_ticket(broker, idle)
        if ticket is None:
            continue
        pulse.start()
        service.handle(ticket.command)
        pulse.stop()
        broker.done()
        uplink.send_all(Done())
        if isinstance(ticket.command, Shutdown):
            return


def _read(line: ChildPipe, broker: Broker) -> None:
    """Take commands off the pipe; when it ends, the process ends."""
    try:
        for payload in line.received():
            command = decode_command(payload)
            if isinstance(command, Cancel):
                broker.cancel_open()
            else:
                broker.request(command)
    except Exception as error:  # without its reader the process would get no command any more
        line.send_last(last_words(error))
        os._exit(FAILED)


class Uplink:
    """Events, reports and log records for the process that started this one; any thread sends.

    Attributes:
        n_events: Messages of progress sent so far.
    """

    def __init__(self, line: ChildPipe) -> None:
        self._line = line
        self.n_events = 0

    def send(self, message: Upward) -> None:
        """Send one message; a thread that computes does not wait for one that does not read.

        The process ends when the other end of the pipe is closed.
        """
        self._line.post(encode_message(message))
        # Without a lock: two threads may count two messages as one, which is progress all the same.
        self.n_events += not isinstance(message, Beat)

    def send_all(self, message: Upward) -> None:
        """Send one message and wait until the pipe has it, and all that was sent before."""
        self._line.send(encode_message(message))
        self.n_events += 1


class LogHandler(logging.Handler):
    """Sends log records to the window's process, which writes the program's log."""

    def __init__(self, uplink: Uplink) -> None:
        super().__init__()
        self._uplink = uplink
        self.setFormatter(logging.Formatter("%(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Send a record; an error in one record loses that record only."""
        try:
            self._uplink.send(LogLine(record.levelno, record.name, self.format(record)[:20_000]))
        except Exception:
            self.handleError(record)


class Pulse:
    """Sends a `Beat` twice a second between `start` and `stop`, from a thread of its own.

    The watchdog in the window's process counts a busy process without a pulse as dead.
    """

    def __init__(self, uplink: Uplink, service: EngineService) -> None:
        self._uplink = uplink
        self._service = service
        self._time = DecodeTime()
        self._works = threading.Event()
        self._has_failed = False
        threading.Thread(target=self._run, name="pulse", daemon=True).start()

    def start(self) -> None:
        """Send beats from now on: a command or idle work begins."""
        self._works.set()

    def stop(self) -> None:
        """Send no more beats."""
        self._works.clear()

    def _run(self) -> None:
        while True:
            self._works.wait()
            self._uplink.send(self._beat())
            _limit_output()
            time.sleep(BEAT_EVERY_S)

    def _beat(self) -> Beat:
        read_bytes, decode_s, limit_s, kernels = 0, 0.0, 0.0, ""
        try:
            kernels = self._service.own_kernels
            read_bytes = _read_bytes()
            decode_s, limit_s = self._decode(read_bytes)
        except Exception:  # a beat without figures still says that the process lives
            if not self._has_failed:
                self._has_failed = True
                logging.getLogger(__name__).exception("a decode's time cannot be measured")
        cpu_s = time.process_time()
        return Beat(self._uplink.n_events, cpu_s, read_bytes, decode_s, limit_s, kernels)

    def _decode(self, read_bytes: int) -> tuple[float, float]:
        """Return the running decode's seconds, and its limit; 0 each where there is none."""
        activity = self._service.activity()
        if activity is None:
            return 0.0, 0.0
        n_tokens, since, slowest_per_token_s = activity
        if slowest_per_token_s == 0:
            # A first decode: a GPU's driver may compile its programs for minutes.
            return self._time.of(since, read_bytes), 0.0
        limit_s = max(MIN_DECODE_LIMIT_S, MAX_SLOWDOWN * n_tokens * slowest_per_token_s)
        return self._time.of(since, read_bytes), limit_s


def _read_bytes() -> int:
    """Return what this process has read from files and disks; 0 where the system does not say."""
    try:
        return psutil.Process().io_counters().read_bytes
    except (AttributeError, psutil.Error, OSError):
        return 0


class DecodeTime:
    """Measures how long a decode has been running, from samples taken at each beat.

    A long time between two samples counts as one second: this process did not run in it either,
    since it was stopped or the computer slept. Time in which bytes were read does not count:
    weights that do not fit into memory are read from the disk again and again, which is slow, not
    hanging.

    Args:
        clock: Monotonic seconds; the clock by which decodes note when they began.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since: float | None = None
        self._looked = 0.0
        self._read_bytes = 0
        self._seconds = 0.0

    def of(self, since: float, read_bytes: int = 0) -> float:
        """Return the seconds of the decode that began at `since`.

        Args:
            since: Time of its begin, on the clock.
            read_bytes: Bytes that the process has read so far.
        """
        now = self._clock()
        if since != self._since:
            self._since = self._looked = since
            self._read_bytes = read_bytes
            self._seconds = 0.0
        if read_bytes == self._read_bytes:
            self._seconds += min(now - self._looked, 2 * BEAT_EVERY_S)
        self._looked, self._read_bytes = now, read_bytes
        return self._seconds


def _limit_output() -> None:
    """Empty the output file when a plug-in has filled it."""
    with contextlib.suppress(OSError):
        if os.fstat(2).st_size > _MAX_OUTPUT_BYTES:
            os.ftruncate(2, 0)
            os.lseek(2, 0, os.SEEK_SET)
