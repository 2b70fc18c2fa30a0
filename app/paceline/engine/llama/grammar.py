"""Implements `backend.Grammar` on llama.cpp's grammar sampler (src/llama-grammar.cpp).

Asking costs one native call for all candidates, in one buffer that a grammar shares with its
clones. llama.cpp ends the process when it is given a token that the grammar forbids, an id outside
the vocabulary, or a grammar that it cannot stand; all three are kept from it here.

A JSON schema becomes GBNF by llama-cpp-python's converter with limits around it. The converter is
plain Python that trusts its input: numbers in a schema become that many copies of a rule, and
references may be followed by recursion. Sizes are checked before, clock and memory while it runs.
References to other files are refused and never fetched. Four parts are done here: patterns, see
`json_pattern`; texts, since the converter's escaping loses backslashes and quotes within names and
constants; references, which it names by their last part alone; and counted repetitions, which it
writes as brackets within brackets, too deep for llama.cpp from some hundreds on. Not enforced by
the converter: `minimum`, `maximum`, `multipleOf`, `uniqueItems`, `not`, `if`.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import itertools
import json
import re
import sys
import time
from collections.abc import Callable
from time import thread_time
from types import FrameType
from typing import Any, NamedTuple, NoReturn
from urllib.parse import unquote

import numpy as np
import psutil
from numpy.typing import NDArray

from paceline.engine.llama import gbnf
from paceline.engine.llama.gbnf import MAX_REPEATS, MAX_TEXT
from paceline.engine.llama.library import llama_cpp, llama_grammar, start
from paceline.engine.model.threads import on_big_stack
from paceline.errors import EngineError, SamplingError

_DEADLINE_S = 2.0
_MAX_MEMORY = 256 << 20
_LOOK_EVERY_S = 0.001  # no line of the converter takes more than some MiB
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

    Of texts side by side llama.cpp would follow each on its own: with 5,000 a copy of the grammar
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
        return _guarded(lambda: _convert(schema))
    except RecursionError:
        raise SchemaError("it has too many parts within each other, or optional ones") from None
    except _LimitError:
        raise SchemaError("it takes too much time or memory to turn into a grammar") from None
    except SchemaError:
        raise
    except Exception as error:  # noqa: BLE001  any failure of the converter is one that the schema has
        raise SchemaError(str(error).rstrip(".")[:200] or type(error).__name__) from None


class _LimitError(Exception):
    """The converter took more time or memory than it may."""


def _guarded(work: Callable[[], str]) -> str:
    """Run on this thread with a trace function that looks at clock and memory at every line.

    Raises:
        _LimitError: It took more than it may.
    """
    clock, process = time.monotonic, psutil.Process()
    end = clock() + _DEADLINE_S
    next_look = 0.0
    most = process.memory_info().rss + _MAX_MEMORY

    def look(_frame: FrameType, _event: str, _arg: object) -> Any:
        nonlocal next_look
        now = clock()
        if now > next_look:
            if now > end or process.memory_info().rss > most:
                raise _LimitError
            next_look = clock() + _LOOK_EVERY_S
        return look

    before, collects = sys.gettrace(), gc.isenabled()
    gc.disable()  # what the collector calls would be traced, too, and could swallow the limit
    sys.settrace(look)
    try:
        return work()
    finally:
        sys.settrace(before)
        if collects:
            gc.enable()


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


_ANY = r'[^"\\\x00-\x1F]'
_PART = re.compile(r'\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|\[(?:\\.|[^\]\\])*\]?|[".]', re.DOTALL)
_ESCAPED = {
    '"': r'(\\")', r"\"": r'(\\")', r"\\": r"(\\\\)", r"\n": r"(\\n)", r"\r": r"(\\r)",
    r"\t": r"(\\t)", r"\s": r"( |\\t|\\n|\\r)", ".": _ANY,
}  # fmt: skip
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_CHAR = r"\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\[trn\\\"\[\]-]|[^\\]"
_CLASS = re.compile(f"(?:{_CHAR})*", re.DOTALL)
_RANGE = re.compile(f"({_CHAR})(?:-({_CHAR}))?", re.DOTALL)
_NAMED = {r"\t": 9, r"\r": 13, r"\n": 10}
_FORBIDDEN = (*range(32), ord('"'), ord("\\"))


def json_pattern(pattern: str) -> str:
    """Return the pattern for the same texts as JSON writes them.

    llama-cpp-python's converter writes a pattern's characters between the quotes as they are. What
    JSON must escape there (quotes, backslashes, line breaks) would end or break the text, so it is
    written escaped here, and control characters are taken out of classes.
    """
    if "|" in pattern and pattern[:1] == "^" and pattern[1:].endswith("$"):
        pattern = f"^({pattern[1:-1]})$"  # otherwise the quotes would belong to the outer choices
    return _PART.sub(lambda found: _part(found[0]), pattern)


def _part(text: str) -> str:
    if text in _ESCAPED:
        return _ESCAPED[text]
    if len(text) > 2 and text[0] == "\\":
        return _part(f"[{text}]")
    if text[0] == "\\":
        found = _in_class(text)
        return f"[{found}]" if found != text else text
    text = _ESCAPE.sub(lambda escape: _in_class(escape[0]), text)
    if text.startswith("[^"):
        return _ANY[:-1] + text[2:]
    if not _CLASS.fullmatch(text[1:-1]):  # an escape that grammars do not know: refused later
        return text
    ranges = dict.fromkeys(  # each once, however often a class names it
        (_code(found[1]), _code(found[2] or found[1])) for found in _RANGE.finditer(text[1:-1])
    )
    if not any(low <= code <= high for low, high in ranges for code in _FORBIDDEN):
        return text
    kept = "".join(
        rf"\U{low:08X}-\U{high:08X}" for given in ranges for low, high in _without_forbidden(*given)
    )
    choices = [f"[{kept}]"] if kept else []
    for code, escaped in ((34, r'\\"'), (92, r"\\\\"), (10, r"\\n"), (13, r"\\r"), (9, r"\\t")):
        if any(low <= code <= high for low, high in ranges):
            choices.append(escaped)
    return f"({'|'.join(choices)})" if choices else text


def _in_class(escape: str) -> str:
    """Return what an escape is within a grammar's class; unchanged where grammars know it."""
    if escape[1].isascii() and not (escape[1].isalnum() or escape[1].isspace()):
        return rf"\x{ord(escape[1]):02X}"
    return {r"\d": "0-9", r"\w": "a-zA-Z0-9_"}.get(escape, escape)


