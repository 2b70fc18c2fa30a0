"""Grammars for tests: a rule says which tokens may follow a text."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence

import numpy as np

from fake_model import EOG
from paceline.engine.model.token_mask import TokenMask
from paceline.errors import EngineError

MOST_FORCED = 1000
Rule = Callable[[tuple[int, ...]], Collection[int]]


class Books:
    """Counts of the grammars of one family: how many are open, and what they were asked."""

    def __init__(self) -> None:
        self.n_open = 0
        self.n_questions = 0
        self.n_clones = 0


class TokenGrammar:
    """Implements `backend.Grammar` on a rule."""

    def __init__(self, rule: Rule, text: Sequence[int] = (), books: Books | None = None) -> None:
        self.rule = rule
        self.text = tuple(text)
        self.books = books or Books()
        self.books.n_open += 1
        self.is_open = True

    def allowed(self) -> TokenMask:
        assert self.is_open
        self.books.n_questions += 1
        tokens = sorted(self.rule(self.text))
        mask = np.zeros(max(tokens, default=0) + 1, np.bool_)
        mask[tokens] = True
        return TokenMask.of(mask)

    def accept(self, token: int) -> None:
        assert self.is_open
        if token not in self.rule(self.text):
            raise EngineError("grammar-refuses", f"Token {token} is not allowed here.")
        self.text = (*self.text, token)

    def forced(self) -> list[int]:
        assert self.is_open
        self.books.n_questions += 1
        tokens: list[int] = []
        while len(tokens) < MOST_FORCED:
            following = self.rule((*self.text, *tokens))
            if len(following) != 1:
                break
            tokens += following
        return tokens

    def clone(self) -> TokenGrammar:
        assert self.is_open
        self.books.n_clones += 1
        return TokenGrammar(self.rule, self.text, self.books)

    def close(self) -> None:
        assert self.is_open, "closed twice"
        self.is_open = False
        self.books.n_open -= 1


def random_rule(seed: int, n_vocab: int, share: float) -> Rule:
    """About this share of the tokens may follow, others after every text; at least one."""

    @functools.cache
    def rule(text: tuple[int, ...]) -> frozenset[int]:
        rng = np.random.default_rng([seed, *text[-3:], len(text)])
        allowed = (rng.random(n_vocab) < share).nonzero()[0].tolist()
        return frozenset([*allowed, int(rng.integers(n_vocab))])

    return rule


def one_of(*texts: str) -> Rule:
    """One of these texts, byte by byte, and then the end of generation."""
    options = [(*text.encode(), EOG) for text in texts]

    def rule(text: tuple[int, ...]) -> frozenset[int]:
        n = len(text)
        return frozenset(o[n] for o in options if len(o) > n and o[:n] == text)

    return rule
