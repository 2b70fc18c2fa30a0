"""The JSON form: every message comes back equal, and nothing else comes through."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from any_message import any_message
from message_samples import MESSAGES, required, sample
from paceline import messages
from paceline.codec import CodecError, decode, decode_known, encode

ANY = messages.Command | messages.Event
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


def through_json(message: Any) -> Any:
    return json.loads(json.dumps(encode(message)))


@given(any_message())
def test_every_message_survives_json(message: Any) -> None:
    back = decode(ANY, through_json(message))
    assert back == message
    assert type(back) is type(message)


@pytest.mark.parametrize("cls", MESSAGES)
def test_the_name_of_the_type_is_part_of_the_data(cls: type) -> None:
    assert encode(sample(cls))["type"] == cls.__name__
    assert decode(ANY, through_json(sample(cls))) == sample(cls)


@given(JSON)
def test_garbage_is_refused(data: Any) -> None:
    with pytest.raises(CodecError):
        decode(ANY, data)


@given(any_message(), st.data())
def test_a_message_with_one_wrong_value_is_refused_or_means_what_it_says(
    message: Any, data: st.DataObject
) -> None:
    encoded = through_json(message)
    key = data.draw(st.sampled_from(sorted(encoded)))
    encoded[key] = data.draw(JSON)
    try:
        decoded = decode(ANY, encoded)
    except CodecError:
        return
    # What was accepted must fit its types: it encodes to the same data again.
    assert json.dumps(encode(decoded), sort_keys=True) == json.dumps(
        _with_floats(decoded, encoded), sort_keys=True
    )


def _with_floats(decoded: Any, encoded: dict[str, Any]) -> dict[str, Any]:
    """Write ints as floats where the message has floats, and defaults where a field is missing."""
    filled = {**encode(decoded), **encoded}
    return _like(encode(decoded), filled)


def _like(model: Any, value: Any) -> Any:
    if isinstance(model, float) and isinstance(value, int):
        return float(value)
    if isinstance(model, dict) and isinstance(value, dict):
        return {key: _like(model[key], value.get(key, model[key])) for key in model}
    if isinstance(model, list) and isinstance(value, list):
        return [_like(m, v) for m, v in zip(model, value, strict=True)]
    return value


@pytest.mark.parametrize("cls", MESSAGES)
def test_a_missing_required_field_is_refused(cls: type) -> None:
    for name, is_required in required(cls).items():
        data = through_json(sample(cls))
        del data[name]
        if is_required:
            with pytest.raises(CodecError, match=name):
                decode(ANY, data)
        else:
            assert isinstance(decode(ANY, data), cls)


@pytest.mark.parametrize("cls", MESSAGES)
def test_an_unknown_field_is_refused(cls: type) -> None:
    with pytest.raises(CodecError, match="extra"):
        decode(ANY, {**through_json(sample(cls)), "extra": 1})


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (None, "must be an object"),
        ([], "must be an object"),
        ({}, "type is missing"),
        ({"type": None}, "type must be a text"),
        ({"type": []}, "type must be a text"),
        ({"type": "ModelParams"}, "type cannot be 'ModelParams'"),  # a value, not a message
        ({"type": "Tune", "strategy": "off"}, "strategy must be an object"),
        ({"type": "Tune", "strategy": ["off"]}, "strategy must be an object"),
        ({"type": "PrefillProgressed", "n_done": True, "n_total": 2}, "n_done must be"),
        ({"type": "PrefillProgressed", "n_done": 1.0, "n_total": 2}, "n_done must be"),
        ({"type": "LoadProgressed", "stage": "both", "fraction": 0.5}, "stage cannot be 'both'"),
        ({"type": "LoadProgressed", "stage": ["target"], "fraction": 0.5}, "stage must be a text"),
        ({"type": "LoadProgressed", "stage": "target", "fraction": "0.5"}, "fraction must be"),
        ({"type": "LoadProgressed", "stage": "target", "fraction": True}, "fraction must be"),
        ({"type": "LoadProgressed", "stage": "target", "fraction": 10**400}, "fraction must be"),
        ({"type": "StartTurn"}, "prompt is missing"),
        ({"type": "StartTurn", "prompt": "hi"}, "prompt must be an object"),
        ({"type": "StartTurn", "prompt": {"type": "Text", "text": "hi"}}, "prompt.type cannot be"),
        ({"type": "StartTurn", "prompt": {"type": "Tokens", "ids": [1, "2"]}}, "prompt.ids[1]"),
        (
            {"type": "StartTurn", "prompt": {"type": "Chat", "messages": [["user", "hi"]]}},
            "prompt.messages[0] must be an object",
        ),
        (
            {
                "type": "StartTurn",
                "prompt": {"type": "RawText", "text": "hi"},
                "sampling": {"temperature": 1.0, "heat": 2},
            },
            "sampling.heat is not known",
        ),
    ],
)
def test_data_that_is_nearly_a_message_is_refused(data: Any, error: str) -> None:
    with pytest.raises(CodecError, match=f"^{re.escape(error)}"):
        decode(ANY, data)


def test_the_error_names_the_place() -> None:
    data = through_json(sample(messages.StepCommitted))
    data["tokens"][0]["confidence"] = "high"
    with pytest.raises(CodecError, match=r"^tokens\[0\]\.confidence must be a number"):
        decode(ANY, data)


def test_every_union_in_the_messages_is_known_to_the_codec() -> None:
    names = {cls.__name__ for cls in (*get_args(messages.Command), *get_args(messages.Event))}
    assert len(names) == len(MESSAGES)


@dataclasses.dataclass(frozen=True)
class Record:
    """A struct that is no message, but has the same kinds of fields."""

    pair: tuple[str, int]
    pairs: tuple[tuple[int, float], ...] = ()


def test_tuples_of_a_fixed_length() -> None:
    record = Record(("a", 1), ((2, 0.5), (3, 1.0)))
    assert decode(Record, json.loads(json.dumps(encode(record)))) == record


@pytest.mark.parametrize(
    "data",
    [
        {"pair": ["a"]}, {"pair": ["a", 1, 2]}, {"pair": [1, "a"]}, {"pair": "a1"}, {"pair": None},
        {"pair": ["a", 1], "pairs": [[1]]}, {"pair": ["a", 1], "pairs": [1, 2]},
        {"pair": ["a", True]},
    ],
)  # fmt: skip
def test_tuples_that_do_not_fit(data: Any) -> None:
    with pytest.raises(CodecError, match=r"must be a (list|text|whole number)"):
        decode(Record, data)


class Words(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """A kind of part."""

    text: str


class Sound(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """Another one, of parts of its own."""

    samples: tuple[int, ...]
    words: Words | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Note:
    """A value that has parts of several kinds."""

    parts: tuple[Words | Sound, ...]
    best: Words | Sound | None = None


def any_part() -> st.SearchStrategy[Words | Sound]:
    words = st.builds(Words, st.text())
    numbers = st.lists(st.integers(), max_size=3).map(tuple)
    return words | st.builds(Sound, numbers, st.none() | words)


@given(st.builds(Note, st.lists(any_part(), max_size=3).map(tuple), st.none() | any_part()))
def test_a_value_of_one_of_several_kinds_keeps_its_kind(note: Note) -> None:
    assert decode(Note, through_json(note)) == note
    assert decode_known(Note, json.loads(json.dumps(encode(note)))) == note


@pytest.mark.parametrize(
    ("part", "place"),
    [
        ("x", "parts[1]"),
        ({"text": "x"}, "parts[1]"),
        ({"type": "Picture", "text": "x"}, "parts[1]"),
        ({"type": ["Words"], "text": "x"}, "parts[1]"),
        ({"type": "Words"}, "parts[1]"),
        ({"type": "Words", "text": 1}, "parts[1].text"),
        ({"type": "Words", "text": "x", "extra": 1}, "parts[1]"),
        ({"type": "Sound", "samples": [1, True]}, "parts[1].samples[1]"),
        ({"type": "Sound", "samples": [1.0]}, "parts[1].samples[0]"),
        ({"type": "Sound", "samples": [], "words": {"type": "Sound"}}, "parts[1].words"),
    ],
)
def test_a_value_of_no_kind_is_refused(part: Any, place: str) -> None:
    data = {"parts": [{"type": "Words", "text": "x"}, part]}
    with pytest.raises(CodecError, match=re.escape(place)):
        decode(Note, data)
