"""The only access to the native libraries; loads nothing before it is needed."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from paceline.engine.model.backend import Backend
from paceline.engine.model.threads import calm_waiting_threads

if TYPE_CHECKING:
    from paceline.engine.llama.rpc_server import RpcServer


def llama_backend() -> Backend:
    """Load the native library and return its backend."""
    calm_waiting_threads()  # before OpenMP is loaded, which reads its settings only then
    from paceline.engine.llama import LlamaBackend  # noqa: PLC0415

    return LlamaBackend()


def rpc_server(names: str, most_bytes: int | None) -> RpcServer:
    """Load the native library and return a server that lends devices; see `RpcServer`."""
    calm_waiting_threads()
    from paceline.engine.llama.rpc_server import RpcServer  # noqa: PLC0415

    return RpcServer(names, most_bytes)


def report_aborts(tell: Callable[[str], None]) -> None:
    """Load the native library; it calls `tell` with the reason before it ends the process.

    Args:
        tell: Called once on the failing thread; must be quick, and cannot prevent the end.
    """
    calm_waiting_threads()
    from paceline.engine.llama import on_abort  # noqa: PLC0415

    on_abort(tell)


def give_back_freed_memory() -> None:
    """Return free pages of the heap to the system; takes milliseconds. Any thread.

    Does nothing if the C library is not glibc.

    glibc keeps freed blocks of its heap for later use, up to tens of megabytes if something small
    lies after them. Loading several pairs in sequence then looks like a leak that grows in jumps
    (measured on the demo pair: 95 MB against 71 MB), and that memory is missing elsewhere.
    """
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError, OSError):
            ctypes.CDLL(None).malloc_trim(0)
