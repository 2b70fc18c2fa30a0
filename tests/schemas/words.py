"""Names and values for random schemas: ordinary ones, and those that are easily written wrong."""

from __future__ import annotations

import random
from typing import Any

NAMES = (
    "name", "id", "age", "kind", "value", "items", "tags", "city", "date", "count", "is_active",
    "user-name", "firstName", "address", "price", "email", "left", "right", "children", "next",
)  # fmt: skip
ODD_NAMES = (
    "", " ", '"', "\\", 'a"b', "a\\b", "\n", "\t", "\x00", "\x1f", "\x7f", "名前", "größe", "😀",
    "e\u0301", "a/b", "a~b", "a%25b", "$ref", "type", "properties", "required", "enum", "$schema",
    "$defs", "__proto__", "{", "}", "a:b", ",", "'", "\u2028", "\ud7ff", "null", "true", "1", "-0",
    "a b", "x" * 70, "\\u0041", "</script>",
)  # fmt: skip
TEXTS = (
    "red", "green", "blue", "a", "b", "small", "large", "yes", "no", "N/A", "2024-01-01", "en-US",
    "application/json", "kg", "°C",
)  # fmt: skip
FORMATS = (
    "date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname",
    "ipv4", "ipv6", "uri", "uri-reference", "iri", "iri-reference", "uuid", "uri-template",
    "json-pointer", "relative-json-pointer", "regex",
)  # fmt: skip
OTHER_FORMATS = (
    "int32", "int64", "double", "byte", "binary", "password", "phone", "color", "decimal", "cuid2",
    "base64", "emoji", "unknown-format",
)  # fmt: skip
NUMBERS: tuple[Any, ...] = (
    0, 1, -1, 2, 5, 10, 100, 255, 65535, 2**31 - 1, 2**53, 2**63, -(2**31), 0.5, -0.5, 1.5, 0.1,
    -2.75, 3.14159, 1e-3, 1e3, 1e20, 99.99, -0.0, 1e-7, 10**30,
)  # fmt: skip
STEPS: tuple[Any, ...] = (
    1, 2, 3, 5, 7, 10, 60, 100, 1000, 0.5, 0.1, 0.01, 0.25, 0.3, 0.05, 1.5, 2.5, 0.001, 1e-6, 1.0,
    12.5, 1e2, 0.0001, 3.3,
)  # fmt: skip


def name(rng: random.Random) -> str:
    """Return a name of a property."""
    return rng.choice(ODD_NAMES if rng.random() < 0.12 else NAMES)


def names(rng: random.Random, n: int) -> list[str]:
    """Return `n` names, all of them different."""
    found: dict[str, None] = {}
    while len(found) < n:
        found[name(rng)] = None
    return list(found)


def text(rng: random.Random) -> str:
    """Return a value of a text."""
    return rng.choice(ODD_NAMES if rng.random() < 0.2 else TEXTS)


def value(rng: random.Random, depth: int = 0) -> Any:
    """Return any JSON value, small."""
    kind = rng.choices(
        ["text", "number", "bool", "null", "array", "object"],
        [5, 3, 1, 1, *((1, 1) if depth < 2 else (0, 0))],
    )[0]
    match kind:
        case "text":
            return text(rng)
        case "number":
            return rng.choice(NUMBERS)
        case "bool":
            return rng.random() < 0.5
        case "null":
            return None
        case "array":
            return [value(rng, depth + 1) for _ in range(rng.randint(0, 3))]
        case _:
            return {name(rng): value(rng, depth + 1) for _ in range(rng.randint(0, 2))}


def values(rng: random.Random, of: str, n: int) -> list[Any]:
    """Return up to `n` different values of a type, as ``enum`` lists them."""
    found: list[Any] = []
    for _ in range(n):
        match of:
            case "string":
                made: Any = text(rng)
            case "integer":
                made = rng.choice((0, 1, 2, 3, 5, 10, 42, -1, 1000, 2**53, 1.0, 3e2))
            case "number":
                made = rng.choice(NUMBERS)
            case "boolean":
                made = rng.random() < 0.5
            case "null":
                made = None
            case "array":
                made = [value(rng, 1) for _ in range(rng.randint(0, 2))]
            case "object":
                made = {name(rng): value(rng, 1) for _ in range(rng.randint(0, 2))}
            case _:
                made = value(rng)
        if all(made != known or type(made) is not type(known) for known in found):
            found.append(made)
    return found
