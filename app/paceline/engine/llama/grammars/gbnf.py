"""Parser of GBNF, llama.cpp's notation for grammars (its grammars/README.md).

It accepts the same texts as llama.cpp (src/llama-grammar.cpp), with the same meaning, except those
without a meaning there: `[]` and `[^]`, reversed ranges, codes that are not characters. Rules on
single tokens (``<think>``, ``!<[5]>``) are not supported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from paceline.errors import ReasonError
from paceline.sentence import Argument, made, sentence

_MAX_CHARACTERS = 256 << 10
_MAX_RULES = 6_000
_MAX_REPEATS = 20_000
_MAX_DEPTH = 80
_MAX_BRACKETS = 10_000
_LAST_CODE = 0x10FFFF
_SURROGATES = (0xD800, 0xDFFF)
_SPACE = re.compile(r"(?:[ \t]|#[^\r\n]*)*")
_SPACE_AND_LINES = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*")
_NAME = re.compile(r"[a-zA-Z0-9-]+")
_CHAR = re.compile(
    r"\\(?:x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})"
    r'|(?P<sign>[trn\\"\[\]-]))|(?P<plain>[^\\])',
    re.DOTALL,
)
_SIGNS = {"t": "\t", "r": "\r", "n": "\n"}
_NUMBER = re.compile(r"[0-9]+")
_REPEATS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


class GrammarError(ReasonError):
    """An error in a grammar, with its place and the reason."""


@dataclass(frozen=True, slots=True, eq=False)
class Chars:
    """One character from ranges of codes, which are sorted and disjoint."""

    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Concatenation:
    """Expressions in sequence; an empty sequence matches the empty text."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Alternation:
    """One of at least two alternative expressions."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Repeat:
    """An expression several times; `most` is None for any number of times."""

    item: Node
    least: int
    most: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Ref:
    """A reference to another rule."""

    rule: str


Node = Chars | Concatenation | Alternation | Repeat | Ref


def children(node: Node) -> tuple[Node, ...]:
    """Return the direct parts of an expression."""
    if isinstance(node, Repeat):
        return (node.item,)
    return node.items if isinstance(node, Concatenation | Alternation) else ()


def parts(node: Node) -> Iterator[Node]:
    """Iterate over an expression and all its parts, without the rules that it refers to."""
    todo = [node]
    while todo:
        node = todo.pop()
        yield node
        todo.extend(children(node))


def in_sequence(items: Sequence[Node]) -> Node:
    """Return the concatenation of expressions."""
    return items[0] if len(items) == 1 else Concatenation(tuple(items))


def one_of(items: Sequence[Node]) -> Node:
    """Return the alternation of expressions."""
    return items[0] if len(items) == 1 else Alternation(tuple(items))


def read(text: str) -> dict[str, Node]:
    """Return the rules of a grammar by name.

    Raises:
        GrammarError: The text is not GBNF; says where and why.
    """
    if len(text) > _MAX_CHARACTERS:
        raise GrammarError("it has more than {n:,} characters", n=_MAX_CHARACTERS)
    if "\0" in text:
        raise GrammarError("it contains a NUL character")
    if re.search("[\ud800-\udfff]", text):
        raise GrammarError("it contains half of a surrogate pair")
    if not text.strip():
        raise GrammarError("it is empty")
    return _Reader(text).read()


@dataclass(slots=True)
class _Level:
    """A rule or a pair of brackets that is being parsed.

    Attributes:
        items: Items of the present alternative.
        last: Index of the item that a repetition sign applies to.
        before: The alternatives before the present one.
        depth: Maximum depth of nested expressions in it.
        last_depth: Maximum depth of nested expressions from `last` on.
    """

    items: list[Node] = field(default_factory=list)
    last: int = 0
    before: list[Node] = field(default_factory=list)
    depth: int = 0
    last_depth: int = 0

    def begin(self) -> None:
        """Begin an item."""
        self.last, self.last_depth = len(self.items), 0


class _Reader:
    """A pass over the text; open brackets are kept in a list, not on Python's stack."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._rules: dict[str, Node] = {}
        self._places: dict[str, int] = {}

    def read(self) -> dict[str, Node]:
        self._skip(lines=True)
        while self._at < len(self._text):
            self._rule()
            self._skip(lines=True)
        for name, place in self._places.items():
            if name not in self._rules:
                raise self._refusal("there is no rule “{name}”", place, name=name[:80])
        if "root" not in self._rules:
            raise GrammarError("there is no rule “root”, which it would begin with")
        if len(self._rules) > _MAX_RULES:
            raise GrammarError("it has more than {n:,} rules", n=_MAX_RULES)
        endless = _used(self._rules) - _ending(self._rules)
        if endless:
            name = next(name for name in self._rules if name in endless)
            raise GrammarError("the rule “{name}” never comes to an end", name=name[:80])
        return self._rules

    def _refusal(self, what: str, /, at: int | None = None, **arguments: Argument) -> GrammarError:
        place = self._at if at is None else at
        line = self._text.count("\n", 0, place) + 1
        column = place - self._text.rfind("\n", 0, place)
        what = made(what, arguments)
        return GrammarError(
            "line {line}, column {column}: {what}", line=line, column=column, what=what
        )

    def _skip(self, *, lines: bool) -> None:
        match = (_SPACE_AND_LINES if lines else _SPACE).match(self._text, self._at)
        self._at = match.end() if match else self._at

    def _name(self) -> str:
        match = _NAME.match(self._text, self._at)
        if not match:
            raise self._refusal("the name of a rule is expected (letters, digits and “-”)")
        self._at = match.end()
        return match[0]

    def _rule(self) -> None:
        name = self._name()
        self._skip(lines=False)
        if not self._text.startswith("::=", self._at):
            raise self._refusal("“::=” is expected after the name “{name}”", name=name[:80])
        self._at += 3
        self._skip(lines=True)
        levels = [_Level()]
        while self._item(levels):
            pass
        if len(levels) > 1:
            raise self._refusal("“)” is missing")
        if self._at < len(self._text) and self._text[self._at] not in "\r\n":
            raise self._refusal("“{text}” does not belong here", text=self._text[self._at])
        self._rules[name] = _whole(levels[0])

    def _item(self, levels: list[_Level]) -> bool:
        """Parse one item; return False at the end of the rule, or at a character of no item."""
        level = levels[-1]
        sign = self._text[self._at : self._at + 1]
        if sign == "|":
            level.before.append(in_sequence(level.items))
            level.items, level.last = [], 0
            self._at += 1
            self._skip(lines=True)
        elif sign == "(":
            if len(levels) > _MAX_BRACKETS:
                raise self._refusal("brackets are nested more than {n:,} deep", n=_MAX_BRACKETS)
            levels.append(_Level())
            self._at += 1
            self._skip(lines=True)
        elif sign == ")" and len(levels) > 1:
            self._close(levels.pop(), levels[-1])
            self._at += 1
            self._skip(lines=len(levels) > 1)
        elif sign and sign in '"[.':
            level.begin()
            (self._literal if sign == '"' else self._class if sign == "[" else self._any)(level)
            self._skip(lines=len(levels) > 1)
        elif sign and sign in "*+?{":
            self._repeat(level, lines=len(levels) > 1)
        elif sign and sign in "<!":
            raise self._refusal("rules on single tokens (<…>) are not supported")
        elif _NAME.match(self._text, self._at):
            level.begin()
            at, name = self._at, self._name()
            self._places.setdefault(name, at)
            level.items.append(Ref(name))
            self._skip(lines=len(levels) > 1)
        else:
            return False
        return True

    def _close(self, level: _Level, outer: _Level) -> None:
        outer.begin()
        made = _whole(level)
        outer.items.append(made)
        is_kept = len(level.items) > 1 or level.before
        self._deepen(outer, level.depth + bool(is_kept))

    def _deepen(self, level: _Level, n: int) -> None:
        level.last_depth += n
        level.depth = max(level.depth, level.last_depth)
        if level.depth > _MAX_DEPTH:
            raise self._refusal("expressions are nested more than {n} deep", n=_MAX_DEPTH)

    def _literal(self, level: _Level) -> None:
        start = self._at
        self._at += 1
        made: list[Node] = []
        while not self._text.startswith('"', self._at):
            code = self._code(sentence("a text in quotes"), start)
            made.append(Chars(((code, code),)))
        self._at += 1
        if made:
            level.items.append(in_sequence(made))

    def _class(self, level: _Level) -> None:
        start = self._at
        is_negated = self._text.startswith("^", start + 1)
        self._at += 2 if is_negated else 1
        ranges: list[tuple[int, int]] = []
        while not self._text.startswith("]", self._at):
            first = last = self._code("“[”", start)
            if self._text.startswith("-", self._at) and not self._text.startswith(
                "]", self._at + 1
            ):
                self._at += 1
                last = self._code("“[”", start)
            if last < first:
                raise self._refusal("a range of characters runs backwards")
            ranges.append((first, last))
        self._at += 1
        found = _united(ranges)
        if not ranges or not (found := _without(found) if is_negated else found):
            raise self._refusal(
                "“{text}” is no character", start, text=self._text[start : self._at][:80]
            )
        level.items.append(Chars(found))

    def _any(self, level: _Level) -> None:
        self._at += 1
        level.items.append(Chars(_without(())))

    def _code(self, what: str, start: int) -> int:
        """Parse a character of a quoted text or a class, and return its code."""
        match = _CHAR.match(self._text, self._at)
        if not match:
            if self._at >= len(self._text):
                raise self._refusal("{what} is not closed", start, what=what)
            raise self._refusal("there is no such escape")
        digits = match["x"] or match["u"] or match["U"]
        sign = match["plain"] or match["sign"] or ""
        code = (
            int(digits, 16) if digits else ord(sign if match["plain"] else _SIGNS.get(sign, sign))
        )
        if code > _LAST_CODE or _SURROGATES[0] <= code <= _SURROGATES[1]:
            raise self._refusal("there is no character “{match}”", match=match[0])
        self._at = match.end()
        return code

    def _repeat(self, level: _Level, *, lines: bool) -> None:
        start = self._at
        least, most = self._counts(lines=lines)
        if level.last == len(level.items):
            raise self._refusal("there is nothing before this to repeat", start)
        if most is not None and most < least:
            raise self._refusal(
                "at least {least} and at most {most} times contradict",
                start,
                least=least,
                most=most,
            )
        item = in_sequence(level.items[level.last :])
        del level.items[level.last :]
        if most != 0:
            level.items.append(Repeat(item, least, most))
            self._deepen(level, 1)

    def _counts(self, *, lines: bool) -> tuple[int, int | None]:
        """Parse ``*``, ``+``, ``?`` or ``{…}``; return the minimum and maximum number of times."""
        sign = self._text[self._at]
        self._at += 1
        self._skip(lines=lines)
        if sign != "{":
            return _REPEATS[sign]
        least = self._count(lines=lines)
        most: int | None = least
        if self._text.startswith(",", self._at):
            self._at += 1
            self._skip(lines=lines)
            is_open = not _NUMBER.match(self._text, self._at)
            most = None if is_open else self._count(lines=lines)
        if not self._text.startswith("}", self._at):
            raise self._refusal("“}” is expected")
        self._at += 1
        self._skip(lines=lines)
        return least, most

    def _count(self, *, lines: bool) -> int:
        match = _NUMBER.match(self._text, self._at)
        if not match:
            raise self._refusal("a number is expected")
        if len(match[0]) > 9 or int(match[0]) > _MAX_REPEATS:
            raise self._refusal("more than {n:,} repetitions cannot be counted", n=_MAX_REPEATS)
        self._at = match.end()
        self._skip(lines=lines)
        return int(match[0])


