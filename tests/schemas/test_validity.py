"""The judge of replies agrees with the rule that it stands for."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from typing import Any

import pytest

from schemas.validity import Judge, is_multiple, problem_of

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
LISTS = {"$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"}
DRAFT_7 = "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({}, '{"a": [1, "\\u00e9", null]}'),
        ({"multipleOf": 0.1}, "0.3"),
        ({"multipleOf": 0.01}, "19.99"),
        ({"multipleOf": 1e-7}, "0.0000003"),
        ({"multipleOf": 5}, "1e3"),
        ({"multipleOf": 0.01}, "1e999999999999"),
        ({"multipleOf": 3}, "-0.0"),
        ({"multipleOf": 2}, str(2**70)),
        ({"type": "integer"}, "1.0"),
        ({"maxLength": 1}, '"\\ud83d\\ude00"'),
        ({"properties": {"a": {"type": "string"}}}, '{"a": 1, "a": "the last counts"}'),
        ({"$schema": DRAFT_7, "$ref": "#/definitions/s", "maxLength": 1, "definitions": {"s": {}}},
         '"drafts before 2019-09 ignore what is beside a reference"'),
        ({"$schema": DRAFT_4, "maximum": 5, "exclusiveMaximum": False}, "5"),
        ({"format": "time"}, '"22:35:29+01:00"'),
        ({"format": "no-format"}, '"anything"'),
        ({"$schema": DRAFT_4, "const": 1}, "2"),
        (LISTS, "[" * 400 + "]" * 400),
        (True, "1"),
    ],
)  # fmt: skip
def test_valid(schema: Any, text: str) -> None:
    assert problem_of(schema, text) == ""


@pytest.mark.parametrize(
    ("schema", "text", "problem"),
    [
        ({}, "{'a': 1}", "json: Expecting property name"),
        ({}, "[1, 2", "json: "),
        ({}, "", "json: "),
        ({}, "1 2", "json: Extra data"),
        ({}, "[NaN]", "json: NaN is no JSON value"),
        ({}, "-Infinity", "json: "),
        ({}, '"line\nbreak"', "json: Invalid control character"),
        ({}, "9" * 5000, "json: "),
        ({}, '"\udcc3"', "utf-8: "),
        ({"multipleOf": 0.1}, "0.35", "multipleOf: $: 0.35 is not a multiple of 0.1"),
        ({"multipleOf": 1e-8}, "1e-9", "multipleOf: "),
        ({"multipleOf": 3}, "10000000000000000000000000", "multipleOf: "),
        ({"$schema": DRAFT_7, "items": {"$ref": "#"}, "multipleOf": 0.1}, "[0.3, 0.35]",
         "multipleOf: "),
        ({"properties": {"a": {"enum": ["x"]}}}, '{"a": "y"}', "enum: $.a: 'y' is not one of"),
        ({"properties": {"a": {"type": "string"}}}, '{"a": "x", "a": 1}', "type: "),
        ({"uniqueItems": True}, "[1, 1.0]", "uniqueItems: "),
        ({"$ref": "#/$defs/s", "maxLength": 1, "$defs": {"s": {}}}, '"ab"', "maxLength: "),
        ({"$schema": DRAFT_4, "maximum": 5, "exclusiveMaximum": True}, "5", "maximum: "),
        ({"format": "time"}, '"22:35:29+19:12x"', "format: "),
        ({"format": "ipv4"}, '"256.1.1.1"', "format: "),
        ({"$schema": DRAFT_7, "format": "uuid"}, '"no"', "format: "),
        (False, "1", "false: "),
        ({"type": "text"}, "1", "schema: $.type"),
        ({"pattern": "("}, '"a"', "schema: $.pattern"),
        ({"$ref": "https://example.com/elsewhere"}, "1", "schema: "),
        ({"$ref": "#/$defs/missing"}, "1", "schema: "),
        ({"$ref": "#"}, "1", "schema: a reference leads to itself"),
    ],
)  # fmt: skip
def test_not_valid(schema: Any, text: str, problem: str) -> None:
    assert problem_of(schema, text).startswith(problem)


def test_multiples_of_decimals_against_fractions() -> None:
    rng = random.Random(4)
    seen = set()
    for _ in range(2000):
        step = rng.choice(("0.1", "0.01", "3", "0.25", "1e-7", "12.5", "1e3", "7e2"))
        number = f"{rng.randint(-300, 300)}e{rng.randint(-6, 6)}"
        if rng.random() < 0.5:
            number = str(float(Fraction(step) * rng.randint(0, 1000)))
        expected = (Fraction(number) / Fraction(step)).denominator == 1
        assert (problem_of({"multipleOf": float(step)}, number) == "") == expected, (number, step)
        seen.add(expected)
    assert seen == {True, False}


def test_a_float_counts_as_its_shortest_decimals() -> None:
    assert is_multiple(0.3, 0.1)
    assert not is_multiple(0.30000000000000004, 0.1)


def test_one_judge_for_many_texts() -> None:
    judge = Judge({"type": "array", "items": {"maximum": 3}})
    assert [judge.problem_of(json.dumps([n])).partition(":")[0] for n in (3, 4)] == ["", "maximum"]
    assert judge.allows([1.5])
    assert not judge.allows("a")
    assert not Judge({"type": 1}).allows(1)
