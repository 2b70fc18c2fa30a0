"""A trie of phrases: where the text has begun one of them, the rest is drafted.

For texts full of set phrases: licences, letters, the name of a function with its arguments. The
phrases come from the file that ``PACELINE_PHRASES`` names, one per line. They are turned into
tokens once, with and without a space before them, since most vocabularies tell the two apart, and
put into a trie whose nodes count the phrases that pass through. While the reply grows, the places
in the trie that its end could be at are carried along (as Aho and Corasick do, 1975), so that a
proposal costs no search.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from paceline.engine import NO_DRAFT, Draft, Parameter, Settings, Workbench
from paceline_example_drafters.lines import read_lines

VARIABLE = "PACELINE_PHRASES"
PHRASES = (
    "For example, ",
    "Here is an example:",
    "On the other hand, ",
    "as well as ",
    'if __name__ == "__main__":',
    "is one of the most ",
    "There are a few ways to do this.",
)


class Node:
    """A place within phrases: what may follow, and how many phrases come through here."""

    __slots__ = ("children", "n")

    def __init__(self) -> None:
        self.children: dict[int, Node] = {}
        self.n = 0

    def add(self, tokens: Iterable[int]) -> None:
        """Put a phrase in."""
        node = self
        node.n += 1
        for token in tokens:
            node = node.children.setdefault(token, Node())
            node.n += 1

    def likeliest(self) -> tuple[int, Node, float] | None:
        """Return the token that most phrases go on with, its node, and its share of them."""
        if not self.children:
            return None
        token, child = max(self.children.items(), key=lambda item: item[1].n)
        return token, child, child.n / self.n


Places = list[tuple[Node, int]]
"""Nodes that the text's end may have reached, with their depths, deepest first."""


class Phrases:
    """Drafts the rest of a phrase from a list of your own."""

    title = "Phrases"
    parameters = (
        Parameter("n_max", "int", 16, 1, 64, "Tokens ahead", "Tokens drafted per step at most."),
        Parameter(
            "min_match", "int", 2, 1, 16, "Shortest match",
            "Tokens of a phrase that must stand there before its rest is drafted.",
        ),
        Parameter(
            "p_min", "float", 0.3, 0, 1, "Min. confidence",
            "Drafting stops where fewer than this share of the phrases go on alike.",
        ),
    )  # fmt: skip

    def __init__(self, bench: Workbench, settings: Settings) -> None:
        self._settings = settings
        self._root = _trie(bench)
        self._history: Sequence[int] = ()
        self._n_seen = 0
        self._places: Places = []

    def begin(self, history: Sequence[int], n_prompt: int) -> None:
        """Find out where in the phrases the text is; the prompt may have begun one."""
        self._history = history
        self._places = []
        self._n_seen = max(len(history) - 256, 0)  # no phrase is longer than that
        self._follow()

    def propose(self, n_max: int) -> Draft:
        """Draft the rest of the longest phrase that the text's end has begun."""
        return self.extend((), n_max)

    def extend(self, ahead: Sequence[int], n_max: int) -> Draft:
        """Draft what follows the text and then `ahead`."""
        places = self._places
        for token in ahead:
            places = self._next(places, token)
        for node, depth in places:
            if depth >= self._settings["min_match"] and node.children:
                return self._rest(node, min(n_max, int(self._settings["n_max"])))
        return NO_DRAFT

    def observe(self, n_accepted: int | None) -> None:
        """Follow the text."""
        self._follow()

    def tune(self, settings: Settings) -> None:
        """Use other settings from now on."""
        self._settings = settings

    def close(self) -> None:
        """Let go of the text."""
        self._history = ()
        self._places = []

    def _follow(self) -> None:
        for token in self._history[self._n_seen :]:
            self._places = self._next(self._places, token)
        self._n_seen = len(self._history)

    def _next(self, places: Places, token: int) -> Places:
        """Return the places after one more token."""
        steps = [(node.children.get(token), depth + 1) for node, depth in places]
        steps.append((self._root.children.get(token), 1))
        return [(node, depth) for node, depth in steps if node is not None]

    def _rest(self, node: Node, n_max: int) -> Draft:
        tokens: list[int] = []
        confidences: list[float] = []
        sure = 1.0
        while len(tokens) < n_max and (step := node.likeliest()):
            token, node, share = step
            sure *= share
            if sure < self._settings["p_min"]:
                break
            tokens.append(token)
            confidences.append(sure)
        return Draft(tokens, confidences)


def _trie(bench: Workbench) -> Node:
    """Return the trie; the next turn of the same pair finds it on the shelf."""
    phrases = read_lines(VARIABLE, PHRASES)
    kept = bench.kept.get(VARIABLE)
    if kept is not None:
        of, root = cast("tuple[tuple[str, ...], Node]", kept)
        if of == phrases:
            return root
    root = Node()
    for phrase in phrases:
        ways = [
            bench.vocab.tokenize(text, special=False)[:256]
            for text in (phrase, " " + phrase.lstrip())
        ]
        root.add(ways[0])
        if ways[1] != ways[0]:
            root.add(ways[1])
    bench.kept[VARIABLE] = (phrases, root)
    return root
