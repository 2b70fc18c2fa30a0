"""Lowering of the keywords for objects."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from paceline.engine.schema.constants import check_text
from paceline.engine.schema.document import Document, Schema, Scope
from paceline.engine.schema.negation import Negation
from paceline.engine.schema.patterns import PatternError, translate_for_names
from paceline.engine.schema.terms import Lowered, all_of, any_of, types_in

KEYWORDS = (
    "properties", "patternProperties", "additionalProperties", "required", "minProperties",
    "maxProperties", "propertyNames", "dependentRequired", "dependentSchemas", "dependencies",
    "unevaluatedProperties",
)  # fmt: skip
_MAX_PATTERNS = 200
"""Maximum number of patterns of names that are compared with each other."""
_MAX_OPTIONS = 128
"""Maximum number of selections of properties that are enumerated."""


class ObjectLowering:
    """Lowers objects of one document.

    Args:
        document: The schema with the rules of its draft.
        lower: Lowers the parts of objects.
        negation: Negates parts, and enumerates their values and evaluated properties.
    """

    def __init__(
        self, document: Document, lower: Callable[[Schema, Scope], Lowered], negation: Negation
    ) -> None:
        self._document = document
        self._lower = lower
        self._negation = negation
        self._n_patterns = 0

    def lower(self, words: dict[str, Any], scope: Scope) -> Lowered:
        """Return the objects that a schema's keywords allow, as a lowered schema.

        Raises:
            SchemaError: A keyword cannot be enforced.
        """
        properties = {
            name: self._lower(part, scope.within(name))
            for name, part in words.get("properties", {}).items()
        }
        required = list(dict.fromkeys(words.get("required", ())))
        for name in (*properties, *required):
            check_text(name, "properties", scope)
        lowered: dict[str, Any] = {"type": "object"}
        if properties:
            lowered["properties"] = properties
        if required:
            lowered["required"] = required
        lowered |= self._other_names(words, properties, scope)
        parts: list[Lowered] = [lowered]
        if "propertyNames" in words:
            parts.append(self._names_of(words["propertyNames"], scope))
        parts += self._dependent(words, scope)
        if words.get("unevaluatedProperties", True) is not True:
            parts.append(self._unevaluated(words, scope))
        parts += self._counted(words, lowered, required, scope)
        return all_of(parts)

    def _other_names(
        self, words: dict[str, Any], properties: dict[str, Lowered], scope: Scope
    ) -> dict[str, Any]:
        """Lower `patternProperties` and `additionalProperties`."""
        found: dict[str, Any] = {}
        patterns: dict[str, Lowered] = {}
        given = words.get("patternProperties", {})
        self._n_patterns += len(given)
        if self._n_patterns > _MAX_PATTERNS:
            scope.reject("patternProperties", "cannot be enforced beyond {n}", n=_MAX_PATTERNS)
        try:
            written, is_ascii = translate_for_names(list(given))
        except PatternError as error:
            scope.reject("patternProperties", "cannot be enforced: {error}", error=error)
        if is_ascii:  # names with other characters might match or not, so they are forbidden
            if not all(map(str.isascii, (*properties, *words.get("required", ())))):
                scope.reject("patternProperties", "cannot be enforced beside names in no ASCII")
            patterns["[^ -~]"] = False
        for text, part in zip(written, given.values(), strict=True):
            key = f"^(?:{text})$"
            patterns[key] = all_of([patterns.get(key, True), self._lower(part, scope.within("*"))])
        if patterns:
            found["patternProperties"] = patterns
        if "additionalProperties" in words:
            found["additionalProperties"] = self._lower(
                words["additionalProperties"], scope.within("*")
            )
        return found

    def _names_of(self, schema: Schema, scope: Scope) -> Lowered:
        """Lower `propertyNames` to the names, or the one pattern, that it allows."""
        closed: dict[str, Any] = {"type": "object", "additionalProperties": False}
        values = self._negation.values(schema, scope)
        if values is not None:
            names = [value for value in values if isinstance(value, str)]
            return {**closed, "properties": dict.fromkeys(names, True)} if names else closed
        pattern = _pattern_of(self._lower(schema, scope))
        if pattern is None:
            scope.reject("propertyNames", "cannot be enforced, but for names or one pattern")
        return {**closed, "patternProperties": {pattern: True}} if pattern else True

    def _dependent(self, words: dict[str, Any], scope: Scope) -> list[Lowered]:
        found: list[Lowered] = []
        rules = {**words.get("dependencies", {}), **words.get("dependentRequired", {})}
        pairs = [*rules.items(), *words.get("dependentSchemas", {}).items()]
        for name, rule in pairs:
            if isinstance(rule, list):
                needs: Lowered = {"type": "object", "required": [name, *rule]}
            else:
                present: Lowered = {"type": "object", "required": [name]}
                needs = all_of([present, self._lower(rule, scope)])
            found.append(any_of([{"type": "object", "properties": {name: False}}, needs]))
        return found

    def _unevaluated(self, words: dict[str, Any], scope: Scope) -> Lowered:
        if "additionalProperties" in words:
            return True
        rest = words["unevaluatedProperties"]
        options = self._negation.evaluated(words, scope)
        if options is None:
            scope.reject("unevaluatedProperties", "cannot be enforced beside other parts")
        found = []
        for names, patterns, conditions in options:
            known: dict[str, Any] = {
                "properties": dict.fromkeys(names, True),
                "patternProperties": dict.fromkeys(patterns, True),
                "additionalProperties": rest,
            }
            closed = self._lower({"type": "object", **known}, scope)
            found.append(all_of([closed, *(self._lower(*each) for each in conditions)]))
        return any_of(found)

    def _counted(
        self, words: dict[str, Any], lowered: dict[str, Any], required: list[str], scope: Scope
    ) -> list[Lowered]:
        """Lower the minimum and maximum number of properties.

        A name that is not listed could occur twice, so such names are not counted.
        """
        least = int(words.get("minProperties", 0)) - len(required)
        most = words.get("maxProperties")
        optional = [
            name
            for name, part in lowered.get("properties", {}).items()
            if name not in required and part is not False
        ]
        is_closed = lowered.get("additionalProperties", True) is False and not any(
            part is not False for part in lowered.get("patternProperties", {}).values()
        )
        found: list[Lowered] = []
        if least > 0:
            if optional and least <= len(optional):
                chosen = _choices(optional, least, "minProperties", scope)
                found.append(any_of({"type": "object", "required": [*one]} for one in chosen))
            elif is_closed:
                return [False]
            elif least == 1:
                found.append({"type": "object", "minProperties": len(required) + 1})
            else:
                scope.reject("minProperties", "cannot be enforced for names that are not listed")
        if most is not None:
            room = int(most) - len(required)
            if room < 0:
                return [False]
            if not optional:
                found.append({"type": "object", "maxProperties": int(most)})
            elif not (is_closed and room >= len(optional)):
                listed = dict.fromkeys((*lowered["properties"], *required), True)
                chosen = _choices(optional, min(room, len(optional)), "maxProperties", scope)
                found.append(
                    {"type": "object", "properties": listed, "additionalProperties": False}
                )
                found.append(
                    any_of(
                        {
                            "type": "object",
                            "properties": {name: False for name in optional if name not in one},
                        }
                        for one in chosen
                    )
                )
        return found


def _choices(names: Sequence[str], n: int, word: str, scope: Scope) -> list[tuple[str, ...]]:
    if math.comb(len(names), n) > _MAX_OPTIONS:
        scope.reject(word, "cannot be enforced for {n} properties", n=len(names))
    return list(itertools.combinations(names, n))


def _pattern_of(lowered: Lowered) -> str | None:
    """Return the pattern of the allowed strings; empty for all, None if it is not a pattern."""
    if lowered is True:
        return ""
    found = [lowered]
    if isinstance(lowered, dict) and lowered.keys() == {"allOf"}:
        found = [part for part in lowered["allOf"] if part != {"type": "string"}]
    if isinstance(lowered, dict) and lowered.keys() == {"anyOf"}:
        found = [part for part in lowered["anyOf"] if _takes_strings(part)]
    if len(found) != 1 or not isinstance(found[0], dict) or not _takes_strings(found[0]):
        return None
    words = {key: value for key, value in found[0].items() if key != "type"}
    if words.keys() == {"pattern"}:
        return str(words["pattern"])
    if words.keys() <= {"minLength", "maxLength"}:
        return f"^(?s:.{{{words.get('minLength', 0)},{words.get('maxLength', '')}}})$" * bool(words)
    return None


def _takes_strings(part: Lowered) -> bool:
    return isinstance(part, dict) and "string" in types_in(part)
