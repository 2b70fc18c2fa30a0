"""A name for a vocabulary by its content; whether two fit: `vocabulary_fit`."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from paceline.engine.backend import Vocabulary


def vocabulary_hash(vocab: Vocabulary) -> str:
    """Return 16 hex digits that are the same for vocabularies whose tokens have the same texts."""
    return hash_of_texts([vocab.text(token) for token in range(vocab.n_tokens)])


def hash_of_texts(texts: Sequence[bytes]) -> str:
    """Return the vocabulary's hash from every token's text by id."""
    lengths = np.fromiter(map(len, texts), "<u4", len(texts))
    digest = hashlib.sha256(len(texts).to_bytes(4, "little"))
    digest.update(lengths.tobytes())
    digest.update(b"".join(texts))
    return digest.hexdigest()[:16]
