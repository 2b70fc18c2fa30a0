"""The partial file of a download, until it is complete and gets its name.

It lies in the same folder, so that the last step is a rename, which leaves either nothing or
everything. It is locked while it is open, so that no other program or window writes it. The system
releases the lock when its holder dies, so a crash leaves no lock behind.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
from collections.abc import Callable
from pathlib import Path

from paceline.catalog.download.names import PARTIAL, inside
from paceline.errors import CancelledError, UserError
from paceline.files import try_lock

_CHUNK = 1 << 20


class PartFile:
    """A partial file, open and locked; a context manager of one thread.

    Attributes:
        path: Its path.
        n_bytes: Its length; the next byte goes there.
    """

    def __init__(self, target: Path) -> None:
        """Open or create the partial file of `target`; its content is left alone for now.

        Raises:
            UserError: ``in-use``: another program writes it.
            OSError: It cannot be opened.
        """
        self.path = inside(target.parent, target.name + PARTIAL)
        self._target = target
        self._file = _opened(self.path)
        self._hash: hashlib._Hash | None = None
        self.n_bytes = 0
        if not try_lock(self._file) or not self._is_still_there():
            self._file.close()
            raise UserError(
                "in-use",
                "{name} is being downloaded by another window or program.",
                "Wait until it is done there, or pause it there.",
                name=target.name,
            )

    def __enter__(self) -> PartFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def start_at(self, n_bytes: int) -> None:
        """Keep at most the first `n_bytes` and continue after them.

        Bytes of an earlier run are hashed at the end, from the disk; a file that is written in one
        run is hashed while it is written.

        Raises:
            OSError: The disk failed.
        """
        self.n_bytes = min(n_bytes, os.fstat(self._file.fileno()).st_size)
        self._file.truncate(self.n_bytes)
        self._file.seek(self.n_bytes)
        self._hash = None if self.n_bytes else hashlib.sha256()

    def write(self, data: bytes) -> None:
        """Append.

        Raises:
            OSError: The disk failed; `n_bytes` still says how many bytes are certain.
        """
        view = memoryview(data)
        while view:
            n = self._file.write(view)
            if self._hash is not None:
                self._hash.update(view[:n])
            self.n_bytes += n
            view = view[n:]

    def sync(self) -> None:
        """Wait until everything is on the disk.

        Raises:
            OSError: The disk failed.
        """
        os.fsync(self._file.fileno())

    def digest(
        self, is_stopped: Callable[[], bool], on_read: Callable[[], None] = lambda: None
    ) -> str:
        """Return the SHA-256 of everything.

        Args:
            is_stopped: Polled for every piece that has to be read.
            on_read: Called once if the file has to be read for that, which takes a while.

        Raises:
            CancelledError: `is_stopped` said so.
            OSError: The disk failed.
        """
        if self._hash is None:
            on_read()
            self._hash = hash_of(self.path, is_stopped)
        return self._hash.hexdigest()

    def publish(self) -> None:
        """Give the file its final name.

        Raises:
            OSError: The disk failed; the partial file is still there.
        """
        self.sync()
        if os.name == "nt":  # an open file cannot be renamed there
            self._file.close()
        self.path.replace(self._target)
        _sync_folder(self.path.parent)

    def discard(self) -> None:
        """Delete it.

        Raises:
            OSError: It cannot be deleted.
        """
        if os.name == "nt":
            self._file.close()
        self.path.unlink(missing_ok=True)

    def _is_still_there(self) -> bool:
        """Return whether the previous holder of the lock has not renamed or deleted the file."""
        try:
            there = self.path.stat()
        except OSError:
            return False
        return os.path.samestat(there, os.fstat(self._file.fileno()))


def discard_part(target: Path) -> None:
    """Delete the partial file of `target`, unless there is none or another program writes it.

    Raises:
        OSError: It cannot be deleted.
    """
    if target.with_name(target.name + PARTIAL).exists():
        with contextlib.suppress(UserError), PartFile(target) as part:
            part.discard()


def hash_of(
    path: Path,
    is_stopped: Callable[[], bool],
    on_read: Callable[[int], None] = lambda _: None,
) -> hashlib._Hash:
    """Return the hash of a file's content; `on_read` gets the size of every piece.

    Raises:
        CancelledError: `is_stopped` said so; it is polled for every piece.
        OSError: The file cannot be read.
    """
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        while data := file.read(_CHUNK):
            if is_stopped():
                raise CancelledError
            digest.update(data)
            on_read(len(data))
    return digest


def _opened(path: Path) -> io.FileIO:
    # Without following a link: it could lead to a file outside our folder.
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    return io.FileIO(os.open(path, flags, 0o644), "r+")


def _sync_folder(folder: Path) -> None:
    """Flush a new name to the disk, where the system lets a folder be opened for that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
