"""Regular expressions as automata over bytes: where a text stands in one, and what must follow.

Python's `re` says whether a text matches; it cannot say what could come next. So a small language
is compiled here, as Ken Thompson did (1968): letters and escaped signs, ``.`` (any byte but a line
feed), classes like ``[a-z_]`` or ``[^|]``, ``\\d`` ``\\w`` ``\\s`` (ASCII), groups, ``|``, ``*``,
``+``, ``?``, ``{2}``, ``{2,}``, ``{2,5}``; at the very beginning also ``^`` (a line begins) or
``\\b`` (no word goes on here). States are sets of nodes; they and the steps between them are made
when they are first needed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

Anchor = Literal["", "^", "\\b"]
State = frozenset[int]
DEAD: State = frozenset()
Tree = tuple[Any, ...]
"""``("mask", m)``, ``("all", [trees])``, ``("any", [trees])`` or ``("times", tree, low, high)``,
where high -1 has no end."""
_MAX_NODES = 4000
_MAX_DEPTH = 40
_MAX_STEPS = 2000
_ALL = (1 << 256) - 1


class PatternError(ValueError):
    """Not a pattern of this language; the text says what is wrong, and where."""


def _mask(text: bytes) -> int:
    return sum(1 << byte for byte in set(text))


_DIGITS = _mask(b"0123456789")
_SPACES = _mask(b" \t\n\r\f\v")
_WORD = _mask(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_CLASSES = {
    "d": _DIGITS, "s": _SPACES, "w": _WORD,
    "D": _ALL & ~_DIGITS, "S": _ALL & ~_SPACES, "W": _ALL & ~_WORD,
}  # fmt: skip
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}


@dataclass(slots=True)
class _Node:
    """Consumes one byte of `mask` and goes to `then`; with an empty mask it goes to all of `free`.

    Masks have bit b for byte b.
    """

    mask: int
    then: int
    free: list[int]


class Automaton:
    """A compiled pattern.

    Attributes:
        anchor: Condition for the beginning of a match.
        start: The state before the first byte.

    Raises:
        PatternError: The pattern is invalid or too large.
    """

    def __init__(self, pattern: str) -> None:
        self.anchor: Anchor = ""
        anchors: tuple[Anchor, ...] = ("^", "\\b")
        for anchor in anchors:
            if not self.anchor and pattern.startswith(anchor):
                self.anchor = anchor
                pattern = pattern.removeprefix(anchor)
        self._nodes = [_Node(0, 0, [])]  # node 0 is the end
        self._steps: dict[tuple[State, int], State] = {}
        self.start = self._closure({_Parser(pattern, self._nodes).parse()})

    def step(self, state: State, byte: int) -> State:
        """Return the state after one more byte; `DEAD` if no match is possible any more."""
        key = (state, byte)
        found = self._steps.get(key)
        if found is None:
            if len(self._steps) >= _MAX_STEPS:
                self._steps.clear()
            nodes = self._nodes
            found = self._closure({nodes[i].then for i in state if nodes[i].mask >> byte & 1})
            self._steps[key] = found
        return found

    def accepts(self, state: State) -> bool:
        """Return whether the text that was read is a whole match."""
        return 0 in state

    def only_byte(self, state: State) -> int | None:
        """Return the one byte that must follow; None where there are several, or none need to."""
        mask = 0
        if 0 in state:
            return None
        for i in state:
            mask |= self._nodes[i].mask
        return mask.bit_length() - 1 if mask and not mask & (mask - 1) else None

    def forced(self, state: State, n_max: int) -> bytes:
        """Return the only text that can follow, at most `n_max` bytes; empty where several can."""
        data = bytearray()
        while len(data) < n_max and (byte := self.only_byte(state)) is not None:
            data.append(byte)
            state = self.step(state, byte)
        return bytes(data)

    def _closure(self, nodes: set[int]) -> State:
        found: set[int] = set()
        waiting = list(nodes)
        while waiting:
            i = waiting.pop()
            if i not in found:
                found.add(i)
                waiting += self._nodes[i].free
        return frozenset(i for i in found if self._nodes[i].mask or i == 0)


class _Parser:
    """Reads a pattern backwards: every piece is built in front of what follows it."""

    def __init__(self, pattern: str, nodes: list[_Node]) -> None:
        self._pattern = pattern
        self._nodes = nodes
        self._at = 0
        self._n_built = 0

    def parse(self) -> int:
        """Return the pattern's first node."""
        first = self._build(self._alternatives(0), 0)
        if self._at < len(self._pattern):
            self._fail("a “)” without “(”")
        return first

    def _alternatives(self, depth: int) -> Tree:
        if depth > _MAX_DEPTH:
            self._fail("groups are nested too deep")
        options = [self._sequence(depth)]
        while self._peek() == "|":
            self._at += 1
            options.append(self._sequence(depth))
        return options[0] if len(options) == 1 else ("any", options)

    def _sequence(self, depth: int) -> Tree:
        items: list[Tree] = []
        while self._peek() not in ("", "|", ")"):
            items.append(self._repeated(self._atom(depth)))
        return ("all", items)

    def _repeated(self, tree: Tree) -> Tree:
        sign = self._peek()
        if sign and sign in "*+?":
            self._at += 1
            low, high = {"*": (0, -1), "+": (1, -1), "?": (0, 1)}[sign]
        elif sign == "{":
            found = re.compile(r"\{(\d{1,4})(,?)(\d{0,4})\}", re.ASCII).match(
                self._pattern, self._at
            )
            if not found or (found[3] and not found[2]):
                self._fail("“{” is neither {2}, {2,} nor {2,5}; a sign for itself is “\\{”")
            low = int(found[1])
            high = (int(found[3]) if found[3] else -1) if found[2] else low
            if 0 <= high < low:
                self._fail(f"{found[0]} is from {low} to less")
            self._at = found.end()
        else:
            return tree
        if self._peek() and self._peek() in "*+?{":
            self._fail("one repetition upon another: put the first into “(” and “)”")
        return ("times", tree, low, high)

    def _atom(self, depth: int) -> Tree:
        sign = self._take()
        if sign == "(":
            if self._peek() == "?":
                self._fail("groups with “(?” are not known")
            tree = self._alternatives(depth + 1)
            if self._take() != ")":
                self._fail("a “(” without “)”")
            return tree
        if sign == "[":
            return ("mask", self._class())
        if sign == ".":
            return ("mask", _ALL & ~_mask(b"\n"))
        if sign == "\\":
            return self._escape()
        if sign in "*+?{":
            self._fail("nothing to repeat")
        if sign in "^$":
            self._fail(
                f"“{sign}” is known at the beginning only (“^”); a sign for itself needs “\\”"
            )
        return _literal(sign)

    def _escape(self) -> Tree:
        sign = self._take()
        if sign in _CLASSES:
            return ("mask", _CLASSES[sign])
        if sign in _CONTROLS:
            return _literal(_CONTROLS[sign])
        if not sign or sign.isalnum():
            self._fail(f"“\\{sign}” is not known here")
        return _literal(sign)

    def _class(self) -> int:
        negated = self._peek() == "^"
        self._at += negated
        mask, first = 0, True
        while (sign := self._take()) != "]" or first:
            first = False
            low = self._class_sign(sign)
            if isinstance(low, str):
                high = low
                if self._peek() == "-" and self._pattern[self._at + 1 : self._at + 2] not in "]":
                    self._at += 1
                    end = self._class_sign(self._take())
                    if not isinstance(end, str) or end < low:
                        self._fail("not a range")
                    high = end
                mask |= (1 << ord(high) + 1) - (1 << ord(low))
            else:
                mask |= low
        return _ALL & ~mask if negated else mask

    def _class_sign(self, sign: str) -> str | int:
        """Return a character of a class, or the mask of an escape like ``\\d``."""
        if sign == "\\":
            sign = self._take()
            if sign in _CLASSES:
                return _CLASSES[sign]
            if sign.isalnum() and sign not in _CONTROLS:
                self._fail(f"“\\{sign}” is not known here")
            sign = _CONTROLS.get(sign, sign)
        if not sign:
            self._fail("a “[” without “]”")
        if not sign.isascii():
            self._fail(f"“{sign}” in a class: write it as “(…|{sign})”, since it is several bytes")
        return sign

    def _build(self, tree: Tree, then: int) -> int:
        """Return the first node of a tree that goes on with node `then`."""
        self._n_built += 1
        if self._n_built > 5 * _MAX_NODES:  # nothing, repeated, adds no nodes
            self._fail("the pattern is too large")
        match tree:
            case ("mask", int(mask)):
                return self._node(mask, then)
            case ("all", list(items)):
                for item in reversed(items):
                    then = self._build(item, then)
                return then
            case ("any", list(options)):
                return self._node(0, then, [self._build(option, then) for option in options])
            case ("times", tuple(inner), int(low), int(high)):
                if high < 0:
                    loop = self._node(0, then, [then])
                    self._nodes[loop].free.append(self._build(inner, loop))
                    then = loop
                else:
                    end = then
                    for _ in range(high - low):
                        then = self._node(0, then, [self._build(inner, then), end])
                for _ in range(low):
                    then = self._build(inner, then)
                return then
        raise AssertionError(tree)

    def _node(self, mask: int, then: int, free: list[int] | None = None) -> int:
        if len(self._nodes) >= _MAX_NODES:
            self._fail("the pattern is too large")
        self._nodes.append(_Node(mask, then, free or []))
        return len(self._nodes) - 1

    def _peek(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _take(self) -> str:
        sign = self._peek()
        self._at += 1
        return sign

    def _fail(self, what: str) -> NoReturn:
        raise PatternError(f"{what} (at character {min(self._at, len(self._pattern)) + 1})")


def _literal(sign: str) -> Tree:
    return ("all", [("mask", 1 << byte) for byte in sign.encode()])
