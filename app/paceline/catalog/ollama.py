"""Models that Ollama has downloaded: plain GGUF files under the names of their hashes.

Ollama keeps one manifest per model and tag, a JSON file that names its layers by their SHA-256; the
layer of the model's media type is a file that llama.cpp can load as it is. From 0.40 on manifests
lie in a second tree, as links into ``blobs``, and an older tree stays beside it. Everything here is
only read: the files belong to Ollama.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paceline.catalog.model_files import ModelFile

_MODEL_LAYER = "application/vnd.ollama.image.model"
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_TREES = ("manifests-v2", "manifests")
_HOSTS = ("ollama.com", "registry.ollama.ai")
_OFFICIAL = "library"
_MAX_MANIFEST = 1 << 20


def find_ollama_models(folder: Path) -> Iterator[ModelFile]:
    """Yield the models whose manifests lie below `folder`, the one with ``blobs`` in it.

    A manifest that cannot be understood, or whose file is missing, is passed over. One file under
    several tags is yielded once.
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
        # "latest" says nothing about a model.
        name = min(tags, key=lambda tag: tag.endswith(":latest"))
        yield ModelFile(blob, (blob,), 1, stat.st_size, stat.st_mtime_ns, name, "ollama")


def _files(folder: Path) -> Iterator[Path]:
    try:
        yield from (path for path in folder.rglob("*") if path.is_file())
    except OSError:
        return


def _model_digest(manifest: Path) -> str | None:
    """Return the hash of the model's layer; it becomes a file's name, so nothing else will do."""
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
    """Return what Ollama calls a model: ``llama3.2:1b``, or with its owner or host in front."""
    *place, tag = parts
    if place[:1] and place[0] in _HOSTS:
        place = place[2:] if place[1:2] == [_OFFICIAL] else place[1:]
    return f"{'/'.join(place)}:{tag}"
