"""Parts that the tests of calls have in common."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from paceline.engine.llama import LlamaBackend
from paceline.engine.model.backend import VocabularyFile


@pytest.fixture(scope="module")
def vocab(target_path: Path) -> Iterator[VocabularyFile]:
    """The demo pair's vocabulary."""
    vocab = LlamaBackend().load_vocabulary(str(target_path))
    yield vocab
    vocab.close()
