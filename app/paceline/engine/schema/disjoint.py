"""Which schemas cannot hold together, as far as can be seen without trying values."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

from paceline.engine.schema.document import Document, Schema, Scope
from paceline.engine.schema.terms import TYPES, is_same, type_of, types_in

Part = tuple[Schema, Scope]
"""A part of a document with where it stands."""

_DEEPEST = 12


def are_disjoint(document: Document, one: Part, other: Part, depth: int = 0) -> bool:
    """Return whether surely no value is allowed by both."""
    if depth > _DEEPEST:
        return False
    for first, second in ((one, other), (other, one)):
        options = _options(document, first)
        if options is not None:
            return all(are_disjoint(document, option, second, depth + 1) for option in options)
    a, b = view_of(document, one), view_of(document, other)
    if a is None or b is None or not a.types & b.types:
        return True
    if a.values is not None and b.values is not None:
        return not any(is_same(x, y) for x in a.values for y in b.values)
    if a.types & b.types != {"object"}:
        return False
    return any(
        _differ(document, a, b, name, depth) or _differ(document, b, a, name, depth)
        for name in a.required | b.required
    )


def discriminator(document: Document, options: list[Part]) -> str | None:
    """Return a property by which each two of some schemas for objects differ, if all know one."""
    views = [view_of(document, option) for option in options]
    found = [view for view in views if view is not None and view.types == {"object"}]
    if len(found) < len(views):
        return None
    for name in found[0].properties:
        if all(name in view.properties for view in found) and all(
            are_disjoint(document, one.properties[name], other.properties[name])
            for one, other in itertools.combinations(found, 2)
        ):
            return name
    return None


class View(NamedTuple):
    """What can be seen of a schema at once.

    Attributes:
        types: That its values may have.
        values: All that it may allow; None: they are not given one by one.
        properties: Schemas of properties.
        required: Names of properties that objects have.
        is_closed: Whether objects have no others.
    """

    types: frozenset[str]
    values: list[Any] | None
    properties: dict[str, Part]
    required: frozenset[str]
    is_closed: bool


def view_of(document: Document, part: Part, depth: int = 0) -> View | None:
    """Return what can be seen of a part; None: it allows nothing."""
    schema, scope = part
    everything = View(frozenset(TYPES), None, {}, frozenset(), is_closed=False)
    if isinstance(schema, bool) or depth > _DEEPEST:
        return None if schema is False else everything
    scope = document.entered(schema, scope)
    words = document.keywords(schema)
    values = words.get("enum")
    if "const" in words:
        values = [words["const"]]
    types = frozenset("number" if name == "integer" else name for name in types_in(words))
    if values is not None:
        types &= {type_of(value) for value in values}
    view = View(
        types,
        values,
        {name: (each, scope) for name, each in words.get("properties", {}).items()},
        frozenset(words.get("required", ())),
        words.get("additionalProperties") is False and not words.get("patternProperties"),
    )
    parts: list[Part] = [(each, scope) for each in words.get("allOf", ())]
    if "$ref" in words:
        parts.append(document.follow(words["$ref"], scope))
    for each in parts:
        inner = view_of(document, each, depth + 1)
        if inner is None:
            return None
        view = View(
            view.types & inner.types,
            inner.values if view.values is None else view.values,
            {**inner.properties, **view.properties},
            view.required | inner.required,
            view.is_closed or inner.is_closed,
        )
    return view if view.types else None


def _options(document: Document, part: Part) -> list[Part] | None:
    """Return the options of a schema that is nothing else than some."""
    schema, scope = part
    if isinstance(schema, bool):
        return None
    scope = document.entered(schema, scope)
    words = document.keywords(schema)
    for word in ("anyOf", "oneOf"):
        if word in words:
            return [(each, scope) for each in words[word]]
    return None


def _differ(document: Document, a: View, b: View, name: str, depth: int) -> bool:
    """Return whether a property that one of them has tells objects of `a` from those of `b`."""
    if name in a.properties and name in b.properties:
        return are_disjoint(document, a.properties[name], b.properties[name], depth + 1)
    return name in a.required and name not in b.properties and b.is_closed
