"""Tokens of one vocabulary as those of another: bytes, rows, shares."""

from __future__ import annotations

import numpy as np
import pytest

from paceline.engine.model.translation import (
    MIN_SHARE,
    Translation,
    bytes_of_tokens,
    share_of,
    token_of_each_text,
    words_on_translation,
)
from paceline.engine.model.vocabularies import Mismatch
from paceline.errors import ValueOutOfRangeError
from paceline.messages import Translating

PLAIN = Translating()


class Words:
    """A vocabulary of given texts; its tokenizer takes the longest, and no byte where it can."""

    bos, eos, add_bos, add_eos = -1, -1, False, False
    eog = frozenset[int]()

    def __init__(self, *texts: str, kind: int = 2, bos: int = -1) -> None:
        self.texts = [text.encode() for text in texts]
        self.kind, self.bos, self.add_bos = kind, bos, bos >= 0

    @property
    def n_tokens(self) -> int:
        return len(self.texts)

    def text(self, token: int) -> bytes:
        return self.texts[token]

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        by_worth = sorted(range(self.n_tokens), key=lambda i: not self.texts[i].startswith(b"<0x"))
        written = bytes_of_tokens(self)
        ids = {written[token]: token for token in by_worth if written[token]}
        at, data, found = 0, text.encode(), []
        while at < len(data):
            n = next((n for n in range(len(data) - at, 0, -1) if data[at : at + n] in ids), 0)
            found.append(ids.get(data[at : at + n], 0))
            at += n or 1
        return found


def test_the_bytes_of_byte_level_tokens() -> None:
    words = Words("a", "Ġa", "ĠGrÃ¼ÃŁe", "Ċ", "<|end|>", "▁x", "  ", "⏎")
    expected = ["a", " a", " Grüße", "\n", "<|end|>", "▁x", "  ", "⏎"]
    assert bytes_of_tokens(words) == [text.encode() for text in expected]
    assert bytes_of_tokens(Words("Ġ", "ł", "Ħ")) == [b" ", b"\xa0", b"\x84"]


@pytest.mark.parametrize("kind", [1, 2])
def test_the_bytes_of_tokens_with_marked_spaces(kind: int) -> None:
    words = Words("▁a", "▁▁", "<0x0A>", "<0xZZ>", "é", "<s>", kind=kind)
    expected = [b" a", b"  ", b"\n", b"<0xZZ>", "é".encode(), b"<s>"]
    assert bytes_of_tokens(words) == expected


def test_a_row_goes_to_the_tokens_of_equal_bytes() -> None:
    target = Words("<0x61>", "b", "▁c", "a", "only here", kind=1)
    draft = Words("Ġc", "only there", "b", "a", "Ġ")
    translation = Translation(target, draft, PLAIN)
    assert translation.ids.tolist() == [1, 2, 3]
    row = translation.row(np.array([5, 9, -2, 1, 7], np.float32))
    assert row.tolist() == [-np.inf, -2, 5, 1, -np.inf]
    assert row.dtype == np.float32


@pytest.mark.parametrize("texts", [("<0x0A>", "\n"), ("\n", "<0x0A>")])
def test_of_tokens_with_equal_bytes_the_tokenizer_says_which(texts: tuple[str, str]) -> None:
    """Gemma 3 has its line break before the byte, most vocabularies have letters after theirs."""
    target = Words("b", "\n\n", *texts, kind=1)
    translation = Translation(target, Words("Ċ", "b"), PLAIN)
    assert translation.ids.tolist() == sorted((0, 2 + texts.index("\n")))


def test_what_the_tokenizer_cannot_tell_is_the_last_of_equals() -> None:
    class Mute(Words):
        def tokenize(self, text: str, *, special: bool) -> list[int]:
            return []

    assert token_of_each_text(Mute("x", "a", "a"), [b"x", b"a", b"a"]) == {b"x": 0, b"a": 2}
    part = b"\xc3"  # of a character, which no text consists of
    assert token_of_each_text(Words("a", "a"), [part, part]) == {part: 1}


def test_the_token_that_begins_a_text_is_never_drafted_or_read() -> None:
    target, draft = Words("<s>", "a", kind=1, bos=0), Words("a", "<s>")
    translation = Translation(target, draft, PLAIN)
    assert translation.written == [b"", b"a"]
    assert translation.ids.tolist() == [1]


def test_with_the_bridge_a_longer_token_stands_for_its_beginning() -> None:
    target = Words("un", "u", "n", "Ġ", "happy")
    draft = Words("unhappy", "u", "happy", "x", "Ġun")
    row = np.array([3, 1, 2, 9, 4], np.float32)
    off = Translation(target, draft, PLAIN).row(row)
    assert off.tolist() == [-np.inf, 1, -np.inf, -np.inf, 2]
    on = Translation(target, draft, Translating(bridges=True)).row(row)
    assert on.tolist() == [3, 1, -np.inf, 4, 2]
    strong = np.array([3, 7, 2, 9, 4], np.float32)
    assert Translation(Words("u"), draft, Translating(bridges=True)).row(strong).tolist() == [7]


def test_a_replacement_goes_both_ways() -> None:
    how = Translating((("<turn>", "<|im_start|>"), ("</turn>", "<|im_end|>")))
    target, draft = Words("<turn>", "</turn>", "a"), Words("a", "<|im_end|>", "<|im_start|>")
    assert Translation(target, draft, PLAIN).ids.tolist() == [2]
    row = Translation(target, draft, how).row(np.array([1, 2, 3], np.float32))
    assert row.tolist() == [3, 2, 1]


@pytest.mark.parametrize("pair", [("", "x"), ("x", "")])
def test_an_empty_replacement_is_refused(pair: tuple[str, str]) -> None:
    with pytest.raises(ValueOutOfRangeError):
        Translation(Words("a"), Words("a"), Translating((pair,)))


def test_the_share_counts_what_the_target_writes() -> None:
    letters = [chr(i) for i in range(33, 127)] + ["Ġ", "Ċ"]
    both = Words(*letters)
    assert share_of(both, both) == 1.0
    assert share_of(both, Words("é")) == 0.0
    more = Words(*letters, "Ġthe", "Ġof")
    without = share_of(more, both)
    assert 0.9 < without < 1.0
    assert share_of(both, more) == 1.0
    assert Translation(more, both, PLAIN).share == without
    assert share_of(Words("é"), both) == 0.0, "it cannot write the sample at all"


def test_words_say_whether_and_what_is_lost() -> None:
    differs = Mismatch(
        "token-differs", "token 7 is “a” in the main model and “b” in the draft model", 7
    )
    well = words_on_translation(differs, 0.87)
    assert well.startswith("Token 7 is “a” in the main model and “b” in the draft model. ")
    assert "87 %" in well
    assert "at least 13 % fewer right guesses" in well
    assert "Expect fewer right guesses" in words_on_translation(differs, 1.0)
    assert "cannot be translated" in words_on_translation(differs, MIN_SHARE - 0.01)
