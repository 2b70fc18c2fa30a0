"""A replacement of the controller with random decisions that a controller may make."""

from __future__ import annotations

import random
from collections.abc import Sequence

from paceline.engine.auto.controller import StepPlan, StepTimes
from paceline.engine.auto.ledger import Ledger
from paceline.figures import Decision, Reason
from paceline.messages import ControlReported


class RandomControl:
    """Makes each decision by a random number, and checks the reports that it gets."""

    def __init__(
        self, seed: int, models: Sequence[str], lookups: Sequence[str], *, n_most: int = 62
    ) -> None:
        self._n_most = n_most
        self._random = random.Random(seed)
        self._models = tuple(models)
        self._lookups = tuple(lookups)
        self._offers: dict[str, int] = {}
        self._settled: Decision | None = None
        self.ledger = Ledger()

    @property
    def wait(self) -> int:
        return self._random.randint(0, 9)

    def rested(self, n: int, decode_s: float, own_s: float) -> None:
        assert n > 0
        assert decode_s >= 0
        assert own_s >= 0

    def limit(self, n_most: int) -> None:
        self._n_most = n_most

    def plan(self, n_ctx: int, n_room: int) -> StepPlan:
        assert n_ctx >= 0
        assert n_room >= 0
        self._offers = {}
        n_room = min(n_room, self._n_most)
        n_max = self._random.choice([0, n_room, min(n_room, 3)])
        reason: Reason = "pays" if n_max else self._random.choice(["plain", "ledger", "nothing"])
        return StepPlan(n_max, reason, self._random.random() < 0.7)

    def offer(self, drafter: str, confidences: Sequence[float | None]) -> float:
        assert confidences
        self._offers[drafter] = len(confidences)
        return self._random.choice([0.0, 0.5])

    def wants_model(self, drafter: str, n_backlog: int, n_unread: int = 0) -> int:
        assert drafter in self._models
        assert n_backlog >= 1
        assert n_unread >= 0
        self._model, self._n = drafter, 0
        few = self._random.randint(1, n_backlog)
        return self._random.choice([0, n_backlog, n_backlog, few, n_backlog + n_unread])

    def goes_on(self, confidence: float | None) -> bool:
        assert confidence is None or 0 <= confidence <= 1
        self._n += 1
        self._offers[self._model] = self._n
        return self._random.random() < 0.7

    def settle(self) -> Decision:
        drafter, n = "", 0
        if self._offers and self._random.random() < 0.85:
            drafter = self._random.choice(sorted(self._offers))
            n = self._random.randint(1, self._offers[drafter])
        self._settled = Decision(drafter, n, "pays" if n else "expensive")
        return self._settled

    def observe(self, step: StepTimes) -> float:
        assert 0 <= step.n_accepted <= step.n_judged <= max(step.width - 1, 0)
        assert step.n_accepted <= step.n_committed <= step.n_accepted + 1
        assert min(step.decode_s, step.draft_s) >= 0  # `own_s` is what asking spares, too
        assert step.slowed >= 1
        return self._random.choice((0.0, 1.0))

    def shadow(self, drafter: str, n_agreed: int, n_compared: int) -> None:
        assert self._settled is not None
        assert drafter != self._settled.drafter
        assert 0 <= n_agreed <= n_compared <= self._offers[drafter]

    def report(self, step: int, n_ctx: int) -> ControlReported:
        return ControlReported(step, 1.0, 1.0, 0.0, (), ())
