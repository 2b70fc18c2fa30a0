"""Lowered schemas, and operations that combine them.

A lowered schema is a JSON schema of draft 2020-12 with the few keywords that the grammar library
enforces exactly: `type`, `enum`, `properties` and the like, bounds, lengths, `pattern`, `anyOf`,
`allOf`, `$ref` into `$defs`. It allows nothing that the original schema forbids.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from paceline.engine.schema.patterns import none_of
from paceline.errors import ReasonError

Lowered = bool | dict[str, Any]


class SchemaError(ReasonError):
    """A schema cannot be used; with the place, the keyword and the reason."""


MAX_ITEMS = 20_000
"""Maximum number of items of an array to count."""
_MAX_TEXT_CHARS = 200
"""Maximum length of a text from which others are distinguished letter by letter."""
TYPES = ("null", "boolean", "number", "string", "array", "object")


def any_of(options: Iterable[Lowered]) -> Lowered:
    """Return a schema that allows the values of each of these."""
    return _joined("anyOf", options, decisive=True)


def all_of(parts: Iterable[Lowered]) -> Lowered:
    """Return a schema that allows the common values of all of these."""
    return _joined("allOf", parts, decisive=False)


def _joined(word: str, parts: Iterable[Lowered], *, decisive: bool) -> Lowered:
    """Combine parts by a keyword; a part equal to `decisive` decides, its opposite is dropped."""
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
    """Return the number of parts of a schema, counted to slightly more than `most`."""
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
    """Return a schema that allows all values of these types."""
    if set(TYPES) <= set(types):
        return True
    return {"type": list(types)} if types else False


def other_strings(texts: list[str]) -> Lowered:
    """Return a schema that allows all strings except these."""
    if not texts:
        return {"type": "string"}
    short = [text for text in texts if len(text) <= _MAX_TEXT_CHARS]
    others: dict[str, Any] = {"type": "string"}
    if short:
        others["pattern"] = f"^(?:{none_of(short)})$"
    if len(short) < len(texts):
        others["maxLength"] = _MAX_TEXT_CHARS
    return others


def type_of(value: object) -> str:
    """Return JSON Schema's name for the type of a value."""
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
    """Return whether two values are equal in JSON Schema, where true is not 1, but 1.0 is."""
    if type_of(one) != type_of(other):
        return False
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    return one == other


def types_in(schema: dict[str, Any]) -> tuple[str, ...]:
    """Return the types that `type` allows; all of them if it is absent."""
    types = schema.get("type", TYPES)
    return (types,) if isinstance(types, str) else tuple(types)
