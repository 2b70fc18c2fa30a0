"""The reader of calls, over every form: what is written is read, however it comes in pieces."""

from __future__ import annotations

import string
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.calls.tools import TOOLS, Called, Read, read_of, written
from paceline.engine.calls.form import CallForm, TaggedArguments
from paceline.engine.calls.forms import BY_ID, FORMS, HERMES
from paceline.engine.calls.pieces import CallArguments, CallBegan, CallPiece
from paceline.engine.calls.reader import CallReader, merged

ALL = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.id)
WORDS = st.text(string.ascii_letters + " .,!?é€😀\n", max_size=40)
# What no value between tags can hold is their end; line breaks at its edges belong to the tags.
VALUES = st.text(string.ascii_letters + " \"'\\{}[]<>=,:é😀\n", max_size=30).map(str.strip)
CALLS = st.lists(
    st.one_of(
        st.builds(
            Called,
            st.just("get_weather"),
            st.fixed_dictionaries(
                {"city": VALUES},
                optional={
                    "days": st.integers(0, 30),
                    "unit": st.sampled_from("CF"),
                    "deep": st.booleans(),
                },
            ),
        ),
        st.builds(
            Called,
            st.just("get_weather_words"),
            st.fixed_dictionaries({"words": st.lists(VALUES, max_size=3)}),
        ),
        st.builds(
            Called, st.just("write"), st.fixed_dictionaries({"path": VALUES, "text": VALUES})
        ),
        st.just(Called("now", {})),
    ),
    min_size=1,
    max_size=3,
)


def pieces_of(form: CallForm, texts: Sequence[str], *, is_cut: bool = False) -> list[CallPiece]:
    """Return what a reader finds in a reply that comes in these texts."""
    reader = CallReader(form, TOOLS, lambda: "made-here")
    found = [piece for text in texts for piece in reader.add(text)]
    return merged([*found, *reader.finish(is_cut=is_cut)])


def cut(text: str, places: Sequence[int]) -> list[str]:
    """The text in pieces."""
    ends = sorted({min(place, len(text)) for place in places} | {0, len(text)})
    return [text[start:end] for start, end in pairwise(ends)]


def begins_a_reply(form: CallForm, before: str) -> str:
    """Texts that may stand before a call: nothing where its mark counts only at the beginning."""
    return "" if form.is_first else before


@ALL
@given(data=st.data())
def test_calls_are_read_as_they_were_written(form: CallForm, data: st.DataObject) -> None:
    calls = data.draw(CALLS)
    calls = calls if form.between else calls[:1]
    before = begins_a_reply(form, data.draw(WORDS))
    text = f"{before}\n\n" * bool(before) + written(form, calls)
    places = data.draw(st.lists(st.integers(0, len(text)), max_size=20))
    whole = pieces_of(form, [text])
    assert read_of(whole) == Read(before.rstrip() if before.strip() else "", calls, 0)
    assert pieces_of(form, cut(text, places)) == whole
    assert pieces_of(form, list(text)) == whole


@ALL
@given(data=st.data())
def test_a_reply_that_is_cut_ends_in_no_call(form: CallForm, data: st.DataObject) -> None:
    calls = data.draw(CALLS)
    calls = calls if form.between else calls[:1]
    text = written(form, calls)
    end = data.draw(st.integers(len(form.marks[0]), len(text)))
    pieces = pieces_of(form, list(text[:end]), is_cut=True)
    assert pieces == pieces_of(form, [text[:end]], is_cut=True)
    read = read_of(pieces)
    assert read.answer == ""
    assert read.calls == calls[: len(read.calls)]
    assert len(read.calls) + read.n_broken <= len(calls)


@ALL
@given(text=WORDS, places=st.lists(st.integers(0, 60), max_size=10))
def test_an_answer_without_calls_stays_as_it_is(
    form: CallForm, text: str, places: list[int]
) -> None:
    assert read_of(pieces_of(form, cut(text, places))) == Read(text, [], 0)


