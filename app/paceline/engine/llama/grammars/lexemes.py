"""Translation of grammars to llguidance's notation, cut into lexemes that it parses exactly.

The library parses lexemes, and each lexeme takes as many characters as it can: with `[a-z]+ "b"`
the text "ab" does not match if the first part is a lexeme, since all of the text is letters. A
lexeme of one character is always right, and a long one is fast. So everything regular becomes one
lexeme at first. Then all reachable states of the library's lexer are explored, and a lexeme that
could continue with a character with which its successor can begin is split into its parts, until
there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from paceline.engine.llama.grammars.gbnf import (
    Alternation,
    Chars,
    Concatenation,
    Node,
    Ref,
    Repeat,
    children,
    in_sequence,
    one_of,
    parts,
)

_MAX_STEPS = 400_000
"""Maximum number of steps of the search for such lexemes, half a second."""
_MAX_COPIES = 40
_MAX_DEPTH = 300


@dataclass(slots=True)
class Written:
    """A grammar in the library's notation.

    Attributes:
        lines: Its rules, the initial one first.
        owners: By rule name, the user's rule that it is part of.
    """

    lines: list[str]
    owners: dict[str, str]


def write(rules: dict[str, Node]) -> Written:
    """Return the grammar of these rules, which begins with ``root``."""
    shared = _Shared(rules)
    while True:
        flat = _Flat(shared)
        try:
            found = _too_long(flat)
        except _TooLargeError:
            shared.only_characters = True
        else:
            if not found:
                return flat.written()
            shared.cut |= found


class _TooLargeError(Exception):
    """The grammar is too large for the search."""


class _Shared:
    """The rules, and the lexemes that were split so far.

    Attributes:
        cut: Lexemes that are to be split, in the library's notation.
        only_characters: Whether all lexemes are split.
    """

    def __init__(self, rules: dict[str, Node]) -> None:
        self.rules = rules
        self.cut: set[str] = set()
        self.only_characters = False
        self.tokens: dict[str, str] = {}
        self.owners: dict[str, str] = {}
        self._written: dict[int, str] = {}
        self._made: dict[tuple[object, ...], Node] = {}
        self._regular: set[str] = set()
        self._blank: set[str] = set()
        self._nullable: set[str] = set()
        self._is_regular: dict[int, bool] = {}
        self._find_regular()

    def _find_regular(self) -> None:
        """Find the rules that refer only to regular ones, each after those it refers to."""
        users: dict[str, list[str]] = {name: [] for name in self.rules}
        n_open: dict[str, int] = {}
        for name, rule in self.rules.items():
            targets = [node.rule for node in parts(rule) if isinstance(node, Ref)]
            n_open[name] = len(targets)
            for target in targets:
                users[target].append(name)
        todo = [name for name, n in n_open.items() if not n]
        while todo:
            name = todo.pop()
            rule = self.rules[name]
            self._regular.add(name)
            if self.is_blank(rule):
                self._blank.add(name)
            if self.is_nullable(rule):
                self._nullable.add(name)
            for user in users[name]:
                n_open[user] -= 1
                if not n_open[user]:
                    todo.append(user)

    def is_regular(self, node: Node) -> bool:
        known = self._is_regular.get(id(node))
        if known is None:
            targets = (each.rule for each in parts(node) if isinstance(each, Ref))
            known = self._is_regular[id(node)] = self._regular.issuperset(targets)
        return known

    def is_blank(self, node: Node) -> bool:
        """Return whether a regular expression matches only the empty text."""
        return not any(
            each.rule not in self._blank if isinstance(each, Ref) else isinstance(each, Chars)
            for each in parts(node)
        )

    def is_nullable(self, node: Node) -> bool:
        """Return whether a regular expression matches the empty text."""
        if isinstance(node, Ref):
            return node.rule in self._nullable
        if isinstance(node, Repeat):
            return not node.least or self.is_nullable(node.item)
        if isinstance(node, Chars):
            return False
        return (any if isinstance(node, Alternation) else all)(map(self.is_nullable, node.items))

    def made(self, kind: Callable[..., Node], items: Sequence[Node], *rest: object) -> Node:
        """Return an expression made of others; the same object for the same arguments."""
        key = (kind, *map(id, items), *rest)
        if key not in self._made:
            self._made[key] = kind(items, *rest)
        return self._made[key]

    def lexeme(self, node: Node, owner: str) -> str | None:
        """Return a lexeme's notation, or None for an expression that must not be a lexeme."""
        if isinstance(node, Chars):
            return f"/{_regex(node)}/"
        if self.only_characters or not self.is_regular(node):
            return None
        written = self._written.get(id(node))
        if written is None:
            written = self._written[id(node)] = self._write(node, owner)
        return None if written in self.cut else written

    def _write(self, node: Node, owner: str) -> str:
        """Return a regular expression's notation, and store its definition and those in it."""
        todo = [node]
        while todo:
            part = todo[-1]
            missing = [] if _is_plain(part) else self._missing(part)
            if missing:
                todo.extend(missing)
                continue
            todo.pop()
            if id(part) not in self._written:
                self._written[id(part)] = self._defined(part, owner)
        return self._written[id(node)]

    def _missing(self, node: Node) -> list[Node]:
        inner = (self.rules[node.rule],) if isinstance(node, Ref) else children(node)
        return [each for each in inner if id(each) not in self._written]

    def _defined(self, node: Node, owner: str) -> str:
        if _is_plain(node):
            regex = _regex(node)
            return f"/{regex}/" if regex else '""'
        if isinstance(node, Ref):
            return self._written[id(self.rules[node.rule])]
        inner = [self._written[id(each)] for each in children(node)]
        if isinstance(node, Repeat):
            body = inner[0] + _sign(node)
        else:
            body = (" | " if isinstance(node, Alternation) else " ").join(inner)
        name = f"T{len(self.tokens)}"
        self.tokens[name] = body
        self.owners[name] = owner
        return name


