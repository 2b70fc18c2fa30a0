"""Schemas of tools' arguments: closed unless they say otherwise, and split into arguments."""

from __future__ import annotations

import json
from typing import Any, Literal, NamedTuple

from paceline.content import Tool

Kind = Literal["text", "json", "either"]
"""Notation of an argument between tags: unquoted text, JSON, or either, by its value."""
ANYTHING = '{"type": "object"}'
"""Schema of arguments that are not constrained."""

_NOTHING = '{"type": "object", "properties": {}}'
_OPEN = (
    "additionalProperties", "unevaluatedProperties", "patternProperties", "allOf", "anyOf", "oneOf",
    "$ref", "$dynamicRef", "if", "dependentSchemas", "dependencies",
)  # fmt: skip
"""Keywords with which an object itself defines its further properties."""
_SAID = {"title", "description", "default", "examples", "$defs", "definitions", "$comment"}
"""Keywords without any constraint."""
_ONE_BY_ONE = {"type", "properties", "required", "additionalProperties", "$schema", "$id", *_SAID}
"""Keywords of an object that can be split into separate arguments."""
_SHARED = ("$defs", "definitions")
_OF_PARTS = ("properties", *_SHARED)
_PART = ("items", "additionalProperties", "contains")
_PARTS = ("anyOf", "oneOf", "prefixItems")


def closed(schema: Any) -> Any:
    """Return a schema whose objects have only the properties that it names.

    An object without a list of properties stays open, and so do parts of a combined schema, none of
    which knows all properties.
    """
    if not isinstance(schema, dict):
        return schema
    found = dict(schema)
    properties = schema.get("properties")
    has_properties = isinstance(properties, dict)
    if has_properties and not any(word in schema for word in _OPEN):
        found["additionalProperties"] = False
    for word in _OF_PARTS:
        if isinstance(schema.get(word), dict):
            found[word] = {name: closed(part) for name, part in schema[word].items()}
    for word in _PART:
        if word in schema:
            found[word] = closed(schema[word])
    for word in _PARTS:
        if isinstance(schema.get(word), list) and not has_properties:
            found[word] = [closed(part) for part in schema[word]]
    return found


class Argument(NamedTuple):
    """One argument of a tool.

    Attributes:
        name: Its name.
        schema: Schema of its value, with all that it refers to.
        is_required: Whether every call has it.
    """

    name: str
    schema: dict[str, Any]
    is_required: bool

    @property
    def is_kept_as_text(self) -> bool:
        """Return whether any text of the right length, or one of a list, is valid."""
        return self.kind == "json" or _is_any_text(self.schema)

    @property
    def kind(self) -> Kind:
        """Return the notation of a value between tags."""
        types = _types(self.schema, self.schema)
        if types == {"string"}:
            return "text"
        return "either" if not types or "string" in types else "json"


