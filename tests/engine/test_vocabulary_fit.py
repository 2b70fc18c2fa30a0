"""Vocabularies of draft models that fit a target without translation, by llama.cpp's rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.model.vocabularies import vocabulary_mismatch


class Words:
    """A vocabulary of numbered words."""

    kind = 2
    eog = frozenset({1})

    def __init__(self, n: int = 300, **changes: object) -> None:
        self.n_tokens = n
        self.bos, self.eos = 0, 1
        self.add_bos, self.add_eos = True, False
        self.texts: dict[int, bytes] = {}
        for name, value in changes.items():
            setattr(self, name, value)

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        raise NotImplementedError

    def piece(self, token: int) -> bytes:
        raise NotImplementedError

    def text(self, token: int) -> bytes:
        assert 0 <= token < self.n_tokens
        return self.texts.get(token, f"word{token}".encode())


@pytest.mark.parametrize(
    "draft",
    [
        Words(300 + 128),
        Words(300 - 128),
        Words(texts=dict.fromkeys(range(5), b"other")),  # special ones may be named otherwise
        Words(eos=7),  # not added by either, so it does not matter
    ],
    ids=["128 more", "128 fewer", "first five", "unused eos"],
)
def test_small_differences_are_allowed(draft: Words) -> None:
    assert vocabulary_mismatch(Words(), draft) is None
    assert vocabulary_mismatch(draft, Words()) is None


@pytest.mark.parametrize(
    ("draft", "code", "words"),
    [
        (Words(kind=1), "vocabulary-kind", "byte-pair encoding, SentencePiece"),
        (Words(kind=9), "vocabulary-kind", "byte-pair encoding, kind 9"),
        (Words(300 + 129), "vocabulary-size", "300 and 429 tokens"),
        (Words(300 - 129), "vocabulary-size", "300 and 171 tokens"),
        (Words(bos=3), "bos-differs", "their BOS tokens differ: 0 and 3"),
        (Words(add_bos=False), "bos-differs", "the main model begins a text with the BOS token"),
        (Words(add_eos=True), "eos-differs", "the draft model ends a text with the EOS token"),
        (Words(texts={5: b"other"}), "token-differs", "token 5 is “word5” in the main model"),
        (Words(texts={299: b"\xff"}), "token-differs", "and “�” in the draft"),
    ],
)
def test_everything_else_is_a_reason(draft: Words, code: str, words: str) -> None:
    reason = vocabulary_mismatch(Words(), draft)
    assert reason is not None
    assert reason.code == code
    assert words in reason.text
    assert not reason.text.endswith(".")
    turned = vocabulary_mismatch(draft, Words())
    assert turned is not None
    assert turned.code == code
    assert turned.token == reason.token


def test_an_added_eos_must_be_the_same() -> None:
    target = Words(add_eos=True)
    assert vocabulary_mismatch(target, Words(add_eos=True)) is None
    other = vocabulary_mismatch(target, Words(add_eos=True, eos=7))
    assert other is not None
    assert other.text == "their EOS tokens differ: 1 and 7"


def test_texts_that_would_look_alike_are_shown_as_bytes() -> None:
    other = vocabulary_mismatch(Words(texts={9: b"\xfe"}), Words(texts={9: b"\xff"}))
    assert other is not None
    assert r"“\xfe” in the main model and “\xff” in the draft model" in other.text


def test_a_long_text_is_cut_to_where_it_differs() -> None:
    long = b"a" * 5000
    other = vocabulary_mismatch(Words(texts={9: long + b"b"}), Words(texts={9: long + b"c"}))
    assert other is not None
    assert "b” in the main model" in other.text
    assert "c” in the draft" in other.text
    assert len(other.text) < 200


def by_hand(target: Words, draft: Words) -> tuple[str, int] | None:
    """The rules one after the other, token by token."""
    if target.kind != draft.kind:
        return "vocabulary-kind", -1
    if target.add_bos != draft.add_bos or (target.add_bos and target.bos != draft.bos):
        return "bos-differs", -1
    if target.add_eos != draft.add_eos or (target.add_eos and target.eos != draft.eos):
        return "eos-differs", -1
    if abs(target.n_tokens - draft.n_tokens) > 128:
        return "vocabulary-size", -1
    for token in range(5, min(target.n_tokens, draft.n_tokens)):
        if target.text(token) != draft.text(token):
            return "token-differs", token
    return None


WORDS = st.builds(
    Words,
    n=st.sampled_from([3, 5, 6, 100, 133, 134, 135, 229]),
    kind=st.sampled_from([1, 2]),
    bos=st.sampled_from([-1, 0]),
    eos=st.sampled_from([1, 2]),
    add_bos=st.booleans(),
    add_eos=st.booleans(),
    texts=st.dictionaries(st.integers(0, 230), st.binary(max_size=3), max_size=2),
)


@given(WORDS, WORDS)
def test_the_rules_by_hand_agree(target: Words, draft: Words) -> None:
    found = vocabulary_mismatch(target, draft)
    assert (found and (found.code, found.token)) == by_hand(target, draft)


@given(WORDS, st.dictionaries(st.integers(0, 230), st.binary(max_size=3), max_size=2))
def test_the_rules_by_hand_agree_about_texts(target: Words, texts: dict[int, bytes]) -> None:
    draft = Words(target.n_tokens, **{**vars(target), "texts": texts})
    found = vocabulary_mismatch(target, draft)
    assert (found and (found.code, found.token)) == by_hand(target, draft)
