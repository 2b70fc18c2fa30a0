"""What one chat has taught the drafters of one vocabulary, so that it can be taken away again.

The texts of many chats become one index, one table, one file of counts, and nothing in them says
whose a token was. So beside them, each chat that may be remembered has a log: the texts that were
learned, as token ids, and the stretches whose n-grams were counted. It is written before anything
is learned, and removed last.

A log holds 16 MiB at most, four million tokens. A chat beyond that teaches nothing more: what could
not be forgotten is not learned. Nor does a chat with a damaged log.

    header    magic
    records   kind, n, length in words, checksum of the words, checksum of these four; then so many
              words, little-endian
        TEXT        a text: the first n tokens of the text before it, then these
        COUNTED     a stretch of text; its tokens from place n on were counted
        SUBTRACTED  what was counted up to here has been taken away again
"""

from __future__ import annotations

import errno
import hashlib
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from paceline.engine.prefix import common_prefix
from paceline.files import private_folder

FOLDER = "chats"
"""The logs' place in a vocabulary's folder."""
MOST_BYTES = 16 << 20

TEXT, COUNTED, SUBTRACTED = 1, 2, 3
_MAGIC = b"paceline learned 1\n\0"
_RECORD = struct.Struct("<IIII")
_CHECKSUM = struct.Struct("<I")
_HEAD = _RECORD.size + _CHECKSUM.size
_SUFFIX = ".learned"

Tokens = NDArray[np.uint32]


class DamagedLogError(OSError):
    """A log is not what was written; what a crash has cut off is no damage."""

    def __init__(self) -> None:
        super().__init__(errno.EIO, "the list of what this chat has taught is damaged")


class ChatLog:
    """One chat's log; on one thread. Nothing is opened or made before the first call.

    Args:
        memory: The vocabulary's folder.
        chat: The chat's name, anything.
    """

    def __init__(self, memory: Path, chat: str) -> None:
        name = hashlib.sha256(chat.encode("utf-8", "replace")).hexdigest()[:32]
        self.path = memory / FOLDER / f"{name}{_SUFFIX}"
        self._last: list[int] = []
        self._n_bytes = 0  # up to the end of the last whole record

    @property
    def exists(self) -> bool:
        """Whether anything was learned from this chat."""
        return self.path.exists()

    def check(self) -> None:
        """Read all of it.

        Raises:
            DamagedLogError: It is damaged.
            OSError: It cannot be read.
        """
        for _ in self._records():
            pass

    def has_room(self, n_tokens: int) -> bool:
        """Return whether texts with so many new tokens can be added; errors as for `add_text`."""
        self._catch_up()
        return self._n_bytes + 4 * n_tokens <= MOST_BYTES

    def add_text(self, history: Sequence[int], *, lasting: bool = False) -> None:
        """Note that a text is learned; what the last one has of it is not written again.

        Args:
            history: The text.
            lasting: See it on the disk, so that not even a power cut loses it.

        Raises:
            OSError: It cannot be written.
        """
        self._catch_up()
        n_same = common_prefix(self._last, history)
        if n_same < len(history):
            new = list(history[n_same:])
            self._append(TEXT, n_same, new)
            self._last[n_same:] = new
        if lasting and self.exists:
            with self.path.open("r+b") as file:
                os.fsync(file.fileno())

    def add_counted(self, tokens: Sequence[int], first: int) -> None:
        """Note that the tokens of a stretch from place `first` on are counted; errors as above."""
        self._catch_up()
        self._append(COUNTED, first, tokens)

    def add_subtracted(self) -> None:
        """Note that all counts so far have been taken away; errors as above."""
        self._catch_up()
        self._append(SUBTRACTED, 0, ())

    def texts(self) -> Iterator[Tokens]:
        """Yield what was learned; a text that only grew comes once, at its longest.

        Raises:
            OSError: The log cannot be read, or is damaged.
        """
        last: list[Tokens] = []
        for kind, n_same, words in self._records():
            if kind != TEXT:
                continue
            if last and n_same < sum(map(len, last)):
                text = np.concatenate(last)
                yield text
                last = [text[:n_same]]
            last.append(words)
        if last:
            yield np.concatenate(last)

    def counted(self) -> list[tuple[list[int], int]]:
        """Return the stretches that were counted and not yet taken away; errors as for `texts`."""
        found: list[tuple[list[int], int]] = []
        for kind, first, words in self._records():
            if kind == COUNTED:
                found.append((words.tolist(), first))
            elif kind == SUBTRACTED:
                found.clear()
        return found

    def others(self) -> Iterator[ChatLog]:
        """Yield the logs of the other chats.

        Raises:
            OSError: The folder cannot be read.
        """
        for path in sorted(self.path.parent.glob(f"*{_SUFFIX}")):
            if path.name != self.path.name:
                log = ChatLog(path.parent.parent, "")
                log.path = path
                yield log

    def remove(self) -> None:
        """Remove the log, when all that it names is forgotten.

        Raises:
            OSError: It cannot be removed.
        """
        self.path.unlink(missing_ok=True)
        self._last, self._n_bytes = [], 0

    # ------------------------------------------------------------------------------ within

    def _records(self) -> Iterator[tuple[int, int, Tokens]]:
        """Yield the whole records; what a crash has cut off at the end is passed over."""
        try:
            with self.path.open("rb") as file:
                if os.fstat(file.fileno()).st_size > 2 * MOST_BYTES:
                    raise DamagedLogError
                data = file.read()
        except FileNotFoundError:
            return
        magic = data[: len(_MAGIC)]
        if magic != _MAGIC[: len(magic)]:
            raise DamagedLogError
        at = len(_MAGIC)
        while at + _HEAD <= len(data):
            kind, n, length, checksum = _RECORD.unpack_from(data, at)
            head = data[at : at + _RECORD.size]
            if _CHECKSUM.unpack_from(data, at + _RECORD.size)[0] != zlib.crc32(head):
                raise DamagedLogError
            begin = at + _HEAD
            at = begin + 4 * length
            if at > len(data):
                return
            if zlib.crc32(memoryview(data)[begin:at]) != checksum:
                raise DamagedLogError
            yield kind, n, np.frombuffer(data, "<u4", length, begin)
            self._n_bytes = at

    def _catch_up(self) -> None:
        """Learn how the log ends, unless nobody has written to it since this object did."""
        try:
            size = self.path.stat().st_size
        except FileNotFoundError:
            size = 0
        if size and size == self._n_bytes:
            return
        self._n_bytes = 0
        last: list[int] = []
        for kind, n_same, words in self._records():
            if kind == TEXT:
                last[n_same:] = words.tolist()
        self._last = last

    def _append(self, kind: int, n: int, tokens: Sequence[int]) -> None:
        words = np.asarray(tokens, "<u4").tobytes()
        head = _RECORD.pack(kind, n, len(tokens), zlib.crc32(words))
        record = head + _CHECKSUM.pack(zlib.crc32(head)) + words
        private_folder(self.path.parent)
        with open(self.path, "r+b" if self._n_bytes else "wb", opener=_private) as file:
            file.truncate(self._n_bytes)
            if not self._n_bytes:
                record = _MAGIC + record
            file.seek(self._n_bytes)
            file.write(record)
        self._n_bytes += len(record)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
