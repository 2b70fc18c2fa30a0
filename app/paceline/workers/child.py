"""The first code that runs in every child process, and its end of the pipe.

A child ends with its parent and leaves no core dump of the size of a model. Its end harms no other
process: the out-of-memory killer chooses it before the window; Ctrl+C is for the window to act on;
and output of native code or a plug-in goes into a file that is read after the process has died,
never to a terminal.

Imports no large modules, so that a child starts in a tenth of a second.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import queue
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import NoReturn, TypeVar

from paceline.errors import UserError
from paceline.workers.frames import DYING, READY, FrameReader, frame, read_frame

if sys.platform != "win32":
    import resource

Down = TypeVar("Down")
Up = TypeVar("Up")

FAILED = 70
"""Exit code after an error; EX_SOFTWARE of sysexits.h."""
UNAVAILABLE = 69
"""Exit code if the last message says what the user can do; EX_UNAVAILABLE of sysexits.h."""
MAX_WAITING_BYTES = 1 << 20
"""Upper bound of the bytes that wait for a process that does not read: some 5,000 steps of a
reply."""
PIPE_BYTES = 1 << 20
"""Requested size of the pipe's buffer in bytes. Systems give less; small messages take 6 times
their size of it, so that with the 208 kB of Linux the 170th step of a reply would wait."""
_AT_ONCE = getattr(socket, "MSG_DONTWAIT", 0)  # Windows has none, and sending waits there
_PICKLE = b"\x80"
_PR_SET_PDEATHSIG = 1
_OOM_SCORE = "800"  # of 1000; an ordinary program has about 0
_MAX_LAST_WORDS_CHARS = 500


def run(arguments: Sequence[str]) -> int:
    """Run the function that the first frame names; return the process's exit code.

    Args:
        arguments: The child's name, and the id of the process that started it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):  # the bootstrap blocks it
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    pipe = _take_pipe()
    _guard(int(arguments[1]))
    try:
        _main(read_frame(pipe))(pipe)
    except UserError as error:
        ChildPipe(pipe).send_last(str(error))
        return UNAVAILABLE
    return 0


def _main(payload: bytes) -> Callable[[socket.socket], None]:
    """Return the function that this process runs, as named by its trusted parent."""
    if payload.startswith(_PICKLE):
        import pickle  # noqa: PLC0415  a tenth of what a small child loads

        return pickle.loads(payload)  # type: ignore[no-any-return]
    module, _, function = payload.decode().partition(":")
    return getattr(import_module(module), function)  # type: ignore[no-any-return]


def _take_pipe() -> socket.socket:
    """Return this end of the pipe, and replace stdin by the null device."""
    if sys.platform == "win32":
        with open(0, "rb", closefd=False) as stdin:
            pipe = socket.fromshare(stdin.read())
    else:
        pipe = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.close(null)
    return pipe


def _guard(parent_pid: int) -> None:
    # New objects: those of a program without a console are None.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    sys.stderr = open(  # noqa: SIM115
        2, "w", encoding="utf-8", errors="replace", buffering=1, closefd=False
    )
    faulthandler.enable(2)
    if sys.platform != "win32":
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE, encoding="ascii")
        if os.getppid() != parent_pid:  # it died before this process was set to end with it
            os._exit(1)


class ChildPipe:
    """The child's end of the pipe; any thread sends, one receives.

    Messages that do not fit into the pipe, because the other end does not read, wait here in order.
    As long as they fit nothing waits: bytes in the pipe outlive this process.

    Args:
        pipe: A blocking socket, as the child's `main` is given it.
    """

    def __init__(self, pipe: socket.socket) -> None:
        with contextlib.suppress(OSError):  # where a system refuses, there is the usual room
            pipe.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, PIPE_BYTES)
        self._pipe = pipe
        self._lock = threading.Lock()
        self._waiting = bytearray()

    def send(self, payload: bytes) -> None:
        """Send one message and wait until it and all waiting ones are in the pipe.

        The process ends when the other end of the pipe is closed.
        """
        data = frame(payload)
        with self._lock:
            self._waiting += data
            self._write(len(self._waiting))

    def post(self, payload: bytes) -> None:
        """Send without blocking; bytes that do not fit go with the next message.

        Blocks only if more than `MAX_WAITING_BYTES` would be left; on Windows, which cannot send
        without blocking, until the pipe has the message.
        """
        data = frame(payload)
        with self._lock:
            self._waiting += data
            self._write(len(self._waiting) - MAX_WAITING_BYTES)

    def send_ready(self) -> None:
        """Report that this process is ready for messages."""
        self.send(READY)

    def send_last(self, words: str) -> None:
        """Send the last message, even if another thread holds the lock forever."""
        last = frame(DYING + words[:_MAX_LAST_WORDS_CHARS].encode(errors="replace"))
        if self._lock.acquire(timeout=1.0):
            self._waiting += last
            self._write(len(self._waiting))
            self._lock.release()
        else:
            with contextlib.suppress(OSError):
                self._pipe.sendall(last)

    def received(self) -> Iterator[bytes]:
        """Yield payloads as they come; when the pipe ends, the process ends."""
        reader = FrameReader()
        with contextlib.suppress(OSError):
            while data := self._pipe.recv(1 << 16):
                yield from reader.feed(data)
        os._exit(0)

    def _write(self, n_least: int) -> None:
        """Write at least `n_least` waiting bytes, and more if they fit; the lock is held."""
        waiting = self._waiting
        try:
            while waiting:
                if n_least > 0:
                    n = self._pipe.send(waiting[:n_least])
                else:
                    n = self._pipe.send(waiting, _AT_ONCE)
                n_least -= n
                del waiting[:n]
        except BlockingIOError:
            pass
        except OSError:
            os._exit(0)


def serve(
    pipe: ChildPipe,
    answer: Callable[[Down], Up],
    decode: Callable[[bytes], Down],
    encode: Callable[[Up], bytes],
) -> NoReturn:
    """Answer one question after the other until the pipe ends; an error ends the process.

    Args:
        pipe: Questions come from it, and answers go there.
        answer: Runs on this thread, the main one.
        decode: Returns the question of a payload.
        encode: Returns the payload of an answer.
    """
    questions: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def receive() -> None:
        for payload in pipe.received():  # also while a question is answered: the pipe may end
            questions.put(payload)

    threading.Thread(target=receive, name="reader", daemon=True).start()
    pipe.send_ready()
    try:
        while True:
            pipe.send(encode(answer(decode(questions.get()))))
    except BaseException as error:  # noqa: BLE001  it would be reported nowhere else
        pipe.send_last(last_words(error))
        os._exit(FAILED)


def last_words(error: BaseException) -> str:
    """Return the last message for an error that ends the process."""
    return f"{type(error).__name__}: {error}"


def limit_memory(n_bytes: int) -> None:
    """Limit the private memory of this process; mapped files do not count. Not on Windows."""
    if sys.platform != "win32":
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_DATA, (n_bytes, n_bytes))
