"""Engines that hang: each function breaks something in the child before its engine is made.

A turn whose prompt has exactly `TRIGGER` tokens arms the trap; it springs at a certain decode.
"""

from __future__ import annotations

import ctypes
import os
import socket
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from paceline.engine.model.threads import calm_waiting_threads
from paceline.hosting import child
from paceline.workers.process import ChildMain

TRIGGER = 77
DECODE_LIMIT_S = 2.0
FOR_EVER_S = 3600


def hanging(prepare: Callable[..., None], *args: object) -> ChildMain:
    """Return a `main` whose engine is prepared so."""
    return partial(_run, prepare, args)


def _run(
    prepare: Callable[..., None],
    args: tuple[object, ...],
    pipe: socket.socket,
) -> None:
    calm_waiting_threads()  # before anything imports llama_cpp
    child.run_child(pipe, partial(prepare, *args))


# ------------------------------------------------------------------------------------ decodes


def decode(action: str, at: int) -> None:
    """Do `action` in place of the decode `at`, counted from the trigger's own prefill, 0."""
    import llama_cpp

    child.MIN_DECODE_LIMIT_S = DECODE_LIMIT_S
    child.MAX_SLOWDOWN = 0.0  # this machine's pace is not what the test is about
    original = llama_cpp.llama_decode
    n_left = -1

    def patched(context: Any, batch: Any) -> int:
        nonlocal n_left
        if batch.n_tokens == TRIGGER:
            n_left = at
        elif n_left >= 0:
            n_left -= 1
        if n_left == 0:
            n_left = -1
            code = _DECODES[action]()
            if code:
                return code
        return original(context, batch)  # type: ignore[no-any-return]

    llama_cpp.llama_decode = patched


def _sleep() -> int:
    ctypes.CDLL(None).sleep(FOR_EVER_S)  # as a call of llama.cpp does, without the GIL
    return 0


def _dawdle() -> int:
    ctypes.CDLL(None).usleep(int(0.5 * DECODE_LIMIT_S * 1e6))
    return 0


_DECODES = {"sleep": _sleep, "dawdle": _dawdle}


def idle_decode(action: str, mark: str) -> None:
    """Do `action` in place of the first decode in idle time, once: the file `mark` is made."""
    import llama_cpp

    from paceline.engine.service import EngineService

    child.MIN_DECODE_LIMIT_S = DECODE_LIMIT_S
    child.MAX_SLOWDOWN = 0.0
    child.BEAT_EVERY_S = 0.05  # a busy machine delays some of them
    original, idle = llama_cpp.llama_decode, EngineService.idle
    is_idle = False

    def patched_idle(self: EngineService) -> bool:
        nonlocal is_idle
        is_idle = True
        try:
            return idle(self)
        finally:
            is_idle = False

    def patched(context: Any, batch: Any) -> int:
        if is_idle and not Path(mark).exists():
            Path(mark).touch()
            _DECODES[action]()
        return original(context, batch)  # type: ignore[no-any-return]

    EngineService.idle = patched_idle  # type: ignore[method-assign]
    llama_cpp.llama_decode = patched


# -------------------------------------------------------------------------------------- loads


def reading_load(seconds: float) -> None:
    """Read a file from the disk, again and again, before each target's load, without an event."""
    from paceline.engine.llama import LlamaBackend

    original = LlamaBackend.load

    def patched(self: LlamaBackend, *args: Any, **more: Any) -> Any:
        if more["n_rows"] > 1:
            _read(seconds)
        return original(self, *args, **more)

    LlamaBackend.load = patched  # type: ignore[method-assign]


def _read(seconds: float) -> None:
    with Path(os.environ["PACELINE_TEST_FILE"]).open("rb") as file:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            file.seek(0)
            file.read(1 << 20)
            time.sleep(0.1)
