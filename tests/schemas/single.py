"""Simple schemas in which one keyword, or two that belong together, does something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from schemas import usual, words
from schemas.maker import TYPES, Maker, Schema
from schemas.patterns import random_pattern


def _type(maker: Maker) -> Schema:
    rng = maker.rng
    return {
        "type": rng.sample(TYPES, rng.randint(1, 3)) if rng.random() < 0.7 else rng.choice(TYPES)
    }


def _multiple_of(maker: Maker) -> Schema:
    rng = maker.rng
    of = rng.choice(("integer", "number", "number"))
    made: Schema = {"type": of, "multipleOf": rng.choice(words.STEPS)}
    return {**made, **maker.bounds(of)} if rng.random() < 0.4 else made


def _bounded(maker: Maker) -> Schema:
    of = maker.rng.choice(("integer", "number"))
    return {"type": of, **maker.bounds(of)}


def _length(maker: Maker) -> Schema:
    return {"type": "string", **maker.counted("Length", (0, 1, 2, 3, 10, 100), 12)}


def _pattern(maker: Maker) -> Schema:
    made = {"type": "string", "pattern": random_pattern(maker.rng)}
    if maker.rng.random() < 0.15:
        made.update(maker.counted("Length", (0, 1, 3), 9))
    return made


def _format(maker: Maker) -> Schema:
    made = {"type": "string", "format": maker.format_name()}
    if maker.rng.random() < 0.15:
        made.update(maker.counted("Length", (1, 5, 10), 30))
    return made


def _n_items(maker: Maker) -> Schema:
    items = maker.plain()
    return {"type": "array", "items": items, **maker.counted("Items", (0, 1, 2, 3), 3)}


def _unique(maker: Maker) -> Schema:
    made = {"type": "array", "items": maker.leaf(), "uniqueItems": maker.rng.random() < 0.9}
    if maker.rng.random() < 0.5:
        made.update(maker.counted("Items", (1, 2), 2))
    return made


def _tuple(maker: Maker) -> Schema:
    made = {
        "type": "array",
        **maker.listed([maker.plain() for _ in range(maker.rng.randint(1, 3))]),
    }
    if maker.rng.random() < 0.4:
        made.update(maker.counted("Items", (1, 2), 2))
    return made


def contains(maker: Maker) -> Schema:
    rng = maker.rng
    found = rng.choice(({"const": 7}, {"type": "string"}, {"minimum": 3}, {"enum": ["a", "b"]}))
    made: Schema = {"contains": found}
    if rng.random() < 0.5:
        made["minContains"] = rng.choice((0, 1, 2))
    if rng.random() < 0.4:
        made["maxContains"] = made.get("minContains", 1) + rng.choice((0, 1))
    return made


def _contains_alone(maker: Maker) -> Schema:
    items = maker.rng.choice(({}, {"items": {"type": ["integer", "string"]}}))
    return {"type": "array", **items, **contains(maker)}


def _unevaluated_items(maker: Maker) -> Schema:
    rng = maker.rng
    rest: Any = rng.choice((False, False, {"type": "integer"}))
    listed = [{"type": "string"}]
    part: Schema = {"prefixItems": listed} if maker.draft == "2020-12" else {"items": listed}
    within = rng.choice((part, {"allOf": [part]}, {"anyOf": [part, {"minItems": 2}]}))
    return {"type": "array", **within, "unevaluatedItems": rest}


def _two_fields(maker: Maker) -> Schema:
    return {"type": "object", "properties": {"a": maker.plain(), "b": maker.plain()}}


def _required(maker: Maker) -> Schema:
    asked = maker.rng.choice((["a"], ["a", "b"], ["b", "c"], [words.name(maker.rng)]))
    return {**_two_fields(maker), "required": asked}


def _properties(maker: Maker) -> Schema:
    named = words.names(maker.rng, maker.rng.randint(1, 4))
    return {"type": "object", "properties": {name: maker.leaf() for name in named}}


def _additional(maker: Maker) -> Schema:
    rng = maker.rng
    rest: Any = rng.choice((True, False, maker.plain(), maker.leaf()))
    return {**(_two_fields(maker) if rng.random() < 0.6 else {}), "additionalProperties": rest}


def pattern_properties(maker: Maker) -> Schema:
    rng = maker.rng
    named = rng.choice(("^x-", "^[a-z]+$", "_id$", "^a", r"\d", random_pattern(rng)))
    made: Schema = {"type": "object", "patternProperties": {named: maker.plain()}}
    if rng.random() < 0.5:
        made["additionalProperties"] = False
    if rng.random() < 0.5:
        made["properties"] = {"a": maker.plain(), "x-b": maker.plain()}
    return made


def property_names(maker: Maker) -> Schema:
    rng = maker.rng
    names: Schema = rng.choice(
        ({"enum": ["a", "b"]}, {"pattern": "^[a-z]+$"}, {"maxLength": 3}, {"minLength": 2},
         {"format": "date"}, {"pattern": random_pattern(rng)}, {"const": "a"}),
    )  # fmt: skip
    return {"type": "object", "propertyNames": names, "additionalProperties": maker.plain()}


def n_properties(maker: Maker) -> Schema:
    made = maker.counted("Properties", (0, 1, 2), 2)
    return {**made, **(_two_fields(maker) if maker.rng.random() < 0.7 else {"type": "object"})}


def dependent(maker: Maker) -> Schema:
    rng = maker.rng
    asked, schema = {"a": ["b"]}, {"a": {"required": ["b"], "properties": {"b": maker.plain()}}}
    if maker.draft in {"4", "6", "7"}:
        return {**_two_fields(maker), "dependencies": rng.choice((asked, schema))}
    made: Schema = (
        {"dependentRequired": asked} if rng.random() < 0.5 else {"dependentSchemas": schema}
    )
    if rng.random() < 0.1:
        made = {"dependencies": asked}
    return {**_two_fields(maker), **made}


def unevaluated_properties(maker: Maker) -> Schema:
    rng = maker.rng
    part: Schema = {"properties": {"a": maker.plain()}}
    other: Schema = {"properties": {"b": maker.plain()}, "required": ["b"]}
    within: Schema = rng.choice(
        (part, {"allOf": [part, other]}, {**part, "anyOf": [other, {}]}, {**part, "oneOf": [other]})
    )
    rest: Any = rng.choice((False, False, {"type": "integer"}))
    return {"type": "object", **within, "unevaluatedProperties": rest}


def all_of(maker: Maker) -> Schema:
    rng = maker.rng
    match rng.randrange(5):
        case 0:
            return {"allOf": [{"$ref": maker.defined(maker.leaf())}]}
        case 1:
            return {"allOf": [{"type": "string"}, maker.counted("Length", (0, 1, 3), 4)]}
        case 2:
            bounds = maker.bounds("integer")
            return {"allOf": [{"type": "integer"}, *({word: at} for word, at in bounds.items())]}
        case 3:
            fields = _two_fields(maker)
            return {"allOf": [fields, {"required": [rng.choice("abc")]}]}
        case _:
            one = {"properties": {"c": maker.plain()}, "required": ["c"]}
            return {**_two_fields(maker), "allOf": [one]}


def any_of(maker: Maker) -> Schema:
    rng = maker.rng
    match rng.randrange(4):
        case 0:
            return {"anyOf": [maker.leaf(), {"type": "null"}]}
        case 1:
            return {**_two_fields(maker), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
        case 2:
            return {"type": "string", "anyOf": [{"maxLength": 2}, {"pattern": random_pattern(rng)}]}
        case _:
            return {"anyOf": [maker.leaf() for _ in range(rng.randint(1, 4))]}


def one_of(maker: Maker) -> Schema:
    rng = maker.rng
    match rng.randrange(5):
        case 0:
            return usual.discriminated(rng)
        case 1:
            return {"oneOf": [{"type": "integer"}, {"type": "number"}]}
        case 2:
            return {
                "oneOf": [{"type": "string", "maxLength": 3}, {"type": "string", "minLength": 3}]
            }
        case 3:
            return {**_two_fields(maker), "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
        case _:
            return {"oneOf": [maker.leaf() for _ in range(rng.randint(1, 3))]}


def beside_one_of(maker: Maker) -> Schema:
    word = maker.rng.choice(("oneOf", "anyOf"))
    kinds = [
        {"properties": {"kind": {"enum": [kind]}, kind: maker.plain()}, "required": ["kind", kind]}
        for kind in ("a", "b")
    ]
    return {"type": "object", "properties": {"z": maker.plain()}, "required": ["z"], word: kinds}


def not_(maker: Maker) -> Schema:
    rng = maker.rng
    base: Schema = rng.choice(
        (maker.enum(), {"type": "string"}, _two_fields(maker), {"type": ["string", "integer"]}, {})
    )
    excluded: Schema = rng.choice(
        ({"enum": ["a", "red", 1]}, {"type": "string"}, {"required": ["a"]}, {"minLength": 3},
         {"pattern": "^a"}, {"type": "null"}, {"minimum": 5}, {"not": {"type": "integer"}}),
    )  # fmt: skip
    return {**base, "not": excluded}


def if_(maker: Maker) -> Schema:
    rng = maker.rng
    fields: Schema = {"k": {"enum": ["a", "b"]}, "v": maker.plain()}
    made: Schema = {"type": "object", "properties": fields}
    if rng.random() < 0.3:
        made = {"type": ["string", "integer"], "if": {"type": "string"}}
        made["then"] = maker.counted("Length", (0, 1, 3), 4)
    else:
        made["if"] = {"properties": {"k": {"enum": ["a"]}}}
        if rng.random() < 0.6:
            made["if"]["required"] = ["k"]
        made["then"] = {"required": ["v"]}
    if rng.random() < 0.5:
        made["else"] = rng.choice(({"required": ["w"]}, False, {"minimum": 0}, {}))
    if rng.random() < 0.1:
        del made["then"]
    return made


def _ref(maker: Maker) -> Schema:
    return {"$ref": maker.defined(maker.leaf())}


def recursive(maker: Maker) -> Schema:
    rng = maker.rng
    fields: Schema = {"v": maker.plain()}
    if maker.defs or rng.random() < 0.5:
        name = f"node{len(maker.defs)}"
        maker.defs[name] = {}
        to = f"#/{maker.shelf}/{name}"
    else:
        name, to = "", "#"
    match rng.randrange(4):
        case 0:
            fields["next"] = {"anyOf": [{"$ref": to}, {"type": "null"}]}
        case 1:
            fields["next"] = {"$ref": to}
        case _:
            fields["next"] = {"type": "array", "items": {"$ref": to}}
    made: Schema = {"type": "object", "properties": fields, "additionalProperties": False}
    if rng.random() < 0.5:
        made["required"] = ["v"]
    if not name:
        return made
    maker.defs[name] = made
    return {"$ref": to}


def _anchored(maker: Maker) -> Schema:
    """Return a reference to a name of a place, as each draft gives one."""
    key, name = {"4": ("id", "#spot"), "6": ("$id", "#spot"), "7": ("$id", "#spot")}.get(
        maker.draft, ("$anchor", "spot")
    )
    maker.defs["placed"] = {key: name, **maker.leaf()}
    return {"type": "array", "items": {"$ref": "#spot"}, "minItems": 1}


def _addressed(maker: Maker) -> Schema:
    """Return a reference by the schema's own address, or by that of a part."""
    key = "id" if maker.draft == "4" else "$id"
    if maker.rng.random() < 0.5:
        maker.defs["placed"] = {key: "spot.json", **maker.leaf()}
        return {"type": "array", "items": {"$ref": "spot.json"}, "minItems": 1}
    maker.defs["part"] = maker.leaf()
    ref = f"https://example.com/root.json#/{maker.shelf}/part"
    fields = {"a": {"$ref": ref}}
    root = {key: "https://example.com/root.json"}
    return {**root, "type": "object", "properties": fields, "required": ["a"]}