def _is_plain(node: Node) -> bool:
    return not any(isinstance(each, Ref) for each in parts(node))


def _sign(node: Repeat) -> str:
    signs: dict[tuple[int, int | None], str] = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    most = "" if node.most is None else node.most
    return signs.get((node.least, node.most), f"{{{node.least},{most}}}")


def _regex(node: Node) -> str:
    """Return an expression without references as a regular expression; all characters escaped."""
    if isinstance(node, Chars):
        if node.ranges[0][0] == node.ranges[-1][1]:
            return rf"\x{{{node.ranges[0][0]:x}}}"
        return "[" + "".join(rf"\x{{{a:x}}}-\x{{{b:x}}}" for a, b in node.ranges) + "]"
    if isinstance(node, Concatenation):
        return "".join(map(_regex, node.items))
    if isinstance(node, Alternation):
        return "(?:" + "|".join(map(_regex, node.items)) + ")"
    assert isinstance(node, Repeat)
    return f"(?:{_regex(node.item)}){_sign(node)}"


class _Item(NamedTuple):
    """A part of a rule: a lexeme (from 0 on) or another rule, and its number of repetitions."""

    symbol: int
    sign: str = ""
    least: int = 1
    most: int | None = 1


class _Flat:
    """The grammar as rules of lexemes and rules, without brackets.

    Attributes:
        rules: Alternatives of each rule, the initial rule first; symbol ``~i`` is rule i.
        lexemes: The expression of each lexeme and its notation.
    """

    def __init__(self, shared: _Shared) -> None:
        self.shared = shared
        self.rules: list[list[list[_Item]]] = []
        self.lexemes: list[tuple[Node, str]] = []
        self._owners: list[str] = []
        self._numbers: dict[int, int] = {}
        self._lexeme_numbers: dict[str, int] = {}
        self._todo: list[Node] = []
        self._owner = "root"
        self._symbol_of_rule(Ref("root"))
        for number, body in enumerate(self._todo):  # the list grows
            self._owner = self._owners[number]
            self.rules.append(self._alternatives(body))

    def written(self) -> Written:
        owners = dict(self.shared.owners)
        lines = []
        for number, alternatives in enumerate(self.rules):
            owners[f"r{number}"] = self._owners[number]
            bodies = [" ".join(map(self._text, items)) or '""' for items in alternatives]
            lines.append(f"r{number}: {' | '.join(bodies)}")
        lines.extend(f"{name}: {body}" for name, body in self.shared.tokens.items())
        return Written(lines, owners)

    def _text(self, item: _Item) -> str:
        name = f"r{~item.symbol}" if item.symbol < 0 else self.lexemes[item.symbol][1]
        return name + item.sign

    def _symbol_of_rule(self, node: Node) -> int:
        body = self.shared.rules[node.rule] if isinstance(node, Ref) else node
        number = self._numbers.setdefault(id(body), len(self._todo))
        if number == len(self._todo):
            self._todo.append(body)
            self._owners.append(node.rule if isinstance(node, Ref) else self._owner)
        return ~number

    def _alternatives(self, node: Node) -> list[list[_Item]]:
        if not isinstance(node, Alternation) or self._lexeme(node):
            return [self._row(node)]
        regular = [each for each in node.items if self.shared.is_regular(each)]
        others = [each for each in node.items if not self.shared.is_regular(each)]
        if len(regular) > 1 and others:
            merged = self.shared.made(one_of, regular)
            regular = [merged] if self._lexeme(merged) else regular
        return [self._row(each) for each in (*regular, *others)]

    def _row(self, node: Node) -> list[_Item]:
        if self._lexeme(node) or not isinstance(node, Concatenation):
            return self._items(node)
        found: list[_Item] = []
        run: list[Node] = []
        for each in (*node.items, None):
            if each is not None and self.shared.is_regular(each):
                run.append(each)
                continue
            if len(run) > 1:
                whole = self.shared.made(in_sequence, run)
                run = [whole] if self._lexeme(whole) else run
            for part in run:
                found += self._items(part)
            run = []
            if each is not None:
                found += self._items(each)
        return found

    def _items(self, node: Node) -> list[_Item]:
        if self.shared.is_regular(node) and self.shared.is_blank(node):
            return []
        lexeme = self._lexeme(node)
        if lexeme:
            return [_Item(self._lexeme_number(node, lexeme))]
        if isinstance(node, Concatenation):
            return self._row(node)
        if isinstance(node, Repeat):
            return self._repeated(node)
        return [_Item(self._symbol_of_rule(node))]

    def _repeated(self, node: Repeat) -> list[_Item]:
        """Return the items of a repetition that is not a lexeme.

        The regular part of an alternation becomes one lexeme between the others: (a | b)* is a* (b
        a*)*.
        """
        item, made = node.item, self.shared.made
        if isinstance(item, Alternation) and node.most is None and node.least < 2:
            regular = [each for each in item.items if self.shared.is_regular(each)]
            others = [each for each in item.items if not self.shared.is_regular(each)]
            if regular and others:
                run = made(_any_number, [made(one_of, regular)])
                if self._lexeme(run):
                    turn = made(in_sequence, [made(one_of, others), run])
                    turns = _Item(self._symbol_of_rule(turn), "*", 0, None)
                    first = self._items(item) if node.least else []
                    return [*first, *self._items(run), turns]
        found = self._items(item)
        symbol = (
            found[0].symbol if found == [_Item(found[0].symbol)] else self._symbol_of_rule(item)
        )
        return [_Item(symbol, _sign(node), node.least, node.most)]

    def _lexeme(self, node: Node) -> str | None:
        return self.shared.lexeme(node, self._owner)

    def _lexeme_number(self, node: Node, written: str) -> int:
        number = self._lexeme_numbers.setdefault(written, len(self.lexemes))
        if number == len(self.lexemes):
            self.lexemes.append((node, written))
        return number


