"""A sentence is its English text, and keeps its template and arguments wherever it is taken."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.codec import CodecError, decode, encode
from paceline.errors import ModelError, UserError, ValueOutOfRangeError, refuse
from paceline.messages import LoadFailed
from paceline.sentence import Sentence, joined, sentence

ERROR = ModelError(
    "bad-file",
    "“{name}” has {size:size}, and {n:,} parts: {why}",
    "Give at most {n:,}.",
    name=Path("a{b}.gguf"),
    size=1_500_000_000,
    n=4_096,
    why=sentence("{what} is missing.", what="{x}"),
)
TEXT = "“a{b}.gguf” has 1.5 GB, and 4,096 parts: {x} is missing."


def test_an_error_is_its_english_text() -> None:
    assert (ERROR.message, ERROR.hint) == (TEXT, "Give at most 4,096.")
    assert str(ERROR) == f"{TEXT} Give at most 4,096."
    assert json.loads(json.dumps(ERROR.message)) == TEXT
    assert type(str(ERROR.message)) is str


def test_braces_without_arguments_are_braces() -> None:
    assert UserError("x", "as {“type”: 1, …}").message == "as {“type”: 1, …}"


def test_what_cannot_be_formatted_stands_as_it_is() -> None:
    assert sentence("{n:,} of {m} {n.real}", n="three") == "three of {m} {n.real}"


def test_no_width_fills_the_memory() -> None:
    assert sentence("{a:2000000000} {b:{a}}", a=2_000_000_000, b=3) == "2000000000 3"


def test_a_refusal_has_arguments() -> None:
    with pytest.raises(ValueOutOfRangeError, match="at most 5") as raised:
        refuse("{name} is {value}.", "Give at most {most}.", name="n", value=6, most=5)
    assert raised.value.message.arguments == {"name": "n", "value": 6, "most": 5}


def test_joined_sentences_stay_sentences() -> None:
    one, two = sentence("One."), sentence("{n} more.", n=2)
    both = joined([one, two])
    assert both == "One. 2 more."
    assert list(both.arguments.values()) == [one, two]
    assert joined(["{a}", "b"], "{,} ") == "{a}{,} b"


def _parts(of: Sentence) -> object:
    return of.template, {
        name: _parts(value) if isinstance(value, Sentence) else value
        for name, value in of.arguments.items()
    }


_ARGUMENTS = st.recursive(
    st.text() | st.integers() | st.floats(allow_nan=False),
    lambda inner: st.builds(lambda value: sentence("{a}; {{}}", a=value), inner),
)


@given(_ARGUMENTS)
def test_it_goes_between_processes(value: str | float) -> None:
    event = LoadFailed("code", sentence("“{a}” is {b:,} {{", a=value, b=value), "{hint}")
    for found in (
        decode(LoadFailed, json.loads(json.dumps(encode(event)))),
        pickle.loads(pickle.dumps(event)),
        copy.deepcopy(event),
    ):
        assert found == event
        assert isinstance(found.message, Sentence)
        assert _parts(found.message) == _parts(event.message)


def test_errors_are_pickled_with_their_arguments() -> None:
    found = pickle.loads(pickle.dumps(ERROR))
    assert (found.code, found.message, found.hint) == (ERROR.code, ERROR.message, ERROR.hint)
    assert _parts(found.message) == _parts(ERROR.message)


@pytest.mark.parametrize(
    "message",
    [
        {"template": "{", "arguments": {"a": 1}},
        {"template": 1, "arguments": {}},
        {"template": "x"},
        {"template": "x", "arguments": {"a": None}},
        {"template": "x", "arguments": {"a": True}},
        {"template": "x", "arguments": {}, "more": 1},
        {"template": "{a}{a}", "arguments": {"a": {"template": "b", "arguments": {}}}},
        {"template": "{a}{a:,}{a:size}", "arguments": {"a": "b"}},
    ],
)
def test_what_is_no_sentence_is_refused(message: object) -> None:
    data = {"type": "LoadFailed", "code": "c", "message": message, "hint": ""}
    with pytest.raises(CodecError, match="message"):
        decode(LoadFailed, data)
