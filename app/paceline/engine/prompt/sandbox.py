"""The sandbox in which a model's chat template runs: it comes out of a file from the internet.

Jinja's immutable sandbox keeps a template from reaching the program; this adds limits to what it
may use up. Loops and macros run as lines of Python, which a trace function stops by clock and
memory; what could make much out of little within one call is guarded or taken away.

The trace function costs more than what it watches. So it sees every line of the template, where
all loops are, but of Jinja's own code the calls alone: compiling Gemma 4's template takes 0.15 s
so, and 1.3 s if every line of the compiler is seen.
"""

from __future__ import annotations

import datetime
import gc
import json
import re
import sys
import time
import types
from collections.abc import Callable, Iterable
from functools import partial
from types import FrameType
from typing import Any, NoReturn

import jinja2
import psutil
from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension
from jinja2.filters import do_indent, do_round
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

DEADLINE_S = 2.0
_PER_MESSAGE_S = 0.01
_MAX_DEADLINE_S = 10.0
_MEMORY_EVERY_S = 0.001  # no line of a template takes more than some MiB
TEMPLATE_FILE = "<template>"  # where Jinja says that its compiled code stands
_MAX_WIDTH = 10_000
_MAX_INDENT = 16


class TemplateRefusedError(Exception):
    """The template called `raise_exception`: it does not take such a conversation."""


class LimitError(Exception):
    """The template took more time, memory or output than it may."""


_TEXT_METHODS = frozenset(
    {
        "capitalize", "count", "endswith", "find", "index", "isdigit", "isspace", "isupper", "join",
        "lower", "lstrip", "removeprefix", "removesuffix", "replace", "rfind", "rsplit", "rstrip",
        "split", "splitlines", "startswith", "strip", "title", "upper",
    }
)  # fmt: skip
_MAX_MEMORY = 256 << 20
_MAX_TEXT = 4 << 20
_MAX_ITEMS = 100_000
_MAX_BITS = 4096
_MAX_DIGITS = 300


def _size(value: object) -> int:
    return len(value) if isinstance(value, (str, bytes, list, tuple)) else 0


def _refuse_product(left: Any, right: Any) -> None:
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        if int(abs(left)).bit_length() + int(abs(right)).bit_length() > _MAX_BITS:
            raise SecurityError("the template makes too large a number")
    elif (_size(left) or _size(right)) * max(_count(left), _count(right)) > _MAX_WIDTH:
        raise SecurityError("the template repeats a text too often")


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def _weigh(value: Any) -> Any:
    """Return the value, unless its text would be huge: lists may hold one list many times."""
    weight, stack = 0, [value]
    while stack:
        part = stack.pop()
        weight += len(part) if isinstance(part, (str, bytes, list, tuple)) else 8
        if weight > _MAX_TEXT:
            raise SecurityError("the template makes too long a text")
        if isinstance(part, (list, tuple)):
            stack.extend(part)
        elif isinstance(part, dict):
            stack.extend((*part.keys(), *part.values()))
    return value


def _concatenate(values: Iterable[str]) -> str:
    return "".join(_refuse_join(values, ""))


def _refuse_wide(text: str | bytes) -> None:
    pattern = text.decode("latin-1") if isinstance(text, bytes) else text
    if any(int(width) > _MAX_WIDTH for width in re.findall(r"\d{1,20}", pattern)) or (
        re.search(r"%[^a-zA-Z%]*\*", pattern)
    ):
        raise SecurityError("the template formats a text too wide")


def _refuse_replace(text: str, old: object, new: object) -> None:
    if len(text) + text.count(str(old)) * len(str(new)) > _MAX_TEXT:
        raise SecurityError("the template replaces too much")


def _refuse_join(values: Any, separator: str) -> list[Any]:
    items = list(values)
    if len(items) * len(separator) > _MAX_TEXT:
        raise SecurityError("the template joins too much")
    _weigh(items)
    return items


class _Generator(CodeGenerator):
    """Lets the sandbox see ``~``, too."""

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802
        self.write("environment.concatenate((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")