def _used(rules: dict[str, Node]) -> set[str]:
    """Return the rules that are reachable from ``root``."""
    found, todo = {"root"}, ["root"]
    while todo:
        for node in parts(rules[todo.pop()]):
            if isinstance(node, Ref) and node.rule not in found:
                found.add(node.rule)
                todo.append(node.rule)
    return found


def _ending(rules: dict[str, Node]) -> set[str]:
    """Return the rules that match some finite text."""
    found: set[str] = set()

    def ends(node: Node) -> bool:
        if isinstance(node, Ref):
            return node.rule in found
        if isinstance(node, Repeat):
            return not node.least or ends(node.item)
        if isinstance(node, Alternation):
            return any(map(ends, node.items))
        return isinstance(node, Chars) or all(map(ends, node.items))

    users: dict[str, set[str]] = {}
    for name, rule in rules.items():
        for node in parts(rule):
            if isinstance(node, Ref):
                users.setdefault(node.rule, set()).add(name)
    todo = list(rules)
    while todo:
        name = todo.pop()
        if name not in found and ends(rules[name]):
            found.add(name)
            todo.extend(users.get(name, ()))
    return found


def _whole(level: _Level) -> Node:
    return one_of([*level.before, in_sequence(level.items)])


def _united(ranges: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return ranges sorted and disjoint, without surrogates."""
    low, high = _SURROGATES
    cut = [
        each
        for first, last in ranges
        for each in ((first, min(last, low - 1)), (max(first, high + 1), last))
        if each[0] <= each[1]
    ]
    found: list[tuple[int, int]] = []
    for first, last in sorted(cut):
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return tuple(found)


def _without(ranges: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Return all characters that are not in the ranges."""
    found, start = [], 0
    for first, last in ranges:
        found.append((start, first - 1))
        start = last + 1
    found.append((start, _LAST_CODE))
    return _united([each for each in found if each[0] <= each[1]])
