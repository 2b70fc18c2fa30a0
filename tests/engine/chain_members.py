"""Drafters that follow rules and record their calls, and a grammar of given texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine.harness import PROMPT
from engine.workbench import workbench
from fake_model import EOG
from paceline.engine.draft.base import Draft, DrafterInfo, Settings, Workbench
from paceline.engine.draft.strategy import CompleteStrategy
from paceline.engine.model.backend import Grammar
from paceline.engine.model.token_mask import TokenMask
from paceline.errors import EngineError

REPLY = "The quick brown fox jumps over the lazy dog."
Rule = Callable[[Sequence[int], int], Sequence[int]]
"""Function of the text so far and the maximum number of tokens; returns the proposal."""


class Member:
    """A drafter that follows a rule and records its calls; it cannot extend."""

    def __init__(self, rule: Rule, sure: float | None = None) -> None:
        self.rule = rule
        self.sure = sure
        self.asked: list[tuple[str, int]] = []
        self.seen: list[int | None] = []
        self.closed = 0
        self.begun = 0
        self.history: Sequence[int] = ()

    def begin(self, history: Sequence[int], n_prompt: int) -> None:
        self.begun += 1
        self.history = history

    def propose(self, n_max: int) -> Draft:
        return self.draft("propose", (), n_max)

    def observe(self, n_accepted: int | None) -> None:
        self.seen.append(n_accepted)

    def close(self) -> None:
        self.closed += 1

    def draft(self, how: str, ahead: Sequence[int], n_max: int) -> Draft:
        self.asked.append((how, n_max))
        tokens = list(self.rule([*self.history, *ahead], n_max))[:n_max]
        return Draft(tokens, [self.sure] * len(tokens) if self.sure is not None else ())


class Lookup(Member):
    """One that can extend and be tuned."""

    settings: Settings | None = None

    def extend(self, ahead: Sequence[int], n_max: int) -> Draft:
        return self.draft("extend", ahead, n_max)

    def tune(self, settings: Settings) -> None:
        self.settings = settings


def nothing(text: Sequence[int], n_max: int) -> Sequence[int]:
    return ()


def copy(reply: str, n: int, *, behind: int = 0, until: int = 999) -> Rule:
    """Copies `n` tokens of a reply, while `behind` to `until` tokens of it are there."""
    data = [*reply.encode(), EOG]

    def rule(text: Sequence[int], n_max: int) -> Sequence[int]:
        at = len(text) - len(PROMPT)
        return data[at : at + min(n, n_max)] if behind <= at < until else ()

    return rule


def info_of(name: str, drafter: Member, family: Any = "lookup") -> DrafterInfo:
    return DrafterInfo(name, name, f"{name}.", family, (), lambda _bench, _settings: drafter)


def strategy(**members: Member) -> CompleteStrategy:
    """Drafters by name, in order; the one called `model` is the draft model."""
    return CompleteStrategy(
        tuple(
            (info_of(name, drafter, "model" if name == "model" else "lookup"), {})
            for name, drafter in members.items()
        )
    )


def bench(grammar: Grammar | None = None) -> Workbench:
    return workbench(eog=frozenset({EOG}), grammar=grammar)


def explode(*_: object) -> Any:
    raise RuntimeError("broken")


class TextsGrammar:
    """Allows the given texts and nothing else."""

    def __init__(self, *texts: bytes) -> None:
        self.texts = texts
        self.done = b""
        self.n_open = [1]

    def allowed(self) -> TokenMask:
        return TokenMask.of(np.array([self._allows(token) for token in range(EOG + 1)], np.bool_))

    def forced(self) -> list[int]:
        left = {text[len(self.done) :] for text in self.texts if text.startswith(self.done)}
        if left == {b""}:
            return [EOG]
        first, last = min(left), max(left)
        ends = (i for i, byte in enumerate(first) if byte != last[i])
        return list(first[: next(ends, len(first))])

    def _allows(self, token: int) -> bool:
        if token == EOG:
            return self.done in self.texts
        return any(text.startswith(self.done + bytes([token])) for text in self.texts)

    def accept(self, token: int) -> None:
        if not self._allows(token):
            raise EngineError("grammar", "Not allowed.")
        if token != EOG:
            self.done += bytes([token])

    def clone(self) -> TextsGrammar:
        other = TextsGrammar(*self.texts)
        other.done = self.done
        other.n_open = self.n_open
        self.n_open[0] += 1
        return other

    def close(self) -> None:
        self.n_open[0] -= 1
