"""Models as the library has them, for tests of what shows them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalog.made_models import CARD
from paceline.catalog.local.library import LibraryEntry
from paceline.catalog.local.model_files import ModelFile

if TYPE_CHECKING:
    from paceline.catalog.card import ModelCard


def card(**changes: Any) -> ModelCard:
    """What a header says, with these changes."""
    return replace(CARD, **changes)


def entry(
    name: str,
    card: ModelCard | None = CARD,
    *,
    folder: Path = Path("/models"),
    n_bytes: int = 10,
    source: str = "folder",
    problem: str = "",
) -> LibraryEntry:
    """A model with this name."""
    path = folder / f"{name}.gguf"
    file = ModelFile(path, (path,), 1, n_bytes, 0, name, source)
    return LibraryEntry(file, None if problem else card, problem)
