"""From runs to a report: ratios paired within the repeats, acceptance, same text, Auto's bound."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paceline.bench.plan import PLAIN, is_controlled
from paceline.bench.runs import Bound, Ratio, Report, Result, WorkloadResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from paceline.bench.plan import Plan
    from paceline.bench.runs import Failure, Run
    from paceline.messages import KernelUse, WidthCost

BOUND_FACTOR = 1.02
BOUND_STEPS = 4
"""Design section 4: a reply with Auto takes at most 1.02 times plain and 4 plain steps."""


def summarise(
    plan: Plan,
    runs: Sequence[Run],
    failures: Sequence[Failure],
    costs: Sequence[WidthCost] = (),
    notes: Sequence[str] = (),
    *,
    machine: dict[str, Any],
    target: dict[str, Any],
    draft: dict[str, Any] | None,
    wall_s: float,
    is_complete: bool,
    kernels: tuple[KernelUse, ...] = (),
) -> Report:
    """Return the report of runs in any number and order."""
    workloads = tuple(
        found for w in plan.workloads if (found := _workload(w.name, plan.strategies, runs)).results
    )
    return Report(
        machine, target, draft, plan.strategies, workloads,
        geomeans(plan.strategies, workloads, lambda result: result.ratio_to_off.median),
        geomeans(plan.strategies, workloads, lambda result: result.decode_ratio_to_off.median),
        plan.n_repeats, wall_s, is_complete, tuple(failures), tuple(runs), tuple(costs),
        tuple(notes), kernels,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Plain:
    """What plain decoding took at a workload in a repeat; medians where it ran several times."""

    total_s: float
    decode_s: float
    tokens: tuple[int, ...]


def _plain(runs: Sequence[Run]) -> _Plain:
    return _Plain(
        statistics.median(run.total_s for run in runs),
        statistics.median(run.decode_s for run in runs),
        runs[0].tokens,
    )


def _workload(name: str, strategies: Sequence[str], runs: Sequence[Run]) -> WorkloadResult:
    here = [run for run in runs if run.workload == name]
    off: dict[int, list[Run]] = {}
    for run in here:
        if run.strategy == PLAIN:
            off.setdefault(run.repeat, []).append(run)
    plain = {repeat: _plain(found) for repeat, found in off.items()}
    results = []
    for strategy in strategies:
        paired = [run for run in here if run.strategy == strategy and run.repeat in plain]
        if paired:
            results.append(_result(strategy, [(plain[run.repeat], run) for run in paired]))
    n_prompt = here[0].n_prompt if here else 0
    return WorkloadResult(name, n_prompt, tuple(results))


def _result(strategy: str, pairs: Sequence[tuple[_Plain, Run]]) -> Result:
    runs = [run for _, run in pairs]
    text = pairs[0][0].tokens
    # Plain decoding itself is held against its first repeat.
    n_different = sum(
        run.tokens != (text if strategy == PLAIN else off.tokens) for off, run in pairs
    )
    n_steps = sum(run.n_steps for run in runs)
    n_tokens = sum(len(run.tokens) - 1 for run in runs)  # the first is the prefill's
    return Result(
        strategy,
        tokens_per_s=statistics.median(run.tokens_per_s for run in runs),
        ratio_to_off=quartiles([off.total_s / run.total_s for off, run in pairs]),
        decode_ratio_to_off=quartiles([off.decode_s / run.decode_s for off, run in pairs]),
        acceptance_rate=acceptance(runs),
        mean_committed_per_step=n_tokens / n_steps if n_steps else None,
        same_text=not n_different,
        n_runs=len(runs),
        n_different=n_different,
        total_s=statistics.median(run.total_s for run in runs),
        prefill_s=statistics.median(run.prefill_s for run in runs),
        n_tokens=round(statistics.median(len(run.tokens) for run in runs)),
        bound=_bound(runs) if is_controlled(strategy) else None,
    )


def acceptance(runs: Iterable[Run]) -> float | None:
    """Return the accepted share of all judged tokens; None: there were none."""
    n_accepted = n_judged = 0
    for run in runs:
        n_accepted += run.n_accepted
        n_judged += run.n_drafted - run.n_discarded
    return n_accepted / n_judged if n_judged else None


def quartiles(values: Sequence[float]) -> Ratio:
    """Return median and quartiles (linear between the values) of at least one value."""
    if len(values) == 1:
        return Ratio(values[0], values[0], values[0])
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return Ratio(middle, low, high)


def _bound(runs: Sequence[Run]) -> Bound | None:
    """Return how replies kept to the bound; None: no reply had a step, so nothing was decided.

    Each is held against its own plain time: another reply's is that of another minute.
    """
    parts = [
        run.total_s
        / (BOUND_FACTOR * (run.prefill_s + plain) + BOUND_STEPS * plain / len(run.tokens))
        for run in runs
        if run.n_steps and (plain := run.plain_s)
    ]
    if not parts:
        return None
    return Bound(sum(part <= 1 for part in parts), len(parts), max(parts))


def bound_of(report: Report, strategies: Iterable[str]) -> Bound | None:
    """Return how these strategies kept to the bound over all workloads; None: nothing tells."""
    bounds = [
        result.bound
        for workload in report.workloads
        for strategy in strategies
        if (result := workload.result_of(strategy)) and result.bound
    ]
    if not bounds:
        return None
    n_within, n_replies = sum(b.n_within for b in bounds), sum(b.n_replies for b in bounds)
    return Bound(n_within, n_replies, max(b.worst for b in bounds))


def common(strategies: Sequence[str], workloads: Sequence[WorkloadResult]) -> list[WorkloadResult]:
    """Return the workloads that all strategies have run which have run at all."""
    ran = [s for s in strategies if any(w.result_of(s) for w in workloads)]
    return [w for w in workloads if all(w.result_of(s) for s in ran)]


def geomeans(
    strategies: Sequence[str],
    workloads: Sequence[WorkloadResult],
    value: Callable[[Result], float],
) -> dict[str, float]:
    """Return the geometric mean per strategy, over the same workloads for all.

    A strategy without any result has none; a workload that another one lacks does not count.
    """
    shared = common(strategies, workloads)
    means = {}
    for strategy in strategies:
        found = [result for w in shared if (result := w.result_of(strategy))]
        if found:
            means[strategy] = statistics.geometric_mean([value(result) for result in found])
    return means


def geomean_per_repeat(report: Report, strategy: str) -> list[float]:
    """Return the geometric mean of a strategy's ratios in each repeat that it has whole.

    It is over the same workloads as `Report.geomean`.
    """
    names = [workload.name for workload in common(report.strategies, report.workloads)]
    times: dict[tuple[int, str, str], list[float]] = {}
    for run in report.runs:
        times.setdefault((run.repeat, run.workload, run.strategy), []).append(run.total_s)
    found = []
    for repeat in range(1, report.n_repeats + 1):
        pairs = [[times.get((repeat, name, s), []) for s in (PLAIN, strategy)] for name in names]
        if pairs and all(off and own for off, own in pairs):
            ratios = [statistics.median(off) / statistics.median(own) for off, own in pairs]
            found.append(statistics.geometric_mean(ratios))
    return found
