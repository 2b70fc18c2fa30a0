"""Files that only their owner can read, and that a crash leaves either old or new, never partial.

At the bottom of the layers, since everything that writes to disk needs it. Any thread.
"""

from __future__ import annotations

import contextlib
import errno
import io
import itertools
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


def private_folder(folder: Path) -> None:
    """Create a folder that only its owner can read, with its parents, if it is missing.

    Raises:
        OSError: It cannot be created.
    """
    for missing in reversed([p for p in (folder, *folder.parents) if not p.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)


@contextlib.contextmanager
def new_content(path: Path) -> Iterator[BinaryIO]:
    """Open a new file that replaces the one at `path` at the end of the block.

    Its folder is created if it is missing. If the block raises, the old file stays.

    Raises:
        OSError: It cannot be written; the old file stays.
    """
    private_folder(path.parent)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}-")  # with mode 0600
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):  # the first failure is the one to report
            Path(name).unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def open_ordinary(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading that has an end: devices and pipes may have none, or block.

    Raises:
        OSError: It cannot be opened, or is not a regular file.
    """
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # opening a folder raises a better error
        raise OSError(errno.EINVAL, "it is no ordinary file")
    with path.open("rb") as file:
        yield file


def first_free(folder: Path, before: str, after: str = "") -> Path:
    """Return the first path ``before1after``, ``before2after`` and so on that does not exist."""
    paths = (folder / f"{before}{number}{after}" for number in itertools.count(1))
    return next(path for path in paths if not path.exists())


def delete_folder(folder: Path) -> tuple[int, int]:
    """Delete a folder with all its content, without following links; it may be missing.

    Returns:
        The number of deleted files, and their bytes.

    Raises:
        OSError: Something cannot be deleted.
    """
    n_files = n_bytes = 0
    for place, folders, files in os.walk(folder, topdown=False):
        for name in files:
            file = Path(place, name)
            n_bytes += file.lstat().st_size
            file.unlink()
            n_files += 1
        for name in folders:
            below = Path(place, name)
            if below.is_symlink():
                below.unlink()
            else:
                below.rmdir()
    if folder.is_dir() and not folder.is_symlink():
        folder.rmdir()
    return n_files, n_bytes


def used_bytes(folder: Path) -> int:
    """Return the bytes of all files in a folder; one with several names counts once.

    Files that cannot be read, or are deleted meanwhile, count as 0.
    """
    sizes = {}
    for place, _, files in os.walk(folder):
        for name in files:
            with contextlib.suppress(OSError):
                status = Path(place, name).lstat()
                sizes[status.st_dev, status.st_ino] = status.st_size
    return sum(sizes.values())


def write_whole(path: Path, data: bytes) -> None:
    """Replace a file's content atomically; see `new_content`.

    Raises:
        OSError: It cannot be written; the old content stays.
    """
    with new_content(path) as file:
        file.write(data)


_TAKEN = (errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN)

if sys.platform == "win32":  # pragma: no cover
    import msvcrt

    _FAR = 1 << 40
    """Offset beyond any model's end: on Windows a locked byte cannot be read by others."""

    def try_lock(file: io.FileIO) -> bool:
        """Lock a file while it is open here; return False if another program has locked it."""
        position = file.tell()
        file.seek(_FAR)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            file.seek(position)
        return True

else:
    import fcntl

    def try_lock(file: io.FileIO) -> bool:
        """Lock a file while it is open here; return False if another program has locked it."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            # Some network disks have no locks; then only the user can prevent two writers.
            return error.errno not in _TAKEN
        return True
