"""Models as lists have them, for tests of what shows them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

from catalog.made_models import CARD
from paceline.catalog.judge.curated import CuratedPair, Gain, ReportSource
from paceline.catalog.local.library import LibraryEntry
from paceline.catalog.local.model_files import ModelFile
from paceline.gui.models.candidates import Candidate

if TYPE_CHECKING:
    from paceline.catalog.card import ModelCard


TARGET = Candidate(
    "/m/target.gguf", "Target 7B", n_bytes=4_700_000_000, n_params=7_600_000_000, vocabulary="q"
)
DRAFT = replace(TARGET, reference="/m/draft.gguf", title="Draft", n_params=500_000_000)
PAIR = CuratedPair(
    title="Wolf 7B",
    target_repo="o/Wolf-7B-GGUF",
    target_file="Wolf-7B-Q4_K_M.gguf",
    target_bytes=4_700_000_000,
    target_words=("wolf",),
    target_architecture="llama",
    target_params=(7_000_000_000, 8_000_000_000),
    draft_repo="o/Wolf-0.5B-GGUF",
    draft_file="Wolf-0.5B-Q8_0.gguf",
    draft_bytes=531_000_000,
    about=("target_bytes",),
    active=None,
    acceptance=None,
    gain=Gain("1.5 times as fast on a laptop", "code", 0.0),
    evidence=ReportSource("https://example.org/wolf", "2026-01-02"),
    vocabulary_checked=None,
    least_memory=6_000_000_000,
)


def card(**changes: Any) -> ModelCard:
    """Return the facts of a header, with these changes."""
    return structs.replace(CARD, **changes)


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