def _any_number(items: Sequence[Node]) -> Node:
    return Repeat(items[0], 0, None)


# ------------------------------------------------------------------- which lexemes go on too long


def _too_long(flat: _Flat) -> set[str]:
    """Return the lexemes that might take characters of their successor, in the library's notation.

    Raises:
        _TooLargeError: The grammar is too large for the search.
    """
    first, following = _neighbours(flat)
    if not any(following):
        return set()
    machine = _Machine(flat)
    found: set[int] = set()
    contexts, seen = [first], {first}
    states: set[frozenset[int]] = set()
    starts: dict[int, int] = {}
    n_steps = 0
    while contexts:
        todo = [machine.start(contexts.pop())]
        while todo:
            state = todo.pop()
            for target in machine.steps(state):
                n_steps += len(state) + len(target)
                if n_steps > _MAX_STEPS:
                    raise _TooLargeError
                if target in states:
                    continue
                states.add(target)
                todo.append(target)
                after = 0
                for i in target:
                    if machine.ends[i]:
                        after |= following[machine.lexemes[i]]
                if not after:
                    continue
                if after not in starts:
                    starts[after] = machine.first_bytes(after)
                found |= {machine.lexemes[i] for i in target if machine.bytes[i] & starts[after]}
                if after not in seen:
                    seen.add(after)
                    contexts.append(after)
    return {flat.lexemes[i][1] for i in found}