class ToolSchema:
    """The schema of a tool's arguments.

    Attributes:
        text: JSON schema of all arguments, closed: an object, whatever else the tool's may allow.
        arguments: The separate arguments in the order in which they are written, or None if the
            schema cannot be split.
        others: Schema of arguments of any name, if none are named, or None if there are no others.
        says_more: Whether the schema forbids values that arguments and others allow.
    """

    def __init__(self, tool: Tool) -> None:
        self.text = tool.parameters or _NOTHING
        self.arguments: tuple[Argument, ...] | None = None
        self.others: Any = {}
        self.says_more = False
        try:
            schema = closed(json.loads(self.text))
        except (ValueError, RecursionError):
            return  # the grammar's compiler reports what is wrong with it
        self.text = json.dumps(_of_objects(schema))
        if not isinstance(schema, dict):
            return
        properties, required = schema.get("properties", {}), schema.get("required", [])
        if not (isinstance(properties, dict) and _is_list_of_texts(required)):
            return
        if any(word in schema for word in ("allOf", "anyOf", "oneOf", "$ref", "if")):
            return
        if _refers_to_whole(schema):
            return
        types = _types(schema, schema)
        is_other_type = bool(types) and "object" not in types
        is_unnamed = any(name not in properties for name in required)
        self.says_more = is_other_type or is_unnamed or not schema.keys() <= _ONE_BY_ONE
        if properties or schema.get("additionalProperties") is False:
            self.others = None
        elif isinstance(schema.get("additionalProperties"), dict):
            self.others = schema["additionalProperties"]
        shared = {word: schema[word] for word in _SHARED if word in schema}
        self.arguments = tuple(
            Argument(name, {**_as_object(part), **shared}, name in required)
            for name, part in properties.items()
        )

    def kind(self, name: str) -> Kind:
        """Return the notation of an argument between tags; "either" for an unknown one."""
        found = (each.kind for each in self.arguments or () if each.name == name)
        return next(found, "either")

    def takes(self, name: str, kind: str) -> bool:
        """Return whether an argument may have a type of JSON Schema, as far as is known."""
        for each in self.arguments or ():
            if each.name == name:
                types = _types(each.schema, each.schema)
                return not types or kind in types or (kind == "integer" and "number" in types)
        return True


def _of_objects(schema: Any) -> Any:
    """Return a schema that allows only the objects among its values."""
    if not isinstance(schema, dict) or schema.get("type") == "object":
        return schema
    parts = schema.get("allOf", [])
    return {**schema, "allOf": [{"type": "object"}, *parts]} if isinstance(parts, list) else schema


def _refers_to_whole(part: Any) -> bool:
    """Return whether a part of a schema has references other than to shared definitions."""
    if isinstance(part, list):
        return any(map(_refers_to_whole, part))
    if not isinstance(part, dict):
        return False
    target = part.get("$ref")
    if isinstance(target, str) and target.startswith("#"):
        return not target.startswith(tuple(f"#/{word}/" for word in _SHARED))
    return any(map(_refers_to_whole, part.values()))


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _is_any_text(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return schema is True
    words = schema.keys() - _SAID
    texts = schema.get("enum", [schema.get("const", "")])
    if words & {"enum", "const"} and _is_list_of_texts(texts):
        return words <= {"type", "enum", "const"}
    parts = schema.get("anyOf", schema.get("oneOf"))
    if isinstance(parts, list) and parts:
        return words <= {"anyOf", "oneOf"} and any(map(_is_any_text, parts))
    is_text = words == {"type"} or schema.get("type") == "string"
    return not words or (is_text and words <= {"type", "minLength", "maxLength"})


def _as_object(schema: Any) -> dict[str, Any]:
    if isinstance(schema, dict):
        return schema
    return {} if schema is not False else {"not": {}}


_TYPE_OF = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def type_of(value: Any) -> str:
    """Return JSON Schema's name for a value's type."""
    return _TYPE_OF.get(type(value), "array" if isinstance(value, list) else "object")


def _types(schema: Any, root: dict[str, Any], depth: int = 8) -> set[str]:
    """Return the types that a schema names; empty if it names none."""
    if not isinstance(schema, dict) or not depth:
        return set()
    named = schema.get("type")
    if isinstance(named, str):
        return {named}
    if isinstance(named, list):
        return {each for each in named if isinstance(each, str)}
    if isinstance(schema.get("enum"), list):
        return {type_of(value) for value in schema["enum"]}
    if "const" in schema:
        return {type_of(schema["const"])}
    if isinstance(schema.get("$ref"), str):
        target: Any = root
        for step in schema["$ref"].removeprefix("#/").split("/"):
            target = target.get(step) if isinstance(target, dict) else None
        return _types(target, root, depth - 1)
    for word in ("anyOf", "oneOf"):
        if isinstance(schema.get(word), list):
            found = [_types(part, root, depth - 1) for part in schema[word]]
            return set().union(*found) if all(found) else set()
    return set()
