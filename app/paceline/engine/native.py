"""The one way to llama.cpp that loads nothing before it is needed."""

from __future__ import annotations

from paceline.engine.backend import Backend
from paceline.engine.threads import calm_waiting_threads


def llama_backend() -> Backend:
    """Load the native library and return the backend on it."""
    calm_waiting_threads()  # before OpenMP is loaded: it reads its settings only then
    from paceline.engine.llama import LlamaBackend  # noqa: PLC0415

    return LlamaBackend()
