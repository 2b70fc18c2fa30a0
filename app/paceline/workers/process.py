"""A child process that native code may crash: its start, its messages, its end.

All of it belongs to one thread, which must live as long as the process (on Linux a child is told
to die with the *thread* that started it). Nothing here waits longer than its timeout: reading takes
what is there, and writing gives up when the other end does not read.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import selectors
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Generic, TypeVar

import psutil

from paceline.workers.ends import End
from paceline.workers.frames import (
    DYING,
    OWN,
    READY,
    FrameError,
    FrameReader,
    WireError,
    frame,
)
from paceline.workers.job_object import end_with_this_process
from paceline.workers.start import fill_standard_streams, start

Down = TypeVar("Down")
Up = TypeVar("Up")
ChildMain = Callable[[socket.socket], None] | str
"""Runs in the child with its end of the pipe, a blocking socket; see `child.ChildPipe`.

A function at the top level of a module that can be imported, or a `partial` of one; or its name as
"module:function", where this process is not to load the module.
"""

WRITE_S = 5.0
END_S = 2.0

_READ_BYTES = 1 << 16  # more would be mapped and unmapped for each message, which takes 20 µs
_TAIL_BYTES = 4000
"""Bytes at the end of the child's output that are read after its death."""


@dataclass(frozen=True, slots=True)
class Language(Generic[Down, Up]):
    """The messages that are exchanged with a child.

    Attributes:
        name: The child's name in lists of processes.
        encode: Returns the bytes of a message to the child.
        decode: Returns the message of bytes from the child; raises `WireError` if they are none.
    """

    name: str
    encode: Callable[[Down], bytes]
    decode: Callable[[bytes], Up]


class ChildProcess(Generic[Down, Up]):
    """A running child; the constructor starts it.

    Attributes:
        is_ready: Whether it has reported that it is ready for messages.

    Args:
        main: Function that runs in it.
        language: The messages that are exchanged with it.

    Raises:
        OSError: The system does not start another process.
    """

    def __init__(self, main: ChildMain, language: Language[Down, Up]) -> None:
        fill_standard_streams()
        self._language = language
        self._reader = FrameReader()
        self.is_ready = False
        self._last_words = ""
        self._has_ended = False
        first = frame(main.encode() if isinstance(main, str) else pickle.dumps(main))
        with contextlib.ExitStack() as undo:
            self._output = _Output()
            undo.callback(self._output.close)
            self._pipe, other = socket.socketpair()
            undo.callback(self._pipe.close)
            with other:
                self._pipe.settimeout(0)
                self._readable = selectors.DefaultSelector()
                undo.callback(self._readable.close)
                self._readable.register(self._pipe, selectors.EVENT_READ)
                self._process = start(language.name, other, self._output.number)
            undo.pop_all()
        self._job = end_with_this_process(self._process.pid)
        self._write(first)

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        """Return whether it has ended and everything that it sent has been read."""
        return self._has_ended

    @property
    def memory(self) -> int:
        """Bytes of memory that it uses; 0 if the system does not say."""
        with contextlib.suppress(psutil.Error):
            return int(psutil.Process(self.pid).memory_info().rss)
        return 0

    # ------------------------------------------------------------------------------ talking

    def send(self, message: Down) -> bool:
        """Send a message; False when the process reads none of it for `WRITE_S` seconds.

        Raises:
            FrameError: It is too large; nothing has been sent.
        """
        return self._write(frame(self._language.encode(message)))

    def _write(self, frames: bytes) -> bool:
        data = memoryview(frames)
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
            data = self._pipe.recv(_READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._has_ended = True
            return
        try:
            for payload in self._reader.feed(data):
                if payload.startswith(OWN):
                    self._take(payload)
                else:
                    yield self._language.decode(payload)
        except FrameError as error:
            raise WireError(str(error)) from None

    def _take(self, word: bytes) -> None:
        """Handle a sign of the process itself."""
        if word == READY and not self.is_ready:
            self.is_ready = True
        elif word.startswith(DYING):
            self._last_words = word.removeprefix(DYING).decode(errors="replace")
        else:
            raise WireError("a word of its own that a process does not say")

    def _notice_end(self) -> None:
        """Check whether it has ended: another process may hold the pipe's other end open."""
        if self._process.poll() is not None and not self._readable.select(0):
            self._has_ended = True  # and its last messages have been read

    def _wait_writable(self, seconds: float) -> bool:
        with selectors.DefaultSelector() as writable:
            writable.register(self._pipe, selectors.EVENT_WRITE)
            # Polls once even when time is up: this program may have been stopped meanwhile.
            return bool(writable.select(max(seconds, 0)))

    # ------------------------------------------------------------------------------- ending

    def end(self, goodbye: Down) -> None:
        """Ask the process to end by a message, wait `END_S` seconds, then kill it."""
        if not self._has_ended and self.send(goodbye):
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

    def find_end(self) -> End:
        """Return the end of a process that ended by itself; free everything that belongs to it."""
        self._wait()  # a large process takes a moment to leave
        code = self._process.returncode
        if code is None:  # the exit code of this kill would say nothing
            self._process.kill()
            self._wait()
        end = End(code, self._last_words, self._output.tail())
        self._free()
        return end

    def _free(self) -> None:
        self._has_ended = True
        self._wait()
        self._readable.close()
        self._pipe.close()
        self._job.close()
        self._output.close()

    def _wait(self) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):  # left to the system
            self._process.wait(END_S)


class _Output:
    """The file for the child's output; it has no name, so nothing is left of it.

    If there is no disk space for one, the output is discarded.

    Attributes:
        number: Its descriptor.
    """

    def __init__(self) -> None:
        self._file: IO[bytes]
        try:
            self._file = tempfile.TemporaryFile(prefix="paceline-")  # noqa: SIM115
        except OSError:
            self._file = open(os.devnull, "r+b")  # noqa: SIM115, PTH123
        self.number = self._file.fileno()

    def tail(self) -> str:
        """Return the end of the output."""
        with contextlib.suppress(OSError):
            size = self._file.seek(0, os.SEEK_END)
            self._file.seek(max(0, size - _TAIL_BYTES))
            return self._file.read(_TAIL_BYTES).decode(errors="replace")
        return ""

    def close(self) -> None:
        """Close the file, which goes with it."""
        self._file.close()
