"""What a grammar's rules can begin with: refuses those that llama.cpp would follow for ever.

llama.cpp looks for left recursion by following every path, without remembering where it was
(`llama_grammar_detect_left_recursion` in src/llama-grammar.cpp), takes for empty only what is so
at first sight, and then lays out every path once more as a stack. Here the empty rules are found
completely and the paths are counted instead of followed.
"""

from __future__ import annotations

from collections import defaultdict

from paceline.engine.llama.gbnf import GrammarError, Rules, alternatives

_MAX_BEGINNINGS = 20_000
_MAX_PATHS = 50_000_000


def check(rules: Rules) -> None:
    """Refuse left recursion and rules with too many ways to begin.

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
