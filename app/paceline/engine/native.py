"""The one way to the native libraries that loads nothing before it is needed."""

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
    """Load the native library and return the backend on it."""
    calm_waiting_threads()  # before OpenMP is loaded: it reads its settings only then
    from paceline.engine.llama import LlamaBackend  # noqa: PLC0415

    return LlamaBackend()


def rpc_server(names: str, most_bytes: int | None) -> RpcServer:
    """Load the native library and return the server on it that lends devices; see `RpcServer`."""
    calm_waiting_threads()
    from paceline.engine.llama.rpc_server import RpcServer  # noqa: PLC0415

    return RpcServer(names, most_bytes)


def report_aborts(tell: Callable[[str], None]) -> None:
    """Load the native library, and call `tell` with its reason before it ends the process.

    Args:
        tell: Called on the thread that fails, once, and must be quick; it cannot stop the end.
    """
    calm_waiting_threads()
    from paceline.engine.llama import on_abort  # noqa: PLC0415

    on_abort(tell)


def give_back_freed_memory() -> None:
    """Let the heap return its free pages; takes milliseconds. Any thread.

    Does nothing where the C library is not glibc.

    glibc keeps freed blocks of its heap for later, up to tens of megabytes where something small
    lies after them. Pairs that are loaded one after the other then look like a leak that grows in
    jumps (measured on the demo pair: 95 MB against 71 MB), and what is kept is missing elsewhere.
    """
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError, OSError):
            ctypes.CDLL(None).malloc_trim(0)
