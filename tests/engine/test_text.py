"""Tokens to text: however the bytes are cut into tokens, the reader sees the same."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_model import EOG, ByteVocabulary
from paceline.engine.decode.text import TextAssembler


class Pieces(ByteVocabulary):
    """A vocabulary whose tokens are given pieces of bytes."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self.pieces = pieces

    def piece(self, token: int) -> bytes:
        return self.pieces[token]


def cut(data: bytes, places: Sequence[int]) -> list[bytes]:
    """Cut at places that may be equal: some pieces are then empty, as control tokens are."""
    edges = [0, *sorted(min(place, len(data)) for place in places), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(edges)]


PLACES = st.lists(st.integers(0, 60), max_size=40)
STOPPABLE = st.text("abé€", max_size=25)
STOPS = st.lists(st.text("abé€", max_size=4), min_size=1, max_size=3)
"""Stop texts, also empty ones, which mean nothing."""


def push_all(assembler: TextAssembler, n: int) -> tuple[str, bool]:
    """Push the tokens 0..n-1 until the reply ends; return what was shown."""
    shown, last_end, hit = "", 0, False
    for token in range(n):
        hit = assembler.push(token)
        assert assembler.text_end >= last_end
        last_end = assembler.text_end
        shown += assembler.take()
        assert assembler.text.startswith(shown), "what was shown was taken back"
        assert assembler.take() == "", "the same was shown twice"
        if hit:
            break
    shown += assembler.finish()
    assert assembler.text_end >= last_end
    assert assembler.finish() == ""
    return shown, hit


# --------------------------------------------------------------------------------- characters


@given(st.text(max_size=30), PLACES)
def test_any_split_gives_the_same_text(text: str, places: list[int]) -> None:
    pieces = cut(text.encode(), places)
    assembler = TextAssembler(Pieces(pieces))
    assert push_all(assembler, len(pieces)) == (text, False)
    assert assembler.text == text
    assert assembler.text_end == len(text)


@given(st.binary(max_size=40) | st.text(max_size=10).map(lambda t: t.encode()[1:-1]), PLACES)
def test_any_bytes_give_what_python_makes_of_them(data: bytes, places: list[int]) -> None:
    pieces = cut(data, places)
    expected = data.decode("utf-8", "replace")
    assembler = TextAssembler(Pieces(pieces))
    assert push_all(assembler, len(pieces)) == (expected, False)
    assert assembler.text == expected


def test_a_character_appears_with_its_last_byte() -> None:
    assembler = TextAssembler(ByteVocabulary())
    shown, ends = [], []
    for byte in "a€😀".encode():
        assembler.push(byte)
        ends.append(assembler.text_end)
        shown.append(assembler.take())
    assert shown == ["a", "", "", "€", "", "", "", "😀"]
    assert ends == [1, 1, 1, 2, 2, 2, 2, 3]


def test_control_tokens_are_silent() -> None:
    assembler = TextAssembler(ByteVocabulary(), ["b"])
    assert not assembler.push(ord("a"))
    assert not assembler.push(EOG)
    assert (assembler.take(), assembler.text_end) == ("a", 1)


# --------------------------------------------------------------------------------- stop texts