def _dynamic(maker: Maker) -> Schema:
    """Return a list of lists by a reference that is followed at the time of validation."""
    if maker.draft == "2020-12" and maker.rng.random() < 0.6:
        anchor: Schema = {"$dynamicAnchor": "node"}
        ref = {"$dynamicRef": "#node"}
    else:
        maker.write_for("2019-09")
        anchor, ref = {"$recursiveAnchor": True}, {"$recursiveRef": "#"}
    fields = {"v": maker.plain(), "next": {"type": "array", "items": ref}}
    return {**anchor, "type": "object", "properties": fields, "required": ["v"]}


def _path_ref(maker: Maker) -> Schema:
    """Return a reference to a place that is no shelf of definitions."""
    fields = {"a/b": maker.leaf(), "c": {"$ref": "#/properties/a~1b"}}
    return {"type": "object", "properties": fields, "required": ["c"]}


def _beside_ref(maker: Maker) -> Schema:
    rng = maker.rng
    kind = rng.choice(("string", "object", "integer"))
    if kind == "string":
        to, beside = {"type": "string"}, maker.counted("Length", (0, 1, 2), 3)
    elif kind == "object":
        to, beside = _two_fields(maker), {"required": ["a"], "properties": {"c": maker.plain()}}
    else:
        to, beside = {"type": "integer"}, maker.bounds("integer")
    return {"$ref": maker.defined(to), **beside}


