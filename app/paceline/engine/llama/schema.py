"""A JSON schema as GBNF, by llama-cpp-python's converter with limits around it.

The converter is plain Python that trusts its input: numbers in a schema become that many copies of
a rule, and references may be followed by recursion. Sizes are checked before, clock and memory
while it runs. References to other files are refused and never fetched. Four parts are done here:
patterns, see `json_pattern`; texts, since the converter's escaping loses backslashes and quotes
within names and constants; references, which it names by their last part alone; and counted
repetitions, which it writes as brackets within brackets, too deep for llama.cpp from some hundreds
on.

Not enforced by the converter: `minimum`, `maximum`, `multipleOf`, `uniqueItems`, `not`, `if`.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import re
from typing import Any, NoReturn
from urllib.parse import unquote

from llama_cpp import llama_grammar

from paceline.engine.llama.gbnf import MAX_REPEATS, MAX_TEXT
from paceline.engine.llama.json_pattern import json_pattern
from paceline.engine.sandbox import LimitError, guarded

_MAX_BYTES = 256 << 10
_MAX_DEPTH = 64
_MAX_NAME = 1000
_FEW = 8
_LENGTHS = {"minLength", "maxLength"}
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems")
_NO_CONTROLS = r'[^"\\]', r'[^"\\\x00-\x1F]'
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"}


class SchemaError(Exception):
    """What is wrong with the schema, as a part of a sentence."""


class _Converter(llama_grammar.SchemaConverter):  # type: ignore[misc]
    """With texts that come through unchanged, and lengths that llama.cpp counts."""

    def __init__(self) -> None:
        super().__init__(prop_order={}, allow_fetch=False, dotall=False, raw_pattern=False)
        self._names: dict[str, str] = {}
        self._has_root = False

    def resolve_refs(self, schema: dict[str, Any], url: str) -> dict[str, Any]:
        """Find what every reference leads to; the converter's own overlooks those beside one."""
        del url
        todo: list[Any] = [schema]
        while todo:
            part = todo.pop()
            if isinstance(part, list):
                todo.extend(part)
            elif isinstance(part, dict):
                todo.extend(part.values())
                if isinstance(ref := part.get("$ref"), str):
                    self._refs[ref] = _follow(schema, ref)
        return schema

    def _resolve_ref(self, ref: str) -> str:
        name = self._names.get(ref)
        if name is None:  # a name of its own: the converter takes the last part, as any other may
            name = f"ref-{len(self._names)}"
            while name in self._rules:
                name += "-"
            self._names[ref] = name
            self._rules[name] = ""
            self._rules[name] = self.visit(self._refs[ref], name)
        return name

    def _format_literal(self, literal: str) -> str:
        with contextlib.suppress(ValueError):  # no JSON: a single character
            literal = json.dumps(json.loads(literal), ensure_ascii=False)
        return _quoted(literal)

    def _generate_constant_rule(self, value: object) -> str:
        return self._format_literal(json.dumps(value, allow_nan=False))

    def _visit_pattern(self, pattern: str, name: str) -> str:
        rule: str = super()._visit_pattern(json_pattern(pattern), name)
        return rule

    def _add_primitive(self, name: str, rule: llama_grammar.BuiltinRule) -> str:
        if rule is llama_grammar.PRIMITIVE_RULES["char"]:  # the converter's lets line breaks in
            rule = llama_grammar.BuiltinRule(rule.content.replace(*_NO_CONTROLS, 1))
        added: str = super()._add_primitive(name, rule)
        return added

    def visit(self, schema: dict[str, Any], name: str) -> str:
        """Return the name of the rule for a part of the schema; called by the converter, too."""
        if not name and self._has_root:  # a property without a name, and not the whole
            name = "nameless"
        self._has_root = True
        is_other, of_type = "enum" in schema or "const" in schema, schema.get("type")
        rule_name = f"{name}-" if name in llama_grammar.RESERVED_NAMES else name or "root"
        match schema:
            case {"$ref": _} | {"oneOf": _} | {"anyOf": _} | {"pattern": _} | {"format": _}:
                rule = ""
            case {"enum": [_, *_] as values} if not ("const" in schema or type(of_type) is list):
                rule = _one_of(sorted(set(map(_constant, values))))
            case {"type": "string", **rest} if not is_other and rest.keys() & _LENGTHS:
                char = self._add_primitive("char", llama_grammar.PRIMITIVE_RULES["char"])
                rule = char + _times(rest.get("minLength", 0), rest.get("maxLength"))
                rule = rf'"\"" {rule} "\"" space'
            case {"type": "array", "items": dict(items), **rest} if not is_other:
                item = self.visit(items, f"{name}-item" if name else "item")
                least, most = rest.get("minItems", 0), rest.get("maxItems")
                rule = f'"[" space {_listed(item, least, most)} "]" space'
            case _:
                rule = ""
        found: str = self._add_rule(rule_name, rule) if rule else super().visit(schema, name)
        return found


