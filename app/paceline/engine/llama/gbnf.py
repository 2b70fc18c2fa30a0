"""Reads a GBNF text before llama.cpp does, and says what is wrong with it.

llama.cpp's own parser (src/llama-grammar.cpp) complains to stderr, without a place, and what some
grammars do to it ends the process or never ends: `{5,2}` counts down from 2^64, left recursion
after an empty rule grows without bound, alternatives that double from rule to rule are followed
one by one, deep brackets and long chains fill the stack. So this module lays out the rules as that
parser does, with the same counts, and refuses all that it would refuse or die of.

Rules on single tokens (``<think>``, ``!<[5]>``) are refused too: where one follows a character,
llama.cpp's check allows tokens whose acceptance then throws through the C boundary.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field

MAX_TEXT = 1 << 20
MAX_REPEATS = 2000  # MAX_REPETITION_THRESHOLD; beyond, llama.cpp quietly takes "any number"
_MAX_DEPTH = 10_000
_MAX_ELEMENTS = 500_000
_CHARACTER, _MORE_OF_CHARACTER, _OR = -1, -2, -3
_SPACE = re.compile(r"(?:[ \t]|#[^\r\n]*)*")
_SPACE_AND_LINES = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*")
_NAME = re.compile(r"[a-zA-Z0-9-]+")
_CHAR = re.compile(
    r'\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[trn\\"\[\]-])|[^\\]', re.DOTALL
)
_REPEAT = re.compile(r"[0-9]+")
_REPEATS = {"*": (0, None), "+": (1, None), "?": (0, 1)}


class GrammarError(Exception):
    """What is wrong with the text, as a part of a sentence."""


@dataclass(slots=True)
class Rules:
    """A grammar as llama.cpp lays it out.

    Attributes:
        names: By rule; of a rule that brackets or a repetition made, the rule that they are in.
        elements: By rule: numbers of other rules, `_CHARACTER`, `_MORE_OF_CHARACTER`, `_OR`.
    """

    names: list[str] = field(default_factory=list)
    elements: list[list[int] | None] = field(default_factory=list)


@dataclass(slots=True)
class _Level:
    """A rule or a pair of brackets that is being read."""

    rule: int
    elements: list[int] = field(default_factory=list)
    last: int = 0
    n_last_rules: int = 1
    n_rules_before: int = 0


class _Reader:
    """One pass over the text; brackets are kept on a list and not on Python's stack."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.rules = Rules()
        self.numbers: dict[str, int] = {}
        self.places: dict[int, int] = {}
        self.n_elements = 0

    def fail(self, what: str, at: int | None = None) -> GrammarError:
        place = self.at if at is None else at
        line = self.text.count("\n", 0, place) + 1
        column = place - self.text.rfind("\n", 0, place)
        return GrammarError(f"line {line}, column {column}: {what}")

    def skip(self, *, lines: bool) -> None:
        match = (_SPACE_AND_LINES if lines else _SPACE).match(self.text, self.at)
        self.at = match.end() if match else self.at

    def new_rule(self, name: str) -> int:
        self.rules.names.append(name)
        self.rules.elements.append(None)
        return len(self.rules.names) - 1

    def name(self) -> str:
        match = _NAME.match(self.text, self.at)
        if not match:
            raise self.fail("the name of a rule is expected (letters, digits and “-”)")
        return match[0]

    def number_of(self, name: str) -> int:
        number = self.numbers.get(name)
        if number is None:
            number = self.numbers[name] = self.new_rule(name)
            self.places[number] = self.at
        return number

    def grow(self, n: int) -> None:
        self.n_elements += n
        if self.n_elements > _MAX_ELEMENTS:
            raise self.fail("with its repetitions written out the grammar is too long")

    def read(self) -> Rules:
        self.skip(lines=True)
        while self.at < len(self.text):
            self.rule()
            self.skip(lines=True)
        for number, elements in enumerate(self.rules.elements):
            if elements is None:
                name = self.rules.names[number]
                raise self.fail(f"there is no rule “{name}”", self.places[number])
        if "root" not in self.numbers:
            raise GrammarError("there is no rule “root”, which it would begin with")
        return self.rules

    def rule(self) -> None:
        name = self.name()
        number = self.number_of(name)
        self.at += len(name)
        self.skip(lines=False)
        if not self.text.startswith("::=", self.at):
            raise self.fail(f"“::=” is expected after the name “{name}”")
        self.at += 3
        self.skip(lines=True)
        levels = [_Level(number)]
        while self.item(levels, name):
            pass
        if len(levels) > 1:
            raise self.fail("“)” is missing")
        self.finish(levels[0])
        if self.at < len(self.text) and self.text[self.at] not in "\r\n":
            raise self.fail(f"“{self.text[self.at]}” does not belong here")

    def finish(self, level: _Level) -> None:
        self.grow(len(level.elements) + 1)
        self.rules.elements[level.rule] = level.elements

    def item(self, levels: list[_Level], name: str) -> bool:
        """Read one item; False at the end of the rule, or at what belongs to none."""
        level = levels[-1]
        sign = self.text[self.at : self.at + 1]
        if sign == "|":
            level.elements.append(_OR)
            level.last, level.n_last_rules = len(level.elements), 1
            self.at += 1
            self.skip(lines=True)
        elif sign == "(":
            if len(levels) > _MAX_DEPTH:
                raise self.fail(f"brackets are nested more than {_MAX_DEPTH} deep")
            self.at += 1
            before = len(self.rules.names)
            levels.append(_Level(self.new_rule(name), n_rules_before=before))
            self.skip(lines=True)
        elif sign == ")" and len(levels) > 1:
            self.finish(levels.pop())
            outer = levels[-1]
            outer.last = len(outer.elements)
            outer.n_last_rules = max(1, len(self.rules.names) - level.n_rules_before)
            outer.elements.append(level.rule)
            self.at += 1
            self.skip(lines=len(levels) > 1)
        elif sign and sign in '"[.':
            self.begin(level)
            (self.literal if sign == '"' else self.characters if sign == "[" else self.any)(level)
            self.skip(lines=len(levels) > 1)
        elif sign and sign in "*+?{":
            least, most = self.repeats(lines=len(levels) > 1)
            self.repeat(level, name, least, most)
        elif sign and sign in "<!":
            raise self.fail("rules on single tokens (<…>) are not supported")
        elif _NAME.match(self.text, self.at):
            self.begin(level)
            used = self.name()
            level.elements.append(self.number_of(used))
            self.at += len(used)
            self.skip(lines=len(levels) > 1)
        else:
            return False
        return True

    @staticmethod
    def begin(level: _Level) -> None:
        level.last, level.n_last_rules = len(level.elements), 1

    def char(self, what: str) -> None:
        match = _CHAR.match(self.text, self.at)
        if not match:
            ended = self.at >= len(self.text)
            raise self.fail(f"{what} is not closed" if ended else "there is no such escape")
        self.at = match.end()

    def literal(self, level: _Level) -> None:
        start = self.at
        self.at += 1
        while not self.text.startswith('"', self.at):
            if self.at >= len(self.text):
                raise self.fail("a text in quotes is not closed", start)
            self.char("a text in quotes")
            level.elements.append(_CHARACTER)
        self.at += 1

    def characters(self, level: _Level) -> None:
        start = self.at
        self.at += 2 if self.text.startswith("^", self.at + 1) else 1
        while not self.text.startswith("]", self.at):
            if self.at >= len(self.text):
                raise self.fail("“[” is not closed", start)
            self.char("“[”")
            is_first = level.last == len(level.elements)
            level.elements.append(_CHARACTER if is_first else _MORE_OF_CHARACTER)
            if self.text.startswith("-", self.at) and not self.text.startswith("]", self.at + 1):
                self.at += 1
                self.char("“[”")
                level.elements.append(_MORE_OF_CHARACTER)
        self.at += 1

    def any(self, level: _Level) -> None:
        self.at += 1
        level.elements.append(_CHARACTER)

    def repeats(self, *, lines: bool) -> tuple[int, int | None]:
        """Read ``*``, ``+``, ``?`` or ``{…}``: how often at least and at most."""
        sign, start = self.text[self.at], self.at
        self.at += 1
        self.skip(lines=lines)
        if sign != "{":
            return _REPEATS[sign]
        least = self.count(lines=lines)
        most: int | None = least
        if self.text.startswith(",", self.at):
            self.at += 1
            self.skip(lines=lines)
            is_open = not _REPEAT.match(self.text, self.at)
            most = None if is_open else self.count(lines=lines)
        if not self.text.startswith("}", self.at):
            raise self.fail("“}” is expected")
        self.at += 1
        self.skip(lines=lines)
        if most is not None and most < least:
            raise self.fail(f"at least {least} and at most {most} times contradict", start)
        return least, most

    def count(self, *, lines: bool) -> int:
        match = _REPEAT.match(self.text, self.at)
        if not match:
            raise self.fail("a number is expected")
        if len(match[0]) > 9 or int(match[0]) > MAX_REPEATS:
            raise self.fail(f"more than {MAX_REPEATS} repetitions cannot be counted")
        self.at = match.end()
        self.skip(lines=lines)
        return int(match[0])

    def repeat(self, level: _Level, name: str, least: int, most: int | None) -> None:
        """Write the repetition out, rule by rule, as llama.cpp's `handle_repetitions` does."""
        item = level.elements[level.last :]
        if not item:
            raise self.fail("there is nothing before this to repeat")
        n_times = most or least or 1
        if level.n_last_rules * n_times > MAX_REPEATS:
            raise self.fail(f"nested repetitions come to more than {MAX_REPEATS} rules")
        n_optional = 1 if most is None else most - least
        self.grow(len(item) * max(least - 1, 0) + n_optional * (len(item) + 3))
        if least == 0:
            del level.elements[level.last :]
        level.elements.extend(item * (least - 1))
        made = -1
        for i in range(n_optional):
            rule = self.new_rule(name)
            again = [rule if most is None else made] if most is None or i else []
            self.rules.elements[rule] = [*item, *again, _OR]
            made = rule
        if n_optional:
            level.elements.append(made)
        level.n_last_rules *= n_times