class _Sandbox(ImmutableSandboxedEnvironment):
    """Besides what Jinja refuses: all that makes much out of little within one call."""

    code_generator_class = _Generator
    concat = staticmethod(_concatenate)  # what blocks and macros are put together with

    intercepted_binops = frozenset(["%", "*", "**", "+"])

    def call_binop(
        self, context: jinja2.runtime.Context, operator: str, left: Any, right: Any
    ) -> Any:
        if operator == "**":
            raise SecurityError("the template uses **")
        if operator == "%" and isinstance(left, (str, bytes)):
            _refuse_wide(left)
            _weigh(right)
        elif operator == "*":
            _refuse_product(left, right)
        elif operator == "+" and (
            _size(left) + _size(right) > (_MAX_TEXT if isinstance(left, str) else _MAX_ITEMS)
        ):
            raise SecurityError("the template makes too long a text or list")
        return super().call_binop(context, operator, left, right)

    def concatenate(self, values: tuple[Any, ...]) -> str:
        """Carry out ``~``; called by the compiled template."""
        return _concatenate([str(_weigh(value)) for value in values])

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """Return what takes the place of `str.format`, which pads to any width."""
        if isinstance(value, types.BuiltinMethodType) and value.__name__ == "format":
            text = value.__self__
            return partial(_fill, text) if isinstance(text, str) else None
        return None

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        if isinstance(obj, str):
            return attr in _TEXT_METHODS
        if isinstance(obj, (bytes, bytearray, int, float)):
            return False
        return super().is_safe_attribute(obj, attr, value)

    def call(  # with Jinja's own names, since a template may pass keywords called self or obj
        __self,  # noqa: N805
        __context: jinja2.runtime.Context,
        __obj: Any,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        owner, name = getattr(__obj, "__self__", None), getattr(__obj, "__name__", "")
        if isinstance(owner, str):
            if name == "replace" and len(args) >= 2:
                _refuse_replace(owner, *args[:2])
            elif name == "join" and args:
                args = (_refuse_join(args[0], owner), *args[1:])
        return super().call(__context, __obj, *args, **kwargs)


def _raise_exception(message: str) -> NoReturn:
    raise TemplateRefusedError(message)


def _format(text: str, *args: Any, **kwargs: Any) -> str:
    _refuse_wide(text)
    formatted: str = text % _weigh(kwargs or args)
    return formatted


def _fill(text: str, *args: Any) -> str:
    """Put values into plain braces, which is all that templates ask of `str.format`."""
    parts = text.split("{}")
    if len(parts) - 1 > len(args) or any(brace in part for part in parts for brace in "{}"):
        raise SecurityError("the template formats a text by more than {}")
    pairs = zip(parts, (*args[: len(parts) - 1], ""), strict=True)
    return _concatenate([str(_weigh(part)) for pair in pairs for part in pair])


def _indent(text: str, width: int | str = 4, first: bool = False, blank: bool = False) -> str:  # noqa: FBT001, FBT002
    pad = width if isinstance(width, str) else " " * min(width, _MAX_INDENT)
    if len(text) + len(pad) * (text.count("\n") + 1) > _MAX_TEXT:
        raise SecurityError("the template indents too much")
    return do_indent(text, pad, first, blank)


def _join(value: Any, separator: str = "", attribute: str | None = None) -> str:
    items = [item[attribute] if attribute else item for item in value]
    return str(separator).join(str(item) for item in _refuse_join(items, str(separator)))


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    _refuse_replace(str(text), old, new)
    return str(text).replace(old, new, count)


def _round(value: float, precision: int = 0, method: str = "common") -> float:
    if abs(precision) > _MAX_DIGITS:  # it computes 10 to this power
        raise SecurityError("the template rounds to too many digits")
    return do_round(value, precision, method)  # type: ignore[arg-type]  # refuses another method


def _string(value: Any) -> str:
    return str(_weigh(value))


def _sum(values: Iterable[Any], attribute: str | None = None, start: float = 0) -> float:
    numbers = [value[attribute] if attribute else value for value in values]
    if not all(isinstance(number, (int, float)) for number in (start, *numbers)):
        raise SecurityError("the template adds up what is no number")
    return sum(numbers, start)


def _tojson(  # with the arguments that `transformers` gives it
    value: Any,
    ensure_ascii: bool = False,  # noqa: FBT001, FBT002
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,  # noqa: FBT001, FBT002
) -> str:
    if indent is not None and not 0 <= indent <= _MAX_INDENT:
        raise SecurityError("the template indents too far")
    return json.dumps(
        _weigh(value),
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )


class _Generation(Extension):
    """``{% generation %}`` marks what a trainer learns from; for a reply it means nothing."""

    tags = {"generation"}  # noqa: RUF012  Jinja's own way

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        body: list[nodes.Node] = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return body


def sandbox() -> ImmutableSandboxedEnvironment:
    """Return an environment to compile one model's template in."""
    env = _Sandbox(
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.loopcontrols", _Generation],
        finalize=_weigh,
        optimized=False,  # constants would be computed while compiling, out of every guard
    )
    env.globals["raise_exception"] = _raise_exception
    env.globals["strftime_now"] = _strftime_now
    env.globals.pop("lipsum", None)
    for name in ("batch", "center", "slice", "wordwrap", "xmlattr", "urlize"):
        env.filters.pop(name, None)
    env.filters |= {
        "format": _format,
        "indent": _indent,
        "join": _join,
        "replace": _replace,
        "round": _round,
        "string": _string,
        "sum": _sum,
        "tojson": _tojson,
    }
    return env


def _strftime_now(pattern: str) -> str:
    return datetime.datetime.now(tz=datetime.UTC).astimezone().strftime(pattern[:100])


def deadline(n_messages: int) -> float:
    """Return how many seconds a template has for a conversation: long ones take longer."""
    return min(DEADLINE_S + _PER_MESSAGE_S * n_messages, _MAX_DEADLINE_S)


def guarded(
    work: Callable[[], str], seconds: float | None = None, *, is_template: bool = False
) -> str:
    """Run with a trace function that looks at clock and memory; costs nothing afterwards.

    Args:
        work: What to run, on this thread.
        seconds: How long it may take; None: `DEADLINE_S`.
        is_template: Whether all loops without an end are a template's. Then the lines of other
            code are not looked at, but its calls are.

    Raises:
        LimitError: It took more than it may.
    """
    limit = DEADLINE_S if seconds is None else seconds
    clock, process = time.monotonic, psutil.Process()
    end = clock() + limit
    next_look = 0.0
    most = process.memory_info().rss + _MAX_MEMORY

    def look(_frame: FrameType, _event: str, _arg: object) -> Any:
        nonlocal next_look
        now = clock()
        if now > next_look:
            if now > end:
                raise LimitError(f"ran longer than {limit:.0f} seconds")
            if process.memory_info().rss > most:
                raise LimitError("took too much memory")
            next_look = clock() + _MEMORY_EVERY_S
        return look

    def enter(frame: FrameType, event: str, arg: object) -> Any:
        look(frame, event, arg)
        file = frame.f_code.co_filename
        return look if (file == TEMPLATE_FILE if is_template else file != __file__) else None

    before, collects = sys.gettrace(), gc.isenabled()
    gc.disable()  # what the collector calls would be traced, too, and could swallow the limit
    sys.settrace(enter)
    try:
        return work()
    finally:
        sys.settrace(before)
        if collects:
            gc.enable()