def _follow(schema: dict[str, Any], ref: str) -> dict[str, Any]:
    """Return the part of the schema that a reference leads to."""
    target: Any = schema
    for step in ref.split("/")[1:]:
        key = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(target, list) and key.isdecimal() and int(key[:9]) < len(target):
            target = target[int(key[:9])]
        elif isinstance(target, dict) and key in target:
            target = target[key]
        else:
            target = None
    if not isinstance(target, dict):
        raise SchemaError(f"the reference “{ref[:80]}” does not lead to a schema")
    return target


def _quoted(text: str) -> str:
    return '"' + re.sub(r'[\\"\r\n]', lambda found: _ESCAPES[found[0]], text) + '"'


def _constant(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _one_of(texts: list[str], depth: int = 0) -> str:
    """Return an alternative of texts, given in order, with what they begin with written once.

    Of texts side by side llama.cpp would follow each by itself: with 5,000 a copy of the grammar
    takes 0.1 s.
    """
    if len(texts) < _FEW or depth > _MAX_DEPTH:
        return " | ".join(map(_quoted, texts))
    choices = []
    for _, same in itertools.groupby(texts, key=lambda text: text[:1]):
        group = list(same)
        differ = (i for i, (a, b) in enumerate(zip(group[0], group[-1], strict=False)) if a != b)
        shared = group[0][: next(differ, None)]
        rest = [text[len(shared) :] for text in group]
        choices.append(_quoted(shared) + (f" ({_one_of(rest, depth + 1)})" if any(rest) else ""))
    return " | ".join(choices)


def _times(least: int, most: int | None) -> str:
    return f"{{{least},{'' if most is None else most}}}"


def _listed(item: str, least: int, most: int | None) -> str:
    """Return `least` to `most` items with commas between them."""
    if most == 0:
        return ""
    more = _times(max(least - 1, 0), None if most is None else most - 1)
    listed = f'{item} ("," space {item}){more}'
    return listed if least else f"({listed})?"


def _refuse_constant(name: str) -> NoReturn:
    raise SchemaError(f"{name} is no JSON value")


def schema_to_gbnf(text: str) -> str:
    """Return GBNF for the JSON texts that a schema allows.

    Raises:
        SchemaError: The text is no JSON, no schema, or one that cannot be followed.
    """
    if len(text.encode("utf-8", "replace")) > _MAX_BYTES:
        raise SchemaError(f"it has more than {_MAX_BYTES >> 10} kB")
    try:
        schema = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise SchemaError(
            f"it is no JSON: line {error.lineno}, column {error.colno}: {error.msg}"
        ) from None
    except RecursionError:
        raise SchemaError("it is nested too deep") from None
    except ValueError as error:  # a number of thousands of digits
        raise SchemaError(f"it is no JSON: {error}") from None
    if not isinstance(schema, dict):
        raise SchemaError("a schema is a JSON object, as {“type”: “object”, …}")
    _check(schema)
    try:
        return guarded(lambda: _convert(schema))
    except RecursionError:
        raise SchemaError("it has too many parts within each other, or optional ones") from None
    except LimitError:
        raise SchemaError("it takes too much time or memory to turn into a grammar") from None
    except SchemaError:
        raise
    except Exception as error:  # noqa: BLE001  whatever the converter stumbles over, the schema has
        raise SchemaError(str(error).rstrip(".")[:200] or type(error).__name__) from None


def _convert(schema: dict[str, Any]) -> str:
    converter = _Converter()
    converter.visit(converter.resolve_refs(schema, ""), "")
    grammar: str = converter.format_grammar()
    if len(grammar) > MAX_TEXT:
        raise SchemaError("the grammar for it would be too long")
    return grammar


def _check(schema: dict[str, Any]) -> None:
    """Refuse depth and numbers that the converter would multiply."""
    todo: list[tuple[Any, int]] = [(schema, 1)]
    while todo:
        part, depth = todo.pop()
        if depth > _MAX_DEPTH:
            raise SchemaError(f"it is nested more than {_MAX_DEPTH} deep")
        if isinstance(part, list):
            todo.extend((value, depth + 1) for value in part)
        elif isinstance(part, dict):
            for key, value in part.items():
                if len(key) > _MAX_NAME:
                    raise SchemaError(f"a name in it has more than {_MAX_NAME} characters")
                _check_entry(key, value)
                todo.append((value, depth + 1))


def _check_entry(key: str, value: object) -> None:
    if key in _COUNTS and not isinstance(value, dict):  # a property may have such a name
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise SchemaError(f"“{key}” is no whole number")
        if value > MAX_REPEATS:
            raise SchemaError(f"“{key}” is {value}; at most {MAX_REPEATS} can be counted")
    if key == "$ref" and isinstance(value, str) and value != "#" and value[:2] != "#/":
        raise SchemaError(f"the reference “{value[:80]}” does not lead to a part of it (“#/…”)")
    if key == "pattern" and isinstance(value, str):
        numbers = re.findall(r"\{\s*(\d*)\s*(?:,\s*(\d*)\s*)?\}", value)
        for number in (n for pair in numbers for n in pair if n):
            if len(number) > 9 or int(number) > MAX_REPEATS:
                raise SchemaError(f"a pattern repeats {number} times; {MAX_REPEATS} can be counted")
