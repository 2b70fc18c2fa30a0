"""Native libraries that are compiled for this computer: their seal, and the folders for them.

A library's name holds a key of everything that it is made from: a file of that name fits. Its last
bytes are a digest of all others, which loaders ignore, because loading a damaged one can end the
process. `kernel_files` and `rows_files` say what their keys are made from.

Standard library only and light, because every start of the engine asks. Any thread.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path

_DIGEST_BYTES = 32


def is_file(path: Path) -> bool:
    """Say whether there is such a file; False also where a folder may not be entered."""
    try:
        return path.is_file()
    except OSError:
        return False


def sources_in(folder: Path) -> bytes:
    """Return the names and the contents of a folder's C++ files, for a key.

    Raises:
        OSError: One cannot be read.
    """
    paths = sorted([*folder.glob("*.cpp"), *folder.glob("*.h")])
    files = ((path.name, path.read_bytes()) for path in paths)
    return b"".join(f"{name} {len(text)} ".encode() + text for name, text in files)


def sealed(content: bytes) -> bytes:
    """Return a library's content followed by its digest, which loaders ignore."""
    return content + hashlib.sha256(content).digest()


def is_whole(library: Path) -> bool:
    """Say whether a library is there, and every byte of it as it was sealed."""
    try:
        content = library.read_bytes()
    except OSError:
        return False
    return sealed(content[:-_DIGEST_BYTES]) == content


def places(cache_dir: Path | None = None) -> list[Path]:
    """Return the folders that may have libraries, the first one first.

    They are the package's own (wheels made for one machine, frozen programs), the environment's
    (the bootstrap) and the user's (`paceline doctor --build-kernels`).
    """
    package = Path(__file__).resolve().parents[1] / "_kernels"
    shared = Path(sys.prefix, "share", "paceline", "kernels")
    return [package, shared, *([cache_dir / "kernels"] if cache_dir else [])]


def named(name: str, folders: Iterable[Path]) -> Path | None:
    """Return the first whole library of this name; damaged ones are passed by."""
    return next(filter(is_whole, (folder / name for folder in folders)), None)
