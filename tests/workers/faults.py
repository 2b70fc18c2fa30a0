"""Faults of a worker's process, whatever its kind, at one of its answers.

`broken(main, fault, order)` is a `main`. The fault strikes where the file `order` is, and only
once: the file is taken away first. Children import this module, so it imports little.
"""

from __future__ import annotations

import ctypes
import os
import pkgutil
import signal
import socket
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from paceline.workers.child import ChildPipe
from paceline.workers.frames import MAX_FRAME, READY, frame
from paceline.workers.process import ChildMain

MEMORY = 300 << 20
"""Bytes that a worker of these tests allows its process."""
Fault = Callable[[socket.socket, bytes], None]
"""Gets the process's end of the pipe and the answer that would have been sent."""


def broken(main: ChildMain, fault: str, order: Path) -> ChildMain:
    """Return a `main` in which `fault` strikes at the next answer, once it is ordered."""
    return partial(_run, main, fault, str(order))


def _run(main: ChildMain, fault: str, order: str, pipe: socket.socket) -> None:
    send = ChildPipe.send

    def strike(self: ChildPipe, payload: bytes) -> None:
        if payload != READY and Path(order).exists():
            Path(order).unlink()
            FAULTS[fault](pipe, payload)
        send(self, payload)

    ChildPipe.send = strike  # type: ignore[method-assign]
    run = pkgutil.resolve_name(main) if isinstance(main, str) else main
    run(pipe)


def _segfault(_pipe: socket.socket, _answer: bytes) -> None:
    ctypes.string_at(0)


def _abort(_pipe: socket.socket, _answer: bytes) -> None:
    os.abort()


def _kill(_pipe: socket.socket, _answer: bytes) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _exit(_pipe: socket.socket, _answer: bytes) -> None:
    os._exit(3)


def _raise(_pipe: socket.socket, _answer: bytes) -> None:
    raise RuntimeError("a bug")


def _complain(_pipe: socket.socket, _answer: bytes) -> None:
    print("Traceback:\n  File x\nValueError: odd", file=sys.stderr)
    os._exit(1)


def _lack_memory(_pipe: socket.socket, _answer: bytes) -> None:
    print("terminate called after throwing an instance of 'std::bad_alloc'", file=sys.stderr)
    sys.stderr.flush()
    os.abort()


def _eat(_pipe: socket.socket, _answer: bytes) -> None:
    """Take more memory than the worker or the process itself allows."""
    eaten = []
    while len(eaten) < 40:
        eaten.append(b"x" * (10 << 20))
    time.sleep(60)


def _hang(_pipe: socket.socket, _answer: bytes) -> None:
    time.sleep(60)


def _hold(_pipe: socket.socket, _answer: bytes) -> None:
    """Keep the interpreter's lock in native code."""
    ctypes.PyDLL(None).sleep(60)


def _freeze(_pipe: socket.socket, _answer: bytes) -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def _leave(pipe: socket.socket, _answer: bytes) -> None:
    """Say that nothing more is to come, and live on."""
    pipe.shutdown(socket.SHUT_WR)
    time.sleep(60)


def _half(pipe: socket.socket, answer: bytes) -> None:
    pipe.sendall(frame(answer)[:-1])
    os._exit(0)


def _twice(pipe: socket.socket, answer: bytes) -> None:
    pipe.sendall(2 * frame(answer))
    time.sleep(60)


def _send(data: bytes, pipe: socket.socket, _answer: bytes) -> None:
    pipe.sendall(data)
    time.sleep(60)


DEATHS: dict[str, tuple[Fault, str]] = {
    "segfault": (_segfault, "crashed, SIGSEGV"),
    "abort": (_abort, "crashed, SIGABRT"),
    "kill": (_kill, "crashed, SIGKILL"),
    "exit": (_exit, "ended with exit code 3"),
    "raise": (_raise, "ended with exit code 70 (RuntimeError: a bug)"),
    "complain": (_complain, "ended with exit code 1 (ValueError: odd)"),
    "half": (_half, "ended with exit code 0"),
    "leave": (_leave, "hung"),
}
"""Faults that end the process, and what is said of that."""
MEMORY_FAULTS: dict[str, Fault] = {"lack memory": _lack_memory, "eat": _eat}
HANGS: dict[str, Fault] = {"hang": _hang, "hold": _hold, "freeze": _freeze}
NONSENSE: dict[str, Fault] = {
    "zeros": partial(_send, bytes(1000)),
    "huge": partial(_send, (MAX_FRAME + 1).to_bytes(4, "big")),
    "latin": partial(_send, frame(b"\xff\xfe")),
    "ready again": partial(_send, frame(READY)),
    "own word": partial(_send, frame(b"\0")),
    "twice": _twice,
}
MORE_NONSENSE: dict[str, Fault] = {
    "list": partial(_send, frame(b"[[]]")),
    "number": partial(_send, frame(b"7")),
    "deep": partial(_send, frame(b"[" * 100_000)),
    "deep MessagePack": partial(_send, frame(b"\x91" * 100_000)),
    "event": partial(_send, frame(b"\x82\xa4type\xaaEngineDied\xa6reason\xa0")),
    "object": partial(_send, frame(b'{"type":"EngineDied","reason":"","hint":""}')),
}
"""Nonsense to all but the echo, to which any text is an answer."""
FAULTS: dict[str, Fault] = {
    **{name: fault for name, (fault, _) in DEATHS.items()},
    **MEMORY_FAULTS,
    **HANGS,
    **NONSENSE,
    **MORE_NONSENSE,
}


def never_ready(_pipe: socket.socket) -> None:
    """Start and say nothing."""
    time.sleep(60)


def ends_at_once(_pipe: socket.socket) -> None:
    """Fail before anything is taken."""
    raise ImportError("libllama.so: cannot open shared object file")


def answers_unasked(pipe: socket.socket) -> None:
    """Send an answer before any question."""
    pipe.sendall(frame(b"hi"))
    time.sleep(60)
