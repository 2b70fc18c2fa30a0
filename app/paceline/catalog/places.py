"""Where models are looked for on this computer: our own folder, the user's, other programs'.

Nothing here touches the disk but two small files of LM Studio, which say where its models are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from paceline import paths as files_of_ours
from paceline.catalog.lm_studio import lm_studio_folders
from paceline.errors import UserError
from paceline.paths import Paths


@dataclass(frozen=True, slots=True)
class Place:
    """A folder that may hold models.

    Attributes:
        folder: May be missing.
        source: "paceline", "folder", "hugging-face", "lm-studio", "ollama" or "built-in"; see
            `ModelFile.source`.
    """

    folder: Path
    source: str


def places(
    paths: Paths, environ: Mapping[str, str], home: Path, own_folders: Sequence[Path]
) -> tuple[Place, ...]:
    """Return all folders that may hold models, in the order in which they are looked through.

    A file that lies in two of them belongs to the first one.

    Args:
        paths: The program's own folders.
        environ: The variables that move other programs' folders.
        home: The user's folder.
        own_folders: Those that the user has added.
    """
    try:
        built_in = [Place(files_of_ours.demo_pair()[0].parent, "built-in")]
    except UserError:  # a broken installation; whoever wants to load the demo pair will say so
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
        environ: The variables that move them.
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
