"""A process that native code may crash, seen from outside: start it, talk to it, end it.

All of it belongs to one thread, which must live as long as the process (on Linux a child is told
to die with the *thread* that started it). Nothing here waits longer than its timeout: reading takes
what is there, and writing gives up when the other end does not read.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import selectors
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Generic, TypeVar

import psutil

from paceline.hosting.exit_reasons import Death, describe_death
from paceline.hosting.wire import (
    Dying,
    FrameError,
    FrameReader,
    Upward,
    WireError,
    decode_upward,
    encode_message,
    frame,
)
from paceline.messages import Command, Shutdown

Down = TypeVar("Down")
Up = TypeVar("Up")
ChildMain = Callable[..., None]
"""Runs in the child with (pipe, parent's pid, file for its output); see `child.run_child`."""

WRITE_S = 5.0
END_S = 2.0

_N_READ = 1 << 18
_TAIL = 4000
"""Bytes of the child's output that are read after its death."""


@dataclass(frozen=True, slots=True)
class Language(Generic[Down, Up]):
    """The messages that are exchanged with a child.

    Attributes:
        name: The child's name in lists of processes.
        encode: Returns the bytes of a message to the child.
        decode: Returns the message of bytes from the child; raises `WireError` if they are none.
        goodbye: The message that asks the child to end.
    """

    name: str
    encode: Callable[[Down], bytes]
    decode: Callable[[bytes], Up | Dying]
    goodbye: Down


def engine_language() -> Language[Command, Upward]:
    """Return the messages of an engine's process."""
    return Language("paceline-engine", encode_message, decode_upward, Shutdown())


class ChildProcess(Generic[Down, Up]):
    """A running child; the constructor starts it.

    Args:
        main: What runs in it; a function at the top level of a module.
        language: The messages that are exchanged with it.

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
        """Whether it has ended and everything that it sent has been read."""
        return self._has_ended

    # ------------------------------------------------------------------------------ talking

    def send(self, command: Down) -> bool:
        """Send a command; False when the process reads none of it for `WRITE_S` seconds.

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
        """Wait at most `timeout` seconds for data, and yield the complete messages.

        Raises:
            WireError: What came is no message; the process must be ended.
        """
        if self._has_ended:
            return
        if not self._readable.select(timeout):
            self._notice_end()
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

    def _notice_end(self) -> None:
        """See whether it ended unseen: another process may hold the pipe's other end open."""
        if not self._process.is_alive() and not self._readable.select(0):
            self._has_ended = True  # and its last messages have been read

    def _wait_writable(self, seconds: float) -> bool:
        with selectors.DefaultSelector() as writable:
            writable.register(self._pipe, selectors.EVENT_WRITE)
            # Polls once even when time is up: this program may have been stopped meanwhile.
            return bool(writable.select(max(seconds, 0)))

    # ------------------------------------------------------------------------------- ending

    def end(self) -> None:
        """Ask the process to end, wait `END_S` seconds, then kill it."""
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
        self._free()

    def describe_death(self) -> Death:
        """Say why the process ended unasked; frees everything that belongs to it."""
        self._process.join(END_S)  # a large process takes a moment to leave
        code = self._process.exitcode
        if code is None:  # the exit code of this kill would say nothing
            self._process.kill()
            self._process.join(END_S)
        stderr = self._output.tail()
        self._free()
        return describe_death(code, self._last_words, stderr)

    def _free(self) -> None:
        self._has_ended = True
        self._process.join(END_S)
        with contextlib.suppress(ValueError):  # not dead after the kill: left to the system
            self._process.close()
        self._readable.close()
        self._pipe.close()
        self._job.close()
        self._output.close()


class _Output:
    """The file for what the child prints.

    The child deletes the name once it has opened the file, where the system allows it (not on
    Windows), so that nothing is left when both processes are killed; here it is read by its
    descriptor. What is left by one that was killed before that, the next one deletes: the name has
    the pid of this process.

    Attributes:
        name: Its path; empty when it could not be made (full disk).
    """

    def __init__(self, prefix: str) -> None:
        self.name = ""
        self._number = -1
        with contextlib.suppress(OSError):
            name = f"{prefix}-{os.getpid()}-"
            self._number, self.name = tempfile.mkstemp(prefix=name, suffix=".txt")
            for old in Path(self.name).parent.glob(f"{prefix}-*-*.txt"):
                with contextlib.suppress(OSError, ValueError, OverflowError):
                    if not psutil.pid_exists(int(old.name.split("-")[2])):
                        old.unlink()

    def tail(self) -> str:
        """Return the end of what was printed."""
        with contextlib.suppress(OSError):
            os.lseek(self._number, max(0, os.fstat(self._number).st_size - _TAIL), os.SEEK_SET)
            return os.read(self._number, _TAIL).decode(errors="replace")
        return ""

    def close(self) -> None:
        """Close the file and delete it."""
        if self._number < 0:
            return
        os.close(self._number)
        self._number = -1
        with contextlib.suppress(OSError):
            Path(self.name).unlink()


def _fill_standard_streams() -> None:
    """Open the null device for each of stdin, stdout and stderr that the program lacks.

    Otherwise the pipe would get one of their numbers, and what is printed would go into it.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass  # it stays open
    os.close(number)


@contextlib.contextmanager
def _no_interrupts() -> Iterator[None]:
    """Block Ctrl+C, so that it cannot end a child that does not ignore it yet."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # its own start would unblock the signal again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    _EXTENDED_LIMITS = 9  # JobObjectExtendedLimitInformation
    _KILL_ON_JOB_CLOSE = 0x2000
    _SET_QUOTA_AND_TERMINATE = 0x0101

    class _BasicLimits(ctypes.Structure):
        _fields_ = (
            ("PerProcessUserTimeLimit", wintypes.LARGE_INTEGER),
            ("PerJobUserTimeLimit", wintypes.LARGE_INTEGER),
            ("LimitFlags", wintypes.DWORD),
            ("MinimumWorkingSetSize", ctypes.c_size_t),
            ("MaximumWorkingSetSize", ctypes.c_size_t),
            ("ActiveProcessLimit", wintypes.DWORD),
            ("Affinity", ctypes.c_size_t),
            ("PriorityClass", wintypes.DWORD),
            ("SchedulingClass", wintypes.DWORD),
        )

    class _ExtendedLimits(ctypes.Structure):
        _fields_ = (
            ("BasicLimitInformation", _BasicLimits),
            ("IoInfo", ctypes.c_ulonglong * 6),
            ("ProcessMemoryLimit", ctypes.c_size_t),
            ("JobMemoryLimit", ctypes.c_size_t),
            ("PeakProcessMemoryUsed", ctypes.c_size_t),
            ("PeakJobMemoryUsed", ctypes.c_size_t),
        )


class Job:
    """Ends what is in it when it is closed, or when the process that holds it ends."""

    def __init__(self, handle: int = 0) -> None:
        self._handle = handle

    def close(self) -> None:
        """Close the job's handle; Windows then ends what is in it."""
        if sys.platform == "win32" and self._handle:
            ctypes.windll.kernel32.CloseHandle(wintypes.HANDLE(self._handle))
            self._handle = 0


def end_with_this_process(process: BaseProcess) -> Job:
    """Put a child into a Windows job object that ends it when this process ends in any way.

    Where Windows refuses, only this safety net is missing. On other systems the child looks after
    this (`guard_process`), and nothing is done here.
    """
    if sys.platform == "win32":
        return _make_job(process)
    return Job()


if sys.platform == "win32":

    def _make_job(process: BaseProcess) -> Job:
        kernel = ctypes.windll.kernel32
        kernel.CreateJobObjectW.restype = wintypes.HANDLE
        kernel.OpenProcess.restype = wintypes.HANDLE
        job = kernel.CreateJobObjectW(None, None)
        if not job:
            return Job()
        limits = _ExtendedLimits()
        limits.BasicLimitInformation.LimitFlags = _KILL_ON_JOB_CLOSE
        kernel.SetInformationJobObject(
            wintypes.HANDLE(job), _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)
        )
        child = kernel.OpenProcess(_SET_QUOTA_AND_TERMINATE, 0, process.pid)
        if child:
            kernel.AssignProcessToJobObject(wintypes.HANDLE(job), wintypes.HANDLE(child))
            kernel.CloseHandle(wintypes.HANDLE(child))
        return Job(job)