def _typed_enum(maker: Maker) -> Schema:
    rng = maker.rng
    of = rng.choice(TYPES[:4])
    return {"type": [of, "null"], "enum": [*words.values(rng, of, 3), None]}


def _mixed_enum(maker: Maker) -> Schema:
    rng = maker.rng
    listed = words.values(rng, "mixed", rng.randint(2, 5))
    return {"type": rng.choice(("string", "number", "array")), "enum": [*listed, "a", 1.5, []]}


def _keyword_of_another_draft(maker: Maker) -> Schema:
    rng = maker.rng
    return rng.choice(
        ({"type": "array", "items": [maker.plain()], "additionalItems": False},
         {"type": "array", "prefixItems": [maker.plain()], "items": maker.plain()},
         {"const": "a"}, {"type": "object", "dependentRequired": {"a": ["b"]}},
         {"type": "integer", "minimum": 1, "exclusiveMinimum": True},
         {"type": "array", "contains": {"const": 1}, "minContains": 2},
         {"type": "object", "properties": {"a": {"type": "string", "required": True}}},
         {"if": {"type": "string"}, "then": {"minLength": 3}}, {"divisibleBy": 2},
         {"type": "object", "propertyNames": {"maxLength": 2}}, {"extends": {"type": "string"}}),
    )  # fmt: skip