def _without_forbidden(low: int, high: int) -> list[tuple[int, int]]:
    """Return the parts of a range between the characters that JSON escapes."""
    parts = []
    for code in (c for c in _FORBIDDEN if low <= c <= high):
        if low < code:
            parts.append((low, code - 1))
        low = code + 1
    return [*parts, (low, high)] if low <= high else parts


def _code(char: str) -> int:
    if len(char) == 1:
        return ord(char)
    if char[1] in "xuU":
        return int(char[2:], 16)
    return _NAMED.get(char, ord(char[1]))


_INVISIBLE = 1 << 0 | 1 << 3  # enum llama_token_attr: unknown, control
_SLOW_S = 0.25
_SLOW_PER_TOKEN_S = 2e-4
_CANDIDATE = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])


class _Sampler(NamedTuple):
    """llama.cpp's functions with plain addresses, which ctypes passes fastest."""

    init: Callable[[int, bytes, bytes], int | None]
    apply: Callable[[int, int], None]
    accept: Callable[[int, int], None]
    clone: Callable[[int], int | None]
    free: Callable[[int], None]


@functools.cache
def _sampler() -> _Sampler:
    lib, address, text = llama_cpp.llama_cpp._lib, ctypes.c_void_p, ctypes.c_char_p

    def declare(name: str, result: Any, *arguments: Any) -> Any:
        return ctypes.CFUNCTYPE(result, *arguments)((f"llama_sampler_{name}", lib))

    return _Sampler(
        declare("init_grammar", address, address, text, text),
        declare("apply", None, address, address),
        declare("accept", None, address, ctypes.c_int32),
        declare("clone", address, address),
        declare("free", None, address),
    )


class Candidates:
    """The buffer through which a vocabulary's grammars ask, and which tokens are text.

    A control token counts as no text: `Vocabulary.piece` shows nothing for it, so a reply that
    took one for its name's sake would not read as the grammar says. Nor do marks of reasoning,
    which are shown: what a grammar describes is the answer.
    """

    def __init__(self, vocab: int, n_tokens: int, eog: frozenset[int]) -> None:
        self.vocab = vocab
        self.n_tokens = n_tokens
        self.eog = eog
        attribute = llama_cpp.llama_vocab_get_attr
        pointer = llama_cpp.llama_cpp.llama_vocab_p_ctypes(vocab)
        self.usable = np.fromiter(
            (t in eog or not attribute(pointer, t) & _INVISIBLE for t in range(n_tokens)),
            np.bool_,
            n_tokens,
        )
        self.array = llama_cpp.llama_token_data_array()
        self.address = ctypes.addressof(self.array)
        self.grow(256)

    def grow(self, n: int) -> None:
        """Make room for `n` candidates."""
        self.room = n
        self._data = np.zeros(n, _CANDIDATE)
        self.ids, self.logits = self._data["id"], self._data["logit"]
        pointer = self._data.ctypes.data_as(llama_cpp.llama_token_data_p)
        self.array.data = pointer
        self.first = pointer[0]


