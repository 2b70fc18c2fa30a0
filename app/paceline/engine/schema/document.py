"""A JSON schema as given: parsed, validated by its own rules, with its references."""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

from jsonschema import Draft3Validator, Draft4Validator, Draft202012Validator
from jsonschema.exceptions import best_match
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for
from jsonschema_specifications import REGISTRY
from referencing import Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import specification_with

from paceline.engine.schema.terms import SchemaError
from paceline.sentence import Argument, Sentence, made, sentence

_MAX_BYTES = 256 << 10
_MAX_DEPTH = 64
_MAX_MIXED = 4_000
_MAX_WORK = 200_000
_NOT_TRIED = frozenset(
    {"$ref", "$id", "id", "pattern", "patternProperties", "$dynamicRef", "$recursiveRef",
     "multipleOf", "unevaluatedProperties", "unevaluatedItems"}
)  # fmt: skip
_IGNORE_BESIDE_REF = ("draft-03", "draft-04", "draft-06", "draft-07")

Schema = bool | dict[str, Any]


class Scope(NamedTuple):
    """The place of a part of a schema.

    Attributes:
        resolver: Resolves its references.
        path: Names of properties, and `[]` for items, that lead to the value it describes; empty
            for the whole value.
    """

    resolver: Any
    path: str = ""

    def within(self, name: str) -> Scope:
        """Return the scope of a property's value."""
        return self._replace(path=f"{self.path}.{name}" if self.path else name)

    @property
    def items(self) -> Scope:
        """The scope of the items of an array."""
        return self._replace(path=f"{self.path}[]")

    def error(self, what: Sentence) -> SchemaError:
        """Return an error with this text, preceded by the property if the part belongs to one."""
        if not self.path:
            return SchemaError(what)
        return SchemaError("property “{path}”: {what}", path=self.path[:200], what=what)

    def reject(self, keyword: str, reason: str, /, **arguments: Argument) -> NoReturn:
        """Refuse a keyword.

        Raises:
            SchemaError: Always.
        """
        why = made(reason, arguments)
        raise self.error(sentence("“{keyword}” {why}", keyword=keyword[:80], why=why))