def read(text: str) -> Rules:
    """Read a grammar.

    Raises:
        GrammarError: llama.cpp would refuse it, or could not stand it.
    """
    if len(text) > MAX_TEXT:
        raise GrammarError(f"it has more than {MAX_TEXT} characters")
    if "\0" in text:
        raise GrammarError("it holds a NUL character")
    if not text.isascii() and re.search("[\ud800-\udfff]", text):
        raise GrammarError("it holds half a surrogate pair")
    if not text.strip():
        raise GrammarError("it is empty")
    return _Reader(text).read()


def alternatives(elements: list[int]) -> list[list[int]]:
    """Return a rule's alternatives, each as the rules and characters in it."""
    found: list[list[int]] = [[]]
    for element in elements:
        if element == _OR:
            found.append([])
        elif element != _MORE_OF_CHARACTER:
            found[-1].append(element)
    return found


_MAX_BEGINNINGS = 20_000
_MAX_PATHS = 50_000_000


def check_recursion(rules: Rules) -> None:
    """Refuse left recursion and rules with too many ways to begin.

    llama.cpp looks for left recursion by following every path, without remembering where it was
    (`llama_grammar_detect_left_recursion` in src/llama-grammar.cpp), takes for empty only what is
    so at first sight, and then lays out every path once more as a stack. Here the empty rules are
    found completely and the paths are counted instead of followed.

    Raises:
        GrammarError: Names the rules.
    """
    choices = [alternatives(elements or []) for elements in rules.elements]
    empty = _may_be_empty(choices)
    corners = [_corners(choice, empty) for choice in choices]
    n_paths: list[int] = [0] * len(corners)
    for rule in _leaves_first(corners, rules.names):
        n = len(choices[rule]) + sum(n_paths[corner] for corner in corners[rule])
        n_paths[rule] = n
        if n > _MAX_BEGINNINGS:
            name = rules.names[rule]
            raise GrammarError(f"there are more than {_MAX_BEGINNINGS} ways to begin “{name}”")
    if sum(n_paths) > _MAX_PATHS:
        raise GrammarError("its rules can begin in too many ways")