@ALL
def test_what_only_looks_like_a_call_is_text(form: CallForm) -> None:
    text = written(form, [Called("no_tool_of_ours", {"a": 1})])
    for end in (len(form.marks[0]), len(text) // 2, len(text)):
        for texts in ([text[:end]], list(text[:end])):
            assert read_of(pieces_of(form, texts)) == Read(text[:end], [], 0)


@ALL
def test_arguments_are_reported_before_the_call_ends(form: CallForm) -> None:
    text = written(form, [Called("write", {"path": "a", "text": "word " * 40})])
    reader = CallReader(form, TOOLS)
    n_told = [
        sum(isinstance(piece, (CallBegan, CallArguments)) for piece in reader.add(char))
        for char in text
    ]
    assert sum(n_told) > 150


@pytest.mark.parametrize("fence", ["```", "~~~~", "   ```json"])
def test_a_mark_in_a_fence_is_text(fence: str) -> None:
    call = written(HERMES, [Called("now", {})])
    text = f"As in\n{fence}\n{call}\n{fence.strip()[:4].rstrip('j')}\nthis."
    for texts in ([text], list(text)):
        assert read_of(pieces_of(HERMES, texts)) == Read(text, [], 0)


def test_a_mark_counts_after_a_fence_and_not_after_a_backtick() -> None:
    call = written(HERMES, [Called("now", {})])
    text = f"Not `{HERMES.marks[0]}` nor\n```\nx\n```\nbut\n{call}"
    for texts in ([text], list(text)):
        read = read_of(pieces_of(HERMES, texts))
        assert read == Read(text.removesuffix(call).rstrip(), [Called("now", {})], 0)


def test_text_after_calls_is_answer() -> None:
    call = written(HERMES, [Called("now", {})])
    text = f"One \n{call}\n\nTwo three\n{call}\n"
    for texts in ([text], list(text)):
        read = read_of(pieces_of(HERMES, texts))
        assert read == Read("OneTwo three", [Called("now", {})] * 2, 0)


def test_ids_are_the_models_where_it_writes_them_first() -> None:
    calls = [Called("now", {}), Called("now", {})]
    ids = {
        "command": ["0", "1"],
        "kimi": ["functions.now:0", "functions.now:1"],
        "mistral": ["0", "1"],
        "hermes": ["made-here"] * 2,
    }
    for name, expected in ids.items():
        pieces = pieces_of(BY_ID[name], [written(BY_ID[name], calls)])
        assert [piece.id for piece in pieces if isinstance(piece, CallBegan)] == expected


TAGGED = [f for f in FORMS if any(isinstance(each, TaggedArguments) for each in f.call)]


@pytest.mark.parametrize("form", TAGGED, ids=lambda form: form.id)
def test_values_between_tags_are_what_the_schema_says(form: CallForm) -> None:
    """A text of digits stays a text, and a number that may be a text, too, is a number."""
    calls = [
        Called("get_weather", {"city": "12", "days": 3}),
        Called("get_weather_words", {"words": ["true"], "most": None}),
    ]
    text = written(form, calls)
    assert read_of(pieces_of(form, [text])).calls == calls


def test_a_value_that_is_no_json_stays_a_text() -> None:
    form = BY_ID["qwen-coder"]
    text = written(form, [Called("get_weather", {"city": "Rome", "days": "three"})])
    read = read_of(pieces_of(form, [text]))
    assert read.calls == [Called("get_weather", {"city": "Rome", "days": "three"})]


def test_indented_text_keeps_its_blanks() -> None:
    form = BY_ID["qwen-coder"]
    code = "    def f():\n        pass\n\n    \n"
    text = written(form, [Called("write", {"path": "a.py", "text": code})])
    assert read_of(pieces_of(form, list(text))).calls[0].arguments["text"] == code