class Document:
    """A schema with the rules of its draft.

    Attributes:
        root: The whole schema.
        scope: Place of the whole schema.

    Args:
        text: The schema as JSON.

    Raises:
        SchemaError: The text is not JSON, not a schema, or too large.
    """

    def __init__(self, text: str) -> None:
        self.root = _parse(text)
        self._class: type[Validator] = Draft202012Validator
        if isinstance(self.root, dict):
            self._class = validator_for(self.root, default=Draft202012Validator)
        if self._class is Draft3Validator:
            raise SchemaError("“$schema” names draft 3, which is too old")
        self.is_draft_4 = self._class is Draft4Validator
        self._uri = str(self._class.META_SCHEMA.get("$schema", ""))
        self._specification = specification_with(self._uri.rstrip("#"))
        root = self._specification.create_resource(self.root)
        self.scope = Scope(REGISTRY.resolver_with_root(root))
        self._work = 0
        self._check()

    def work(self, amount: int = 10) -> None:
        """Count work on the schema; 10 for examining a part of it.

        Raises:
            SchemaError: It is too much: parts that refer to each other may multiply.
        """
        self._work += amount
        if self._work > _MAX_WORK:
            raise SchemaError("it has too many parts, or options that multiply")

    def _check(self) -> None:
        rules = self._class(self._class.META_SCHEMA, format_checker=self._class.FORMAT_CHECKER)
        problem = best_match(rules.iter_errors(self.root))
        if problem is None:
            return
        path = [step for step in problem.absolute_path if isinstance(step, str)]
        names = ".".join(
            step for before, step in zip(["", *path], path, strict=False) if before == "properties"
        )
        keyword = str(path[-1]) if path else sentence("the whole")
        reason = problem.message[:200].rstrip(".")
        Scope(None, names).reject(keyword, "is not as schemas have it: {reason}", reason=reason)

    def entered(self, schema: Schema, scope: Scope) -> Scope:
        """Return the scope within a part of the schema, which may have an address of its own.

        Raises:
            SchemaError: The part uses another draft.
        """
        if not isinstance(schema, dict) or schema is self.root:
            return scope
        if schema.get("$schema", self._uri) not in (self._uri, self._uri.rstrip("#")):
            scope.reject("$schema", "differs from that of the whole")
        if "$id" not in schema and "id" not in schema:
            return scope
        resource: Resource[Any] = self._specification.create_resource(schema)
        return scope._replace(resolver=scope.resolver.in_subresource(resource))

    def keywords(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the entries of a schema that have an effect in its draft."""
        known = self._class.VALIDATORS
        if "$ref" in schema and any(name in self._uri for name in _IGNORE_BESIDE_REF):
            return {"$ref": schema["$ref"]}
        return {key: value for key, value in schema.items() if key in known}

    def in_place(self, schema: Schema, scope: Scope) -> Iterator[tuple[Schema, Scope]]:
        """Yield the parts that apply to the same value, and the targets of `$ref`."""
        if isinstance(schema, bool):
            return
        scope = self.entered(schema, scope)
        words = self.keywords(schema)
        for word in ("allOf", "anyOf", "oneOf"):
            yield from ((part, scope) for part in words.get(word, ()))
        for word in ("dependencies", "dependentSchemas"):
            parts = words.get(word, {}).values()
            yield from ((part, scope) for part in parts if not isinstance(part, list))
        if "not" in words:
            yield words["not"], scope
        if "if" in words:
            yield from ((schema[word], scope) for word in ("if", "then", "else") if word in schema)
        if "$ref" in words:
            yield self.follow(words["$ref"], scope)

    def is_before(self, draft: str) -> bool:
        """Return whether the draft is older than this one, such as `2019-09`."""
        found = re.search(r"draft/?(?:-0)?([\d-]+)", self._uri)
        return found is not None and len(found[1]) < len(draft)

    def judges_format(self, name: str) -> bool:
        """Return whether a validator would check this format."""
        return name in self._class.FORMAT_CHECKER.checkers or (
            name in type(self._class.FORMAT_CHECKER).checkers
        )

    def can_try(self, schema: Schema) -> bool:
        """Return whether `allows` can be used on a part.

        An address within the document would change the meaning of references; a pattern, parts that
        refer to each other and “unevaluated” keywords could keep a validator busy forever; and it
        divides with binary numbers.
        """
        return all(found.keys().isdisjoint(_NOT_TRIED) for found in _objects_in(schema))

    @functools.cached_property
    def _validator(self) -> Any:
        return self._class(self.root, registry=REGISTRY, format_checker=self._class.FORMAT_CHECKER)

    def allows(self, schema: Schema, value: object) -> bool:
        """Return whether a value is valid by a part of the schema."""
        return bool(self._validator.evolve(schema=schema).is_valid(value))

    def follow(self, reference: str, scope: Scope) -> tuple[Schema, Scope]:
        """Return the target of a reference; other files are never fetched.

        Raises:
            SchemaError: The target does not exist here.
        """
        try:
            found = scope.resolver.lookup(reference)
        except (Unresolvable, ValueError):
            scope.reject(
                "$ref",
                "does not lead to a part of the schema: “{reference}”",
                reference=reference[:80],
            )
        if not isinstance(found.contents, (bool, dict)):
            scope.reject(
                "$ref", "does not lead to a schema: “{reference}”", reference=reference[:80]
            )
        return found.contents, scope._replace(resolver=found.resolver)

    def occurrences(self, keyword: str, value: object) -> int:
        """Return how often a keyword has this value, anywhere in the document."""
        return sum(part.get(keyword) == value for part in _objects_in(self.root))


def _objects_in(part: Any) -> Iterator[dict[str, Any]]:
    todo = [part]
    while todo:
        part = todo.pop()
        if isinstance(part, list):
            todo.extend(part)
        elif isinstance(part, dict):
            yield part
            todo.extend(part.values())


def _parse(text: str) -> Schema:
    if len(text.encode("utf-8", "replace")) > _MAX_BYTES:
        raise SchemaError("it has more than {n} kB", n=_MAX_BYTES >> 10)
    try:
        schema = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise SchemaError(
            "it is no JSON: line {lineno}, column {colno}: {msg}",
            lineno=error.lineno,
            colno=error.colno,
            msg=error.msg,
        ) from None
    except RecursionError:
        raise SchemaError("it is nested too deep") from None
    except ValueError as error:  # a number with thousands of digits
        raise SchemaError("it is no JSON: {error}", error=error) from None
    if not isinstance(schema, (bool, dict)):
        raise SchemaError("a schema is a JSON object, as {“type”: “object”, …}")
    todo: list[tuple[Any, int]] = [(schema, 1)]
    while todo:
        part, depth = todo.pop()
        if isinstance(part, float) and not math.isfinite(part):
            raise SchemaError("it has a number that is too large")
        if depth > _MAX_DEPTH:
            raise SchemaError("it is nested more than {n} deep", n=_MAX_DEPTH)
        if isinstance(part, (list, dict)):
            inner = part if isinstance(part, list) else part.values()
            todo.extend((value, depth + 1) for value in inner)
        if isinstance(part, list) and len(part) > _MAX_MIXED and not _can_be_sorted(part):
            raise SchemaError("it has a list of more than {n:,} values of any kind", n=_MAX_MIXED)
    return schema


def _can_be_sorted(values: list[Any]) -> bool:
    """Return whether it is fast to check that all values differ."""
    return any(all(isinstance(value, kind) for value in values) for kind in (str, (int, float)))


def _refuse_constant(name: str) -> NoReturn:
    raise SchemaError("{name} is no JSON value", name=name)
