"""A vocabulary's name is that of its texts, and of nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_model import ByteVocabulary
from paceline.engine.model.vocabularies import hash_of_texts, vocabulary_hash

TEXTS = st.lists(st.binary(max_size=4), max_size=6)


def test_a_vocabulary_is_named_by_its_texts() -> None:
    vocab = ByteVocabulary()
    texts = [vocab.text(token) for token in range(vocab.n_tokens)]
    assert vocabulary_hash(vocab) == hash_of_texts(texts)
    assert hash_of_texts(tuple(texts)) == hash_of_texts(texts)
    assert len(hash_of_texts(texts)) == 16
    assert int(hash_of_texts(texts), 16) > 0


@given(TEXTS, TEXTS)
def test_other_texts_give_another_name(one: list[bytes], other: list[bytes]) -> None:
    assert (hash_of_texts(one) == hash_of_texts(other)) == (one == other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([b"ab", b"c"], [b"a", b"bc"]),
        ([b"a"], [b"a", b""]),
        ([b""], []),
        ([b"a", b"b"], [b"b", b"a"]),
        ([b"\x00\x00\x00\x00"], [b"", b"", b"", b"", b""]),
    ],
)
def test_the_same_bytes_cut_otherwise(one: list[bytes], other: list[bytes]) -> None:
    assert hash_of_texts(one) != hash_of_texts(other)
