"""Schemas as people write them: texts that they allow and forbid, and refusals of schemas."""

from __future__ import annotations

import functools
import json
from typing import Any

import pytest

from engine.schema.compiled import check_texts, grammar_of, refusal, takes
from paceline.engine.model.backend import VocabularyFile

AB = {"a": {}, "b": {}}
IS_A = {"properties": {"a": {"type": "integer"}}, "required": ["a"]}
COLOUR = {"$defs": {"color": {"enum": ["red", "blue"]}}}
SHORT = {"$defs": {"s": {"type": "string"}}}
DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize(
    ("schema", "allowed", "forbidden"),
    [
        # Keywords one by one.
        ({"type": "integer", "minimum": 1, "maximum": 5}, ["1", "5"], ["0", "6", "12849", "1.0"]),
        ({"type": "integer", "multipleOf": 5}, ["0", "-5", "485"], ["484", "5.5"]),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2, "uniqueItems": True},
         ['["a","b"]', '["b","a"]'], ['["b","b"]', '["a"]']),
        ({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a", "b"]},
         ['{"a":1,"b":[]}'], ['{"a":1}', '{"b":1}']),
        ({"type": "string", "enum": ["a", "b"], "not": {"const": "a"}}, ['"b"'], ['"a"']),
        ({"type": "array", "items": {"type": "integer"}, "contains": {"const": 7}},
         ["[7]", "[1,7]"], ["[-7]", "[]"]),
        ({"type": "object", "properties": {"a": {"type": "integer"}}, "minProperties": 1},
         ['{"a":1}'], ["{}"]),
        ({"type": "object", "properties": {"k": {"type": "string"}, "v": {}},
          "if": {"properties": {"k": {"const": "a"}}}, "then": {"required": ["v"]}},
         ['{"k":"b"}', '{"k":"a","v":1}'], ['{"k":"a"}']),
        ({"type": "object", "properties": AB, "dependentRequired": {"a": ["b"]}},
         ['{"b":1}', '{"a":1,"b":1}'], ['{"a":1}']),
        ({"type": "object", "properties": AB, "dependentSchemas": {"a": {"required": ["b"]}}},
         ["{}", '{"a":1,"b":1}'], ['{"a":1}']),
        ({"type": "object", "additionalProperties": {"type": "integer"},
          "propertyNames": {"enum": ["a", "b"]}}, ["{}", '{"a":1}'], ['{"c":1}', '{"a":"x"}']),
        ({"type": "array", "maxItems": 1}, ["[]", "[1]"], ["[1,2]", "[1,2,3]"]),
        ({"type": "string", "format": "time"}, ['"22:35:29+09:12"'],
         ['"22:35:29+19:72"', '"22:35:60Z"', '"22:35"']),
        ({"type": "string", "format": "email"}, ['"a@b.org"'], ['"text"', '""']),
        ({"type": "string", "format": "ipv4"}, ['"10.0.0.1"'], ['"256.0.0.1"', '"text"']),
        # Beside each other.
        ({"type": ["string", "null"], "enum": ["a", None]}, ['"a"', "null"], ['"b"', '""']),
        ({"type": ["object", "null"], "properties": {"x": {"type": "integer"}}, "required": ["x"]},
         ['{"x":1}', "null"], ["{}"]),
        ({"$ref": "#/$defs/s", "maxLength": 2, **SHORT}, ['"ab"'], ['"abc"', "1"]),
        ({"type": "string", "pattern": "^[a-z]*$", "maxLength": 3}, ['"abc"'], ['"abcd"', '"1"']),
        ({"type": "object", "properties": {"z": {"type": "integer"}}, "required": ["z"],
          "allOf": [{"type": "object", **IS_A}]}, ['{"z":1,"a":2}'], ['{"z":1}', '{"a":2}']),
        ({"type": "object", "properties": {"z": {"type": "integer"}}, "required": ["z"], "oneOf": [
            {"properties": {"k": {"const": "x"}}, "required": ["k"]},
            {"properties": {"k": {"const": "y"}}, "required": ["k"]}]},
         ['{"z":1,"k":"y"}'], ['{"k":"y"}', '{"z":1}', '{"z":1,"k":"z"}']),
        ({"allOf": [{"type": "string"}, {"minLength": 3}]}, ['"abc"'], ["{}", '"ab"']),
        ({"oneOf": [{"type": "integer", "maximum": 5}, {"type": "integer", "minimum": 3}]},
         ["2", "6"], ["3", "5"]),
        ({"allOf": [{"$ref": "#/$defs/color"}], **COLOUR}, ['"red"'], ["{}", '"green"']),
        ({"type": "string", "enum": ["a", 1]}, ['"a"'], ["1"]),
        ({"type": "array", "prefixItems": [{"type": "integer"}], "items": {"type": "string"}},
         ["[]", '[1,"a"]'], ["[1,2]", '["a"]']),
        # Patterns.
        ({"type": "string", "pattern": "^a+?$"}, ['"a"', '"aaa"'], ['""', '"b"']),
        ({"type": "string", "pattern": "^(^a$)$"}, ['"a"'], ['"^a"', '"^a$"']),
        ({"type": "string", "pattern": "^a$$"}, ['"a"'], ['"a$"']),
        ({"type": "string", "pattern": "^a\n$"}, ['"a\\n"'], ['"a\n"', '"a"']),
        ({"type": "string", "pattern": "^[^\\s]+$"}, ['"a"'], ['" "', '""', '"a b"']),
        ({"type": "string", "pattern": "\\S"}, ['" a "'], ['" "', '""']),
        ({"type": "string", "pattern": "^ab|cd$"}, ['"abx"', '"xcd"'], ['"xab"', '"cdx"']),
        # What stood in the way of usual schemas.
        ({"type": "object", "properties": {"a": True}, "required": ["a"]}, ['{"a":[1]}'], ["{}"]),
        ({"type": "object", "properties": AB,
          "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, ['{"b":1}'], ["{}"]),
        # Numbers.
        ({"const": 1}, ["1"], ["true", "1.5"]),
        ({"type": "number", "multipleOf": 0.1}, ["0.3", "7", "-1.2"], ["0.35"]),
        ({"enum": [0.3, 0.35], "multipleOf": 0.1}, ["0.3"], ["0.35"]),
        ({"type": "number", "exclusiveMinimum": 0}, ["0.5", "3"], ["0", "0.0", "-0", "-1"]),
        ({"type": "number", "minimum": 5.020268063198967e-10}, ["1"],
         ["0.00000000050202680631989660"]),
        ({"type": "number", "exclusiveMaximum": 62712207597337.31}, ["-1", "1.5"],
         ["62712207597337.31", "62712207597337.3099999"]),
        # Names.
        ({"type": "object", "properties": {"a": {"type": "integer"}},
          "additionalProperties": {"type": "string"}}, ['{"a":1,"b":"x"}'],
         ['{"a":1,"a":"x"}', '{"a":1,"\\u0061":"x"}', '{"b":1}']),
        ({"type": "object", "properties": {'q"\\/\n': {"const": 'ü😀\\ "x" \t'}},
          "required": ['q"\\/\n']}, ['{"q\\"\\\\/\\n":"ü😀\\\\ \\"x\\" \\t"}'], ["{}"]),
        ({"type": "object", "properties": {"": {"type": "integer"}}, "required": [""]},
         ['{"":1}'], ["{}", '{"":"a"}']),
        # References.
        ({"properties": {"a": {"$ref": "#/$defs/x/s"}, "b": {"$ref": "#/$defs/y/s"}},
          "$defs": {"x": {"s": {"const": 1}}, "y": {"s": {"const": [2]}}}},
         ['{"a":1,"b":[2]}'], ['{"a":[2]}', '{"b":1}']),
        ({"$ref": "#/$defs/a~1b%25", "$defs": {"a/b%": {"const": 1}}}, ["1"], ["2"]),
        ({"$ref": "#here", "$defs": {"x": {"$anchor": "here", "const": 1}}}, ["1"], ["2"]),
        ({"$schema": DRAFT_7, "$ref": "#/definitions/s", "maxLength": 1,
          "definitions": {"s": {"type": "string"}}}, ['"abc"'], ["1"]),
        ({"$schema": DRAFT_4, "type": "integer", "minimum": 1, "exclusiveMinimum": True},
         ["2"], ["1"]),
        ({"$ref": "#/$defs/t", "$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"},
                                               "maxItems": 2}}},
         ["[[],[[]]]"], ["[1]", "[[],[],[]]"]),
        ({"not": {"$ref": "#/$defs/n"}, "$defs": {"n": {
            "type": "object", "properties": {k: {"$ref": "#/$defs/n"} for k in "abcdefghij"}}}},
         ["1", '"a"'], ["{}", '{"a":{}}']),
        ({"not": {"contains": {"const": 7}, "minContains": 0, "minItems": 2}}, ["[7]"], ["[1,2]"]),
        # White space.
        ({"type": "array", "items": {"type": "integer"}}, ["[\n  1,\n  2\n]", "[1,\n 2]", "[1,2]"],
         ["[1,\n\n\n2]", "[1," + " " * 50 + "2]"]),
        ({"type": "object", **IS_A}, ['{\n    "a": 1\n}', '{"a" : 1}'],
         ['{"a":' + "\n" * 9 + "1}"]),
        # The library's own settings say nothing.
        ({"x-guidance": {"lenient": True, "coerce_one_of": True}, "type": "string", "maxLength": 1},
         ['"a"'], ['"ab"']),
    ],
)  # fmt: skip
def test_what_is_allowed(
    vocab: VocabularyFile, schema: Any, allowed: list[str], forbidden: list[str]
) -> None:
    grammar = grammar_of(vocab, schema)
    assert [text for text in allowed if not takes(vocab, grammar, text)] == []
    assert [text for text in forbidden if takes(vocab, grammar, text)] == []
    grammar.close()
    check_texts(vocab, schema, n=1, limit=30)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ("", "it is no JSON: line 1, column 1: Expecting value"),
        ('{"type": }', "it is no JSON: line 1, column 10: Expecting value"),
        ("[1]", "a schema is a JSON object"),
        ('"text"', "a schema is a JSON object"),
        ('{"const": NaN}', "NaN is no JSON value"),
        ('{"const": 1e999}', "it has a number that is too large"),
        ({"type": "sentence"}, "“type” is not as schemas have it: 'sentence' is not"),
        ({"properties": {"a": {"type": 5}}}, "property “a”: “type” is not as schemas have it: 5"),
        ({"$ref": "https://example.org/x.json"}, "“$ref” does not lead to a part of the schema"),
        ({"items": {"$ref": "#/nowhere"}}, "property “[]”: “$ref” does not lead"),
        ({"type": "array", "minItems": -1}, "“minItems” is not as schemas have it: -1 is less"),
        ({"type": "array", "minItems": 3, "maxItems": 2}, "“minItems” is greater than “maxItems”"),
        ({"type": "string", "minLength": 5, "maxLength": 2}, "“minLength” is greater than"),
        ({"type": "string", "format": "date", "maxLength": 5}, "“maxLength”: no value is allowed"),
        ({"properties": {"a": {"enum": []}}}, "property “a”: “enum” leaves no value"),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, "“oneOf”"),
        ({"enum": [1, 2], "type": "string"}, "“enum” leaves no value"),
        ("[" * 100_000, "nested too deep"),
        ('{"items": ' * 100 + "{}" + "}" * 100, "it is nested more than 64 deep"),
        ({"description": "x" * 300_000}, "it has more than 256 kB"),
        ({"properties": {"a": {"const": "\ud800"}}}, "property “a”: “const” has a character"),
        ({"properties": {"a": {"items": {"pattern": "^(a$"}}}},
         "property “a”: “pattern” is not as schemas have it"),
        ({"pattern": "^a{2}{3}$"}, "“pattern” is not as schemas have it"),
        ({"pattern": "^*$"}, "“pattern” is not as schemas have it"),
        ({"pattern": "^]$"}, None),
        ({"pattern": "^\ud83d\ude00$"}, None),
        ('{"pattern": "^\\\\ud83d\\\\ude00$"}', "cannot be enforced: half of a surrogate"),
        ({"pattern": "^[]a]$"}, "“pattern” cannot be enforced: “]” first in a class"),
        ({"pattern": "^[^]a]$"}, "“pattern” cannot be enforced: “]” first in a class"),
        ({"pattern": "^[^[]$"}, None),
        ({"pattern": "(?=a)"}, "“pattern” cannot be enforced: looking ahead or behind"),
        ({"pattern": "^" + "[" * 200_000 + "$"}, "“pattern”"),
        ({"pattern": "(" * 2000 + "a" + ")" * 2000}, ""),  # by Python's stack or the library's
        ({"minLength": 10**30}, "“minLength” cannot be enforced beyond 1,000,000,000"),
        ({"maxLength": 10**30}, None),
        ({"maxItems": 10**30}, None),
        ({"type": "integer", "minimum": 10**400}, "“minimum” cannot be enforced beyond"),
        ({"minItems": 10**30}, "“minItems” cannot be enforced beyond 20,000"),
        ({"not": {"maxItems": 10**9}}, "“not” cannot be enforced here"),
        ({"not": {"minItems": 10**9}}, None),
        ({"not": {"minLength": 10**30}}, None),
        ({"uniqueItems": True, "items": {"type": "string"}}, "“uniqueItems” cannot be enforced"),
        ({"allOf": [{"multipleOf": n} for n in (1009, 2003, 4001)]},
         "“multipleOf” cannot be enforced for all of [1009, 2003, 4001]"),
        ({"properties": {"a": {"multipleOf": 100_003}},
          "patternProperties": {"^a": {"multipleOf": 100_019}}}, "“multipleOf” cannot be enforced"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, "“$ref” leads to itself"),
        ({"properties": {"b": {"$ref": "#/$defs/a"}},
          "$defs": {"a": {"if": {"$ref": "#/$defs/a"}}}},
         "property “b”: “$ref” leads to itself before anything is said"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "allOf": [
            {"type": "array", "$ref": "#/$defs/a"}]}}}, "“$ref” leads to itself"),
        ({"not": {"$ref": "#"}}, "“$ref” leads to itself"),
        ({"items": {"$ref": "#"}, "properties": {"a": {"$ref": "#"}}}, None),
        ({"$ref": "#/x", "x": {"properties": {"y": {"allOf": [{"$ref": "#/x"}]}}}}, None),
    ],
)  # fmt: skip
def test_refusals_name_the_place_and_the_keyword(
    vocab: VocabularyFile, schema: Any, words: str | None, capfd: pytest.CaptureFixture[str]
) -> None:
    said = refusal(vocab, schema)
    assert (words is None) == (said is None), said
    assert (words or "") in (said or "")
    assert capfd.readouterr() == ("", "")


