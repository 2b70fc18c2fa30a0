"""Where other programs keep models on this computer; nothing here touches the disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Place:
    """A folder that may hold models.

    Attributes:
        folder: May be missing.
        source: "hugging-face", "lm-studio" or "ollama"; see `ModelFile.source`.
    """

    folder: Path
    source: str


def places_of_others(environ: Mapping[str, str], home: Path) -> tuple[Place, ...]:
    """Return the folders in which other programs keep models.

    Args:
        environ: The variables that move them.
        home: The user's folder.
    """
    hub = [Place(folder, "hugging-face") for folder in _hub_folders(environ, home)]
    studio = [
        Place(home / ".lmstudio" / "models", "lm-studio"),
        Place(home / ".cache" / "lm-studio" / "models", "lm-studio"),  # before 0.3.6
    ]
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
