"""Faults of an engine's process, from within.

`broken(path)` is a `main` for `ProcessService`. `order` writes into the file `path` which fault
strikes, and at which decode of the next turn. It strikes once: the file is taken away first. So a
harness that never orders anything is its own negative control.
"""

from __future__ import annotations

import ctypes
import functools
import os
import pickle
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from paceline.engine.model.threads import calm_waiting_threads
from paceline.hosting import child
from paceline.hosting.child import run_child
from paceline.hosting.wire import Done, encode_message
from paceline.workers import child as workers_child
from paceline.workers.child import ChildPipe
from paceline.workers.frames import frame
from paceline.workers.process import ChildMain

Action = Callable[..., None]
"""Gets its arguments and the target's `LlamaModel`, on the engine's thread, before a decode."""


class Fault(NamedTuple):
    """One fault.

    Attributes:
        name: Name of an action in `_ACTIONS`.
        args: Arguments of the action.
        at: Number of the turn's decode before which it happens.
        data: Bytes that are sent through the pipe first.
    """

    name: str
    args: tuple[Any, ...] = ()
    at: int = 25
    data: bytes = b""


def order(path: Path, fault: Fault) -> None:
    """Let a fault strike in the next turn."""
    path.write_bytes(pickle.dumps(tuple(fault)))


def broken(path: Path) -> ChildMain:
    """Return a process's `main` in which ordered faults strike."""
    return functools.partial(_main, str(path))


def _main(path: str, pipe: socket.socket) -> None:
    run_child(pipe, functools.partial(_strike_in_turns, Path(path), pipe))


def _strike_in_turns(path: Path, pipe: socket.socket) -> None:
    calm_waiting_threads()
    from paceline.engine.llama.model import LlamaModel
    from paceline.engine.service import EngineService
    from paceline.messages import Command, StartTurn

    handle, decode = EngineService.handle, LlamaModel.decode
    fault, n_left = Fault("nothing"), 10**9

    def counting_handle(self: EngineService, command: Command) -> None:
        nonlocal fault, n_left
        n_left = 10**9
        if isinstance(command, StartTurn) and path.exists():
            fault = Fault(*pickle.loads(path.read_bytes()))
            n_left = fault.at
        handle(self, command)

    def failing_decode(self: LlamaModel, tokens: Any, n_rows: int) -> Any:
        nonlocal n_left
        n_left -= self.max_rows > 1  # the target's
        if n_left == 0:
            path.unlink()
            pipe.sendall(fault.data)
            _ACTIONS[fault.name](*fault.args, self)
        return decode(self, tokens, n_rows)

    EngineService.handle = counting_handle  # type: ignore[method-assign]
    LlamaModel.decode = failing_decode  # type: ignore[method-assign]


# --------------------------------------------------------------------------------- native faults


def _oversized_batch(model: Any) -> None:
    import llama_cpp

    n = model.n_batch + 1
    batch = llama_cpp.llama_batch_init(n, 0, 1)
    batch.n_tokens = n
    for i in range(n):
        batch.token[i], batch.pos[i], batch.logits[i] = 1, model.n_past + i, i == n - 1
        batch.n_seq_id[i], batch.seq_id[i][0] = 1, 0
    llama_cpp.llama_decode(model._context, batch)


def _row_without_logits(model: Any) -> None:
    import llama_cpp

    sampler = llama_cpp.llama_sampler_init_greedy()
    llama_cpp.llama_sampler_sample(sampler, model._context, 400)


def _read_null(_model: Any) -> None:
    ctypes.string_at(0)


def _bad_pointer(model: Any) -> None:
    model._batch.token = ctypes.cast(16, ctypes.POINTER(ctypes.c_int32))


def _signal(number: int, _model: Any) -> None:
    os.kill(os.getpid(), number)


def _cut_file(path: str, _model: Any) -> None:
    os.truncate(path, 0)


# --------------------------------------------------------------------------------- Python's faults


def _exit(code: int, _model: Any) -> None:
    sys.exit(code)


def _exit_at_once(code: int, _model: Any) -> None:
    os._exit(code)


def _raise(text: str, _model: Any) -> None:
    from paceline.engine import service

    def fail(_error: Exception) -> tuple[str, str, str]:
        raise RuntimeError(text)

    service.describe_failure = fail  # else a failed turn is an event, and no process ends
    raise ValueError("the first of two")


# ------------------------------------------------------------------------------------ the pipe


def _hang(_model: Any) -> None:
    time.sleep(3600)


def _hold(_model: Any) -> None:
    """Keep the interpreter's lock in native code."""
    ctypes.PyDLL(None).sleep(3600)


def _nothing(_model: Any) -> None:
    pass