class LlamaGrammar:
    """Implements `backend.Grammar`; valid as long as its model. After an end nothing may follow."""

    def __init__(self, pointer: int, candidates: Candidates, *, ended: bool = False) -> None:
        self._pointer: int | None = pointer
        self._candidates = candidates
        self._ended = ended
        self._sampler = _sampler()

    def allowed(self, tokens: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of these ids, int64 [n], may come next, bool [n]; changes nothing.

        An end of generation is allowed where the text is complete. Ids outside the vocabulary and
        control tokens never are.

        Raises:
            EngineError: The grammar was closed, or is too ambiguous to go on with.
        """
        pointer, candidates, n = self._open(), self._candidates, len(tokens)
        if n == 0 or self._ended:
            return np.zeros(n, np.bool_)
        if tokens.view(np.uint64).max() >= candidates.n_tokens:  # a negative id is huge there
            inside = (tokens >= 0) & (tokens < candidates.n_tokens)
            inside[inside] = self.allowed(tokens[inside])
            return inside
        if n > candidates.room:
            candidates.grow(max(n, 2 * candidates.room))
        candidates.ids[:n] = tokens
        logits = candidates.logits[:n]
        logits.fill(0.0)
        candidates.array.size = n
        began = thread_time()
        self._sampler.apply(pointer, candidates.address)
        _refuse_if_slow(began, n)
        allowed: NDArray[np.bool_] = logits == 0.0
        allowed &= candidates.usable[tokens]
        return allowed

    def accept(self, token: int) -> None:
        """Go on by a token.

        Raises:
            EngineError: The token is not allowed here, or the grammar was closed; the state is as
                before. Or the grammar is too ambiguous to go on with.
        """
        pointer, candidates = self._open(), self._candidates
        if not self._allows(pointer, token):
            raise EngineError("grammar-refuses", f"The grammar does not allow token {token} here.")
        began = thread_time()
        self._sampler.accept(pointer, token)
        _refuse_if_slow(began, 1)
        self._ended = token in candidates.eog

    def _allows(self, pointer: int, token: int) -> bool:
        """Answer `allowed` for one token, without arrays."""
        candidates = self._candidates
        if self._ended or not 0 <= token < candidates.n_tokens or not candidates.usable[token]:
            return False
        first = candidates.first
        first.id, first.logit = token, 0.0
        candidates.array.size = 1
        began = thread_time()
        self._sampler.apply(pointer, candidates.address)
        _refuse_if_slow(began, 1)
        return bool(first.logit == 0.0)

    def clone(self) -> LlamaGrammar:
        """Return a copy that goes its own way.

        Raises:
            EngineError: The grammar was closed, or there is no memory.
        """
        copy = self._sampler.clone(self._open())
        if not copy:
            raise EngineError("no-memory", "The grammar cannot be copied.")
        return LlamaGrammar(copy, self._candidates, ended=self._ended)

    def close(self) -> None:
        """Free it; the object is dead afterwards. Closing twice is harmless."""
        if self._pointer is not None:
            self._sampler.free(self._pointer)
            self._pointer = None

    def _open(self) -> int:
        if self._pointer is None:  # llama.cpp would abort
            raise EngineError("grammar-closed", "The grammar was closed.")
        return self._pointer


def _refuse_if_slow(began: float, n: int) -> None:
    """Stop at a grammar that reads one text in many ways.

    llama.cpp follows every way, and their number can multiply with every character, also within
    one token. No call can be interrupted, but the first that takes a quarter of a second of CPU
    time, ten thousand times what is usual, is the last.
    """
    if thread_time() - began > _SLOW_S + n * _SLOW_PER_TOKEN_S:
        raise SamplingError(
            "grammar-too-slow",
            "The grammar reads the same text in too many ways, so checking tokens takes too long.",
            "Rewrite it so that each text can be read in one way only.",
        )


def compile_grammar(text: str, candidates: Candidates) -> LlamaGrammar:
    """Return a grammar at its beginning.

    Raises:
        GrammarError: The text is no GBNF that llama.cpp can follow; says where and why.
    """
    log = start()
    gbnf.check_recursion(gbnf.read(text))
    log.lines.clear()
    data = text.encode()
    # llama.cpp reads brackets, and follows rules, by recursion.
    pointer = on_big_stack(lambda: _sampler().init(candidates.vocab, data, b"root"))
    if not pointer:
        raise gbnf.GrammarError(log.why())
    return LlamaGrammar(pointer, candidates)
