"""The first model that talks: SmolLM2-135M-Instruct, which `packaging/bring_starter.py` brings."""

from __future__ import annotations

from pathlib import Path

NAME = "SmolLM2 135M Instruct"
SOURCE = "https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct"
LICENCE = "https://www.apache.org/licenses/LICENSE-2.0"
FOLDER, STEM = "HuggingFaceTB/SmolLM2-135M-Instruct", "SmolLM2-135M-Instruct"


def find(models_dir: Path) -> Path | None:
    """Return the file of the starter, if it has been brought; see `Paths.models_dir`."""
    return next(iter(sorted((models_dir / FOLDER).glob(f"{STEM}-*.gguf"))), None)
