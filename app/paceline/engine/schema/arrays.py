"""Lowering of the keywords for arrays."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

from paceline.engine.schema.document import Document, Schema, Scope
from paceline.engine.schema.negation import Negation
from paceline.engine.schema.terms import MAX_ITEMS, Lowered, all_of, any_of, is_same

KEYWORDS = (
    "items", "prefixItems", "additionalItems", "minItems", "maxItems", "contains", "uniqueItems",
    "unevaluatedItems",
)  # fmt: skip
_MAX_ORDERS = 128
"""Maximum number of arrays of different items, in any order, that are enumerated; in the order of
the values alone, twice as many."""
_MAX_PLACES = 8
_IN_PLACE = (
    "$ref", "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "dependencies",
    "$dynamicRef", "$recursiveRef", "contains",
)  # fmt: skip


class ArrayLowering:
    """Lowers arrays of one document.

    Args:
        document: The schema with the rules of its draft.
        lower: Lowers the parts of arrays.
        negation: Negates parts, and enumerates their values.
    """

    def __init__(
        self, document: Document, lower: Callable[[Schema, Scope], Lowered], negation: Negation
    ) -> None:
        self._document = document
        self._lower = lower
        self._negation = negation

    def lower(self, words: dict[str, Any], full: dict[str, Any], scope: Scope) -> Lowered:
        """Return the arrays that a schema's keywords allow, as a lowered schema.

        Args:
            words: The keywords that have an effect in the document's draft.
            full: These keywords, and those that they use.
            scope: Place of the schema.

        Raises:
            SchemaError: A keyword cannot be enforced.
        """
        first: list[Lowered] = []
        rest: Lowered = True
        items = words.get("items", True)
        if isinstance(items, list):
            first = [self._lower(item, scope.items) for item in items]
            rest = self._lower(words.get("additionalItems", True), scope.items)
        else:
            first = [self._lower(item, scope.items) for item in words.get("prefixItems", ())]
            rest = self._lower(items, scope.items)
        has_rest = ("additionalItems" if isinstance(items, list) else "items") in words
        if words.get("unevaluatedItems", True) is not True and not has_rest:
            if not words.keys().isdisjoint(_IN_PLACE):
                scope.reject("unevaluatedItems", "cannot be enforced beside other parts")
            rest = self._lower(words["unevaluatedItems"], scope.items)
        least, most = int(words.get("minItems", 0)), words.get("maxItems")
        most = None if most is None else min(int(most), MAX_ITEMS)
        if least > MAX_ITEMS:
            scope.reject("minItems", "cannot be enforced beyond {n:,}", n=MAX_ITEMS)
        if most is not None and least > most:
            scope.reject("minItems", "is greater than “maxItems”")
        lowered = list_of(first, rest, least, most)
        if "contains" in words:
            lowered = self._containing(full, first, rest, (least, most), scope)
        if words.get("uniqueItems") is True:
            lowered = all_of([lowered, self._unique(words, first, (least, most), scope)])
        return lowered

    def _containing(
        self,
        words: dict[str, Any],
        first: list[Lowered],
        rest: Lowered,
        counts: tuple[int, int | None],
        scope: Scope,
    ) -> Lowered:
        """Put the contained items into adjacent places among the first ones."""
        wanted = self._lower(words["contains"], scope.items)
        counted = not self._document.is_before("2019-09")
        n_least = int(words.get("minContains", 1)) if counted else 1
        n_most = words.get("maxContains") if counted else None
        other: Lowered = True
        if n_most is not None:
            n_most = int(n_most)
            if n_most < n_least:
                scope.reject("minContains", "is greater than “maxContains”")
            other = self._negation.required("maxContains", words["contains"], scope.items)
        elif not n_least:
            return list_of(first, rest, *counts)
        least, most = counts
        top = _MAX_PLACES if most is None else min(most, _MAX_PLACES + n_least)
        if n_least > _MAX_PLACES:
            scope.reject("minContains", "cannot be enforced beyond {n}", n=_MAX_PLACES)
        options = []
        for start in range(max(top - n_least, -1) + 1) if n_least else range(1):
            end = start + n_least
            places = [first[i] if i < len(first) else rest for i in range(max(end, len(first)))]
            places = [
                all_of([place, wanted if start <= i < end else other])
                for i, place in enumerate(places)
            ]
            options.append(list_of(places, all_of([rest, other]), max(least, end), most))
        return any_of(options)

    def _unique(
        self,
        words: dict[str, Any],
        first: list[Lowered],
        counts: tuple[int, int | None],
        scope: Scope,
    ) -> Lowered:
        """Enumerate all arrays of different items, if these are few."""
        least, limit = counts
        most = math.inf if limit is None else limit
        items = words.get("items", True)
        if most <= 1 or (items is False and len(first) <= 1):
            return True
        values = None if first else self._negation.values(items, scope.items)
        if values is None:
            scope.reject("uniqueItems", "cannot be enforced, but for a few values as “enum”")
        if len(values) > 2 * _MAX_ORDERS:
            scope.reject("uniqueItems", "cannot be enforced for {n} values", n=len(values))
        different: list[Any] = []
        for value in values:
            if not any(is_same(value, other) for other in different):
                different.append(value)
        top = int(min(most, len(different)))
        n_all = sum(math.perm(len(different), n) for n in range(least, top + 1))
        choose: Callable[..., Any] = itertools.permutations
        if n_all > _MAX_ORDERS:  # only the values in the order of the schema
            choose = itertools.combinations
            n_all = sum(math.comb(len(different), n) for n in range(least, top + 1))
        if n_all > 2 * _MAX_ORDERS:
            scope.reject("uniqueItems", "cannot be enforced for {n} values", n=len(different))
        return any_of(
            list_of([{"enum": [value]} for value in chosen], False, n, n)  # noqa: FBT003
            for n in range(least, top + 1)
            for chosen in choose(different, n)
        )


def list_of(first: list[Lowered], rest: Lowered, least: int, most: int | None) -> Lowered:
    """Return a lowered array."""
    if rest is False:
        most = len(first) if most is None else min(most, len(first))
    if most is not None and least > most:
        return False
    lowered: dict[str, Any] = {"type": "array"}
    if first:
        lowered["prefixItems"] = first
    if rest is not True:
        lowered["items"] = rest
    if least:
        lowered["minItems"] = least
    if most is not None:
        lowered["maxItems"] = most
    return lowered