def first_stop(pieces: Sequence[bytes], stops: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The obvious way, with the stops that begin there: see the whole text after every token."""
    data = b""
    for piece in pieces:
        data += piece
        text = data.decode("utf-8", "ignore")  # the text is sound, so only its end can be open
        places = [text.index(stop) for stop in stops if stop and stop in text]
        if places:
            at = min(places)
            there = {stop for stop in stops if stop and text.startswith(stop, at)}
            return text[:at], tuple(sorted(there, key=len, reverse=True))
    return data.decode(), ()


@given(STOPPABLE, STOPS, PLACES)
def test_stop_texts_against_the_obvious_way(text: str, stops: list[str], places: list[int]) -> None:
    pieces = cut(text.encode(), places)
    assembler = TextAssembler(Pieces(pieces), stops)
    expected, stopped_by = first_stop(pieces, stops)
    assert push_all(assembler, len(pieces)) == (expected, bool(stopped_by))
    assert (assembler.text, assembler.stopped_by) == (expected, stopped_by)


@given(STOPPABLE, STOPS)
def test_only_the_beginning_of_a_stop_text_is_held_back(text: str, stops: list[str]) -> None:
    assembler = TextAssembler(ByteVocabulary(), stops)
    shown, seen = "", b""
    for byte in text.encode():
        if assembler.push(byte):
            return
        seen += bytes([byte])
        shown += assembler.take()
        held = seen.decode("utf-8", "ignore")[len(shown) :]
        assert not held or any(stop.startswith(held) for stop in stops)


def test_one_token_may_hold_the_stop_text_and_more() -> None:
    assembler = TextAssembler(Pieces([b"one", b" two<stop>three"]), ["<stop>", "three"])
    assert not assembler.push(0)
    assert assembler.push(1)
    assert assembler.take() == "one two"
    assert assembler.finish() == ""
    assert assembler.text == "one two"
    assert assembler.text_end == len("one two<stop>three")  # the places of tokens stay true


def test_held_back_text_and_an_open_character_appear_at_the_end() -> None:
    assembler = TextAssembler(Pieces([b"a<", b"\xe2\x82"]), ["<stop>"])
    assembler.push(0)
    assert assembler.take() == "a"
    assembler.push(1)
    assert assembler.take() == ""
    assert assembler.finish() == "<\ufffd"
    assert assembler.text == "a<\ufffd"


REASONED = {
    "opened by the prompt": ("<think>\n", "9.8 or\n", "\n</think>\n\n", "So"),
    "opened by the model": ("", "[THINK]9.8 or\n", "[/THINK]", "So"),
    "after blanks": ("", "\n<think>9.8 or\n", "</think>", "So"),
    "a channel": ("", "<|channel|>analysis<|message|>9.8 or\n", "<|end|>", "So"),
    "a channel and its header": (
        "",
        "<|channel|>analysis<|message|>9.8 or\n",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
        "So",
    ),
    "an answer in a frame": ("", "<think>9.8 or\n", "</think>\n<answer>\n", "So"),
    "twice": ("", "<think>a</think>\n<think>9.8 or\n", "</think>\n\n", "So"),
}


@pytest.mark.parametrize("stop", ["9.8", "\n", "9.8 or\n", "or", "<", "8"])
@pytest.mark.parametrize("name", REASONED)
def test_stop_texts_count_in_the_answer_alone(name: str, stop: str) -> None:
    opening, reasoning, closing, answer = REASONED[name]
    for width in (1, 3, 1000):
        data = f"{reasoning}{closing}{answer}{stop}more".encode()
        pieces = cut(data, range(width, len(data), width))
        assembler = TextAssembler(Pieces(pieces), [stop], opening)
        shown, hit = push_all(assembler, len(pieces))
        assert hit
        assert shown == assembler.text == f"{opening}{reasoning}{closing}{answer}"


@pytest.mark.parametrize("stop", ["</think>", "hm</think>\n", "</think>\n\nSo", "x</think>"])
@pytest.mark.parametrize("opening", ["", "<think>\n"])
def test_a_stop_text_that_holds_the_closing_mark_ends_the_reasoning(
    opening: str, stop: str
) -> None:
    text = "<think>\nhm</think>\n\nSo."
    data = text.removeprefix(opening).encode()
    for width in (1, 2, 5, 1000):
        pieces = cut(data, range(width, len(data), width))
        assembler = TextAssembler(Pieces(pieces), [stop], opening)
        shown, hit = push_all(assembler, len(pieces))
        assert hit == (stop in text)
        assert shown == assembler.text == text.partition(stop)[0]


@pytest.mark.parametrize("text", ["<thi", "<thistle>", "\n\nSo", "<|channel|>x", "[THINK"])
def test_what_only_looks_like_a_mark_is_answer(text: str) -> None:
    """Stop texts count in it, too, if only once it is known to be none."""
    for stop in {text[0], text[1:3], text}:
        assembler = TextAssembler(ByteVocabulary(), [stop])
        shown = ""
        for byte in text.encode():
            if assembler.push(byte):
                break
            shown += assembler.take()
        assert shown + assembler.finish() == assembler.text == text[: text.index(stop)]


@given(st.text("ab<>/think\n€", max_size=30), PLACES, st.sampled_from(["", "<think>\n"]))
def test_a_stop_text_never_ends_a_reasoning(text: str, places: list[int], opening: str) -> None:
    reasoning = text.replace("</think>", "")
    pieces = cut(f"<think>{reasoning}".removeprefix(opening.strip()).encode(), places)
    assembler = TextAssembler(Pieces(pieces), ["a", "b", "<", "\n", "€"], opening)
    shown, hit = push_all(assembler, len(pieces))
    assert not hit
    assert shown == assembler.text


def test_half_a_character_of_a_reply_that_was_cut_off_waits_with_its_token() -> None:
    pieces = Pieces(["a🎉b".encode()[:3], "a🎉b".encode()[3:]])
    assembler = TextAssembler(pieces)
    assembler.push(0)
    assert assembler.take() + assembler.finish(is_cut=True) == assembler.text == "a"
    again = TextAssembler(pieces)
    again.begin([0], "a")
    again.push(1)
    assert again.take() + again.finish() == "🎉b"
    assert again.text == "a🎉b"


def test_a_stop_text_that_began_in_an_earlier_part_takes_nothing_back() -> None:
    pieces = Pieces([b"So.", b" More"])
    assembler = TextAssembler(pieces, [". "])
    assembler.begin([0], "So.")
    assert assembler.push(1)
    assert assembler.take() + assembler.finish() == ""
    assert assembler.text == "So."
