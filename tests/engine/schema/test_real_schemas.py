"""Schemas that people wrote, and the test suite of JSON Schema: taken or refused, never wrong."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest

import real_schemas
from engine.schema.compiled import attempt, check_texts, grammar_of, takes, walks
from paceline.engine.model.backend import VocabularyFile
from schemas.validity import Judge

BASE = {
    "$defs": {
        "Level": {"enum": ["low", "high"], "title": "Level", "type": "string"},
        "Item": {
            "properties": {
                "name": {"maxLength": 10, "minLength": 1, "title": "Name", "type": "string"},
                "price": {"exclusiveMinimum": 0, "title": "Price", "type": "number"},
                "level": {"$ref": "#/$defs/Level", "default": "low", "description": "How much"},
                "note": {
                    "anyOf": [{"type": "string"}, {"type": "null"}],
                    "default": None,
                    "title": "Note",
                },
                "kind": {"const": "item", "default": "item", "title": "Kind", "type": "string"},
            },
            "required": ["name", "price"],
            "title": "Item",
            "type": "object",
        },
        "Pair": {
            "properties": {
                "kind": {"const": "pair", "title": "Kind", "type": "string"},
                "both": {
                    "maxItems": 2,
                    "minItems": 2,
                    "prefixItems": [{"type": "integer"}, {"format": "date", "type": "string"}],
                    "title": "Both",
                    "type": "array",
                },
            },
            "required": ["kind", "both"],
            "title": "Pair",
            "type": "object",
        },
    }
}
"""Schemas as Pydantic writes them."""


def test_what_pydantic_writes(vocab: VocabularyFile) -> None:
    options = [{"$ref": "#/$defs/Item"}, {"$ref": "#/$defs/Pair"}]
    either = {"discriminator": {"propertyName": "kind"}, "oneOf": options, "title": "Either"}
    schema = {
        **BASE,
        "properties": {"either": either, "more": {"items": options[0], "title": "More",
                                                   "type": "array"}},
        "required": ["either"], "title": "Order", "type": "object",
    }  # fmt: skip
    grammar = grammar_of(vocab, schema)
    item = '{"name":"a","price":1.5,"level":"high","note":null,"kind":"item"}'
    assert takes(vocab, grammar, f'{{"either":{item},"more":[]}}')
    assert takes(vocab, grammar, '{"either":{"kind":"pair","both":[1,"2024-02-29"]}}')
    assert not takes(vocab, grammar, '{"either":{"kind":"pair","both":[1,"2023-02-29"]}}')
    assert not takes(vocab, grammar, f'{{"either":{item.replace("1.5", "0")}}}')
    grammar.close()
    check_texts(vocab, schema)


def test_what_zod_writes(vocab: VocabularyFile) -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "id": {"type": "string", "format": "uuid", "pattern": "^[0-9a-f-]{36}$"},
            "age": {"type": "integer", "exclusiveMinimum": 0, "maximum": 9007199254740991},
            "role": {"type": "string", "enum": ["admin", "user"]},
            "shape": {"anyOf": [
                {"type": "object", "properties": {"r": {"type": "number"}}, "required": ["r"],
                 "additionalProperties": False},
                {"type": "null"},
            ]},
            "tags": {"type": "object", "propertyNames": {"type": "string"},
                     "additionalProperties": {"type": "string"}},
        },
        "required": ["id", "age", "role"],
        "additionalProperties": False,
    }  # fmt: skip
    grammar = grammar_of(vocab, schema)
    start = '{"id":"123e4567-e89b-12d3-a456-426614174000","age":'
    assert takes(vocab, grammar, start + '7,"role":"user","shape":{"r":1.5},"tags":{"a":"b"}}')
    assert not takes(vocab, grammar, start + '0,"role":"user"}')
    assert not takes(vocab, grammar, start + '7,"role":"user","shape":{"r":1,"s":2}}')
    grammar.close()
    check_texts(vocab, schema)


@pytest.mark.long
def test_real_schemas(vocab: VocabularyFile) -> None:
    refused: Counter[str] = Counter()
    n_texts = 0
    tools = real_schemas.tool_schemas()
    for name, schema in tools:
        grammar, judge = attempt(vocab, schema), Judge(schema)
        if isinstance(grammar, str):
            refused[grammar] += 1
            continue
        for text in walks(vocab, grammar, random.Random(name), 3, 150):
            if text is not None:
                n_texts += 1
                assert not judge.problem_of(text), (name, text)
        grammar.close()
    print(f"{len(tools)} schemas, {n_texts} texts valid, {refused.total()} refused: {refused}")
    assert refused.total() * 10 <= len(tools)
    assert n_texts > len(tools)


@pytest.mark.long
def test_the_test_suite_of_json_schema(vocab: VocabularyFile) -> None:
    n_taken = n_refused = n_right = n_narrow = 0
    for case in real_schemas.suite_cases():
        grammar, judge = attempt(vocab, case.schema), Judge(case.schema)
        if isinstance(grammar, str):
            n_refused += 1
            continue
        n_taken += 1
        for value, is_valid in case.values:
            if takes(vocab, grammar, json.dumps(value, ensure_ascii=False)):
                n_right += 1
                assert judge.allows(value), (case.name, case.schema, value)
            else:
                n_narrow += is_valid
        for text in walks(vocab, grammar, random.Random(case.name), 3, 60):
            assert text is None or not judge.problem_of(text), (case.name, text)
        grammar.close()
    print(f"{n_taken} cases taken, {n_refused} refused, {n_right} values allowed, {n_narrow} not")
    assert n_taken > n_refused
    assert n_right > n_taken