def _may_be_empty(choices: list[list[list[int]]]) -> list[bool]:
    """Return, by rule, whether it can be the empty text."""
    empty = [False] * len(choices)
    used_in: dict[int, list[tuple[int, int]]] = defaultdict(list)
    missing: list[list[int]] = []
    found: list[int] = []
    for rule, choice in enumerate(choices):
        missing.append([len(items) for items in choice])
        for i, items in enumerate(choice):
            for item in items:
                if item >= 0:
                    used_in[item].append((rule, i))
        if 0 in missing[rule]:
            empty[rule] = True
            found.append(rule)
    while found:
        for rule, i in used_in[found.pop()]:
            missing[rule][i] -= 1
            if missing[rule][i] == 0 and not empty[rule]:
                empty[rule] = True
                found.append(rule)
    return empty


def _corners(choice: list[list[int]], empty: list[bool]) -> list[int]:
    """Return the rules that a rule can begin with, as often as it can."""
    corners = []
    for items in choice:
        for item in items:
            if item < 0:
                break
            corners.append(item)
            if not empty[item]:
                break
    return corners


def _leaves_first(corners: list[list[int]], names: list[str]) -> list[int]:
    """Return the rules so that each comes after those it can begin with."""
    order: list[int] = []
    state = bytearray(len(corners))  # 1: on the path, 2: done
    for start in range(len(corners)):
        path = [] if state[start] else [(start, iter(corners[start]))]
        state[start] = state[start] or 1
        while path:
            rule, rest = path[-1]
            corner = next(rest, None)
            if corner is None:
                state[rule] = 2
                order.append(rule)
                path.pop()
            elif state[corner] == 1:
                cycle = [on_path for on_path, _ in path]
                raise GrammarError(_recursion([names[r] for r in cycle[cycle.index(corner) :]]))
            elif state[corner] == 0:
                state[corner] = 1
                path.append((corner, iter(corners[corner])))
    return order


def _recursion(cycle: list[str]) -> str:
    steps = [name for i, name in enumerate(cycle) if i == 0 or name != cycle[i - 1]]
    way = " → ".join(f"“{name}”" for name in ([*steps[:5], "…"] if len(steps) > 5 else steps))
    return f"the rule {way} can begin with itself, and would never end"
