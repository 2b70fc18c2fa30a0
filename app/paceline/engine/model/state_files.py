"""Stored states in files: a folder for each model, in it one for each owner, in it a file a block.

A block of several owners is one file with several names (hard links): what is one owner's alone
goes with that folder, without a look into any file. A file's name says which block it is and which
one it comes after, so that the tree is known without reading; tokens are read where a text gets so
far. A file is written under another name first, and is whole or not there. No numbers of it are
used before all of it was read and its checksum was right.

Several programs may use a folder at once and need no lock, since every file is complete by itself.
What one of them deletes is gone for the others when they look next.
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

MOST_BYTES = 4 << 30
_SHARE = 10
"""Of what is free, with what is written already, a tenth is used at most."""
_SPARE = 50
"""A fiftieth of the limit is left free where room is made, so that it is not made each time."""
_LOOK_S = 1.0
"""Seconds for which the size of the folder counts that other programs write to, too."""
_PAUSE_S = 60.0
"""Seconds without writing after it has failed."""
_OLD_S = 600.0
"""Age from which on a file that was not written to its end has no writer any more."""
_COARSE_NS = 2_000_000_000
"""FAT's times; a change within so many nanoseconds of the last one may not show."""
_NAME = re.compile(r"([0-9a-f]{32})-([0-9a-f]{32})")
_MAGIC = b"PLSTATE1"
_START = struct.Struct("<8sI")
"""Magic and checksum of all that follows."""
_FACTS = struct.Struct("<32s32sIQ")
"""The model's key, the name of the block before, how many tokens and how many bytes follow."""

_log = logging.getLogger(__name__)
_clock = time.monotonic


def drop_files(folder: str, owners: Sequence[str]) -> None:
    """Delete the files that are these owners' alone, whatever model they are for. Any thread.

    Args:
        folder: See `StateStorage.folder`; empty: there are none.
        owners: Their names; none: everybody's.
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
    """Delete what is in a folder, in which another program may be writing, or deleting, just now.

    Raises:
        OSError: It cannot be deleted.
    """
    for _ in range(2):  # what was just being written has its name by then
        for place, folders, files in os.walk(folder, topdown=False):
            for name in files:
                with contextlib.suppress(FileNotFoundError):
                    Path(place, name).unlink()
            for name in folders:
                with contextlib.suppress(OSError):
                    Path(place, name).rmdir()
    with contextlib.suppress(OSError):  # it is gone, or another program goes on in it
        folder.rmdir()


class _File(NamedTuple):
    """A name in a folder.

    Attributes:
        parent: The name of the block before it; empty: it is no block.
        block: Its own.
        n_bytes: Its size.
        number: Which file it is; files with several names have the same one.
        used: When it was used last, in nanoseconds.
        name: The name.
        folder: Its owner's folder.
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
        changed: When it was changed last, in nanoseconds.
        is_settled: Whether a later change will show by another time.
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
    """Return the folders in a folder; none where it is not there.

    Raises:
        OSError: It cannot be read.
    """
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return []


def _owner_folder(key: Path, owner: str) -> Path:
    return key / owner.encode().hex()  # a name that any file system takes


def _listed(folder: Path) -> _Listing:
    """Read a folder.

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
    """Keeps blocks in the files of a folder; see `StateFiles`.

    Args:
        folder: See `StateStorage.folder`.
        most_bytes: See `StateStorage.disk_bytes`.

    Attributes:
        version: Another one after files have come or gone.
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
        """Look which files there are now, since other programs write and delete, too."""
        with contextlib.suppress(OSError):
            self._look()
            if self._n_bytes > self._limit():
                self._make_room(0)

    def _look(self, *, anew: bool = False) -> None:
        """Read the folders that have changed; `anew`: all, for when files were used last."""
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
        """Delete an owner's folder, and a model's without any, to which nothing was written."""
        for folder in (owner, owner.parent):
            with contextlib.suppress(OSError):
                if folder.stat().st_mtime < time.time() - _OLD_S:
                    folder.rmdir()

    @staticmethod
    def _tidied(listing: _Listing) -> _Listing:
        """Delete what was not written to its end."""
        old = time.time_ns() - int(_OLD_S * 1e9)
        halves = {file for file in listing.files if not file.block and file.used < old}
        for file in halves:
            _delete(file.path)
        return listing._replace(files=tuple(f for f in listing.files if f not in halves))

    def _strike_out(self, key: str, name: str) -> list[_File]:
        """Take a block out of what is known, and return its files; none: it is not known."""
        files = self._names.get(key, {}).pop(name, [])
        for file in files:
            self._after[key][file.parent].discard(name)
        return files

    def has(self, tree: StateTree, block: Block) -> bool:
        """Return whether a block had a file at the last look."""
        return block.name in self._names.get(tree.root.name, {})

    def has_given_way(self, tree: StateTree, block: Block) -> bool:
        """Return whether a block's file was deleted here to make room for others."""
        return (tree.root.name, block.name) in self._gave_way

    def after(self, tree: StateTree, parent: Block) -> Mapping[str, set[str]]:
        """Return the names of the blocks after one, each with its owners, as of the last look."""
        names = self._names.get(tree.root.name, {})
        found = self._after.get(tree.root.name, {}).get(parent.name, ())
        return {name: {_owner_of(file.folder) for file in names[name]} for name in found}

    # ------------------------------------------------------------------------------- reading

    def tokens(self, tree: StateTree, parent: Block, name: str) -> list[int] | None:
        """Return the tokens of a block after another one; None: its file is gone or wrong."""
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
        """Return what a block's cells hold; None: the file is gone or wrong, and was removed."""
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
        """Write a block with its owners, or its owners alone where it is there; False: it cannot.

        Older files go where the limit asks for it.
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
                with contextlib.suppress(OSError):  # a file system without: it is one owner's then
                    path.hardlink_to(there)
        return True

    def use(self, tree: StateTree, blocks: Iterable[Block]) -> None:
        """Note that blocks are in use, so that they do not give way to others."""
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
        """Delete what is an owner's alone, for all models; empty: everything."""
        drop_files(str(self._folder), (owner,) if owner else ())

    def _paths(self, tree: StateTree, block: Block) -> Iterator[Path]:
        """Return where a block may be."""
        key, name = self._folder / tree.root.name, _file_name(block)
        listed = [file.path for file in self._names.get(key.name, {}).get(block.name, ())]
        own = [_owner_folder(key, owner) / name for owner in sorted(block.owners)]
        return iter(dict.fromkeys((*listed, *own)))

    def _limit(self) -> int:
        if self._most_bytes >= 0:
            return self._most_bytes
        here = next(folder for folder in (self._folder, *self._folder.parents) if folder.exists())
        return min(MOST_BYTES, (shutil.disk_usage(here).free + self._n_bytes) // _SHARE)

    def _has_room(self, n_bytes: int) -> bool:
        """Make room for a file; False: it is larger than all that there may be."""
        if _clock() - self._looked_s > _LOOK_S:
            self._look()
        if self._n_bytes + n_bytes > self._limit():
            self._make_room(n_bytes)
        return self._n_bytes + n_bytes <= self._limit()

    def _make_room(self, n_bytes: int) -> None:
        """Delete what was used longest ago, the end of a text before its beginning."""
        self._look(anew=True)
        limit = self._limit()
        wanted = limit - max(n_bytes, limit // _SPARE)
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
    """Return what a file says of its block before what the cells hold."""
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
    """Return whose a folder is; empty: it was not made here."""
    try:
        return bytes.fromhex(folder.name).decode()
    except ValueError:
        return ""
