"""Model files on this computer, split ones as one, without by-products; and the searched folders.

Of models only names and sizes are read here, besides two small files of LM Studio and Ollama's
manifests. Folders of other programs are only read. No Qt; meant for a worker, since a disk may be
slow.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paceline import paths as files_of_ours
from paceline.engine.model.model_file import PART, model_name, part_names
from paceline.errors import ModelError, UserError
from paceline.paths import Paths
from paceline.sentence import sentence

BY_PRODUCT = re.compile(r"(^|[-_.])(mmproj|imatrix)([-_.]|$)", re.IGNORECASE)
"""Names of image projectors and importance matrices, which are no models to chat with."""
_MAX_DEPTH = 12
"""Upper bound of the depth of folders that are searched."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One model as it lies on a disk.

    Attributes:
        path: The file to load; of a split model the first part.
        parts: All files of it, in order.
        n_parts: Number of parts of the whole model; more than `parts` if some are missing.
        n_bytes: Size of all parts that are there.
        mtime_ns: Time of the last change of any part, in nanoseconds since the epoch.
        name: The file's name, or its name in the program that owns it.
        source: Its origin: "paceline" (downloaded by this program), "folder" (one that the user has
            named), "hugging-face", "lm-studio", "ollama" or "built-in".
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
        """Return whether no part is missing."""
        return len(self.parts) == self.n_parts

    @property
    def what_is_missing(self) -> str:
        """One sentence about parts that are not there, or empty if it is complete."""
        if self.is_complete:
            return ""
        here = {part.name for part in self.parts}
        gone = [name for name in part_names(self.path.name) if name not in here]
        n_here, n_parts, more = len(self.parts), self.n_parts, len(gone) - 1
        if not gone:
            return sentence("Only {n} of its {n_parts} parts are here.", n=n_here, n_parts=n_parts)
        if not more:
            return sentence(
                "Only {n_here} of its {n_parts} parts are here; “{gone}” is missing.",
                n_here=n_here,
                n_parts=n_parts,
                gone=gone[0],
            )
        return sentence(
            "Only {n_here} of its {n_parts} parts are here; “{gone}” and {more} more are missing.",
            n_here=n_here,
            n_parts=n_parts,
            gone=gone[0],
            more=more,
        )


def find_models(
    folder: Path, *, source: str = "folder", is_stopped: Callable[[], bool] = lambda: False
) -> Iterator[ModelFile]:
    """Yield the models in a folder and the folders below it, as they are found.

    What cannot be read is skipped. The same file under several names (the cache of Hugging Face
    links each revision to it) is yielded once, and so is a folder that links lead to; links to a
    folder above the first one are not followed.

    Args:
        folder: The folder to search; may be missing.
        source: The value of `ModelFile.source`.
        is_stopped: Polled for every folder; true ends the search.
    """
    seen: set[tuple[int, int]] = set()
    entered = set(_identities_above(folder))
    waiting = [(folder, 0)]
    while waiting and not is_stopped():
        place, depth = waiting.pop()
        identity = _identity(place)
        if identity is None or identity in entered:
            continue
        entered.add(identity)
        files: list[Path] = []
        for path, is_folder in _entries(place):
            if is_folder and depth < _MAX_DEPTH:
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
        raise ModelError(
            "file-not-found",
            "“{name}” is a folder." if is_folder else "“{name}” is not there, or cannot be read.",
            "Choose a file that ends in .gguf.",
            name=path.name,
        )
    return model


def _entries(folder: Path) -> list[tuple[Path, bool]]:
    """Return what is in a folder, by name, and whether it is a folder to look into."""
    try:
        with os.scandir(folder) as entries:
            found = [(Path(e.path), _is_folder(e)) for e in entries]
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return []
    return sorted(found)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()  # or a link to one
    except OSError:  # a link to itself
        return False


def _identities_above(folder: Path) -> Iterator[tuple[int, int] | None]:
    try:
        above = Path(os.path.realpath(folder)).parents
    except (OSError, ValueError):
        return
    yield from map(_identity, above)


def _identity(folder: Path) -> tuple[int, int] | None:
    """Return device and inode of a folder, or None if there is none."""
    try:
        found = folder.stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


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
    return ModelFile(
        path=first,
        parts=tuple(parts),
        n_parts=max(n_parts, len(parts)),
        n_bytes=sum(stat.st_size for stat in stats),
        mtime_ns=max(stat.st_mtime_ns for stat in stats),
        name=model_name(first.name),
        source=source,
    )


_POINTER = ".lmstudio-home-pointer"
_MAX_SETTINGS_BYTES = 1 << 20


def lm_studio_folders(home: Path) -> tuple[Path, ...]:
    """Return the folders in which LM Studio may keep models, the likeliest first.

    Its home is named by a pointer file or is ``~/.lmstudio`` (``~/.cache/lm-studio`` before 0.3.6),
    as its own client library finds it (lmstudio-js, `findLMStudioHome`); the settings there may
    name another folder for models, ``downloadsFolder``, since its user may have moved it. Reads two
    small files at most; what cannot be understood is ignored.

    Args:
        home: The user's folder.
    """
    homes = [home / ".lmstudio", home / ".cache" / "lm-studio"]
    pointed = _text(home / _POINTER).strip()
    if _is_whole(pointed):
        homes.insert(0, Path(pointed))
    moved = [folder for studio in homes if (folder := _moved_to(studio)) is not None]
    usual = [studio / "models" for studio in homes]
    return tuple(dict.fromkeys((*moved, *usual)))


