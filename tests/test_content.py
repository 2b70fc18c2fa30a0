"""Contents of messages: tuples of parts, of which text is the first kind."""

from __future__ import annotations

import pickle

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.content import (
    Content,
    Text,
    appended,
    is_empty,
    joined,
    of_text,
    text_of,
    with_texts,
)

CONTENTS = st.lists(st.text().map(Text), max_size=4).map(tuple)


class Picture(msgspec.Struct, frozen=True, tag=True):
    """A kind that the program does not have."""

    digest: str

    @property
    def text(self) -> str:
        return ""


class Note(msgspec.Struct, frozen=True, tag=True):
    """Another one, with words that a prompt may have."""

    text: str


SEEN: tuple[Text | Picture, ...] = (Text("See "), Picture("ab"), Text("this"))


@given(st.text(), st.lists(st.text(), max_size=4))
def test_pieces_that_are_appended_are_one_text(first: str, pieces: list[str]) -> None:
    content = of_text(first)
    for piece in pieces:
        content = appended(content, piece)
    assert content == of_text(first + "".join(pieces))
    assert text_of(content) == first + "".join(pieces)


@given(CONTENTS, CONTENTS)
def test_two_texts_that_meet_become_one(first: Content, second: Content) -> None:
    both = joined(first, second)
    if not (first and second):
        assert both == first + second
        return
    between = Text(f"{first[-1].text}\n\n{second[0].text}")
    assert both == (*first[:-1], between, *second[1:])


@given(CONTENTS)
def test_a_content_is_empty_if_it_has_no_text(content: Content) -> None:
    assert is_empty(content) == (text_of(content) == "")
    assert text_of(with_texts(content, str.upper)) == text_of(content).upper()


@given(CONTENTS)
def test_a_content_travels(content: Content) -> None:
    assert pickle.loads(pickle.dumps(content)) == content
    data = msgspec.json.encode(msgspec.to_builtins(content))
    assert msgspec.json.decode(data, type=Content) == content
    assert hash(content) == hash(tuple(Text(part.text) for part in content))


@pytest.mark.parametrize("place", [0, 1, 2])
def test_another_kind_stays_where_it_stands(place: int) -> None:
    around = [Text("a"), Text("b")]
    content = (*around[:place], Picture("ab"), *around[place:])
    assert text_of(content) == "a\n\nb"
    assert not is_empty(content)
    assert not is_empty((Picture("ab"),))
    assert with_texts(content, str.upper)[place] == Picture("ab")
    assert appended(content, "c")[place] == Picture("ab")
    assert text_of(appended(content, "c")) == ("a\n\nbc" if place < 2 else "a\n\nb\n\nc")


def test_the_words_of_another_kind_count() -> None:
    content = (Text("a"), Note("b"))
    assert text_of(content) == "a\n\nb"
    assert with_texts(content, str.upper) == (Text("A"), Note("B"))
    assert appended(content, "c") == (*content, Text("c"))
    assert not is_empty((Note(""),))


def test_texts_on_both_sides_of_another_kind_are_not_joined() -> None:
    picture = (Picture("ab"),)
    assert joined(of_text("a"), (*picture, Text("b"))) == (Text("a"), *picture, Text("b"))
    assert joined((Text("a"), *picture), of_text("b")) == (Text("a"), *picture, Text("b"))
    assert joined(SEEN, SEEN) == (*SEEN[:2], Text("this\n\nSee "), *SEEN[1:])
    assert appended(SEEN[:2], "!") == (*SEEN[:2], Text("!"))


def test_a_content_with_several_kinds_is_read_back() -> None:
    data = msgspec.json.encode(SEEN)
    assert msgspec.json.decode(data, type=tuple[Text | Picture, ...]) == SEEN
    with pytest.raises(msgspec.ValidationError, match="Picture"):
        msgspec.json.decode(data, type=Content)