def _neighbours(flat: _Flat) -> tuple[int, list[int]]:
    """Return the lexemes that can come first, and those that can follow each, as bit sets."""
    rules = flat.rules
    nullable_lexemes = [flat.shared.is_nullable(node) for node, _ in flat.lexemes]
    nullable = [False] * len(rules)
    first = [0] * len(rules)

    def starts(symbol: int) -> int:
        return first[~symbol] if symbol < 0 else 1 << symbol

    def may_miss(item: _Item) -> bool:
        symbol = item.symbol
        return not item.least or (nullable[~symbol] if symbol < 0 else nullable_lexemes[symbol])

    is_new = True
    while is_new:
        is_new = False
        for number in range(len(rules) - 1, -1, -1):
            before = first[number], nullable[number]
            for items in rules[number]:
                for item in items:
                    first[number] |= starts(item.symbol)
                    if not may_miss(item):
                        break
                else:
                    nullable[number] = True
            is_new |= before != (first[number], nullable[number])
    after_lexeme = [0] * len(flat.lexemes)
    after = [0] * len(rules)
    is_new = True
    while is_new:
        is_new = False
        for number, alternatives in enumerate(rules):
            for items in alternatives:
                rest = after[number]
                for item in reversed(items):
                    symbol = item.symbol
                    here = starts(symbol)
                    follows = rest | here if item.most != 1 else rest
                    table, i = (after, ~symbol) if symbol < 0 else (after_lexeme, symbol)
                    is_new |= (table[i] | follows) != table[i]
                    table[i] |= follows
                    rest = rest | here if may_miss(item) else here
    return first[0], after_lexeme


