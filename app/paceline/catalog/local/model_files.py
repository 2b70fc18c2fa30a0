"""Model files on this computer: found in folders, split ones as one, by-products left out.

Only names and sizes are read here; a file's content is read elsewhere. Folders of other programs
are only read. No Qt; meant for a worker, since a disk may be slow.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from paceline.errors import ModelError

PART = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$", re.IGNORECASE)
"""How the parts of a split model are named (llama.cpp, tools/gguf-split): number and count."""
BY_PRODUCT = re.compile(r"(^|[-_.])(mmproj|imatrix)([-_.]|$)", re.IGNORECASE)
"""Projectors of images, and matrices that quantisation was guided by: not models to chat with."""
_DEEPEST = 12
"""Depth of folders; without a limit, a link that leads up again would have no end."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One model as it lies on a disk.

    Attributes:
        path: The file to load; of a split model the first part.
        parts: All files of it, in order.
        n_parts: How many there should be; more than `parts` when some are missing.
        n_bytes: Of all parts that are there.
        mtime_ns: When the newest part was changed.
        name: The file's name, or its name in the program that owns it.
        source: Where it comes from: "paceline" (downloaded by this program), "folder" (one that the
            user has named), "hugging-face", "lm-studio", "ollama" or "built-in".
    """

    path: Path
    parts: tuple[Path, ...]
    n_parts: int
    n_bytes: int
    mtime_ns: int
    name: str
    source: str = "folder"

    @property
    def is_complete(self) -> bool:
        """Whether no part is missing."""
        return len(self.parts) == self.n_parts

    @property
    def what_is_missing(self) -> str:
        """One sentence about parts that are not there; empty: it is complete."""
        if self.is_complete:
            return ""
        return f"Only {len(self.parts)} of its {self.n_parts} parts are here."


def find_models(
    folder: Path, *, source: str = "folder", is_stopped: Callable[[], bool] = lambda: False
) -> Iterator[ModelFile]:
    """Yield the models in a folder and the folders below it, as they are found.

    What cannot be read is skipped. The same file under several names (the cache of Hugging Face
    links each revision to it) is yielded once.

    Args:
        folder: Where to look; may be missing.
        source: The value of `ModelFile.source`.
        is_stopped: Polled for every folder; true ends the search.
    """
    seen: set[tuple[int, int]] = set()
    waiting = [(folder, 0)]
    while waiting and not is_stopped():
        place, depth = waiting.pop()
        files: list[Path] = []
        for path, is_folder in _entries(place):
            if is_folder and depth < _DEEPEST:
                waiting.append((path, depth + 1))
            elif path.name.lower().endswith(".gguf") and not BY_PRODUCT.search(path.stem):
                files.append(path)
        for parts, n_parts in _grouped(files):
            model = _model(parts, n_parts, source, seen)
            if model is not None:
                yield model


def model_at(path: Path) -> ModelFile:
    """Return the model that a file belongs to: any part of a split one leads to all of them.

    Raises:
        ModelError: There is no such file, or it is a folder.
    """
    path = path.absolute()
    part = PART.search(path.name)
    files = [path]
    if part is not None:
        start = path.name[: part.start()]
        files = [
            other
            for other, _ in _entries(path.parent)
            if (found := PART.search(other.name))
            and found[2] == part[2]
            and other.name[: found.start()] == start
        ] or files
    model = _model(files, int(part[2]) if part else 1, "folder", set())
    if model is None:
        # pathlib's raises for a name that is too long.
        is_folder = os.path.isdir(path)  # noqa: PTH112
        what = "is a folder" if is_folder else "is not there, or cannot be read"
        raise ModelError(
            "file-not-found", f"“{path.name}” {what}.", "Choose a file that ends in .gguf."
        )
    return model


def _entries(folder: Path) -> list[tuple[Path, bool]]:
    """Return what is in a folder, by name, and whether it is a folder to look into."""
    try:
        with os.scandir(folder) as entries:
            # A link to a file counts as one; a link to a folder may lead anywhere.
            found = [(Path(e.path), e.is_dir(follow_symlinks=False)) for e in entries]
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return []
    return sorted(found)


def _grouped(files: Iterable[Path]) -> Iterator[tuple[list[Path], int]]:
    """Yield the files of each model and how many there should be."""
    splits: dict[tuple[str, str], list[Path]] = {}
    for path in files:
        part = PART.search(path.name)
        if part is None:
            yield [path], 1
        else:
            splits.setdefault((path.name[: part.start()], part[2]), []).append(path)
    for (_, count), parts in splits.items():
        yield sorted(parts), int(count)


def _model(
    parts: list[Path], n_parts: int, source: str, seen: set[tuple[int, int]]
) -> ModelFile | None:
    try:
        stats = [path.stat() for path in parts]
    except (OSError, ValueError):  # it was deleted, is a broken link, or has a NUL in its name
        return None
    if not all(os.path.isfile(path) for path in parts):  # noqa: PTH113  a pipe would hang a reader
        return None
    identity = stats[0].st_dev, stats[0].st_ino
    if identity in seen:
        return None
    seen.add(identity)
    first = parts[0]
    part = PART.search(first.name)
    return ModelFile(
        path=first,
        parts=tuple(parts),
        n_parts=max(n_parts, len(parts)),
        n_bytes=sum(stat.st_size for stat in stats),
        mtime_ns=max(stat.st_mtime_ns for stat in stats),
        name=first.name[: part.start()] if part else first.stem,
        source=source,
    )
