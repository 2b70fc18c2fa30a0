"""A walk ends where the grammar allows it, and reports if it does not end."""

from __future__ import annotations

import json
import random
from collections.abc import Collection

import pytest

from engine.token_grammar import TokenGrammar, one_of
from fake_model import EOG, ByteVocabulary
from schemas.walks import BIASES, WalkError, walk

ANY = frozenset(range(256))


def texts_in_lists(text: tuple[int, ...]) -> Collection[int]:
    """Allow ``["any text", …]``, by the bytes so far."""
    data = bytes(text)
    if not data:
        return b"["
    if data.count(b'"') % 2:
        return ANY - {ord("\\"), *range(32)}
    return {ord("["): b'"]', ord('"'): b",]", ord(","): b'"'}.get(data[-1], (EOG,))


@pytest.mark.parametrize("bias", list(BIASES))
def test_a_walk_gives_a_text_of_the_grammar(bias: str) -> None:
    for seed in range(5):
        rng = random.Random(seed)
        text = walk(TokenGrammar(texts_in_lists), ByteVocabulary(), rng, limit=50, bias=bias)
        assert text is not None
        data = text.encode(errors="surrogateescape").decode(errors="replace")
        assert isinstance(json.loads(data), list)


def test_walks_differ_by_their_seed_alone() -> None:
    vocab = ByteVocabulary()
    texts = [
        walk(TokenGrammar(texts_in_lists), vocab, random.Random(seed)) for seed in (1, 1, 2, 3, 4)
    ]
    assert texts[0] == texts[1]
    assert len(set(texts)) > 2


def test_a_walk_ends_beyond_its_limit() -> None:
    text = walk(
        TokenGrammar(texts_in_lists), ByteVocabulary(), random.Random(1), limit=20, bias="endless"
    )
    assert text is not None
    assert 20 <= len(text.encode(errors="surrogateescape")) <= 24


def test_what_never_ends_is_cut() -> None:
    grammar = TokenGrammar(lambda _text: b"ab")
    assert walk(grammar, ByteVocabulary(), random.Random(1), limit=5) is None


def test_every_choice_is_reached() -> None:
    words = "yes", "no", "a\\b", "ünï"
    found = {
        walk(TokenGrammar(one_of(*words)), ByteVocabulary(), random.Random(seed))
        for seed in range(40)
    }
    assert found == set(words)


def test_bytes_that_make_no_character_are_kept() -> None:
    grammar = TokenGrammar(lambda text: (EOG,) if text else (0xC3,))
    assert walk(grammar, ByteVocabulary(), random.Random(1)) == "\udcc3"


def test_a_grammar_that_is_stuck_is_reported() -> None:
    grammar = TokenGrammar(lambda text: () if len(text) == 3 else b"x")
    with pytest.raises(WalkError, match=r"nothing is allowed after b'xxx'"):
        walk(grammar, ByteVocabulary(), random.Random(1))
    assert grammar.is_open
