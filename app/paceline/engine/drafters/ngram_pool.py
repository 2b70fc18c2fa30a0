"""The table behind `ngram-mod`: 4 Mi slots of one token each, in memory or in a file.

A file is mapped only while a turn runs, so that it can be deleted between turns on every system,
and several programs may have it open at once: a slot is written in one piece, and whatever it holds
is judged by the target. All its blocks are allocated before it is mapped, because writing to a
mapped page for which the disk has no room ends the process. Whatever goes wrong with a file costs
what was learned and nothing else: the turn gets a table of its own.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import mmap
import os
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from paceline.files import new_content

_log = logging.getLogger(__name__)

SLOT_BITS = 22
_FULLEST = 0.25
"""Share of used slots above which a pool is emptied; llama.cpp's."""
_SAMPLE = 1 << 18
"""Slots looked at to tell how full a file is, 1 MiB: the share is known within 0.3 %."""
_CANNOT_RESERVE = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)


class Pool:
    """``2 ** bits`` slots; a slot holds a token id + 1, or 0 when nothing was written to it.

    Attributes:
        slots: The slots for single reads and writes, several times as fast as numpy's.
        table: The same memory, int32 [2 ** bits].
        n_used: Slots that hold a token; an estimate when they came from a file.
        is_shared: Whether it lies in a file.
    """

    slots: memoryview[int]
    table: NDArray[np.int32]
    n_used: int
    is_shared: bool
    _map: mmap.mmap

    def __init__(self, bits: int = SLOT_BITS) -> None:
        # Unlike numpy's memory, which comes in huge pages, this is cleared only where it is used.
        self._use(mmap.mmap(-1, 4 << bits), is_shared=False)

    @classmethod
    def open(cls, path: Path, bits: int = SLOT_BITS) -> Self:
        """Return the pool in a file, which is made anew if it is missing or of another size.

        Where that fails, the pool lies in memory and a warning in the log.
        """
        pool = cls(bits)
        try:
            held = _map_file(path, 4 << bits)
        except (OSError, ValueError, OverflowError) as error:
            _log.warning("%s cannot be used, so nothing is kept in it: %s", path.name, error)
            return pool
        pool.close()
        pool._use(held, is_shared=True)
        sample = pool.table[:_SAMPLE]
        pool.n_used = int(np.count_nonzero(sample)) * len(pool.table) // len(sample)
        return pool

    @classmethod
    def existing(cls, path: Path) -> Self | None:
        """Return the pool in a file, of whatever size it is; None: it is no pool.

        Raises:
            OSError: It cannot be opened.
        """
        size = path.stat().st_size
        if size < 4 or size & (size - 1):
            return None
        pool = cls(0)
        held = _map_file(path, size)
        pool.close()
        pool._use(held, is_shared=True)
        return pool

    def sync(self) -> None:
        """See a file's content on the disk.

        Raises:
            OSError: It cannot be written.
        """
        self._map.flush()

    @property
    def is_too_full(self) -> bool:
        """Whether so many slots are used that unrelated texts answer for each other."""
        return self.n_used > _FULLEST * len(self.table)

    def reset(self) -> None:
        """Forget everything."""
        if self.is_shared:
            self.table[:] = 0
            self.n_used = 0
        else:
            size = len(self._map)
            self.close()
            self._use(mmap.mmap(-1, size), is_shared=False)

    def close(self) -> None:
        """Let go of the memory; the pool cannot be used afterwards."""
        self.slots.release()
        self.table = np.zeros(0, np.int32)
        with contextlib.suppress(BufferError):  # somebody still looks at it: freed with them
            self._map.close()

    def _use(self, held: mmap.mmap, *, is_shared: bool) -> None:
        self._map = held
        self.is_shared = is_shared
        self.table = np.frombuffer(held, np.int32)
        self.slots = memoryview(held).cast("i")
        self.n_used = 0
        advice = "MADV_WILLNEED" if is_shared else "MADV_NOHUGEPAGE"
        if hasattr(mmap, advice):
            with contextlib.suppress(OSError):
                held.madvise(getattr(mmap, advice))


def _map_file(path: Path, size: int) -> mmap.mmap:
    if not _is_pool(path, size):
        _create(path, size)
    with path.open("r+b") as file:
        return mmap.mmap(file.fileno(), size)


def _is_pool(path: Path, size: int) -> bool:
    try:
        return path.stat().st_size == size and path.is_file()
    except FileNotFoundError:
        return False


def _create(path: Path, size: int) -> None:
    """Put an empty file in place that its owner alone can read, all its blocks allocated."""
    with new_content(path) as file:
        _allocate(file.fileno(), size)


def _allocate(handle: int, size: int) -> None:
    """Give a file `size` zeros that have their place on the disk.

    Raises:
        OSError: There is no room.
    """
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(handle, 0, size)
            return
        except OSError as error:
            if error.errno not in _CANNOT_RESERVE:
                raise
    piece = bytes(1 << 20)
    for start in range(0, size, len(piece)):
        os.write(handle, piece[: size - start])
    os.fsync(handle)  # some file systems tell only now that there is no room
