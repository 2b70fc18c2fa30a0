"""Fingerprints, which distinguish model files without reading them whole, and a file's SHA-256.

A fingerprint is the SHA-256 of every part's size, first MiB (header and vocabulary's beginning), 64
pieces at even distances and last piece: at most 6 MiB of a file of any size. Two files that differ
only between these pieces have the same one, so it recognises a file but proves nothing; the SHA-256
of the whole does. No Qt; meant for a worker, since a disk may be slow. Any thread.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

from paceline.catalog.download.part_file import hash_of
from paceline.catalog.local.model_files import model_at
from paceline.errors import ModelError

HEAD_BYTES = 1 << 20
PIECE_BYTES = 1 << 16
N_PIECES = 64
_Identity = tuple[tuple[str, int, int], ...]
"""Path, size and time of change in nanoseconds of every part."""


def fingerprint_of(path: Path) -> str:
    """Return the fingerprint of a model, of a split one over all its parts, in hex.

    It is read once while neither size nor time of a part change.

    Raises:
        ModelError: The model is not there, or cannot be read.
    """
    return _fingerprint(_identity(model_at(path).parts))


@cache
def _fingerprint(parts: _Identity) -> str:
    digest = hashlib.sha256()
    for part, *_ in parts:
        _add_samples(digest, Path(part))
    return digest.hexdigest()


def sha256_of(
    path: Path, is_stopped: Callable[[], bool], on_progress: Callable[[int, int], None]
) -> str:
    """Return the SHA-256 of a whole file in hex; the Hub shows the same number beside a file.

    Args:
        path: The file; of a split model one of its parts.
        is_stopped: Polled for every piece.
        on_progress: Gets the bytes read and the file's size after every piece.

    Raises:
        CancelledError: It was stopped.
        ModelError: The file is not there, or cannot be read.
    """
    n_read = 0

    def on_read(n_bytes: int) -> None:
        nonlocal n_read
        n_read += n_bytes
        on_progress(n_read, size)

    try:
        size = path.stat().st_size
        return hash_of(path, is_stopped, on_read).hexdigest()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise _unreadable(path, error) from error


def _add_samples(digest: hashlib._Hash, path: Path) -> None:
    try:
        with path.open("rb") as file:
            n_bytes = file.seek(0, 2)
            digest.update(n_bytes.to_bytes(8, "little"))
            for start, length in sampled_ranges(n_bytes):
                file.seek(start)
                digest.update(file.read(length))
    except OSError as error:
        raise _unreadable(path, error) from error


def sampled_ranges(n_bytes: int) -> list[tuple[int, int]]:
    """Return which bytes of a file of this size are read, as (start, length), in order.

    A file that the pieces would cover is taken whole.
    """
    if n_bytes <= HEAD_BYTES + (N_PIECES + 1) * PIECE_BYTES:
        return [(0, n_bytes)]
    last = n_bytes - PIECE_BYTES
    room = last - HEAD_BYTES - PIECE_BYTES
    pieces = [(HEAD_BYTES + room * at // (N_PIECES - 1), PIECE_BYTES) for at in range(N_PIECES)]
    return [(0, HEAD_BYTES), *pieces, (last, PIECE_BYTES)]


def _identity(parts: tuple[Path, ...]) -> _Identity:
    try:
        stats = [(part, part.stat()) for part in parts]
    except OSError as error:
        raise _unreadable(parts[0], error) from error
    return tuple((str(part), stat.st_size, stat.st_mtime_ns) for part, stat in stats)


def _unreadable(path: Path, error: Exception) -> ModelError:
    return ModelError(
        "file-not-readable",
        "“{name}” cannot be read ({why}).",
        "Check that the file is still there and that you may read it.",
        name=path.name,
        why=getattr(error, "strerror", None) or error,
    )
