"""Schemas as Pydantic, Zod and people write them for tools and forms."""

from __future__ import annotations

import random
from typing import Any

from schemas import patterns, words

Schema = dict[str, Any]


def pydantic_model(rng: random.Random) -> Schema:
    """Return what ``BaseModel.model_json_schema()`` could give."""
    classes = rng.sample(["Item", "Address", "Node", "Color", "Cat", "Dog", "Point"], 3)
    defs: dict[str, Schema] = {}
    for name in classes:
        defs[name] = (
            {"enum": words.values(rng, "string", 4), "title": name, "type": "string"}
            if rng.random() < 0.3
            else _model(rng, name, [c for c in classes if c in defs or rng.random() < 0.2])
        )
    schema = _model(rng, "Reply", classes)
    if rng.random() < 0.2:  # as a recursive model comes out
        defs["Reply"] = schema
        schema = {"$ref": "#/$defs/Reply"}
    return {"$defs": defs, **schema}


def _model(rng: random.Random, title: str, classes: list[str]) -> Schema:
    fields = {}
    required = []
    for name in words.names(rng, rng.randint(1, 5)):
        is_class = classes and rng.random() < 0.35
        field = _class_field(rng, classes) if is_class else _plain_field(rng)
        if rng.random() < 0.3:
            field = {"anyOf": [field, {"type": "null"}], "default": None}
        elif rng.random() < 0.6:
            required.append(name)
        elif not is_class:
            field["default"] = words.value(rng)
        if rng.random() < 0.8:
            field["title"] = name.title()
        if rng.random() < 0.3:
            field["description"] = f"The {name} of it."
        fields[name] = field
    model: Schema = {"properties": fields, "title": title, "type": "object"}
    if required:
        model["required"] = required
    if rng.random() < 0.25:
        model["additionalProperties"] = False
    return model


def _class_field(rng: random.Random, classes: list[str]) -> Schema:
    ref = {"$ref": f"#/$defs/{rng.choice(classes)}"}
    # A required reference would often make an endless model, which nothing can fill.
    match rng.randrange(7):
        case 0:
            return {"anyOf": [ref, {"type": "null"}]}
        case 1:
            return {**ref, "description": "Another one."}
        case 2:
            return {"allOf": [ref]}
        case 3 | 4:
            return {"items": ref, "type": "array"}
        case 5:
            return {"additionalProperties": ref, "type": "object"}
        case _:
            return {"oneOf": [{"$ref": f"#/$defs/{name}"} for name in classes]}


def _plain_field(rng: random.Random) -> Schema:
    low = rng.randint(0, 2)
    of = rng.choice(("string", "integer", "number"))
    decimal = {"pattern": r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$", "type": "string"}
    pair = [{"type": "integer"}, {"type": "string"}]
    fields: tuple[Schema, ...] = (
        {"type": rng.choice(("string", "integer", "number", "boolean", "null"))},
        {"type": "integer", "minimum": rng.choice((0, 1)), "maximum": 10},
        {"type": "number", "exclusiveMinimum": 0, "maximum": rng.choice((1, 0.5, 99.9))},
        {"type": "string", "format": rng.choice(words.FORMATS[:4])},
        {"type": "string", "format": rng.choice(("uuid", "uri", "email", "ipv4"))},
        {"enum": words.values(rng, "string", 4), "type": "string"},
        {"const": words.text(rng), "type": "string"},
        {"items": {"type": "string"}, "type": "array", "uniqueItems": True},
        {"items": {"type": of}, "maxItems": low + 2, "minItems": low, "type": "array"},
        {"maxLength": rng.choice((3, 10, 50)), "minLength": 1, "type": "string"},
        {"pattern": rng.choice(patterns.COMMON), "type": "string"},
        {"maxItems": 2, "minItems": 2, "prefixItems": pair, "type": "array"},
        {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "number"}]},
        {"anyOf": [{"type": "number"}, decimal]},
        {"additionalProperties": {"type": "integer"}, "type": "object"},
    )
    return rng.choice(fields)


