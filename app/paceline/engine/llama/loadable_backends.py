"""ggml's backends in separate libraries, as in a build for every processor and GPU.

Such a build (`GGML_BACKEND_DL`) has the CPU's code once for each instruction set, in
`libggml-cpu-haswell.so` and others. ggml loads the best variant for this processor, and every GPU
backend whose driver is installed, unless one has ended the program before. Other builds are linked
with their backends, and nothing is loaded. Called on the engine's thread.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import re
import sys
from pathlib import Path

from paceline.errors import LibraryError
from paceline.installation import gpu_starts, remedies
from paceline.installation.kernel_files import ggml_folder, ggml_library

_VARIANT = re.compile(r"(?:lib)?ggml-cpu-(\w+)\.(?:so|dll|dylib)$")
_RPC = re.compile(r"(?:lib)?ggml-rpc\.(?:so|dll|dylib)$")


def open_ggml() -> None:
    """Open ggml's libraries by their paths, each after those it is linked with. For Linux.

    They find each other in their own folder, but first in LD_LIBRARY_PATH. Users who have built
    llama.cpp often have its folder there, and with two versions mixed one calls functions that the
    other lacks. Errors are reported later, when llama_cpp opens the library.
    """
    folder = ggml_folder()
    if folder is None or sys.platform != "linux":
        return
    backends = sorted(path.name.removesuffix(".so.0") for path in folder.glob("libggml-*.so.0"))
    for name in ("libggml-base", *backends, "libggml"):
        path = ggml_library(folder, name)
        with contextlib.suppress(OSError):
            if path is not None:
                ctypes.CDLL(str(path))


def load_backends(libggml: ctypes.CDLL) -> None:
    """Load all backends from the folder of llama.cpp's libraries, once.

    ggml itself would search beside the program, which is Python's, and in the current folder. It
    logs what it loads, so call this after the log's callback is set.

    Raises:
        LibraryError: No variant is for this processor.
    """
    count, load = libggml.ggml_backend_reg_count, libggml.ggml_backend_load_all_from_path
    count.restype, count.argtypes = ctypes.c_size_t, ()
    load.restype, load.argtypes = None, (ctypes.c_char_p,)
    folder = ggml_folder()
    if folder is None or count():
        return
    with gpu_starts.guarded() as has_gpus:
        if has_gpus:
            load(os.fsencode(folder))
        else:
            _load_without_gpus(libggml, folder)
    if not _registry(libggml, b"CPU"):
        raise LibraryError(
            "its part for this processor is missing or damaged", remedies.library_again()
        )


def _load_without_gpus(libggml: ctypes.CDLL, folder: Path) -> None:
    """Load the CPU variant that ggml would choose, and the backend for RPC servers."""
    load = libggml.ggml_backend_load
    load.restype, load.argtypes = ctypes.c_void_p, (ctypes.c_char_p,)
    scores = {}
    for path in sorted(filter(lambda path: _VARIANT.search(path.name), folder.iterdir())):
        with contextlib.suppress(OSError, AttributeError):
            scores[path] = int(ctypes.CDLL(str(path)).ggml_backend_score())
    best = max(scores, key=lambda path: scores[path], default=None)
    if best is not None and scores[best]:  # 0: this processor lacks an instruction
        load(os.fsencode(best))
    for path in folder.iterdir():
        if _RPC.match(path.name):
            load(os.fsencode(path))


def cpu_variant(libggml: ctypes.CDLL) -> str:
    """Return the variant that ggml has chosen, such as "haswell"; empty if there is only one."""
    found = _VARIANT.search(_cpu_library(libggml))
    return found[1] if found else ""


@functools.cache
def publish_cpu_variant(libggml: ctypes.CDLL) -> None:
    """Make the symbols of the chosen variant available to libraries opened later.

    ggml opens it with local symbols. For Linux.
    """
    if cpu_variant(libggml):
        ctypes.CDLL(_cpu_library(libggml), mode=os.RTLD_NOW | os.RTLD_NOLOAD | os.RTLD_GLOBAL)


class _SymbolInfo(ctypes.Structure):
    """`Dl_info`."""

    _fields_ = (
        ("file", ctypes.c_char_p), ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p), ("address", ctypes.c_void_p),
    )  # fmt: skip


def _cpu_library(libggml: ctypes.CDLL) -> str:
    """Return the path of ggml's code for the CPU; empty if not known."""
    if sys.platform == "win32":
        import psutil  # noqa: PLC0415  slow to import, and not needed on other systems

        loaded = [each.path for each in psutil.Process().memory_maps()]
        return next(filter(_VARIANT.search, loaded), "")
    function = libggml.ggml_backend_reg_get_proc_address
    function.restype, function.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p)
    cpu = _registry(libggml, b"CPU")
    address = function(cpu, b"ggml_backend_set_n_threads") if cpu else None
    dladdr, info = ctypes.CDLL(None).dladdr, _SymbolInfo()
    dladdr.argtypes = (ctypes.c_void_p, ctypes.POINTER(_SymbolInfo))
    known = address and dladdr(address, ctypes.byref(info))
    return os.fsdecode(info.file or b"") if known else ""


def _registry(libggml: ctypes.CDLL, name: bytes) -> int | None:
    """Return ggml's registry of a backend's devices, or None if the backend is not loaded."""
    by_name = libggml.ggml_backend_reg_by_name
    by_name.restype, by_name.argtypes = ctypes.c_void_p, (ctypes.c_char_p,)
    found: int | None = by_name(name)
    return found