def _remark(maker: Maker) -> Schema:
    return maker.remarked(maker.plain())


def _crossed(maker: Maker) -> Schema:
    """Return keywords of one type beside another type, or without one."""
    rng = maker.rng
    loose: Schema = rng.choice(
        ({"minLength": 3}, {"maximum": 5}, {"maxItems": 1}, {"required": ["a"]}, {"pattern": "^a"},
         {"properties": {"a": {"type": "integer"}}}, {"items": {"type": "integer"}},
         {"additionalProperties": False}, {"format": "date"}, {"multipleOf": 2}),
    )  # fmt: skip
    return {**loose, **rng.choice(({}, {"type": rng.choice(TYPES)}, {"type": ["object", "null"]}))}


KEYWORDS: tuple[Callable[[Maker], Schema], ...] = (
    _type, Maker.enum, _typed_enum, _mixed_enum, _multiple_of, _bounded, _bounded, _length,
    _pattern, _pattern, _format, _format, _n_items, _unique, _tuple, _contains_alone,
    _unevaluated_items, _required, _properties, _additional, pattern_properties, property_names,
    n_properties, dependent, unevaluated_properties, all_of, any_of, one_of, beside_one_of,
    not_, if_, _ref, recursive, _anchored, _addressed, _dynamic, _path_ref, _beside_ref,
    _remark, _crossed, _keyword_of_another_draft,
)  # fmt: skip
"""Functions that make a simple schema with one effective keyword."""
