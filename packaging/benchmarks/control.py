"""What deciding a step costs in Python: ``python packaging/benchmarks control``.

One draft model and four lookups, all asked and all but one scored afterwards, on made-up
confidences: the model drafts four to eight tokens, every other lookup has a proposal. Limit: 40 µs
per step. The machine's other work is seen in the quantile, and in the median of a loaded one.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import NamedTuple

from paceline.engine.auto import Controller, Knowledge, StepTimes

LIMIT_US = 40.0
LOOKUPS = ("suffix", "prompt-lookup", "ngram-cache", "ngram-mod")
PARTS = ("plan", "offer", "draft", "settle", "observe", "shadow")
_PLAIN_S = 0.02
_WARM_UP = 300


@dataclass(frozen=True, slots=True)
class Cost:
    """Microseconds of one part of a step, or of all."""

    part: str
    median_us: float
    high_us: float


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured.

    Attributes:
        costs: By part, the last entry for the whole step; `high_us`: 19 of 20 take less.
        n_steps: Timed steps.
        mean_drafted: Tokens that the model drafted per step.
    """

    costs: tuple[Cost, ...]
    n_steps: int
    mean_drafted: float


def known_machine() -> Knowledge:
    """Return knowledge of a machine whose batches cost 5 % per token."""
    knowledge = Knowledge()
    for width in range(1, 34):
        for _ in range(3):
            seconds = _PLAIN_S * (1 + 0.05 * (width - 1))
            knowledge.costs.add(width, 0, seconds, calibrated=True)
    for _ in range(4):
        knowledge.pace.saw_plain(_PLAIN_S)
    knowledge.draft_costs["draft"].add(1, 0.03 * _PLAIN_S)
    return knowledge


class _Input(NamedTuple):
    """What drafters say in a step, and what comes of it."""

    sure: list[float]
    length: int
    said: list[list[float | None]]
    luck: list[float]
    noise: float


def _input(rng: random.Random) -> _Input:
    sure = [min(rng.betavariate(8, 1.2), 1.0) for _ in range(16)]
    said: list[list[float | None]] = [
        [min(rng.betavariate(2, 2), 1.0) for _ in range(rng.randint(1, 8))] for _ in range(2)
    ]
    luck = [rng.random() for _ in range(16)]
    return _Input(sure, rng.randint(4, 8), said, luck, 1 + rng.gauss(0, 0.03))


def measure(n_steps: int, seed: int = 1) -> Measured:
    """Drive a controller through so many steps, and time its parts."""
    rng = random.Random(seed)
    knowledge = known_machine()
    clock = time.perf_counter
    times: dict[str, list[float]] = {part: [] for part in (*PARTS, "step")}
    n_drafted_all = 0
    controller = Controller(knowledge, ["draft"], LOOKUPS, n_most=16)
    inputs = [_input(rng) for _ in range(500)]  # making them takes longer than a step
    for i in range(_WARM_UP + n_steps):
        if i % 400 == 0:
            controller = Controller(knowledge, ["draft"], LOOKUPS, n_most=16)
        sure, length, said, luck, noise = inputs[i % len(inputs)]
        at = [clock()]
        plan = controller.plan(100 + i % 400, 100)
        at.append(clock())
        offers = list(zip(LOOKUPS[::2], said, strict=False)) if plan.n_max else []
        for name, confidences in offers:
            controller.offer(name, confidences)
        at.append(clock())
        n_drafted = 0
        if plan.models and controller.wants_model("draft", 2):
            for confidence in sure[:length]:
                n_drafted += 1
                if not controller.goes_on(confidence):
                    break
        at.append(clock())
        settled = controller.settle()
        at.append(clock())
        n = settled.n_drafted
        n_right = next((j for j, p in enumerate(sure[:n]) if luck[j] > p), n)
        seconds = _PLAIN_S * (1 + 0.05 * n) * noise
        draft_s = 0.03 * _PLAIN_S * n_drafted
        step = StepTimes(
            100 + i % 400, n + 1, seconds, draft_s, 5e-5, n_drafted + 1, n_right, n,
            n_right + 1, is_warm=i % 2 == 0, had_pause=False,
        )  # fmt: skip
        began = clock()
        controller.observe(step)
        at.append(clock())
        for name, confidences in offers:
            if name != settled.drafter:
                n_compared = min(n_right + 1, len(confidences))
                controller.shadow(name, n_compared // 2, n_compared)
        at.append(clock())
        if i < _WARM_UP or not n_drafted:
            continue
        n_drafted_all += n_drafted
        taken = [b - a for a, b in pairwise(at)]
        taken[4] = at[5] - began
        for part, each in zip(PARTS, taken, strict=True):
            times[part].append(each)
        times["step"].append(sum(taken))
    costs = tuple(_cost(part, each) for part, each in times.items())
    n_timed = len(times["step"])
    return Measured(costs, n_timed, n_drafted_all / n_timed)


def _cost(part: str, seconds: list[float]) -> Cost:
    return Cost(
        part, statistics.median(seconds) * 1e6, statistics.quantiles(seconds, n=20)[-1] * 1e6
    )


def main(argv: list[str] | None = None) -> int:
    """Print a table, or JSON; exit 1 when the median of a step is above the limit."""
    parser = argparse.ArgumentParser(prog="python packaging/benchmarks control")
    parser.add_argument("--steps", type=int, default=5_000)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(argv)
    measured = measure(args.steps)
    if args.json:
        print(json.dumps(asdict(measured), indent=1))
    else:
        print(f"{'part':10}{'median µs':>11}{'95 % µs':>10}")
        for cost in measured.costs:
            print(f"{cost.part:10}{cost.median_us:11.1f}{cost.high_us:10.1f}")
        print(f"{measured.n_steps} steps, {measured.mean_drafted:.1f} tokens drafted in each")
    return int(measured.costs[-1].median_us > LIMIT_US)


if __name__ == "__main__":
    raise SystemExit(main())
