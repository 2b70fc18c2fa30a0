"""Repositories: folders OWNER/REPO with files, and a `repo.json` for what the Hub says about them.

`repo.json` may have (all optional): downloads, likes, trendingScore, gated (false, "auto",
"manual"), private, license, base_model, gguf ({"total", "architecture", "context_length"}),
lastModified, createdAt (ISO 8601), tags, pipeline_tag, and `pretend`: {file: size}, files that are
listed with a size that they do not have on the disk; they are sent with zeros after their content.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHUNK = 1 << 16
_LARGE = (".gguf", ".bin", ".safetensors")
"""Suffixes of files that are stored in LFS and served by the second host."""
_USUAL = {
    "downloads": 0,
    "likes": 0,
    "trendingScore": 0,
    "gated": False,
    "private": False,
    "lastModified": "2026-01-02T03:04:05.000Z",
    "createdAt": "2025-01-02T03:04:05.000Z",
    "pipeline_tag": "text-generation",
    "library_name": "gguf",
}


@dataclass(frozen=True)
class RepoFile:
    """One file: bytes at hand or on the disk, and the size that is claimed."""

    path: str
    source: Path | bytes
    pretended: int = 0

    @property
    def n_bytes(self) -> int:
        there = len(self.source) if isinstance(self.source, bytes) else self.source.stat().st_size
        return max(there, self.pretended)

    @property
    def is_large(self) -> bool:
        return self.path.lower().endswith(_LARGE)

    @property
    def sha256(self) -> str:
        if isinstance(self.source, bytes):
            return _hash_of_bytes(self.source)
        stat = self.source.stat()
        if self.pretended > stat.st_size:  # hashing 40 GB of zeros would take minutes
            return hashlib.sha256(f"{self.path} {self.pretended}".encode()).hexdigest()
        return _hash_of_file(self.source, stat.st_size, stat.st_mtime_ns)

    @property
    def oid(self) -> str:
        """The file's name in git, 40 hex digits."""
        return hashlib.sha1(f"{self.path} {self.sha256}".encode()).hexdigest()

    @property
    def etag(self) -> str:
        return self.sha256 if self.is_large else self.oid

    def read(self, start: int, end: int) -> Iterator[bytes]:
        """Yield the bytes from `start` to before `end`."""
        if isinstance(self.source, bytes):
            for i in range(start, end, CHUNK):
                yield self.source[i : min(end, i + CHUNK)].ljust(min(CHUNK, end - i), b"\0")
            return
        with self.source.open("rb") as file:
            file.seek(start)
            while start < end:
                n = min(CHUNK, end - start)
                yield file.read(n).ljust(n, b"\0")
                start += n


@functools.lru_cache(maxsize=64)
def _hash_of_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@functools.lru_cache(maxsize=1024)
def _hash_of_file(path: Path, _size: int, _mtime_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass
class Repository:
    """A model repository.

    Attributes:
        id: ``OWNER/NAME``.
        files: Path within the repository -> content, or the file that has it.
        details: Fields as in `repo.json`.
    """

    id: str
    files: Mapping[str, Path | bytes] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)

    def all_files(self) -> list[RepoFile]:
        """Return the files, by path."""
        pretend: Mapping[str, int] = self.details.get("pretend", {})
        names = sorted({*self.files, *pretend})
        return [RepoFile(n, self.files.get(n, b""), pretend.get(n, 0)) for n in names]

    def file(self, path: str) -> RepoFile | None:
        """Return one file."""
        return next((file for file in self.all_files() if file.path == path), None)

    @property
    def commit(self) -> str:
        """The revision, which changes with any file."""
        listing = "\n".join(f"{file.path} {file.sha256}" for file in self.all_files())
        return hashlib.sha1(listing.encode()).hexdigest()

    @property
    def gated(self) -> str | bool:
        """False, "auto" or "manual"."""
        gated: str | bool = self.details.get("gated", False)
        return gated

    def tags(self) -> list[str]:
        """Return the words that `filter` looks at."""
        tags = ["gguf"] if any(f.path.lower().endswith(".gguf") for f in self.all_files()) else []
        if self.details.get("license"):
            tags.append(f"license:{self.details['license']}")
        if self.details.get("base_model"):
            tags += [
                f"base_model:{self.details['base_model']}",
                f"base_model:quantized:{self.details['base_model']}",
            ]
        return [*tags, *self.details.get("tags", [])]

    def described(self) -> dict[str, Any]:
        """Return everything that the Hub can say about it, under the names of its API."""
        said = _USUAL | dict(self.details)
        card = {k: said[k] for k in ("license", "base_model") if k in said}
        known = {key: said[key] for key in _USUAL}
        files = self.all_files()
        return {
            "_id": hashlib.md5(self.id.encode()).hexdigest()[:24],
            "id": self.id,
            "modelId": self.id,
            "author": self.id.split("/")[0],
            "sha": self.commit,
            **known,
            "downloadsAllTime": known["downloads"],
            "disabled": False,
            "tags": self.tags(),
            "cardData": card,
            "baseModels": _base_models(said.get("base_model")),
            "gguf": said.get("gguf"),
            "usedStorage": sum(file.n_bytes for file in files),
            "siblings": [{"rfilename": file.path} for file in files],
        }


def _base_models(repo: str | None) -> dict[str, Any] | None:
    return {"relation": "quantized", "models": [{"id": repo}]} if repo else None


def read_folder(folder: Path) -> dict[str, Repository]:
    """Return the repositories below a folder, as they are now."""
    found = {}
    for place in sorted(folder.glob("*/*")):
        if not place.is_dir():
            continue
        paths = sorted(path for path in place.rglob("*") if path.is_file())
        files = {path.relative_to(place).as_posix(): path for path in paths}
        notes = files.pop("repo.json", None)
        details = json.loads(notes.read_text("utf-8")) if notes else {}
        name = f"{place.parent.name}/{place.name}"
        found[name] = Repository(name, files, details)
    return found
