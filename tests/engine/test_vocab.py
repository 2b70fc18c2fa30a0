"""Whose tokens a target may take: llama.cpp's rules."""

from __future__ import annotations

import pytest

from paceline.engine.vocab import vocabulary_mismatch


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


def test_equal_vocabularies_fit() -> None:
    assert vocabulary_mismatch(Words(), Words()) is None


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
    ("draft", "words"),
    [
        (Words(kind=1), "different kinds"),
        (Words(300 + 129), "300 and 429 tokens"),
        (Words(300 - 129), "300 and 171 tokens"),
        (Words(bos=3), "BOS"),
        (Words(add_bos=False), "BOS"),
        (Words(add_eos=True), "EOS"),
        (Words(texts={5: b"other"}), "token 5 is “word5” in the target and “other” in the draft"),
        (Words(texts={299: b"\xff"}), "token 299 is “word299” in the target and “�” in the draft"),
    ],
)
def test_everything_else_is_a_reason(draft: Words, words: str) -> None:
    reason = vocabulary_mismatch(Words(), draft)
    assert reason is not None
    assert words in reason
    assert vocabulary_mismatch(draft, Words()) is not None


def test_an_added_eos_must_be_the_same() -> None:
    target = Words(add_eos=True)
    assert vocabulary_mismatch(target, Words(add_eos=True)) is None
    assert "EOS" in (vocabulary_mismatch(target, Words(add_eos=True, eos=7)) or "")


def test_the_last_common_token_is_compared() -> None:
    longer = Words(310, texts={299: b"other"})
    assert vocabulary_mismatch(Words(), longer) is not None
    assert vocabulary_mismatch(Words(), Words(310, texts={300: b"other"})) is None
