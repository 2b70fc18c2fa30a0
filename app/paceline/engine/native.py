"""The one way to llama.cpp that loads nothing before it is needed."""

from __future__ import annotations

from collections.abc import Callable

from paceline.engine.model.backend import Backend
from paceline.engine.model.threads import calm_waiting_threads


def llama_backend() -> Backend:
    """Load the native library and return the backend on it."""
    calm_waiting_threads()  # before OpenMP is loaded: it reads its settings only then
    from paceline.engine.llama import LlamaBackend  # noqa: PLC0415

    return LlamaBackend()


def report_aborts(tell: Callable[[str], None]) -> None:
    """Load the native library, and call `tell` with its reason before it ends the process.

    Args:
        tell: Called on the thread that fails, once, and must be quick; it cannot stop the end.
    """
    calm_waiting_threads()
    from paceline.engine.llama import on_abort  # noqa: PLC0415

    on_abort(tell)
