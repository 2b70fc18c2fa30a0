"""The negation of a schema, as a lowered schema.

`not`, `if`, `oneOf` and similar keywords need values that a schema does *not* allow. Only some of
these can be expressed: of a list of requirements, values that violate one which can be violated on
purpose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from paceline.engine.schema.document import Document, Schema, Scope
from paceline.engine.schema.terms import (
    MAX_ITEMS,
    TYPES,
    Lowered,
    all_of,
    any_of,
    of_types,
    other_strings,
    type_of,
    types_in,
)

_MAX_DEPTH = 12
_MAX_CONSTANTS = 500
_MAX_NUMBER = 10**15


class Evaluated(NamedTuple):
    """The properties that a schema evaluates if it is valid.

    Attributes:
        names: Names of properties.
        patterns: Patterns of names.
        conditions: Schemas that must be valid for that, with their places.
    """

    names: frozenset[str]
    patterns: frozenset[str]
    conditions: tuple[tuple[Schema, Scope], ...] = ()


class Negation:
    """Negates parts of a document.

    Args:
        document: The document, for references.
        lower: Lowers a part that is negated twice.
    """

    def __init__(self, document: Document, lower: Callable[[Schema, Scope], Lowered]) -> None:
        self._document = document
        self._lower = lower
        self._open: set[int] = set()

    def of(self, schema: Schema, scope: Scope) -> Lowered:
        """Return forbidden values, as a lowered schema; False if none can be written."""
        if isinstance(schema, bool):
            return not schema
        if id(schema) in self._open:  # a reference to itself
            return False
        self._document.work()
        self._open.add(id(schema))
        try:
            scope = self._document.entered(schema, scope)
            words = self._document.keywords(schema)
            if schema.keys() & {"minContains", "maxContains"}:
                words.pop("contains", None)
            return any_of(self._options(words, scope))
        finally:
            self._open.remove(id(schema))

    def required(self, word: str, schema: Schema, scope: Scope) -> Lowered:
        """Return the same for a keyword that needs such values.

        Raises:
            SchemaError: None can be written.
        """
        found = self.of(schema, scope)
        if found is False and schema is not True:
            scope.reject(word, "cannot be enforced here")
        return found

    def _options(self, words: dict[str, Any], scope: Scope) -> Iterable[Lowered]:
        held = {"number" if name == "integer" else name for name in types_in(words)}
        if "type" in words:
            yield of_types([name for name in TYPES if name not in held])
        if "const" in words:
            yield _other_values([words["const"]])
        if "enum" in words:
            yield _other_values(words["enum"])
        yield from self._in_place(words, scope)
        if "number" in held and not self._document.is_draft_4:
            yield from self._numbers(words, scope)
        if "string" in held:
            yield from _lengths(words, "string", "minLength", "maxLength")
        if "array" in held:
            yield from self._arrays(words, scope)
        if "object" in held:
            yield from self._objects(words, scope)

    def _in_place(self, words: dict[str, Any], scope: Scope) -> Iterable[Lowered]:
        if "$ref" in words:
            yield self.of(*self._document.follow(words["$ref"], scope))
        for part in words.get("allOf", ()):
            yield self.of(part, scope)
        for word in ("anyOf", "oneOf"):
            if word in words:
                yield all_of([self.of(part, scope) for part in words[word]])
        if "not" in words:
            yield self._lower(words["not"], scope)

    def _numbers(self, words: dict[str, Any], scope: Scope) -> Iterable[Lowered]:
        for word, opposite in (
            ("minimum", "exclusiveMaximum"),
            ("maximum", "exclusiveMinimum"),
            ("exclusiveMinimum", "maximum"),
            ("exclusiveMaximum", "minimum"),
        ):
            if word in words:
                yield self._lower({"type": "number", opposite: words[word]}, scope)

    def _arrays(self, words: dict[str, Any], scope: Scope) -> Iterable[Lowered]:
        yield from _lengths(words, "array", "minItems", "maxItems")
        items, before = words.get("items", True), words.get("prefixItems", ())
        if isinstance(items, list):
            items, before = True, items
        for i, part in enumerate([*before, items]):
            wrong = self.of(part, scope.items)
            if wrong is not False:
                places = [*([True] * i), wrong]
                yield {"type": "array", "prefixItems": places, "minItems": i + 1}
        if "contains" in words:
            other = self.of(words["contains"], scope.items)
            if other is not False:
                yield {"type": "array", "items": other}

    def _objects(self, words: dict[str, Any], scope: Scope) -> Iterable[Lowered]:
        for name in words.get("required", ()):
            yield {"type": "object", "properties": {name: False}}
        for name, part in words.get("properties", {}).items():
            wrong = self.of(part, scope.within(name))
            if wrong is not False:
                yield {"type": "object", "required": [name], "properties": {name: wrong}}
        for name, rule in {
            **words.get("dependencies", {}),
            **words.get("dependentRequired", {}),
        }.items():
            for other in rule if isinstance(rule, list) else ():
                yield {"type": "object", "required": [name], "properties": {other: False}}

    # ------------------------------------------------------------------------------- questions

    def values(self, schema: Schema, scope: Scope) -> list[Any] | None:
        """Return all values that a schema allows, or None if they are not enumerated."""
        while isinstance(schema, dict) and (
            "$ref" in (words := self._document.keywords(schema)) and len(words) == 1
        ):
            self._document.work()
            schema, scope = self._document.follow(words["$ref"], scope)
        return _listed(self._lower(schema, scope))

    def evaluated(self, words: dict[str, Any], scope: Scope) -> list[Evaluated] | None:
        """Return the properties that other parts of a schema evaluate, with their conditions.

        None if all properties are evaluated in a way that cannot be followed.
        """
        base = self._known({k: v for k, v in words.items() if k not in ("anyOf", "oneOf")}, scope)
        if base is None:
            return None
        word = next((word for word in ("anyOf", "oneOf") if word in words), None)
        if word is None:
            return [base]
        options = []
        for part in words[word]:
            known = self._known(part, scope, 1)
            if known is None:
                return None
            options.append(
                Evaluated(
                    base.names | known.names, base.patterns | known.patterns, ((part, scope),)
                )
            )
        return options

    def _known(self, schema: Schema, scope: Scope, depth: int = 0) -> Evaluated | None:
        if isinstance(schema, bool):
            return Evaluated(frozenset(), frozenset())
        if depth > _MAX_DEPTH:
            return None
        self._document.work()
        scope = self._document.entered(schema, scope)
        words = self._document.keywords(schema)
        if depth and words.keys() & {"additionalProperties", "unevaluatedProperties"}:
            return None
        names = frozenset(words.get("properties", {}))
        patterns = frozenset(words.get("patternProperties", {}))
        parts = [(part, scope) for part in words.get("allOf", ())]
        if "$ref" in words:
            parts.append(self._document.follow(words["$ref"], scope))
        for part, inner in parts:
            known = self._known(part, inner, depth + 1)
            if known is None:
                return None
            names, patterns = names | known.names, patterns | known.patterns
        return Evaluated(names, patterns)


def _other_values(values: list[Any]) -> Lowered:
    """Return a lowered schema for all values except these."""
    found = {type_of(value) for value in values}
    options: list[Lowered] = [of_types([name for name in TYPES if name not in found])]
    if len(values) > _MAX_CONSTANTS:
        return options[0]
    if "string" in found:
        options.append(other_strings([value for value in values if isinstance(value, str)]))
    if "boolean" in found:
        flags = {value for value in values if isinstance(value, bool)}
        options += [{"enum": [flag]} for flag in (False, True) if flag not in flags]
    if "number" in found:
        numbers = [value for value in values if type_of(value) == "number"]
        if max(map(abs, numbers)) < _MAX_NUMBER:
            options.append({"type": "integer", "minimum": int(max(numbers)) + 1})
            options.append({"type": "integer", "maximum": int(min(numbers)) - 1})
    if "array" in found:
        longest = max(len(value) for value in values if isinstance(value, list))
        options.append({"type": "array", "minItems": longest + 1})
    return any_of(options)


def _lengths(words: dict[str, Any], name: str, least: str, most: str) -> Iterable[Lowered]:
    if words.get(least, 0) > 0:
        yield {"type": name, most: min(int(words[least]) - 1, MAX_ITEMS)}
    if words.get(most, MAX_ITEMS) < MAX_ITEMS:
        yield {"type": name, least: int(words[most]) + 1}


def _listed(lowered: Lowered) -> list[Any] | None:
    match lowered:
        case False:
            return []
        case {"enum": list(values)} if len(lowered) == 1:  # type: ignore[arg-type]
            return values
        case {"type": "boolean"}:
            return [False, True]
        case {"type": "null"}:
            return [None]
        case {"anyOf": list(options)} if len(lowered) == 1:  # type: ignore[arg-type]
            found = [_listed(option) for option in options]
            return None if None in found else [v for values in found for v in values or ()]
    return None
