"""Where models are searched on this computer: our own folder, the user's, other programs'.

Of the disk only two small files of LM Studio are read, and Ollama's manifests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paceline import paths as files_of_ours
from paceline.catalog.local.model_files import ModelFile
from paceline.errors import UserError
from paceline.paths import Paths

_POINTER = ".lmstudio-home-pointer"
_MAX_SETTINGS = 1 << 20


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
    """Whether a text can be the path of a folder; a relative path would be ambiguous."""
    return "\0" not in path and Path(path).is_absolute()


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_SETTINGS).decode("utf-8-sig", "replace")
    except OSError:
        return ""


_MODEL_LAYER = "application/vnd.ollama.image.model"
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_TREES = ("manifests-v2", "manifests")
_HOSTS = ("ollama.com", "registry.ollama.ai")
_OFFICIAL = "library"
_MAX_MANIFEST = 1 << 20


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
            data: Any = json.loads(file.read(_MAX_MANIFEST))
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
