"""Schemas of tools are closed where they do not say otherwise."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from paceline.content import Tool
from paceline.engine.calls.tool_schemas import ToolSchema, closed

TEXT = {"type": "string"}
NAMED = {"type": "object", "properties": {"a": TEXT}}
KEYWORDS = st.sampled_from((
    "type", "properties", "required", "additionalProperties", "enum", "const", "anyOf", "oneOf",
    "allOf", "$ref", "$defs", "definitions", "items", "prefixItems", "minLength", "if",
))  # fmt: skip
ANY_JSON = st.recursive(
    st.sampled_from((0, -1.5, True, None, "object", "string", "a", "#", "#/$defs/a")),
    lambda part: st.lists(part, max_size=2) | st.dictionaries(KEYWORDS, part, max_size=3),
)
CLOSED = {**NAMED, "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (NAMED, CLOSED),
        (
            {"properties": {"a": NAMED}},
            {"properties": {"a": CLOSED}, "additionalProperties": False},
        ),
        ({"type": "array", "items": NAMED}, {"type": "array", "items": CLOSED}),
        ({"anyOf": [NAMED, TEXT]}, {"anyOf": [CLOSED, TEXT]}),
        (
            {"$ref": "#/$defs/a", "$defs": {"a": NAMED}},
            {"$ref": "#/$defs/a", "$defs": {"a": CLOSED}},
        ),
    ],
)
def test_objects_are_closed(schema: dict[str, Any], expected: dict[str, Any]) -> None:
    assert closed(schema) == expected
    assert closed(expected) == expected


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {**NAMED, "additionalProperties": True},
        {**NAMED, "additionalProperties": TEXT},
        {**NAMED, "patternProperties": {"^x": TEXT}},
        {**NAMED, "allOf": [{"properties": {"b": TEXT}}]},
        {**NAMED, "anyOf": [{"properties": {"b": TEXT}, "required": ["b"]}]},
    ],
)
def test_one_that_says_otherwise_stays_open(schema: dict[str, Any]) -> None:
    assert closed(schema) == schema


def test_a_tool_without_parameters_takes_none() -> None:
    schema = ToolSchema(Tool("now"))
    assert schema.arguments == ()
    assert schema.others is None


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ('{"type": "string"}', "text"),
        ('{"enum": ["a", "b"]}', "text"),
        ('{"const": 3}', "json"),
        ('{"type": ["array", "null"]}', "json"),
        ('{"type": ["string", "null"]}', "either"),
        ('{"anyOf": [{"type": "string"}, {"type": "integer"}]}', "either"),
        ('{"$ref": "#/$defs/n"}', "json"),
        ('{"$ref": "#/$defs/none"}', "either"),
        ("{}", "either"),
        ("true", "either"),
    ],
)
def test_how_a_value_is_written(schema: str, kind: str) -> None:
    text = f'{{"properties": {{"a": {schema}}}, "$defs": {{"n": {{"type": "number"}}}}}}'
    assert ToolSchema(Tool("t", "", text)).kind("a") == kind


@given(st.dictionaries(KEYWORDS, ANY_JSON, max_size=4))
@example({"properties": {}, "required": [["a"]]})
@example({"properties": {}, "required": [{}]})
@example({"properties": {"a": {"enum": 5}}})
@example({"properties": {"a": {"anyOf": 5}}})
@settings(max_examples=300)
def test_nothing_in_a_schema_breaks_it(schema: dict[str, Any]) -> None:
    """Keywords have values of any type; what is no schema is left to the grammar's compiler."""
    read = ToolSchema(Tool("tool", "", json.dumps(schema)))
    for argument in read.arguments or ():
        assert read.kind(argument.name) == argument.kind
        assert argument.is_kept_as_text in (True, False)
        assert read.takes(argument.name, "string") in (True, False)
