"""GBNF, llama.cpp's notation for grammars, written in that of llguidance.

The library brings a reader of GBNF, which knows characters only as far as both notations write
them alike. Here every character becomes a code, names become numbers, and the rules that consist
of characters alone are found, so that each of them is one expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from llguidance import gbnf_to_lark as reader

_MOST_CHARACTERS = 256 << 10
_MOST_RULES = 2_000
_MOST_REPEATS = 20_000
_SIMPLE = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "[": "[", "]": "]", "-": "-"}
_CODES = {"x": 2, "u": 4, "U": 8}
_HEX = re.compile("[0-9a-fA-F]+")


class GrammarError(Exception):
    """Why a grammar cannot be used, as a part of a sentence: where and why."""


class _Reader(reader.GrammarParser):
    """Reads characters as codes."""

    def _parse_char(self, pos: Any) -> tuple[str, Any]:
        char = pos.current()
        if not char:
            raise reader.GbnfToLarkError(pos, "a “]” or a quotation mark is missing")
        pos = pos.advance()
        if char in '"]' or char != "\\":
            return char, pos
        kind = pos.current()
        n = _CODES.get(kind, 0)
        if n:
            digits = pos.peek(n + 1)[1:]
            if len(digits) < n or not _HEX.fullmatch(digits) or int(digits, 16) > 0x10FFFF:
                raise reader.GbnfToLarkError(pos, f"“\\{kind}” needs {n} digits of a character")
            return rf"\x{{{int(digits, 16):x}}}", pos.advance(n + 1)
        if kind not in _SIMPLE:
            raise reader.GbnfToLarkError(pos, "there is no such escape")
        return rf"\x{{{ord(_SIMPLE[kind]):x}}}", pos.advance()

    def _parse_literal(self, pos: Any) -> tuple[Any, Any]:
        pos, codes = pos.advance(), ""
        while True:
            char, pos = self._parse_char(pos)
            if char == '"':
                break
            codes += _coded(char)
        return (reader.RegexNode(codes) if codes else reader.LiteralNode("")), pos

    def _parse_char_class(self, pos: Any) -> tuple[Any, Any]:
        begin, pos = pos, pos.advance()
        is_negated = pos.current() == "^"
        if is_negated:
            pos = pos.advance()
        members: list[str] = []
        while True:
            char, pos = self._parse_char(pos)
            if char == "]":
                break
            if char == "-" and members and pos.current() not in ("]", ""):
                last, pos = self._parse_char(pos)
                members[-1] += f"-{_coded(last)}"
            else:
                members.append(_coded(char))
        if not members:
            if not is_negated:
                raise reader.GbnfToLarkError(begin, "“[]” is no character")
            return reader.RegexNode("(?s:.)"), pos
        return reader.RegexNode(f"[{'^' if is_negated else ''}{''.join(members)}]"), pos


def _coded(char: str) -> str:
    return char if len(char) > 1 else rf"\x{{{ord(char):x}}}"


def gbnf_to_lark(text: str, after: str = "") -> tuple[str, dict[str, str]]:
    """Return a grammar in the library's notation, and the names of rules by those in it.

    Args:
        text: GBNF.
        after: Rules for what comes before it, with `before` for the whole.

    Raises:
        GrammarError: It is no GBNF; says where and why.
    """
    rules = _read(text)
    for rule in rules.values():
        rule.alternatives = rule.alternatives.simplify()
    for rule in rules.values():
        for node in _nodes(rule):
            if isinstance(node, reader.RuleRefNode):
                if node.name not in rules:
                    raise GrammarError(f"there is no rule “{node.name[:80]}”")
                node.target = rules[node.name]
            elif isinstance(node, reader.RegexNode) and node.rx == ".":
                node.rx = "(?s:.)"
            elif isinstance(node, reader.RepetitionNode):
                _check_repeats(node)
    _mark_terminals(rules)
    names = {}
    for i, (name, rule) in enumerate(rules.items()):
        rule.name = f"T{i}" if rule.rule_is_terminal else f"r{i}"
        rule.comment = ""
        names[rule.name] = name
    start = f"start: {'before' if after else ''} {rules['root'].name}"
    return "\n".join((start, *map(str, rules.values()), after)), names


def _read(text: str) -> dict[str, Any]:
    if len(text) > _MOST_CHARACTERS:
        raise GrammarError(f"it has more than {_MOST_CHARACTERS:,} characters")
    if "\0" in text:
        raise GrammarError("it contains a NUL character")
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise GrammarError("it contains half of a surrogate pair")
    try:
        rules: dict[str, Any] = _Reader().parse(text)
    except reader.GbnfToLarkError as error:
        at = error.pos.pos
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        reason = str(error).partition(" at line ")[0].replace("::=", "“::=”")
        raise GrammarError(f"line {line}, column {column}: {reason}") from None
    except RecursionError:
        raise GrammarError("it is nested too deep") from None
    except IndexError:
        raise GrammarError("it ends within an escape") from None
    if not rules:
        raise GrammarError("it is empty")
    if "root" not in rules:
        raise GrammarError("there is no rule “root”")
    if len(rules) > _MOST_RULES:
        raise GrammarError(f"it has more than {_MOST_RULES:,} rules")
    return rules


def _nodes(node: Any) -> Iterator[Any]:
    todo = [node]
    while todo:
        node = todo.pop()
        yield node
        todo.extend(node.children())


def _check_repeats(node: Any) -> None:
    least, most = node.min_times, node.max_times
    if most is not None and least > most:
        raise GrammarError(f"at least {least} and at most {most} times contradict")
    if max(least, most or 0) > _MOST_REPEATS:
        raise GrammarError(f"more than {_MOST_REPEATS:,} repetitions cannot be counted")


def _mark_terminals(rules: dict[str, Any]) -> None:
    """Note which rules consist of characters and such rules alone, without referring back."""
    users: dict[int, list[Any]] = {id(rule): [] for rule in rules.values()}
    n_open: dict[int, int] = {}
    for rule in rules.values():
        targets = [n.target for n in _nodes(rule) if isinstance(n, reader.RuleRefNode)]
        n_open[id(rule)] = len(targets)
        for target in targets:
            users[id(target)].append(rule)
    todo = [rule for rule in rules.values() if not n_open[id(rule)]]
    while todo:
        done = todo.pop()
        done.rule_is_terminal = True
        for user in users[id(done)]:
            n_open[id(user)] -= 1
            if not n_open[id(user)]:
                todo.append(user)


def named(error: str, lark: str, names: dict[str, str]) -> str:
    """Return what the library says of a grammar, with the rule that it means."""
    lines = lark.split("\n")
    found = re.search(r"(\d+)\(\d+\):", error)
    rule = ""
    if found and int(found[1]) <= len(lines):
        rule = names.get(lines[int(found[1]) - 1].partition(":")[0], "")
    reason = "it is too large or too complex" if "limit" in error else "it cannot be carried out"
    return f"rule “{rule}”: {reason}" if rule else reason
