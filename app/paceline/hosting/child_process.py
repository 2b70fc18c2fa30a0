"""A process that native code may crash, seen from outside: start it, talk to it, end it.

All of it belongs to one thread, which must live as long as the process (on Linux a child is told
to die with the *thread* that started it). Nothing here waits for more than it is told to: reading
takes what is there, and writing gives up when the other end does not read.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import selectors
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Generic, TypeVar

from paceline.hosting.deaths import Death, describe_death
from paceline.hosting.frames import FrameError, FrameReader, frame
from paceline.hosting.job import end_with_this_process
from paceline.hosting.wire import Dying, Upward, WireError, decode_upward, encode_command
from paceline.messages import Command, Shutdown

Down = TypeVar("Down")
Up = TypeVar("Up")
ChildMain = Callable[..., None]
"""Runs in the child with (pipe, parent's pid, file for its output); see `child.run_child`."""

WRITE_S = 5.0
END_S = 2.0

_N_READ = 1 << 18
_TAIL = 4000


@dataclass(frozen=True, slots=True)
class Language(Generic[Down, Up]):
    """What is spoken with a child.

    Attributes:
        name: Of the child, for lists of processes.
        encode: Gives the bytes of what goes down.
        decode: Checks what came up; raises `WireError` where that is no message.
        goodbye: Asks the child to end.
    """

    name: str
    encode: Callable[[Down], bytes]
    decode: Callable[[bytes], Up | Dying]
    goodbye: Down


def engine_language() -> Language[Command, Upward]:
    """Return what is spoken with an engine."""
    return Language("paceline-engine", encode_command, decode_upward, Shutdown())


class ChildProcess(Generic[Down, Up]):
    """A running child; made means started.

    Args:
        main: What runs in it; a function at the top of a module.
        language: What is spoken with it.

    Raises:
        OSError: The system does not start another process.
    """

    def __init__(self, main: ChildMain, language: Language[Down, Up]) -> None:
        _fill_standard_streams()
        self._language = language
        self._reader = FrameReader()
        self._last_words = ""
        self._has_ended = False
        with contextlib.ExitStack() as undo:
            self._output = _Output(language.name)
            undo.callback(self._output.close)
            self._pipe, other = socket.socketpair()
            undo.callback(self._pipe.close)
            with other:
                self._pipe.settimeout(0)
                self._readable = selectors.DefaultSelector()
                undo.callback(self._readable.close)
                self._readable.register(self._pipe, selectors.EVENT_READ)
                self._process = self._start(main, other)
            undo.pop_all()
        self._job = end_with_this_process(self._process)

    def _start(self, main: ChildMain, pipe: socket.socket) -> BaseProcess:
        process = multiprocessing.get_context("spawn").Process(
            target=main,
            args=(pipe, os.getpid(), self._output.name),
            name=self._language.name,
            daemon=True,
        )
        with _no_interrupts():
            process.start()
        return process

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid or 0

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will come; everything that it sent before has been read then."""
        return self._has_ended

    # ------------------------------------------------------------------------------ talking

    def send(self, command: Down) -> bool:
        """Send a command; False when for five seconds the process takes nothing of it.

        Raises:
            FrameError: It is too large; nothing has been sent.
        """
        data = memoryview(frame(self._language.encode(command)))
        deadline = time.monotonic() + WRITE_S
        while data:
            try:
                data = data[self._pipe.send(data) :]
                deadline = time.monotonic() + WRITE_S
            except BlockingIOError:
                if not self._wait_writable(deadline - time.monotonic()):
                    return False
            except OSError:
                return False
        return True

    def receive(self, timeout: float) -> Iterator[Up]:
        """Wait for something to come, at most `timeout` seconds, and yield what is complete.

        Raises:
            WireError: What came is no message; the process is of no use any more.
        """
        if self._has_ended:
            return
        if not self._readable.select(timeout):
            self._look_after()
            return
        try:
            data = self._pipe.recv(_N_READ)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._has_ended = True
            return
        try:
            for payload in self._reader.feed(data):
                message = self._language.decode(payload)
                if isinstance(message, Dying):
                    self._last_words = message.text
                else:
                    yield message
        except FrameError as error:
            raise WireError(str(error)) from None

    def _look_after(self) -> None:
        """Notice the end where the pipe does not tell: something else may hold its other end."""
        if not self._process.is_alive() and not self._readable.select(0):
            self._has_ended = True  # and its last messages have been read

    def _wait_writable(self, seconds: float) -> bool:
        with selectors.DefaultSelector() as writable:
            writable.register(self._pipe, selectors.EVENT_WRITE)
            # Looks once even when time is up: this program may have been stopped meanwhile.
            return bool(writable.select(max(seconds, 0)))

    # ------------------------------------------------------------------------------- ending

    def end(self) -> None:
        """Ask the process to end, wait two seconds, then kill it."""
        if not self._has_ended and self.send(self._language.goodbye):
            with contextlib.suppress(WireError):
                deadline = time.monotonic() + END_S
                while not self._has_ended and time.monotonic() < deadline:
                    for _ in self.receive(0.05):
                        pass
        self.kill()

    def kill(self) -> None:
        """End the process at once and free everything that belongs to it."""
        self._process.kill()
        self._bury()

    def describe_death(self) -> Death:
        """Say why the process ended by itself; frees everything that belongs to it."""
        self._process.join(END_S)  # a large process takes a moment to leave
        code = self._process.exitcode
        if code is None:  # how this kill ends it says nothing
            self._process.kill()
            self._process.join(END_S)
        stderr = self._output.tail()
        self._bury()
        return describe_death(code, self._last_words, stderr)

    def _bury(self) -> None:
        self._has_ended = True
        self._process.join(END_S)
        with contextlib.suppress(ValueError):  # it does not want to die: left to the system
            self._process.close()
        self._readable.close()
        self._pipe.close()
        self._job.close()
        self._output.close()


class _Output:
    """The file for what the child prints.

    The child takes the name away once it has opened the file, where the system allows it (not on
    Windows), so that nothing is left when both processes are killed; here it is read by a
    descriptor.

    Attributes:
        name: Where it is; empty when there is no room even for that.
    """

    def __init__(self, prefix: str) -> None:
        self.name = ""
        self._number = -1
        with contextlib.suppress(OSError):
            self._number, self.name = tempfile.mkstemp(prefix=f"{prefix}-", suffix=".txt")

    def tail(self) -> str:
        """Return the end of what was printed."""
        with contextlib.suppress(OSError):
            os.lseek(self._number, max(0, os.fstat(self._number).st_size - _TAIL), os.SEEK_SET)
            return os.read(self._number, _TAIL).decode(errors="replace")
        return ""

    def close(self) -> None:
        """Delete it."""
        if self._number < 0:
            return
        os.close(self._number)
        self._number = -1
        with contextlib.suppress(OSError):
            Path(self.name).unlink()


def _fill_standard_streams() -> None:
    """Give a program that was started without stdin, stdout or stderr ones that lead nowhere.

    The pipe would get their numbers else, and with it whatever somebody prints.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass  # it stays open
    os.close(number)


@contextlib.contextmanager
def _no_interrupts() -> Iterator[None]:
    """Start a child that Ctrl+C cannot end before it has said that it does not care."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # its own start would unblock the signal again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
