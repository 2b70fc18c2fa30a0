"""Lowered schemas, and how they are joined.

A lowered schema is a JSON schema of draft 2020-12 in the few keywords that the grammar library
carries out exactly: `type`, `enum`, `properties` and their like, bounds, lengths, `pattern`,
`anyOf`, `allOf`, `$ref` into `$defs`. It allows nothing that the schema it stands for forbids.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from paceline.engine.schema.patterns import none_of
from paceline.errors import ReasonError

Lowered = bool | dict[str, Any]


class SchemaError(ReasonError):
    """The place, the keyword and the reason why a schema cannot be used."""


MOST_ITEMS = 20_000
"""Items of an array that are counted."""
_LONGEST = 200
"""Characters of a text up to which others are told from it letter by letter."""
TYPES = ("null", "boolean", "number", "string", "array", "object")


def any_of(options: Iterable[Lowered]) -> Lowered:
    """Return what allows each of these."""
    return _joined("anyOf", options, decisive=True)


def all_of(parts: Iterable[Lowered]) -> Lowered:
    """Return what allows only what all of these do."""
    return _joined("allOf", parts, decisive=False)


def _joined(word: str, parts: Iterable[Lowered], *, decisive: bool) -> Lowered:
    """Join parts by a keyword; one that is decisive decides, the other Boolean says nothing."""
    kept: list[Lowered] = []
    for part in parts:
        if part is decisive:
            return decisive
        if not isinstance(part, bool) and part not in kept:
            kept.append(part)
    if len(kept) < 2:
        return kept[0] if kept else not decisive
    return {word: kept}


def size_of(lowered: Lowered, most: int) -> int:
    """Return how many parts a schema has, counted to a bit beyond `most`."""
    n = 0
    todo: list[Any] = [lowered]
    while todo and n <= most:
        part = todo.pop()
        n += 1
        if isinstance(part, list):
            todo.extend(part)
        elif isinstance(part, dict):
            todo.extend(value for key, value in part.items() if key != "enum")
    return n


def of_types(types: Collection[str]) -> Lowered:
    """Return what allows all values of these types."""
    if set(TYPES) <= set(types):
        return True
    return {"type": list(types)} if types else False


def other_strings(texts: list[str]) -> Lowered:
    """Return what allows all strings but these."""
    if not texts:
        return {"type": "string"}
    short = [text for text in texts if len(text) <= _LONGEST]
    others: dict[str, Any] = {"type": "string"}
    if short:
        others["pattern"] = f"^(?:{none_of(short)})$"
    if len(short) < len(texts):
        others["maxLength"] = _LONGEST
    return others


def type_of(value: object) -> str:
    """Return the name that JSON Schema has for the type of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def is_same(one: object, other: object) -> bool:
    """Return whether two values are equal for JSON Schema, where true is not 1, but 1.0 is."""
    if type_of(one) != type_of(other):
        return False
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    return one == other


def types_in(schema: dict[str, Any]) -> tuple[str, ...]:
    """Return the types that `type` allows, all of them where it is absent."""
    types = schema.get("type", TYPES)
    return (types,) if isinstance(types, str) else tuple(types)
