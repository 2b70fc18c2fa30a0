"""llama.cpp's library: initialisation, log, and reading of texts."""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

from paceline.engine.llama.loadable_backends import load_backends, open_ggml
from paceline.engine.model.model_params import NO_REASON
from paceline.errors import LibraryError
from paceline.installation import remedies

# llama_cpp imports a high-level interface with Jinja, SQLite and chat formats: a sixth of an
# engine's start. It is imported when a plug-in uses one of its names (not by `import *`).
_REST = "llama_cpp.llama"
_is_first = "llama_cpp" not in sys.modules
if _is_first:
    sys.modules[_REST] = ModuleType(_REST)
try:
    open_ggml()
    import llama_cpp._logger  # sets llama.cpp's log callback when imported: before `start`
    from llama_cpp import llama_grammar
    from llama_cpp._ggml import libggml
except (ImportError, OSError, RuntimeError, AttributeError) as _error:
    # The library is missing or damaged, needs another version of a system library, or has another
    # version without a needed function. Folder names would make the sentence too long.
    _why = re.sub(r"/(?:[^/'():]*/)+", "", str(_error).partition("': ")[2] or str(_error))
    raise LibraryError(_why, remedies.library_again()) from _error
finally:
    if _is_first:
        del sys.modules[_REST]
if os.name != "nt":
    # The libggml that libllama is linked with. Where an installation has copies instead of links,
    # llama_cpp opens another file with the same content, which has a list of devices of its own.
    libggml = ctypes.CDLL(llama_cpp.llama_cpp._lib._name)
if _is_first:
    llama_cpp.__getattr__ = lambda name: getattr(importlib.import_module(_REST), name)

__all__ = ["libggml", "llama_cpp", "llama_grammar"]  # the package's other modules import them here

_LOG_ERROR = 4  # enum ggml_log_level


class NativeLog:
    """Keeps llama.cpp's last errors, so that a failed load can report the reason.

    Attributes:
        lines: Lines of errors and warnings.
        listener: Called with every line of the log, on the thread that logs it, or None.
    """

    def __init__(self) -> None:
        self.lines: deque[str] = deque(maxlen=20)
        self.listener: Callable[[str], None] | None = None
        self.abort_callback: object = None
        self._callback = llama_cpp.llama_log_callback(self._on_line)
        llama_cpp.llama_log_set(self._callback, ctypes.c_void_p(0))

    def _on_line(self, level: int, text: bytes, _data: object) -> None:
        if level == _LOG_ERROR:
            self.lines.append(text.decode("utf-8", "replace").strip())
        if self.listener is not None:
            self.listener(text.decode("utf-8", "replace"))

    @contextmanager
    def collected(self) -> Iterator[list[str]]:
        """Yield a list that collects all lines logged meanwhile; a listener still gets them."""
        lines: list[str] = []
        before = self.listener

        def on_line(line: str) -> None:
            lines.append(line)
            if before is not None:
                before(line)

        self.listener = on_line
        try:
            yield lines
        finally:
            self.listener = before

    def why(self) -> str:
        """Return the first error since the last call, without function names."""
        lines, self.lines = self.lines, deque(maxlen=20)
        for line in lines:
            reason = line.split(": ", 1)[-1].removeprefix("error loading model: ")
            if reason:
                return reason.rstrip(".")
        return NO_REASON


@functools.cache
def start() -> NativeLog:
    """Initialise the library once; the log's callback then lives as long as the process."""
    os.environ.setdefault("GGML_NO_BACKTRACE", "1")  # an abort must not start a debugger
    log = NativeLog()  # first, since backends log when they are loaded
    load_backends(libggml)
    llama_cpp.llama_backend_init()
    return log


def on_abort(tell: Callable[[str], None]) -> None:
    """Set a function to call at a failed assertion before ggml ends the process (`ggml_abort`).

    Args:
        tell: Called on the failing thread with file, line and assertion.
    """

    def on_line(message: bytes | None) -> None:
        tell((message or b"").decode("utf-8", "replace"))

    callback = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(on_line)
    start().abort_callback = callback  # it lives as long as the process
    set_callback = libggml.ggml_set_abort_callback
    set_callback.restype, set_callback.argtypes = ctypes.c_void_p, (ctypes.c_void_p,)
    set_callback(ctypes.cast(callback, ctypes.c_void_p))


def declared(
    library: Any, prefix: str, functions: Iterable[tuple[str, Any, tuple[Any, ...]]]
) -> Any:
    """Return some of a library's functions, declared for the caller alone.

    Args:
        library: A library of ctypes.
        prefix: Common beginning of the functions' names.
        functions: The rest of each name, the result's type and the arguments' types.

    Raises:
        AttributeError: The library lacks one of them.
    """
    own = SimpleNamespace()
    for rest, result, arguments in functions:
        name = f"{prefix}{rest}"
        # An attribute of the library would be the same object for all: two files that declare
        # one function, each with types of its own, would change it for each other.
        function = library[name]
        function.restype, function.argtypes = result, arguments
        setattr(own, name, function)
    return own


class InitParams(ctypes.Structure):
    """`struct ggml_init_params`: the memory of a context for tensors."""

    _fields_ = (
        ("mem_size", ctypes.c_size_t),
        ("mem_buffer", ctypes.c_void_p),
        ("no_alloc", ctypes.c_bool),
    )


def meta(model: Any, key: str) -> str:
    """Return a value of the file's metadata as text; empty if there is none."""
    return read_text(llama_cpp.llama_model_meta_val_str, model, key.encode())


def read_text(function: Any, *args: Any) -> str:
    """Call a function that writes text into a buffer, its last two arguments; return the text."""
    buffer = ctypes.create_string_buffer(1024)
    n: int = function(*args, buffer, len(buffer))
    return buffer.value.decode("utf-8", "replace") if n >= 0 else ""
