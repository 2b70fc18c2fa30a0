"""Parts that the tests of schemas have in common."""

from __future__ import annotations

import pytest

from paceline.engine.model.backend import VocabularyFile


@pytest.fixture
def vocab(demo_vocab: VocabularyFile) -> VocabularyFile:
    """The demo pair's vocabulary."""
    return demo_vocab
