"""Facts that the inspector keeps in the cache folder, so that a known model is judged at once.

``vocabularies/HASH`` holds the texts of a vocabulary's tokens: many models share one, and no file
has to be parsed again for them. ``examined/KEY.json`` holds card and nature of a model, as long as
its files have the same sizes and times, under the same llama.cpp, and cards the same fields. Files
are written whole and checked when they are read; a damaged one counts as missing. Any thread.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

from paceline.catalog.card import card_version
from paceline.catalog.inspect.wire import MAX_TEXT_BYTES, Seen, check_seen, join_texts, split_texts
from paceline.codec import decode, encode
from paceline.engine.model.vocabularies import hash_of_texts
from paceline.files import write_whole

_N_VOCABULARIES = 24
_N_EXAMINED = 400
_N_IN_MEMORY = 4
"""Vocabularies in memory; one of 262k tokens takes 15 MB as Python objects."""
_MAX_JSON_BYTES = 1 << 20


class VocabularyStore:
    """Texts by a vocabulary's hash; without a folder, in memory only.

    Args:
        folder: Folder of the files, or None to keep none.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._recent: OrderedDict[str, tuple[bytes, ...]] = OrderedDict()

    def get(self, vocabulary: str) -> tuple[bytes, ...] | None:
        """Return the texts with this hash; None when they are not there, or broken."""
        with self._lock:
            texts = self._recent.get(vocabulary)
            if texts is not None:
                self._recent.move_to_end(vocabulary)
                return texts
        texts = self._read(vocabulary)
        if texts is not None:
            self._remember(vocabulary, texts)
        return texts

    def put(self, vocabulary: str, texts: tuple[bytes, ...]) -> None:
        """Keep texts; if they cannot be written, only time is lost."""
        self._remember(vocabulary, texts)
        if self._folder is None:
            return
        with contextlib.suppress(OSError):
            write_whole(self._folder / vocabulary, join_texts(texts))
            _prune(self._folder, _N_VOCABULARIES)

    def _remember(self, vocabulary: str, texts: tuple[bytes, ...]) -> None:
        with self._lock:
            self._recent[vocabulary] = texts
            while len(self._recent) > _N_IN_MEMORY:
                self._recent.popitem(last=False)

    def _read(self, vocabulary: str) -> tuple[bytes, ...] | None:
        if self._folder is None:
            return None
        path = self._folder / vocabulary
        with contextlib.suppress(OSError):
            if path.stat().st_size < MAX_TEXT_BYTES:
                texts = split_texts(path.read_bytes())
                if hash_of_texts(texts) == vocabulary:
                    return texts
        return None


class ExaminedStore:
    """Cards and natures by the files they were made from.

    Args:
        folder: Folder of the files, or None to keep none.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def get(self, files: Sequence[Path], key: object) -> Seen | None:
        """Return what was read from these files, or None if they are new or have changed.

        Args:
            files: All of a model's files.
            key: The present result of `key` for them.
        """
        if self._folder is None or key is None:
            return None
        with contextlib.suppress(OSError, ValueError, RecursionError):
            path = self._path(files)
            if path.stat().st_size > _MAX_JSON_BYTES:
                return None
            data = json.loads(path.read_bytes())
            if isinstance(data, dict) and data.pop("key", None) == key:
                seen = decode(Seen, data)
                check_seen(seen)
                return seen if seen.nature else None
        return None

    def put(self, files: Sequence[Path], seen: Seen, key: object) -> None:
        """Store the facts read from these files.

        Args:
            files: All of a model's files.
            seen: The facts.
            key: The result of `key` before they were read.
        """
        if self._folder is None or key is None:
            return
        with contextlib.suppress(OSError):
            data = {"key": key, "card": encode(seen.card), "nature": encode(seen.nature)}
            write_whole(self._path(files), json.dumps(data).encode())
            _prune(self._folder, _N_EXAMINED)

    def key(self, files: Sequence[Path]) -> object:
        """Return a key that changes when the files do; None if one of them cannot be read."""
        try:
            stats = [(str(file.absolute()), file.stat()) for file in files]
        except OSError:
            return None
        # The time of a file's contents travels with copies, so another file may have it, too.
        times = [[name, s.st_size, s.st_mtime_ns, s.st_ctime_ns] for name, s in stats]
        versions = _version("llama-cpp-python"), _version("paceline"), *card_version()
        return [*versions, times]

    def _path(self, files: Sequence[Path]) -> Path:
        assert self._folder is not None
        name = hashlib.sha256(str(files[0].absolute()).encode(errors="surrogateescape"))
        return self._folder / f"{name.hexdigest()[:24]}.json"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _prune(folder: Path, most: int) -> None:
    """Keep the newest files, as many as given, and delete the others."""
    files = sorted(_dated(folder), reverse=True)
    for _, path in files[most:]:
        with contextlib.suppress(OSError):
            path.unlink()


def _dated(folder: Path) -> Iterator[tuple[int, Path]]:
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            yield path.stat().st_mtime_ns, path
