"""Real models and texts on a machine whose time is made up.

The built-in pair decodes as always, but every clock of the engine reads a machine's: a decode of
the target moves it by what a table says for its width, one of the draft model by a price per
token. So strategies can be compared on texts that people write, on machines that are not here,
without noise, and the very same way again. Fixed strategies do the same steps on every machine,
so theirs are made once and priced again.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from engine.auto.simulator import cpu, flat, gpu, moe
from integration.engine import Engine
from paceline.bench.workload import Workload
from paceline.engine.auto import Knowledge
from paceline.engine.auto.acceptance import rates_from_json
from paceline.engine.auto.context_cost import ContextSlope
from paceline.engine.auto.costs import VerifyCosts
from paceline.engine.auto.pace import Pace
from paceline.engine.decode import decoder
from paceline.engine.draft import auto_chain, chain, step_clock
from paceline.engine.measure.known import add_draft_costs
from paceline.engine.pair import LoadedPair
from paceline.messages import Reset, StepCommitted, TurnFinished

WIDTHS = (1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 17, 33)
CLOCKED = (auto_chain, chain, decoder, step_clock)
SWITCH = 0.02  # plain steps that another width costs once
_MEASURED = {1: 1.0, 2: 1.27, 3: 1.55, 4: 1.78, 5: 2.13, 6: 2.33, 8: 2.8, 9: 3.16, 12: 3.72,
             16: 4.5, 17: 5.15, 33: 9.7}  # fmt: skip


_IN_REPLIES = {1: 1.0, 2: 1.36, 3: 1.6, 4: 1.8, 5: 2.2, 6: 2.4, 8: 2.85, 9: 3.2, 12: 3.8,
               16: 4.6, 17: 5.2, 33: 9.7}  # fmt: skip


def dense(n: int) -> float:
    """A dense model of 70 M parameters on one thread, as `paceline calibrate` measured it."""
    return _between(_MEASURED, n)


def behind_others(n: int) -> float:
    """The same as it was in replies, where the draft model and Python have used the caches."""
    return _between(_IN_REPLIES, n)


def _between(points: Mapping[int, float], n: int) -> float:
    below = max(width for width in points if width <= n) if n < 33 else 17
    above = min((width for width in points if width > below), default=33)
    slope = (points[above] - points[below]) / (above - below)
    return points[below] + slope * (n - below)


@dataclass
class Machine:
    """Durations of decodes in seconds, and the current time.

    Attributes:
        curve: Cost of a batch in plain steps, by its width.
        plain_s: Seconds of a plain step.
        draft_s: Seconds of a token of the draft model.
        backlog_s: Seconds of each further token in the same batch of the draft model.
        own_s: Auto's own seconds per step.
        lookup_s: Seconds of a lookup's proposal.
        noise: Standard deviation of the random slowdown's logarithm; 0 for a steady machine.
    """

    curve: Callable[[int], float]
    plain_s: float = 0.02
    draft_s: float = 0.002
    backlog_s: float = 0.0002
    own_s: float = 45e-6
    lookup_s: float = 15e-6
    noise: float = 0.0
    rng: random.Random = field(default_factory=lambda: random.Random(1))
    now: float = 100.0
    width: int = 0

    def verify(self, width: int) -> float:
        """Return the seconds of a decode of the target."""
        seconds = self.plain_s * self.curve(width)
        if width != self.width:
            seconds += SWITCH * self.plain_s
        self.width = width
        if self.noise:
            seconds *= math.exp(abs(self.rng.gauss(0.0, self.noise)))
        return seconds

    def draft(self, n: int) -> float:
        """Return the seconds of a decode of the draft model."""
        return self.draft_s + self.backlog_s * (n - 1)


def machines() -> dict[str, Callable[[], Machine]]:
    """Return how to make each machine: three as measured, four as the design assumes them."""
    return {
        "dense": lambda: Machine(dense, 16.3e-3, 0.6e-3, 0.15e-3),
        "replies": lambda: Machine(behind_others, 15e-3, 0.65e-3, 0.15e-3, 1.2e-4, 4e-5),
        "larger": lambda: Machine(dense, 75e-3, 0.7e-3, 0.15e-3),
        "flat": lambda: Machine(flat),
        "gpu": lambda: Machine(gpu),
        "cpu": lambda: Machine(cpu),
        "moe": lambda: Machine(moe),
        "noisy": lambda: Machine(dense, 16.3e-3, 0.6e-3, 0.15e-3, noise=0.1),
    }


@dataclass(frozen=True)
class Reply:
    """A reply in made-up time.

    Attributes:
        tokens: Its ids.
        prefill_s: The prompt.
        decode_s: All that follows.
        steps: All but the first token's.
    """

    tokens: tuple[int, ...]
    prefill_s: float
    decode_s: float
    steps: tuple[StepCommitted, ...]

    @property
    def total_s(self) -> float:
        return self.prefill_s + self.decode_s


@dataclass(frozen=True)
class Recorded:
    """Decodes of a fixed strategy, whose time can be computed for any machine.

    Attributes:
        tokens: Its reply's ids.
        decodes: After the prefill, in order: width of a verify batch, and before it the widths
            of the draft model's decodes.
    """

    tokens: tuple[int, ...]
    decodes: tuple[tuple[int, tuple[int, ...]], ...]

    def price(self, machine: Machine) -> float:
        """Return the seconds that these steps take there, on a machine without noise."""
        machine.width, seconds = 0, 0.0
        for width, drafted in self.decodes:
            seconds += machine.verify(width) + sum(machine.draft(n) for n in drafted)
        return seconds


class Rig:
    """The built-in pair, or another draft model, with every clock replaced.

    Args:
        engine: Engine that has loaded the pair.
        pair: The loaded pair.
        patch: Undoes all replacements at the test's end.
    """

    def __init__(self, engine: Engine, pair: LoadedPair, patch: pytest.MonkeyPatch) -> None:
        self._engine = engine
        self._pair = pair
        self._machine = Machine(flat)
        self._drafted: list[int] = []
        self._decodes: list[tuple[int, tuple[int, ...]]] = []
        for module in CLOCKED:
            patch.setattr(module, "_clock", self._clock)
        assert pair.draft is not None
        for context, decoded in ((pair.target, self._verified), (pair.draft, self._proposed)):
            patch.setattr(context.model, "decode", self._timed(context.model, decoded))
            patch.setattr(context.model, "clock", self._clock)
            patch.setattr(context.model, "computes_here", False)  # but in made-up time
        self._count_own_time(patch)

    def auto(self, workload: Workload, machine: Machine, priors: str = "") -> Reply:
        """Take a reply with Auto, to which only the machine's costs are known.

        Args:
            workload: The prompt.
            machine: Its clock goes on.
            priors: Known acceptance rates, as from `rates_to_json`; empty if unknown.
        """
        self._engine.client.request(Reset())
        knowledge = self._pair.knowledge
        knowledge.forget()
        self._calibrate(knowledge, machine)
        if priors:
            knowledge.rates.update(rates_from_json(priors))
        return self._reply(workload, "auto", machine)

    def again(self, workload: Workload, machine: Machine) -> Reply:
        """Take another reply with Auto, which has learned from those before."""
        return self._reply(workload, "auto", machine)

    def record(self, workload: Workload, strategy: str) -> Recorded:
        """Take a reply with a fixed strategy."""
        self._engine.client.request(Reset())
        reply = self._reply(workload, strategy, Machine(flat))
        return Recorded(reply.tokens, tuple(self._decodes[-len(reply.steps) :]))

    # ------------------------------------------------------------------------------ within

    def _reply(self, workload: Workload, strategy: str, machine: Machine) -> Reply:
        self._machine, machine.width = machine, 0
        self._drafted.clear()
        self._decodes.clear()
        self._engine.events.clear()
        self._engine.client.request(workload.turn(strategy))
        last = self._engine.events[-1]
        assert isinstance(last, TurnFinished), last
        steps = tuple(step for step in self._engine.steps if step.step)
        return Reply(last.tokens, last.stats.prefill_s, last.stats.decode_s, steps)

    def _calibrate(self, knowledge: Knowledge, machine: Machine) -> None:
        knowledge.costs, knowledge.pace = VerifyCosts(), Pace()
        knowledge.slope = ContextSlope()
        knowledge.draft_costs.clear()
        knowledge.switch = SWITCH
        for width in WIDTHS:
            for _ in range(2):
                knowledge.costs.add(width, 0, machine.plain_s * machine.curve(width))
        for _ in range(4):
            knowledge.pace.saw_plain(machine.plain_s + machine.own_s)
        add_draft_costs(knowledge.draft_costs["draft"], machine.draft_s, machine.backlog_s)

    def _clock(self) -> float:
        return self._machine.now

    def _timed(self, model: Any, decoded: Callable[[int], None]) -> Callable[..., Any]:
        decode = model.decode

        def timed(tokens: Sequence[int], n_rows: int) -> Any:
            rows = decode(tokens, n_rows)
            decoded(len(tokens))
            return rows

        return timed

    def _verified(self, n: int) -> None:
        self._machine.now += self._machine.verify(n)
        self._decodes.append((n, tuple(self._drafted)))
        self._drafted.clear()

    def _proposed(self, n: int) -> None:
        self._machine.now += self._machine.draft(n)
        self._drafted.append(n)

    def _count_own_time(self, patch: pytest.MonkeyPatch) -> None:
        """Let Auto's Python take its time, too."""
        kind = auto_chain.AutoChain
        ask, propose = kind._ask_lookups, kind.propose

        def n_asked(chain: Any) -> int:
            return sum(chain._meter.drafter(name).n_draft for name in chain._lookups)

        def asked(chain: Any, *rest: Any) -> None:
            before = n_asked(chain)
            ask(chain, *rest)
            self._machine.now += self._machine.lookup_s * (n_asked(chain) - before)

        def proposed(chain: Any, *rest: Any, **named: Any) -> Any:
            self._machine.now += self._machine.own_s
            return propose(chain, *rest, **named)

        patch.setattr(kind, "_ask_lookups", asked)
        patch.setattr(kind, "propose", proposed)
