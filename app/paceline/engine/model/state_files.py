"""Stored states in files: a folder per model, in it a folder per owner, in it a file per block.

A block of several owners is one file with several names (hard links): what belongs to one owner
alone is deleted with that folder, without reading any file. A file's name has the block's id and
that of the block before it, so that the tree is known without reading; tokens are read once a text
gets that far. A file is written under another name first, so it is complete or not there. None of
its numbers is used before all of it was read and its checksum was right.

Several programs may use a folder at once without a lock, since every file is complete by itself.
What one of them deletes is gone for the others at their next look.
"""

from __future__ import annotations

import contextlib
import heapq
import logging
import os
import re
import shutil
import struct
import time
import zlib
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from paceline.engine.model.stored_states import Block, StateTree
from paceline.files import new_content

MAX_BYTES = 4 << 30
_FREE_DIVISOR = 10
"""Divisor of the disk space that may be used: a tenth of the free space, with what is written
already."""
_SPARE_DIVISOR = 50
"""Divisor of the limit for extra room: a fiftieth is left free, so that room is made rarely."""
_LOOK_S = 1.0
"""Seconds for which the measured size of the folder, which others write to, remains valid."""
_PAUSE_S = 60.0
"""Seconds without writing after a failure."""
_OLD_S = 600.0
"""Seconds after which an incomplete file has no writer any more."""
_COARSE_NS = 2_000_000_000
"""Resolution of FAT's times in nanoseconds; a change this soon after the last may not show."""
_NAME = re.compile(r"([0-9a-f]{32})-([0-9a-f]{32})")
_MAGIC = b"PLSTATE1"
_START = struct.Struct("<8sI")
"""Magic and checksum of all that follows."""
_FACTS = struct.Struct("<32s32sIQ")
"""The model's key, the name of the block before, the number of tokens and of bytes that follow."""

_log = logging.getLogger(__name__)
_clock = time.monotonic


def drop_files(folder: str, owners: Sequence[str]) -> None:
    """Delete the files that belong to these owners alone, of all models. Any thread.

    Args:
        folder: See `StateStorage.folder`; empty if there are no files.
        owners: Names of the owners; empty for all.
    """
    if not folder:
        return
    try:
        for key in _folders(folder):
            for each in [_owner_folder(key, name) for name in owners] if owners else [key]:
                _delete_folder(each)
    except OSError as error:
        _log.warning("stored states stay in %s: %s", folder, error.strerror or error)


def _delete_folder(folder: Path) -> None:
    """Delete a folder's content while another program may be writing or deleting in it.

    Raises:
        OSError: It cannot be deleted.
    """
    for _ in range(2):  # the second time finds files that were just being written
        for place, folders, files in os.walk(folder, topdown=False):
            for name in files:
                with contextlib.suppress(FileNotFoundError):
                    Path(place, name).unlink()
            for name in folders:
                with contextlib.suppress(OSError):
                    Path(place, name).rmdir()
    with contextlib.suppress(OSError):  # it is gone, or another program uses it again
        folder.rmdir()


class _File(NamedTuple):
    """A file name in a folder.

    Attributes:
        parent: Name of the block before it; empty if the file is not a block.
        block: Name of the block.
        n_bytes: Size of the file.
        number: Number of the file; the same for all names of one file.
        used: Time of the last use, in nanoseconds.
        name: Name of the file.
        folder: Folder of its owner.
    """

    parent: str
    block: str
    n_bytes: int
    number: int
    used: int
    name: str
    folder: Path

    @property
    def path(self) -> Path:
        """Its path."""
        return self.folder / self.name


class _Listing(NamedTuple):
    """The files in an owner's folder.

    Attributes:
        changed: Time of the last change, in nanoseconds.
        is_settled: Whether a later change is certain to have another time.
        files: The files.
    """

    changed: int
    is_settled: bool
    files: tuple[_File, ...]

    @property
    def names(self) -> set[str]:
        """The names of the files."""
        return {file.name for file in self.files}


