"""Subschemas of a schema, and the keywords that they use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_ONE = (
    "not", "if", "then", "else", "contains", "propertyNames", "additionalProperties", "items",
    "additionalItems", "unevaluatedItems", "unevaluatedProperties", "contentSchema",
)  # fmt: skip
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
_MAPS = (
    "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies",
)  # fmt: skip
ASSERTIONS = (
    *_ONE[:-1], *(word for word in _LISTS if word != "items"), *_MAPS, "$ref", "$anchor", "$id",
    "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "type", "enum", "const",
    "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength",
    "minLength", "pattern", "format", "maxItems", "minItems", "uniqueItems", "maxContains",
    "minContains", "maxProperties", "minProperties", "required", "dependentRequired", "$schema",
)  # fmt: skip
"""Keywords of drafts 4 to 2020-12 that say which values are valid, or how others are read."""
ANNOTATIONS = (
    "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly",
    "$comment", "contentEncoding", "contentMediaType", "contentSchema",
)  # fmt: skip
"""Keywords that say nothing about which values are valid."""


def within(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield a schema and all schemas in it, Boolean ones left out."""
    todo = [schema]
    while todo:
        part = todo.pop()
        if not isinstance(part, dict):
            continue
        yield part
        todo.extend(part[word] for word in _ONE if word in part)
        for word in _LISTS:
            if isinstance(listed := part.get(word), list):
                todo.extend(listed)
        for word in _MAPS:
            if isinstance(named := part.get(word), dict):
                todo.extend(named.values())


def keywords_of(schema: Any) -> frozenset[str]:
    """Return all words that a schema and the schemas in it use as keywords."""
    return frozenset(word for part in within(schema) for word in part)