def _chained(n: int, link: Any, last: Any) -> dict[str, Any]:
    """Return definitions that refer to each other, each by way of the next one's reference."""
    parts = {f"n{i}": link({"$ref": f"#/$defs/n{i + 1}"}) for i in range(n)}
    return {"$ref": "#/$defs/n0", "$defs": {**parts, f"n{n}": last}}


DOUBLED = _chained(40, lambda ref: {"allOf": [ref, {"allOf": [ref]}]}, {"type": "integer"})
TREE = {
    "properties": {k: {"$ref": "#/$defs/n"} for k in "abcdefghij"},
    "required": list("abcdefghij"),
}
ITSELF = {"$defs": {"a": {"$ref": "#/$defs/a"}}}


@pytest.mark.parametrize(
    "schema",
    [
        _chained(1000, lambda ref: {"properties": {"x": ref}}, {}),
        _chained(3000, lambda ref: ref, {}),
        DOUBLED,
        {"const": 1, **DOUBLED},
        {"oneOf": [DOUBLED.pop("$ref") and {"$ref": "#/$defs/n0"}, {"type": "string"}], **DOUBLED},
        {"unevaluatedProperties": False, "allOf": [{"$ref": "#/$defs/n0"}], **DOUBLED},
        {"oneOf": [{"$ref": "#/$defs/n"}] * 2, "$defs": {"n": {"type": "object", **TREE}}},
        {"propertyNames": {"$ref": "#/$defs/a"}, **ITSELF},
        {"uniqueItems": True, "items": {"$ref": "#/$defs/a"}, **ITSELF},
        {"$schema": DRAFT_4, "enum": [each for i in range(15_000) for each in (i, f"a{i}")]},
        {"oneOf": [{"anyOf": [{"const": k + i} for i in range(700)]} for k in (0, 5000)]},
        {"not": {"const": "x" * 20_000}},
        {"properties": {f"p{i}": {"type": "string"} for i in range(1200)}},
        {"enum": [f"name {i * 7919 % 5000}" for i in range(20_000)]},
        {"pattern": "^(([a-z])+.)+[A-Z]([a-z])+$"},
        {"pattern": "^(a{1,1000}){1,1000}$"},
        {"pattern": "a.{15}b.{15}c"},
        {"minItems": 20_000, "maxItems": 20_000, "items": {"minItems": 20_000}},
        {"maximum": 10**400, "minimum": -(10**400)},
        {"multipleOf": 4294967295},
        {"multipleOf": 1000003},
        {"allOf": [{"properties": {f"p{i}": {"multipleOf": i + 2} for i in range(1200)}}]},
        {"patternProperties": {f"^p{i}$": {"type": "string"} for i in range(1000)}},
        functools.reduce(lambda part, _: {"contains": part}, range(20), {"type": "string"}),
        {"uniqueItems": True, "items": {"enum": list(range(5000))}},
    ],
    ids=range(25),
)
def test_hostile_schemas_are_refused_or_work(vocab: VocabularyFile, schema: Any) -> None:
    said = refusal(vocab, schema)
    assert said is None or (said and "panick" not in said)


def test_long_enumerations(vocab: VocabularyFile) -> None:
    words = [f"name {i * 7919 % 5000}" for i in range(3000)] + ["name", 1, 12, 123, None, "\\"]
    assert all(json.loads(text) in words for text in check_texts(vocab, {"enum": words}))
    grammar = grammar_of(vocab, {"enum": [*range(9), 12, 123, 'a"b']})
    for text, is_allowed in (("12", True), ("123", True), ("1234", False), ("9", False)):
        assert takes(vocab, grammar, text) == is_allowed
    grammar.close()