def _folders(folder: str | Path) -> list[Path]:
    """Return the folders in a folder; empty if it does not exist.

    Raises:
        OSError: It cannot be read.
    """
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return []


def _owner_folder(key: Path, owner: str) -> Path:
    return key / owner.encode().hex()  # a name that any file system accepts


def _listed(folder: Path) -> _Listing:
    """Return the listing of a folder.

    Raises:
        OSError: It cannot be read.
    """
    changed = folder.stat().st_mtime_ns
    files = []
    with os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):
                found = entry.stat(follow_symlinks=False)
                name = _NAME.fullmatch(entry.name)
                parent, block = name.groups() if name else ("", "")
                size, used = found.st_size, found.st_mtime_ns
                files.append(_File(parent, block, size, entry.inode(), used, entry.name, folder))
    return _Listing(changed, changed < time.time_ns() - _COARSE_NS, tuple(files))


def _size(files: Iterable[_File]) -> int:
    return sum({file.number: file.n_bytes for file in files}.values())


class StateFolder:
    """Stores blocks in the files of a folder; see `StateFiles`.

    Args:
        folder: See `StateStorage.folder`.
        most_bytes: See `StateStorage.disk_bytes`.

    Attributes:
        version: Number that changes when files have come or gone.
    """

    def __init__(self, folder: str, most_bytes: int = -1) -> None:
        self.version = 0
        self._folder = Path(folder)
        self._most_bytes = most_bytes
        self._listings: dict[Path, _Listing] = {}
        self._names: dict[str, dict[str, list[_File]]] = {}  # by key and block
        self._after: dict[str, dict[str, set[str]]] = {}  # blocks by key and parent
        self._n_bytes = 0
        self._looked_s = -_LOOK_S
        self._silent_until = 0.0
        self._has_told = False
        self._gave_way: set[tuple[str, str]] = set()

    # ------------------------------------------------------------------------------- looking

    def refresh(self) -> None:
        """List the files again, since other programs write and delete, too."""
        with contextlib.suppress(OSError):
            self._list()
            if self._n_bytes > self._limit():
                self._make_room(0)

    def _list(self, *, anew: bool = False) -> None:
        """List the folders that have changed; `anew` lists all, to get the times of last use."""
        listings: dict[Path, _Listing] = {}
        for key in _folders(self._folder):
            for owner in _folders(key):
                with contextlib.suppress(FileNotFoundError):
                    known = None if anew else self._listings.get(owner)
                    is_same = known and known.is_settled
                    if known and is_same and known.changed == owner.stat().st_mtime_ns:
                        listings[owner] = known
                    else:
                        listings[owner] = self._tidied(_listed(owner))
                    if not listings[owner].files:
                        self._delete_empty(owner)
        self._looked_s = _clock()
        before, self._listings = self._listings, listings
        self._n_bytes = _size(file for listing in listings.values() for file in listing.files)
        if (
            anew
            or before.keys() != listings.keys()
            or any(
                listing is not before[folder] and listing.names != before[folder].names
                for folder, listing in listings.items()
            )
        ):
            self._sort()

    def _sort(self) -> None:
        self.version += 1
        self._names, self._after = {}, {}
        for folder, listing in self._listings.items():
            names = self._names.setdefault(folder.parent.name, {})
            after = self._after.setdefault(folder.parent.name, defaultdict(set))
            owner = _owner_of(folder)
            for file in listing.files:
                if file.block and owner:
                    names.setdefault(file.block, []).append(file)
                    after[file.parent].add(file.block)

    @staticmethod
    def _delete_empty(owner: Path) -> None:
        """Delete an owner's empty folder, and a model's, if nothing was written to it recently."""
        for folder in (owner, owner.parent):
            with contextlib.suppress(OSError):
                if folder.stat().st_mtime < time.time() - _OLD_S:
                    folder.rmdir()

    @staticmethod
    def _tidied(listing: _Listing) -> _Listing:
        """Delete incomplete files, and return the listing without them."""
        old = time.time_ns() - int(_OLD_S * 1e9)
        halves = {file for file in listing.files if not file.block and file.used < old}
        for file in halves:
            _delete(file.path)
        return listing._replace(files=tuple(f for f in listing.files if f not in halves))

    def _strike_out(self, key: str, name: str) -> list[_File]:
        """Remove a block from what is known, and return its files; empty if it is not known."""
        files = self._names.get(key, {}).pop(name, [])
        for file in files:
            self._after[key][file.parent].discard(name)
        return files

    def has(self, tree: StateTree, block: Block) -> bool:
        """Return whether a block had a file at the last listing."""
        return block.name in self._names.get(tree.root.name, {})

    def has_given_way(self, tree: StateTree, block: Block) -> bool:
        """Return whether a block's file was deleted here to make room for others."""
        return (tree.root.name, block.name) in self._gave_way

    def after(self, tree: StateTree, parent: Block) -> Mapping[str, set[str]]:
        """Return the names of the blocks after one, each with its owners, as last listed."""
        names = self._names.get(tree.root.name, {})
        found = self._after.get(tree.root.name, {}).get(parent.name, ())
        return {name: {_owner_of(file.folder) for file in names[name]} for name in found}

    # ------------------------------------------------------------------------------- reading

    def tokens(self, tree: StateTree, parent: Block, name: str) -> list[int] | None:
        """Return the tokens of a block after another one; None if its file is missing or wrong."""
        wrong = []
        for file in self._names.get(tree.root.name, {}).get(name, ()):
            with contextlib.suppress(OSError), file.path.open("rb") as opened:
                head = opened.read(_START.size + _FACTS.size)
                tokens = array("i")
                if len(head) == _START.size + _FACTS.size:
                    n_tokens = _FACTS.unpack_from(head, _START.size)[2]
                    raw = opened.read(min(4 * n_tokens, file.n_bytes))
                    tokens.frombytes(raw[: len(raw) // 4 * 4])
                if tokens and tree.name_after(parent, tokens) == name:
                    return tokens.tolist()
                wrong.append(file.path)
        _delete_wrong(wrong)
        return None

    def read(self, tree: StateTree, block: Block) -> bytes | None:
        """Return the content of a block's cells; None if its file is missing, or was wrong."""
        wrong = []
        for path in self._paths(tree, block):
            with contextlib.suppress(OSError, MemoryError), path.open("rb") as file:
                start = file.read(_START.size)
                found = file.read(_FACTS.size + 4 * len(block.tokens))
                data = file.read()
                facts = _facts(tree, block, len(data))
                if found == facts and start == _START.pack(_MAGIC, _checksum(facts, data)):
                    return data
                wrong.append(path)
        _delete_wrong(wrong)
        return None

    # ------------------------------------------------------------------------------- writing

    def write(self, tree: StateTree, block: Block) -> bool:
        """Write a block with its owners, or only its owners if it exists; return False on failure.

        Older files are deleted if the limit requires it.
        """
        if _clock() < self._silent_until:
            return block.is_filed
        try:
            is_there = self._write(tree, block)
        except FileNotFoundError:  # another program has deleted the folder
            return False
        except OSError as error:
            self._silent_until = _clock() + _PAUSE_S
            if not self._has_told:
                _log.warning("states are not stored: %s", error.strerror or error)
                self._has_told = True
            return False
        self._has_told = False
        return is_there

    def _write(self, tree: StateTree, block: Block) -> bool:
        key, name = self._folder / tree.root.name, _file_name(block)
        there = next((path for path in self._paths(tree, block) if path.exists()), None)
        paths = [_owner_folder(key, owner) / name for owner in sorted(block.owners)]
        if there is None:
            if block.data is None:
                return False
            facts = _facts(tree, block, len(block.data))
            n_bytes = _START.size + len(facts) + len(block.data)
            if not self._has_room(n_bytes):
                return False
            there = paths[0]
            with new_content(there) as file:
                file.write(_START.pack(_MAGIC, _checksum(facts, block.data)))
                file.write(facts)
                file.write(block.data)
            self._n_bytes += n_bytes
            self._gave_way.discard((tree.root.name, block.name))
        for path in paths:
            if not path.exists():
                path.parent.mkdir(mode=0o700, exist_ok=True)
                with contextlib.suppress(OSError):  # without hard links it belongs to one owner
                    path.hardlink_to(there)
        return True

    def use(self, tree: StateTree, blocks: Iterable[Block]) -> None:
        """Note that blocks are in use, so that others are evicted first."""
        for block in blocks:
            if block.is_filed:
                with contextlib.suppress(OSError, StopIteration):
                    os.utime(next(self._paths(tree, block)))

    # ------------------------------------------------------------------------------ deleting

    def remove(self, tree: StateTree, block: Block) -> None:
        """Delete a block's file."""
        for path in self._paths(tree, block):
            _delete(path)
        self._strike_out(tree.root.name, block.name)

    def forget(self, owner: str) -> None:
        """Delete what belongs to an owner alone, of all models; everything if empty."""
        drop_files(str(self._folder), (owner,) if owner else ())

    def _paths(self, tree: StateTree, block: Block) -> Iterator[Path]:
        """Return the possible paths of a block."""
        key, name = self._folder / tree.root.name, _file_name(block)
        listed = [file.path for file in self._names.get(key.name, {}).get(block.name, ())]
        own = [_owner_folder(key, owner) / name for owner in sorted(block.owners)]
        return iter(dict.fromkeys((*listed, *own)))

    def _limit(self) -> int:
        if self._most_bytes >= 0:
            return self._most_bytes
        here = next(folder for folder in (self._folder, *self._folder.parents) if folder.exists())
        return min(MAX_BYTES, (shutil.disk_usage(here).free + self._n_bytes) // _FREE_DIVISOR)

    def _has_room(self, n_bytes: int) -> bool:
        """Make room for a file; return False if it is larger than the limit."""
        if _clock() - self._looked_s > _LOOK_S:
            self._list()
        if self._n_bytes + n_bytes > self._limit():
            self._make_room(n_bytes)
        return self._n_bytes + n_bytes <= self._limit()

    def _make_room(self, n_bytes: int) -> None:
        """Delete the least recently used files, the end of a text before its beginning."""
        self._list(anew=True)
        limit = self._limit()
        wanted = limit - max(n_bytes, limit // _SPARE_DIVISOR)
        n_after = {key: {p: len(names) for p, names in a.items()} for key, a in self._after.items()}
        ends = [
            (max(file.used for file in files), key, name)
            for key, names in self._names.items()
            for name, files in names.items()
            if name not in n_after[key]
        ]
        heapq.heapify(ends)
        while ends and self._n_bytes > wanted:
            _, key, name = heapq.heappop(ends)
            files = self._strike_out(key, name)
            for file in files:
                _delete(file.path)
            self._n_bytes -= _size(files)
            self._gave_way.add((key, name))
            parent = files[0].parent
            n_after[key][parent] -= 1
            if not n_after[key][parent] and parent in self._names[key]:
                used = max(file.used for file in self._names[key][parent])
                heapq.heappush(ends, (used, key, parent))


def _facts(tree: StateTree, block: Block, n_bytes: int) -> bytes:
    """Return the header of a block's file, before the content of the cells."""
    assert block.parent is not None
    names = tree.root.name.encode(), block.parent.name.encode()
    return _FACTS.pack(*names, len(block.tokens), n_bytes) + array("i", block.tokens).tobytes()


def _checksum(facts: bytes, data: bytes | bytearray) -> int:
    return zlib.crc32(data, zlib.crc32(facts))


def _delete_wrong(paths: Sequence[Path]) -> None:
    for path in paths:
        _delete(path)
    if paths:
        _log.warning("a stored state is damaged, and so was deleted: %s", paths[0].name)


def _delete(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _file_name(block: Block) -> str:
    assert block.parent is not None
    return f"{block.parent.name}-{block.name}"


def _owner_of(folder: Path) -> str:
    """Return the owner of a folder; empty if the folder was not made here."""
    try:
        return bytes.fromhex(folder.name).decode()
    except ValueError:
        return ""