class _Machine:
    """The automaton of all lexemes; a character is represented by its first byte.

    That is an overestimate, so a lexeme may be split without need.

    Attributes:
        bytes: By state, the bytes that continue, as a bit set.
        ends: By state, whether a lexeme ends there.
        lexemes: By state, the lexeme it belongs to.
    """

    def __init__(self, flat: _Flat) -> None:
        self.bytes: list[int] = []
        self.ends: list[bool] = []
        self.lexemes: list[int] = []
        self._rules = flat.shared.rules
        self._next: list[int] = []
        self._free: list[list[int]] = []  # steps without a character
        self._closures: dict[int, frozenset[int]] = {}
        self._starts: list[int] = []
        for number, (node, _) in enumerate(flat.lexemes):
            start = len(self.bytes)
            self._number = number
            self._starts.append(self._state())
            self.ends[self._add(node, start, 0)] = True
        self._classes = _classes(set(self.bytes))

    def first_bytes(self, lexemes: int) -> int:
        """Return the bytes with which these lexemes, a bit set, can begin."""
        found = 0
        for i in self.start(lexemes):
            found |= self.bytes[i]
        return found

    def start(self, lexemes: int) -> frozenset[int]:
        """Return the states at the beginning of these lexemes, a bit set."""
        found: set[int] = set()
        for number, start in enumerate(self._starts):
            if lexemes >> number & 1:
                found |= self._closure(start)
        return frozenset(found)

    def steps(self, state: frozenset[int]) -> set[frozenset[int]]:
        """Return the state sets that are reached by one character."""
        used = [i for i in state if self.bytes[i]]
        union = 0
        for i in used:
            union |= self.bytes[i]
        found: set[frozenset[int]] = set()
        seen: set[tuple[int, ...]] = set()
        for one in self._classes:
            if one & union:
                moved = tuple(i for i in used if self.bytes[i] & one)
                if moved not in seen:
                    seen.add(moved)
                    found.add(frozenset().union(*(self._closure(self._next[i]) for i in moved)))
        return found

    def _state(self) -> int:
        if len(self.bytes) > _MAX_STEPS // 10:
            raise _TooLargeError
        self.bytes.append(0)
        self.ends.append(False)
        self.lexemes.append(self._number)
        self._next.append(-1)
        self._free.append([])
        return len(self.bytes) - 1

    def _add(self, node: Node, start: int, depth: int) -> int:
        """Add an expression after a state and return the state after it."""
        if depth > _MAX_DEPTH:
            raise _TooLargeError
        if isinstance(node, Chars):
            self.bytes[start] = _first_bytes(node.ranges)
            self._next[start] = end = self._state()
            return end
        if isinstance(node, Ref):
            return self._add(self._rules[node.rule], start, depth + 1)
        if isinstance(node, Concatenation):
            for item in node.items:
                start = self._add(item, start, depth + 1)
            return start
        if isinstance(node, Alternation):
            end = self._state()
            for item in node.items:
                begin = self._state()
                self._free[start].append(begin)
                self._free[self._add(item, begin, depth + 1)].append(end)
            return end
        return self._add_repeat(node, start, depth)

    def _add_repeat(self, node: Repeat, start: int, depth: int) -> int:
        """Add a repetition; a large number of times counts as any number."""
        copies = max(node.least, node.most or 0)
        is_counted = node.most is not None and copies <= _MAX_COPIES
        end = self._state()
        n_copies = copies if is_counted else min(node.least, _MAX_COPIES)
        for i in range(n_copies):
            if i >= node.least:
                self._free[start].append(end)
            start = self._add(node.item, self._after(start), depth + 1)
        if not is_counted:
            begin = self._after(start)
            self._free[self._add(node.item, self._after(begin), depth + 1)].append(begin)
            start = begin
        self._free[start].append(end)
        return end

    def _after(self, state: int) -> int:
        made = self._state()
        self._free[state].append(made)
        return made

    def _closure(self, start: int) -> frozenset[int]:
        known = self._closures.get(start)
        if known is None:
            found, todo = {start}, [start]
            while todo:
                for state in self._free[todo.pop()]:
                    if state not in found:
                        found.add(state)
                        todo.append(state)
            useful = (i for i in found if self.bytes[i] or self.ends[i])
            known = self._closures[start] = frozenset(useful)
        return known


def _classes(sets: Iterable[int]) -> list[int]:
    """Return the coarsest partition of all bytes, as bit sets, that respects each given set."""
    found = [(1 << 256) - 1]
    for each in sets:
        found = [part for one in found for part in (one & each, one & ~each) if part]
    return found


def _first_bytes(ranges: Iterable[tuple[int, int]]) -> int:
    """Return the first bytes of characters in UTF-8, as a bit set."""
    found = 0
    for first, last in ranges:
        low, high = _first_byte(first), _first_byte(last)
        found |= (2 << high) - (1 << low)
    return found


def _first_byte(code: int) -> int:
    if code < 0x80:
        return code
    if code < 0x800:
        return 0xC0 | code >> 6
    return 0xE0 | code >> 12 if code < 0x10000 else 0xF0 | code >> 18
