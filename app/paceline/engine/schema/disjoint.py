"""Detection of schemas that have no common value, as far as possible without trying values."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

from paceline.engine.schema.document import Document, Schema, Scope
from paceline.engine.schema.terms import TYPES, is_same, type_of, types_in

Part = tuple[Schema, Scope]
"""A part of a document with its place."""


class View(NamedTuple):
    """The directly visible constraints of a schema.

    Attributes:
        types: Types that its values may have.
        values: All values that it may allow, or None if they are not enumerated.
        properties: Schemas of properties by name.
        required: Names of properties that every object has.
        is_closed: Whether objects have no other properties.
    """

    types: frozenset[str]
    values: list[Any] | None
    properties: dict[str, Part]
    required: frozenset[str]
    is_closed: bool


_EVERYTHING = View(frozenset(TYPES), None, {}, frozenset(), is_closed=False)


class Disjointness:
    """Compares parts of one document; results are cached."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._views: dict[int, View | None] = {}
        self._pairs: dict[tuple[int, int], bool] = {}

    def holds(self, one: Part, other: Part) -> bool:
        """Return whether certainly no value is allowed by both."""
        if isinstance(one[0], bool) or isinstance(other[0], bool):
            return one[0] is False or other[0] is False
        pair = id(one[0]), id(other[0])
        if pair not in self._pairs:
            self._document.work(1)
            self._pairs[pair] = False  # the answer while the pair is compared within itself
            self._pairs[pair] = self._found(one, other)
        return self._pairs[pair]

    def _found(self, one: Part, other: Part) -> bool:
        for first, second in ((one, other), (other, one)):
            options = self._options(first)
            if options is not None:
                return all(self.holds(option, second) for option in options)
        a, b = self._view_of(one), self._view_of(other)
        if a is None or b is None or not a.types & b.types:
            return True
        if a.values is not None and b.values is not None:
            return not any(is_same(x, y) for x in a.values for y in b.values)
        if a.types & b.types != {"object"}:
            return False
        return any(
            self._differ(a, b, name) or self._differ(b, a, name) for name in a.required | b.required
        )

    def discriminator(self, options: list[Part]) -> str | None:
        """Return a property in which every two schemas for objects differ, or None."""
        views = [self._view_of(option) for option in options]
        found = [view for view in views if view is not None and view.types == {"object"}]
        if len(found) < len(views):
            return None
        for name in found[0].properties:
            if all(name in view.properties for view in found) and all(
                self.holds(one.properties[name], other.properties[name])
                for one, other in itertools.combinations(found, 2)
            ):
                return name
        return None

    def _view_of(self, part: Part) -> View | None:
        """Return the visible constraints of a part, or None if it allows nothing."""
        schema, scope = part
        if isinstance(schema, bool):
            return _EVERYTHING if schema else None
        if id(schema) not in self._views:
            self._document.work()
            self._views[id(schema)] = _EVERYTHING  # the answer while the part occurs within itself
            self._views[id(schema)] = self._seen(schema, scope)
        return self._views[id(schema)]

    def _seen(self, schema: dict[str, Any], scope: Scope) -> View | None:
        scope = self._document.entered(schema, scope)
        words = self._document.keywords(schema)
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
            parts.append(self._document.follow(words["$ref"], scope))
        for each in parts:
            inner = self._view_of(each)
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

    def _options(self, part: Part) -> list[Part] | None:
        """Return the alternatives of a schema, or None if it has none."""
        schema, scope = part
        if isinstance(schema, bool):
            return None
        scope = self._document.entered(schema, scope)
        words = self._document.keywords(schema)
        for word in ("anyOf", "oneOf"):
            if word in words:
                return [(each, scope) for each in words[word]]
        return None

    def _differ(self, a: View, b: View, name: str) -> bool:
        """Return whether a property of one of them separates objects of `a` from those of `b`."""
        if name in a.properties and name in b.properties:
            return self.holds(a.properties[name], b.properties[name])
        return name in a.required and name not in b.properties and b.is_closed
