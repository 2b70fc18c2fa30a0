"""Fixtures that the catalog's tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from paceline.catalog.inspect.inspector import Inspector
from shared_reader import Reading, lent

VOCABULARIES = "PACELINE_VOCABULARIES"
"""Names the folder ``models`` of llama.cpp's sources, where ``ggml-vocab-*.gguf`` lie."""


@pytest.fixture
def inspector(reading_process: Reading, tmp_path: Path) -> Iterator[Inspector]:
    """An inspector with an empty cache; its process is that of all tests of the file."""
    with lent(reading_process):
        inspector = Inspector(tmp_path / "cache")
    yield inspector
    inspector.close()


@pytest.fixture
def own_inspector(tmp_path: Path) -> Iterator[Inspector]:
    """An inspector with a process of its own."""
    inspector = Inspector(tmp_path / "cache")
    yield inspector
    inspector.close()


@pytest.fixture(scope="session")
def vocabularies() -> dict[str, Path]:
    """Real tokenizers without weights, by name, e.g. ``qwen2``."""
    folder = os.environ.get(VOCABULARIES)
    if not folder:
        pytest.skip(f"{VOCABULARIES} does not name the folder `models` of llama.cpp's sources")
    found = {
        path.stem.removeprefix("ggml-vocab-"): path
        for path in sorted(Path(folder).glob("ggml-vocab-*.gguf"))
    }
    assert found, f"there are no vocabularies in {folder}"
    return found
