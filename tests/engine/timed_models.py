"""Scripted models whose decodes take a known time on a clock of the test's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import structs

from engine.harness import random_language
from fake_model import FakeModel
from paceline.engine.cancel import CancelFlag
from paceline.engine.facts import Facts
from paceline.engine.model.backend import Rows
from paceline.engine.pair import LoadedPair
from paceline.errors import CancelledError

REBUILD_S = 0.002


class Clock:
    """Seconds that only a `TimedModel` lets pass."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class TimedModel(FakeModel):
    """A model whose decode takes `cost(n_tokens, n_past)` seconds, and more if its width changes.

    Args:
        compiling_s: Additional seconds of the first decode of each width, as on a device; 0 for a
            model on the CPU.

    Attributes:
        before: Called before each decode with the number of earlier ones.
    """

    def __init__(
        self,
        clock: Clock,
        cost: Callable[[int, int], float],
        *,
        n_ctx: int = 512,
        can_rollback: bool = True,
        cancel: CancelFlag | None = None,
        compiling_s: float = 0.0,
    ) -> None:
        super().__init__(random_language(1), n_ctx=n_ctx, can_rollback=can_rollback, cancel=cancel)
        self._compiling_s = compiling_s
        if compiling_s:
            self.info = structs.replace(self.info, n_gpu_layers=30)
        self.cost = cost
        self.before: Callable[[int], None] = lambda n_decodes: None
        self._clock = clock

    def decode(self, tokens: Sequence[int], n_rows: int) -> Rows:
        self.before(len(self.widths))
        if self.cancel is not None and self.cancel.is_set():
            raise CancelledError
        seconds = self.cost(len(tokens), self.n_past)
        if not self.widths or self.widths[-1] != len(tokens):
            seconds += REBUILD_S
        if self._compiling_s and len(tokens) not in self.widths:
            seconds += self._compiling_s
            self.n_firsts += 1
        rows = super().decode(tokens, n_rows)
        self._clock.now += seconds
        self.native_s += seconds
        return rows

    def rollback(self, n_past: int) -> bool:
        self.native_s += 1e-6
        return super().rollback(n_past)


def pair_of(
    target: FakeModel, draft: FakeModel | None = None, facts: Facts | None = None
) -> LoadedPair:
    """Return a pair as a load makes it."""
    if draft is not None:
        draft.facts_key = "fake-draft"
    return LoadedPair(target, draft, facts or Facts(""))