def _moved_to(studio: Path) -> Path | None:
    """Return the folder that LM Studio's settings name; None where they name none."""
    try:
        settings: Any = json.loads(_text(studio / "settings.json") or "{}")
    except (ValueError, RecursionError):
        return None
    folder = settings.get("downloadsFolder") if isinstance(settings, dict) else None
    return Path(folder) if isinstance(folder, str) and _is_whole(folder) else None


def _is_whole(path: str) -> bool:
    """Return whether a text can be the path of a folder; a relative path would be ambiguous."""
    return "\0" not in path and Path(path).is_absolute()


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_SETTINGS_BYTES).decode("utf-8-sig", "replace")
    except OSError:
        return ""


_MODEL_LAYER = "application/vnd.ollama.image.model"
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_TREES = ("manifests-v2", "manifests")
_HOSTS = ("ollama.com", "registry.ollama.ai")
_OFFICIAL = "library"
_MAX_MANIFEST_BYTES = 1 << 20


def find_ollama_models(folder: Path) -> Iterator[ModelFile]:
    """Yield the models whose manifests lie below `folder`, the one with ``blobs`` in it.

    Ollama keeps one manifest per model and tag, a JSON file that names its layers by their SHA-256;
    the layer of the model's media type is a GGUF file that llama.cpp can load as it is. From 0.40
    on manifests lie in a second tree, as links into ``blobs``, and an older tree stays beside it. A
    manifest that cannot be understood, or whose file is missing, is skipped. One file under several
    tags is yielded once.
    """
    names: dict[str, list[str]] = {}
    for tree in _TREES:
        manifests = folder / tree
        for path in sorted(_files(manifests)):
            digest = _model_digest(path)
            if digest is not None:
                name = _name(path.relative_to(manifests).parts)
                names.setdefault(digest, []).append(name)
    for digest, tags in names.items():
        blob = folder / "blobs" / f"sha256-{digest}"
        try:
            stat = blob.stat()
        except OSError:
            continue
        # "latest" does not identify a model.
        name = min(tags, key=lambda tag: tag.endswith(":latest"))
        yield ModelFile(blob, (blob,), 1, stat.st_size, stat.st_mtime_ns, name, "ollama")


def _files(folder: Path) -> Iterator[Path]:
    try:
        yield from (path for path in folder.rglob("*") if path.is_file())
    except OSError:
        return


def _model_digest(manifest: Path) -> str | None:
    """Return the hash of the model's layer, checked, since it becomes a file's name."""
    try:
        with manifest.open("rb") as file:
            data: Any = json.loads(file.read(_MAX_MANIFEST_BYTES))
        for layer in data["layers"]:
            if layer["mediaType"] == _MODEL_LAYER:
                digest = _DIGEST.fullmatch(layer["digest"])
                return digest[1] if digest else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    return None


def _name(parts: tuple[str, ...]) -> str:
    """Return Ollama's name of a model: ``llama3.2:1b``, or with its owner or host before it."""
    *place, tag = parts
    if place[:1] and place[0] in _HOSTS:
        place = place[2:] if place[1:2] == [_OFFICIAL] else place[1:]
    return f"{'/'.join(place)}:{tag}"


@dataclass(frozen=True, slots=True)
class Place:
    """A folder that may hold models.

    Attributes:
        folder: Its path; it may not exist.
        source: "paceline", "folder", "hugging-face", "lm-studio", "ollama" or "built-in"; see
            `ModelFile.source`.
    """

    folder: Path
    source: str


def places(
    paths: Paths, environ: Mapping[str, str], home: Path, own_folders: Sequence[Path]
) -> tuple[Place, ...]:
    """Return all folders that may hold models, in the order in which they are searched.

    A file that lies in two of them belongs to the first one.

    Args:
        paths: The program's own folders.
        environ: The environment variables that set other programs' folders.
        home: The user's folder.
        own_folders: Those that the user has added.
    """
    try:
        built_in = [Place(files_of_ours.demo_pair()[0].parent, "built-in")]
    except UserError:  # a broken installation; loading the demo pair will report it
        built_in = []
    return (
        Place(paths.models_dir, "paceline"),
        *(Place(folder, "folder") for folder in own_folders),
        *places_of_others(environ, home),
        *built_in,
    )


def places_of_others(environ: Mapping[str, str], home: Path) -> tuple[Place, ...]:
    """Return the folders in which other programs keep models.

    Args:
        environ: The environment variables that set them.
        home: The user's folder.
    """
    hub = [Place(folder, "hugging-face") for folder in _hub_folders(environ, home)]
    studio = [Place(folder, "lm-studio") for folder in lm_studio_folders(home)]
    ollama = [
        Place(Path(environ["OLLAMA_MODELS"]), "ollama")
        if environ.get("OLLAMA_MODELS")
        else Place(home / ".ollama" / "models", "ollama"),
        Place(Path("/usr/share/ollama/.ollama/models"), "ollama"),  # its service on Linux
    ]
    return (*hub, *studio, *ollama)


def _hub_folders(environ: Mapping[str, str], home: Path) -> list[Path]:
    """Return the caches of huggingface_hub and of llama.cpp, which share one by default."""
    folders = []
    if environ.get("LLAMA_CACHE"):
        folders.append(Path(environ["LLAMA_CACHE"]))
    if environ.get("HF_HUB_CACHE"):
        folders.append(Path(environ["HF_HUB_CACHE"]))
    elif environ.get("HF_HOME"):
        folders.append(Path(environ["HF_HOME"]) / "hub")
    else:
        cache = Path(environ.get("XDG_CACHE_HOME") or home / ".cache")
        folders.append(cache / "huggingface" / "hub")
    return folders
