"""Lowering of a JSON schema: keyword by keyword, each enforced or refused.

The lowered schema may allow less than the schema: an array that must contain an item has it in one
of the first places, and of several overlapping alternatives one remains. It never allows more, so
every text that matches it is valid.
"""

from __future__ import annotations

import itertools
import json
import math
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from paceline.engine.schema import arrays, formats, objects
from paceline.engine.schema.constants import check_value
from paceline.engine.schema.disjoint import Disjointness
from paceline.engine.schema.document import Document, Schema, Scope
from paceline.engine.schema.negation import Negation
from paceline.engine.schema.numbers import BOUNDS, divisor_of, is_multiple, lower_number
from paceline.engine.schema.patterns import PatternError, translate
from paceline.engine.schema.terms import (
    TYPES,
    Lowered,
    SchemaError,
    all_of,
    any_of,
    is_same,
    of_types,
    size_of,
    types_in,
)
from paceline.sentence import sentence

_MAX_PARTS = 50_000
_MAX_DIVISORS = 100
_MAX_LENGTH = 10**9
_MAX_BLAME_S = 1.0
_MAX_CLASHES = 15
_NUMERIC = (*BOUNDS, "multipleOf")
_TEXTUAL = ("minLength", "maxLength", "pattern", "format")


class LoweredPart(NamedTuple):
    """A lowered part of a schema.

    Attributes:
        scope: Place of the part.
        words: Its keywords.
        lowered: The result.
    """

    scope: Scope
    words: tuple[str, ...]
    lowered: Lowered


class LoweredSchema(NamedTuple):
    """A lowered schema.

    Attributes:
        whole: The result.
        parts: All of its parts, inner ones first.
    """

    whole: dict[str, Any]
    parts: list[LoweredPart]

    def blame(self, fails: Callable[[dict[str, Any]], bool], reason: str) -> SchemaError:
        """Return the refusal that names the innermost part that fails.

        Args:
            fails: Returns whether a lowered schema cannot be used.
            reason: The reason, as a part of a sentence.
        """
        defs = {"$defs": self.whole["$defs"]} if "$defs" in self.whole else {}
        began = time.monotonic()
        for part in self.parts:
            if time.monotonic() - began > _MAX_BLAME_S:
                break
            if isinstance(part.lowered, dict) and part.words and fails({**part.lowered, **defs}):
                words = ", ".join(f"“{word}”" for word in part.words[:4])
                return part.scope.error(sentence("{words}: {reason}", words=words, reason=reason))
        return SchemaError(reason)


def lower(text: str) -> LoweredSchema:
    """Lower a schema to one that allows only texts which are valid by it.

    Args:
        text: A JSON schema of draft 4, 6, 7, 2019-09 or 2020-12, which is the default.

    Raises:
        SchemaError: It is not a schema, or has a keyword that cannot be enforced at its place.
    """
    try:
        with warnings.catch_warnings():
            # Python warns of patterns such as `[[a]`, which a later version may read differently.
            warnings.simplefilter("ignore", FutureWarning)
            return _lowered(Document(text))
    except RecursionError:
        raise SchemaError("it has too many parts within each other") from None


def _lowered(document: Document) -> LoweredSchema:
    root = document.root
    if isinstance(root, dict) and "type" not in root and root.keys() & {"properties", "required"}:
        # Other values are valid, too, but a schema with properties is meant for objects.
        document.root = {"type": "object", **root}
    return _Lowering(document).run(document.root)


