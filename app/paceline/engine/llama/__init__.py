"""The engine's protocols implemented with llama.cpp, by llama-cpp-python's low-level API.

The only package that imports `llama_cpp`; each class owns its native pointers and converts native
error codes into exceptions. All of it runs on the engine's thread, with one context per model and
one sequence per context.
"""

from __future__ import annotations

from paceline.engine.llama.backend import LlamaBackend
from paceline.engine.llama.gguf import read_header
from paceline.engine.llama.library import on_abort
from paceline.engine.llama.model import N_BATCH, LlamaModel
from paceline.engine.llama.newer import newer_model, what_is_unknown
from paceline.engine.llama.vocabulary import LlamaVocabulary

__all__ = [
    "N_BATCH",
    "LlamaBackend",
    "LlamaModel",
    "LlamaVocabulary",
    "newer_model",
    "on_abort",
    "read_header",
    "what_is_unknown",
]
