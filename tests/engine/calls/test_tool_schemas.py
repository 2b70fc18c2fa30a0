"""Schemas of tools are closed where they do not say otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from paceline.content import Tool
from paceline.engine.calls.tool_schemas import ToolSchema, closed

TEXT = {"type": "string"}
NAMED = {"type": "object", "properties": {"a": TEXT}}
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
