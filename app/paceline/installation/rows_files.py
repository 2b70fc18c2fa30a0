"""Files of the library of rows: its sources, and the compiled library that fits them.

The library draws tokens from rows of logits (`app/kernels/rows`, `engine/sample/native_rows.py`).
It knows nothing of ggml: one command of GCC or Clang compiles it on any system, for all processors
of a kind. Its key is made from its sources, that command, and the system.

Standard library only and light, because every start of the engine asks. Any thread.
"""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
from pathlib import Path

from paceline.installation import kernel_files
from paceline.installation.sealed_library import is_file, is_whole, named, places, sources_in

SOURCE = "rows.cpp"
"""The file that is compiled; it includes the others of its folder."""

_COMMON = (
    *("-std=c++17", "-O3", "-fvisibility=hidden", "-ffp-contract=off"),
    *("-fno-exceptions", "-fno-rtti", "-shared"),
)
_SYSTEMS = {
    # It uses nothing of the C++ library, which Debian's GCC would link anyway.
    "linux": ("-fPIC", "-Wl,--as-needed", "-Wl,--no-undefined"),
    # By itself the linker would write down the folder of the build.
    "darwin": ("-fPIC", "-Wl,-install_name,@rpath/libpaceline_rows.dylib"),
    "win32": (),  # where all code can be at any place, and Clang refuses -fPIC
}
_ENDINGS = {"darwin": ".dylib", "win32": ".dll"}


def sources_folder() -> Path | None:
    """Return the folder of the sources: the package's own, or the checkout's."""
    kernels = kernel_files.sources_folder()
    return kernels / "rows" if kernels and is_file(kernels / "rows" / SOURCE) else None


def flags() -> tuple[str, ...]:
    """Return the compiler's flags for this system."""
    return (*_COMMON, *_SYSTEMS.get(sys.platform, ("-fPIC",)))


def key() -> str:
    """Return 16 hex digits for these sources and this system, or empty without the sources."""
    sources = sources_folder()
    if sources is None:
        return ""
    # A Python for two kinds of processors says of both which one runs.
    machine = os.uname().machine if hasattr(os, "uname") else sysconfig.get_platform()
    digest = hashlib.sha256(repr((flags(), sys.platform, machine)).encode())
    try:
        digest.update(sources_in(sources))
    except OSError:
        return ""
    return digest.hexdigest()[:16]


def library_name(for_key: str) -> str:
    """Return the file name of the library with this key."""
    return f"libpaceline_rows-{for_key}{_ENDINGS.get(sys.platform, '.so')}"


def find(cache_dir: Path | None = None) -> Path | None:
    """Return the library that fits these sources, if it was compiled.

    Damaged ones are skipped. Reads some 100 kB.

    Args:
        cache_dir: The user's; without it only the installation is searched.
    """
    has = key()
    return named(library_name(has), places(cache_dir)) if has else None


def is_damaged(cache_dir: Path | None = None) -> bool:
    """Say whether a library that would fit is there, but not whole."""
    has = key()
    found = (folder / library_name(has) for folder in places(cache_dir) if has)
    return any(is_file(path) and not is_whole(path) for path in found)