class _Lowering:
    """The lowering of one document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._disjoint = Disjointness(document)
        self._negation = Negation(document, self.schema)
        self._arrays = arrays.ArrayLowering(document, self.schema, self._negation)
        self._objects = objects.ObjectLowering(document, self.schema, self._negation)
        self._names: dict[int, str] = {}
        self._kept: list[object] = []  # keeps objects alive, so that ids stay unique
        self._todo: list[tuple[str, Schema, Scope]] = []
        self._parts: list[LoweredPart] = []
        self._divisors: set[float] = set()
        self._entered: set[int] = set()
        self._ending: set[int] = set()

    def run(self, root: Schema) -> LoweredSchema:
        lowered = self.schema(root, self._document.scope)
        defs: dict[str, Lowered] = {}
        while self._todo:
            name, schema, scope = self._todo.pop()
            defs[name] = self.schema(schema, scope)
        if lowered is False:
            raise SchemaError("no value is allowed by it")
        if len(self._divisors) > _MAX_DIVISORS:
            self._document.scope.reject(
                "multipleOf",
                "cannot be enforced for more than {n} different numbers",
                n=_MAX_DIVISORS,
            )
        if len(self._divisors) > 1:
            written = json.dumps([lowered, defs])
            if '"allOf"' in written or '"patternProperties"' in written:
                self._check_divisors()
        whole: dict[str, Any] = {} if lowered is True else dict(lowered)
        if defs:
            whole["$defs"] = defs
        return LoweredSchema(whole, self._parts)

    def schema(self, schema: Schema, scope: Scope) -> Lowered:
        """Lower a part.

        Raises:
            SchemaError: A keyword in it cannot be enforced.
        """
        if isinstance(schema, bool):
            return schema
        self._document.work()
        scope = self._document.entered(schema, scope)
        words = self._document.keywords(schema)
        lowered = self._words(schema, words, scope)
        if size_of(lowered, _MAX_PARTS) > _MAX_PARTS:
            raise SchemaError("it has too many parts, or options that multiply")
        self._parts.append(LoweredPart(scope, tuple(words), lowered))
        return lowered

    def _words(self, schema: dict[str, Any], words: dict[str, Any], scope: Scope) -> Lowered:
        # `then`, `else` and the counts of `contains` belong to other keywords.
        full = {**schema, **words}
        types = types_in(words)
        parts: list[Lowered] = []
        if _has(words, "const", "enum"):
            values = self._values(words, scope)
            others = {key: schema[key] for key in schema.keys() - {"const", "enum", "multipleOf"}}
            if self._document.can_try(others):
                values = [each for each in values if self._document.allows(others, each)]
                if not values:
                    scope.reject(_first(words, "const", "enum"), "leaves no value")
                return {"enum": values}
            parts.append({"enum": values} if values else False)
        kinds = {each: self._of_type(each, types, words, full, scope) for each in _kinds(types)}
        plain = [each for each, kind in kinds.items() if kind is True]
        if "number" in plain and "number" not in types:
            plain[plain.index("number")] = "integer"
        parts.append(
            any_of([of_types(plain), *(kind for kind in kinds.values() if kind is not True)])
        )
        if "$ref" in words:
            parts.append(self._reference(words["$ref"], scope))
        for word in ("$dynamicRef", "$recursiveRef"):
            if word in words:
                parts.append(self._dynamic(word, words[word], scope))
        parts += [self.schema(part, scope) for part in words.get("allOf", ())]
        if "anyOf" in words:
            parts.append(any_of([self.schema(part, scope) for part in words["anyOf"]]))
        if "oneOf" in words:
            parts.append(self._one_of(words["oneOf"], scope))
        if "not" in words:
            parts.append(self._negation.required("not", words["not"], scope))
        if "if" in words:
            parts.append(self._conditional(full, scope))
        return all_of(parts)

    # ------------------------------------------------------------------------------ references

    def _reference(self, reference: str, scope: Scope) -> Lowered:
        target, inner = self._document.follow(reference, scope)
        if isinstance(target, bool):
            return target
        name = self._names.get(id(target))
        if name is None:
            name = self._names[id(target)] = f"r{len(self._names)}"
            self._kept.append(target)
            self._check_cycles(target, inner)
            self._todo.append((name, target, inner))
        return {"$ref": f"#/$defs/{name}"}

    def _dynamic(self, word: str, reference: str, scope: Scope) -> Lowered:
        """Follow a dynamic reference, unless several places could be its target."""
        anchor = reference.removeprefix("#")
        if word == "$recursiveRef":
            is_plain = not self._document.occurrences("$recursiveAnchor", True)  # noqa: FBT003
        else:
            is_plain = self._document.occurrences("$dynamicAnchor", anchor) < 2
        if not is_plain:
            scope.reject(word, "cannot be enforced where several places have its anchor")
        return self._reference(reference, scope)

    def _check_cycles(self, schema: Schema, scope: Scope) -> None:
        """Refuse a reference to itself without another keyword: validators would never end."""
        if id(schema) in self._entered:
            scope.reject("$ref", "leads to itself before anything is said")
        if id(schema) in self._ending or isinstance(schema, bool):
            return
        self._entered.add(id(schema))
        for part, inner in self._document.in_place(schema, scope):
            self._check_cycles(part, inner)
        self._entered.remove(id(schema))
        self._ending.add(id(schema))

    def _check_divisors(self) -> None:
        """Refuse divisors whose common multiple the library could compute wrongly."""
        divisors = [divisor_of(value, self._document.scope) for value in sorted(self._divisors)]
        places = max(each.exponent for each in divisors)
        scaled = [each.coefficient * 10 ** (places - each.exponent) for each in divisors]
        common, most = math.lcm(*scaled), 1 << 32
        if common >= most or any(
            number * math.lcm(*scaled[:i], *scaled[i + 1 :]) >= most
            for i, number in enumerate(scaled)
        ):
            self._document.scope.reject(
                "multipleOf",
                "cannot be enforced for all of {divisors:.170}",
                divisors=str(sorted(self._divisors)),
            )

    # --------------------------------------------------------------------------------- options

    def _one_of(self, options: Sequence[Schema], scope: Scope) -> Lowered:
        given = [(option, scope) for option in options]
        clashes = [
            (i, k)
            for i, k in itertools.combinations(range(len(options)), 2)
            if not self._disjoint.holds(given[i], given[k])
        ]
        lowered = [self.schema(option, scope) for option in options]
        if not clashes:
            return any_of(lowered)
        key = self._disjoint.discriminator(given)
        if key is not None:
            needs: Lowered = {"type": "object", "required": [key]}
            return any_of([all_of([option, needs]) for option in lowered])
        if len(clashes) > _MAX_CLASHES:
            scope.reject("oneOf", "has too many options that overlap")
        others: list[list[Lowered]] = [[] for _ in options]
        for i, k in clashes:
            others[i].append(self._negation.of(options[k], scope))
            others[k].append(self._negation.of(options[i], scope))
        found = any_of([all_of([one, *rest]) for one, rest in zip(lowered, others, strict=True)])
        if found is False:
            scope.reject("oneOf", "has options that cannot be told apart")
        return found

    def _conditional(self, words: dict[str, Any], scope: Scope) -> Lowered:
        condition = words["if"]
        then, otherwise = words.get("then", True), words.get("else", True)
        if then is True and otherwise is True:
            return True
        holds = all_of([self.schema(condition, scope), self.schema(then, scope)])
        fails = all_of([self._negation.of(condition, scope), self.schema(otherwise, scope)])
        return any_of([fails, holds])

    # ----------------------------------------------------------------------------------- types

    def _values(self, words: dict[str, Any], scope: Scope) -> list[Any]:
        word = "const" if "const" in words else "enum"
        values = [words["const"]] if word == "const" else list(words["enum"])
        if word == "const" and "enum" in words:
            values = [v for v in values if any(is_same(v, other) for other in words["enum"])]
        for value in values:
            check_value(value, word, scope)
        if "multipleOf" in words:
            values = [value for value in values if is_multiple(value, words["multipleOf"])]
        return values

    def _of_type(
        self,
        name: str,
        types: tuple[str, ...],
        words: dict[str, Any],
        full: dict[str, Any],
        scope: Scope,
    ) -> Lowered:
        """Lower the keywords for one type; return True if there are none."""
        if name == "number" and _has(words, *_NUMERIC):
            lowered = lower_number(
                full,
                scope,
                is_integer="number" not in types,
                is_draft_4=self._document.is_draft_4,
            )
            if "multipleOf" in lowered:
                self._divisors.add(lowered["multipleOf"])
            return lowered
        if name == "string" and _has(words, *_TEXTUAL):
            return self._string(words, scope)
        if name == "array" and _has(words, *arrays.KEYWORDS):
            return self._arrays.lower(words, full, scope)
        if name == "object" and _has(words, *objects.KEYWORDS):
            return self._objects.lower(words, scope)
        return True

    def _string(self, words: dict[str, Any], scope: Scope) -> Lowered:
        lengths = {key: int(words[key]) for key in ("minLength", "maxLength") if key in words}
        if lengths.get("minLength", 0) > _MAX_LENGTH:
            scope.reject("minLength", "cannot be enforced beyond {n:,}", n=_MAX_LENGTH)
        if lengths.get("maxLength", 0) > _MAX_LENGTH:
            lengths["maxLength"] = _MAX_LENGTH
        if lengths.get("minLength", 0) > lengths.get("maxLength", math.inf):
            scope.reject("minLength", "is greater than “maxLength”")
        parts: list[Lowered] = []
        if "pattern" in words:
            parts.append({"type": "string", "pattern": self._pattern(words["pattern"], scope)})
        if "format" in words:
            parts.append(self._format(words["format"], scope))
        if lengths:
            parts.append({"type": "string"} | lengths)
        return all_of([{"type": "string"}, *parts]) if len(parts) != 1 else parts[0]

    def _pattern(self, pattern: str, scope: Scope) -> str:
        try:
            return f"^(?:{translate(pattern)})$"
        except PatternError as error:
            scope.reject("pattern", "cannot be enforced: {error}", error=error)

    def _format(self, name: str, scope: Scope) -> Lowered:
        same = formats.SAME.get(name, name)
        if same in formats.LIBRARY:
            return {"type": "string", "format": same}
        if same in formats.PATTERNS:
            return {"type": "string", "pattern": f"^(?:{formats.PATTERNS[same]})$"}
        if self._document.judges_format(name):
            scope.reject("format", "cannot be enforced: “{name}”", name=name[:40])
        return True


def _kinds(types: tuple[str, ...]) -> list[str]:
    """Return the types, with `integer` as `number`, in the usual order."""
    named = {"number" if name == "integer" else name for name in types}
    return [name for name in TYPES if name in named]


def _has(words: dict[str, Any], *names: str) -> bool:
    return any(name in words for name in names)


def _first(words: dict[str, Any], *names: str) -> str:
    return next(name for name in names if name in words)