def _trickle(_model: Any) -> None:
    """Send every byte alone from now on, now and then late."""

    def send(self: ChildPipe, payload: bytes) -> None:
        data = frame(payload)
        with self._lock:
            for i in range(len(data)):
                self._pipe.sendall(data[i : i + 1])
                if i % 400 == 0:
                    time.sleep(0.0005)

    ChildPipe.send = ChildPipe.post = send  # type: ignore[method-assign]


def _crawl(seconds: float, times: int, limit_s: float, _model: Any) -> None:
    """Slow the next decodes down, and report them as running meanwhile.

    The time passes in many short sleeps: after the process was stopped for a while, one long sleep
    would be over at once, but real work would not.

    Args:
        seconds: Additional seconds of each.
        times: Number of slow decodes.
        limit_s: Seconds after which a decode counts as hanging, or 0 for the default.
    """
    from paceline.engine.llama.model import LlamaModel

    decode = LlamaModel.decode
    if limit_s:
        child.MIN_DECODE_LIMIT_S, child.MAX_SLOWDOWN = limit_s, 0.0

    def slow(self: LlamaModel, tokens: Any, n_rows: int) -> Any:
        nonlocal times
        times -= 1
        if times < 0:
            return decode(self, tokens, n_rows)
        self.decoding = len(tokens), time.monotonic(), self._slowest_s
        for _ in range(round(seconds / 0.005)):
            time.sleep(0.005)
        return decode(self, tokens, n_rows)

    LlamaModel.decode = slow  # type: ignore[method-assign]


_ACTIONS: dict[str, Callable[..., None]] = {
    "oversized batch": _oversized_batch,
    "row without logits": _row_without_logits,
    "read null": _read_null,
    "bad pointer": _bad_pointer,
    "signal": _signal,
    "cut file": _cut_file,
    "exit": _exit,
    "exit at once": _exit_at_once,
    "raise": _raise,
    "hang": _hang,
    "hold": _hold,
    "nothing": _nothing,
    "trickle": _trickle,
    "crawl": _crawl,
}


def with_little_room(pipe: socket.socket) -> None:
    """Run an engine whose pipe holds a few messages, so that others soon wait in its process."""
    workers_child.PIPE_BYTES = 1
    run_child(pipe)


# ------------------------------------------------------------------------------- start and load


def dies_at_start(how: str, starts: str, pipe: socket.socket) -> None:
    """Never get ready; every start adds a byte to the file `starts`."""
    with Path(starts).open("ab") as file:
        file.write(b".")
    if how == "exit":
        os._exit(1)
    if how == "signal":
        os.kill(os.getpid(), signal.SIGSEGV)
    run_child(pipe, _fail_to_import)


def _fail_to_import() -> None:
    raise ImportError("libllama.so: cannot open shared object file")


def goes_deaf(pipe: socket.socket) -> None:
    """Run an engine whose reader fails at the first command."""
    run_child(pipe, _break_reader)


def _break_reader() -> None:
    def fail(_payload: bytes) -> None:
        raise MemoryError

    child.decode_command = fail  # type: ignore[assignment]


def dies_in_load(stage: str, how: str, starts: str, pipe: socket.socket) -> None:
    """Die or hang in a load, at each; `how` ends in "first" where only the first does.

    The file `starts` gets one letter per load of a target: "x" with extra buffers, "-" without.
    """
    run_child(pipe, functools.partial(_break_load, stage, how, Path(starts), pipe))


def _break_load(stage: str, how: str, starts: Path, pipe: socket.socket) -> None:
    calm_waiting_threads()
    from paceline.engine import opening
    from paceline.engine.llama import LlamaBackend

    load, self_test = LlamaBackend.load, opening.self_test
    now_at = ""

    def strike(place: str) -> None:
        if place == stage and not (how.endswith("first") and starts.stat().st_size > 1):
            if how.startswith("exit"):
                os._exit(1)
            if how.startswith("kill"):
                os.kill(os.getpid(), signal.SIGKILL)
            if how.startswith("hang"):
                time.sleep(3600)
            if how.startswith("done"):
                pipe.sendall(frame(encode_message(Done())))
                time.sleep(3600)
            ctypes.string_at(0)

    def failing_load(self: LlamaBackend, params: Any, **more: Any) -> Any:
        nonlocal now_at
        now_at = "draft" if more["n_rows"] == 1 else "target"
        with starts.open("ab") as file:
            file.write((b"x" if params.extra_bufts else b"-") if now_at == "target" else b"")
        strike(f"{now_at} begins")
        progress = more["progress"]

        def failing_progress(fraction: float) -> None:
            progress(fraction)
            if 0.5 <= fraction < 1:
                strike(f"{now_at} at half")

        more["progress"] = failing_progress
        return load(self, params, **more)

    def failing_test(model: Any) -> bool:
        strike(f"{now_at} in self-test")
        return self_test(model)

    opening.self_test = failing_test
    LlamaBackend.load = failing_load  # type: ignore[method-assign]