def zod_object(rng: random.Random) -> Schema:
    """Return what `zod-to-json-schema`, or Zod's own ``toJSONSchema``, could give."""
    first = (
        {"$schema": "http://json-schema.org/draft-07/schema#"}
        if rng.random() < 0.5
        else {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    )
    if rng.random() < 0.2:
        return {**first, "anyOf": [_zod_object(rng, 1), _zod_object(rng, 1)]}
    return {**_zod_object(rng, 0), **first}


def _zod_object(rng: random.Random, depth: int) -> Schema:
    fields = {name: _zod_field(rng, depth) for name in words.names(rng, rng.randint(1, 4))}
    required = [name for name in fields if rng.random() < 0.7]
    made: Schema = {"type": "object", "properties": fields}
    if required:
        made["required"] = required
    if rng.random() < 0.8:
        made["additionalProperties"] = False
    return made


def _zod_field(rng: random.Random, depth: int) -> Schema:
    if depth < 2 and rng.random() < 0.3:
        inner = _zod_object(rng, depth + 1)
        several = rng.choice(("anyOf", "oneOf", "allOf"))
        return rng.choice(
            (
                {"type": "array", "items": _zod_field(rng, depth + 1), "minItems": 1},
                inner,
                {"anyOf": [inner, {"type": "null"}]},
                {several: [inner, _zod_object(rng, depth + 1)]},
            )
        )
    kind = rng.choice(("email", "uuid", "date-time", "uri"))
    fields: tuple[Schema, ...] = (
        {"type": ["string", "null"], "enum": [*words.values(rng, "string", 3), None]},
        {"type": ["string", "null"]},
        {"type": "integer", "minimum": -(2**53) + 1, "maximum": 2**53 - 1},
        {"type": "number", "multipleOf": rng.choice((0.01, 0.5, 1, 5))},
        {"type": "string", "format": kind, "pattern": rng.choice(patterns.COMMON)},
        {"type": "string", "pattern": rng.choice(patterns.COMMON)},
        {"type": "string", "minLength": 1, "maxLength": rng.choice((1, 5, 80))},
        {"type": "string", "const": words.text(rng)},
        {"type": "string", "enum": words.values(rng, "string", 4), "description": "One."},
        {
            "type": "object",
            "propertyNames": {"type": "string"},
            "additionalProperties": {"type": "number"},
        },
    )
    return rng.choice(fields)


def discriminated(rng: random.Random) -> Schema:
    """Return one of several objects, distinguished by a constant."""
    kinds = words.values(rng, "string", 3)
    tag = rng.choice(("kind", "type", "$type"))
    are_enums, is_strict = rng.random() < 0.3, rng.random() < 0.5
    defs = {}
    for i, kind in enumerate(kinds):
        marked: Schema = {"enum": [kind]} if are_enums else {"const": kind}
        fields = {tag: {"type": "string", **marked}, "value": _plain_field(rng)}
        defs[f"Kind{i}"] = {
            "type": "object",
            "properties": fields,
            "required": [tag, "value"] if rng.random() < 0.7 else [tag],
            **({"additionalProperties": False} if is_strict else {}),
        }
    made: Schema = {"oneOf": [{"$ref": f"#/$defs/{name}"} for name in defs], "$defs": defs}
    if rng.random() < 0.5:
        mapping = {str(kind): f"#/$defs/Kind{i}" for i, kind in enumerate(kinds)}
        made["discriminator"] = {"mapping": mapping, "propertyName": tag}
    if rng.random() < 0.3:
        made["properties"] = {"note": {"type": "string"}}
        made["required"] = ["note"] if rng.random() < 0.5 else [tag]
    return made


def tool(rng: random.Random) -> Schema:
    """Return parameters of a tool as people write them by hand."""
    fields: dict[str, Any] = {}
    for name in words.names(rng, rng.randint(1, 6)):
        field = _plain_field(rng) if rng.random() < 0.6 else _zod_field(rng, 1)
        fields[name] = {**field, "description": f"What {name} says."}
    made: Schema = {"type": "object", "properties": fields}
    if rng.random() < 0.8:
        made["required"] = [name for name in fields if rng.random() < 0.5]
    if rng.random() < 0.1:
        made["required"] = [*made.get("required", []), "missing"]
    if rng.random() < 0.15 and len(fields) > 1:
        made["anyOf"] = [{"required": [name]} for name in list(fields)[:2]]
    if rng.random() < 0.4:
        made["additionalProperties"] = False
    return made


MAKERS = (pydantic_model, pydantic_model, zod_object, discriminated, tool)


def usual_schema(rng: random.Random) -> Schema:
    """Return one of all these."""
    return rng.choice(MAKERS)(rng)
