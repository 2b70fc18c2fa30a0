from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.chat.presets import (
    MAX_NAME_CHARS,
    clean_name,
    free_name,
    presets_from_text,
    presets_to_text,
)
from paceline.errors import UserError
from paceline.params import LogitBias, ReplySettings, SamplingParams
from paceline.settings import MAX_PRESETS, ReplyPreset

PRESETS = (
    ReplyPreset(
        "Tutor",
        ReplySettings(
            SamplingParams(0.3, 20, 0.9, 0.0), 200, 2**53 - 1, "Be kind.", ("\n\n", "</s>")
        ),
    ),
    ReplyPreset(
        "Strict",
        ReplySettings(
            SamplingParams(
                logit_bias=(LogitBias(3, -math.inf), LogitBias(4, 1.5)),
                json_schema='{"type": "null"}',
            )
        ),
    ),
)


def test_a_file_gives_back_what_was_written() -> None:
    text = presets_to_text(PRESETS)
    assert presets_from_text(text) == PRESETS
    # Standard JSON: no Infinity, no NaN.
    json.loads(text, parse_constant=pytest.fail)
    assert presets_from_text("\n" + json.dumps(json.loads(text))) == PRESETS


def test_a_token_that_an_earlier_version_forbade_is_read() -> None:
    text = presets_to_text(PRESETS)
    assert presets_from_text(text.replace('"-Infinity"', '"-inf"')) == PRESETS


def changed(**values: Any) -> str:
    data = json.loads(presets_to_text(PRESETS[:1]))
    sampling = {**data["presets"][0]["sampling"], **values.pop("sampling", {})}
    data["presets"][0] = {**data["presets"][0], "sampling": sampling, **values}
    return json.dumps(data)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no JSON"),
        ('{"kind": ', "line 1, column 10"),
        ("[" * 100_000, "nested too deeply"),
        ('{"kind": "other"}', "holds no presets of replies"),
        ('{"kind": "paceline reply presets", "version": 2}', "version 2"),
        ('{"kind": "paceline reply presets", "version": 1, "presets": []}', "no presets"),
        (
            '{"kind": "paceline reply presets", "version": 1, "presets": [1]}',
            "Preset 1 is not an object.",
        ),
        (changed(name=""), "Preset 1 cannot be used: A preset has no name"),
        (changed(name="\ud800"), "half of a character"),
        (changed(surprise=1), "cannot be read: surprise is not known. If a newer"),
        (changed(stop=["x" * 201]), "201 characters"),
        (changed(sampling={"temperature": "x"}), "(“Tutor”) is damaged: sampling.temperature must"),
        (changed(sampling={"grammar": "g", "json_schema": "{}"}), "Give one of them"),
        (changed(sampling={"logit_bias": [{"token": -1, "bias": 1}]}), "token -1"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(UserError) as raised:
        presets_from_text(text)
    assert raised.value.code == "bad-preset"
    assert words in str(raised.value)


def test_too_many_are_refused() -> None:
    many = tuple(ReplyPreset(str(number)) for number in range(MAX_PRESETS + 1))
    with pytest.raises(UserError, match="101 presets"):
        presets_from_text(presets_to_text(many))


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
        max_leaves=8,
    ),
    st.sampled_from(["name", "sampling", "max_tokens", "stop", "system_prompt", "seed"]),
)
def test_any_other_value_is_taken_or_refused_in_words(value: object, name: str) -> None:
    data = json.loads(presets_to_text(PRESETS[:1]))
    data["presets"][0][name] = value
    try:
        (preset,) = presets_from_text(json.dumps(data))
    except UserError:
        return
    assert presets_from_text(presets_to_text([preset])) == (preset,)


def test_names() -> None:
    assert clean_name("  a \n b\t") == "a b"
    assert len(clean_name("x" * 200)) == MAX_NAME_CHARS
    assert free_name("Code", []) == "Code"
    assert free_name("Code", ["code"]) == "Code (2)"
    assert free_name("Code", ["Code", "CODE (2)"]) == "Code (3)"
    assert len(free_name("x" * MAX_NAME_CHARS, ["x" * MAX_NAME_CHARS])) == MAX_NAME_CHARS
