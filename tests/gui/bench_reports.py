"""Made reports of benchmarks: times in seconds per prompt, strategy and repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paceline.bench.plan import Plan, make_plan
from paceline.bench.runs import BenchMachine, Conditions, Run, summarise
from paceline.bench.workload import Workload
from paceline.messages import RawText
from paceline.run_record import ModelRecord

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paceline.bench.runs import Failure, Report

CONDITIONS = Conditions(
    BenchMachine("A processor", threads=1), ModelRecord("Target", "target.gguf")
)


def plan_of(
    strategies: Sequence[str], *, n_workloads: int = 1, n_repeats: int = 3, max_tokens: int = 10
) -> Plan:
    """A plan of prompts without words."""
    workloads = [
        Workload(f"prompt {n}", RawText("x"), max_tokens=max_tokens) for n in range(n_workloads)
    ]
    return make_plan(workloads, strategies, n_repeats)


def report_of(
    times: Mapping[str, Mapping[str, Sequence[float]]],
    *,
    strategies: Sequence[str] = (),
    other_text: Sequence[str] = (),
    failures: Sequence[Failure] = (),
    plain_s: float | None = 1.0,
    prefill_s: float = 0.0,
) -> Report:
    """Return a report of runs that took these seconds.

    Args:
        times: Seconds per repeat, by workload and strategy.
        strategies: The compared strategies; by default those that have times.
        other_text: Strategies whose replies differ from those of plain decoding.
        failures: Failures of runs.
        plain_s: Estimated seconds of each reply without drafts, or None if unknown.
        prefill_s: Seconds of reading the prompt, which are added to them.
    """
    named = strategies or tuple(dict.fromkeys(name for each in times.values() for name in each))
    plan = Plan(
        tuple(Workload(name, RawText("x")) for name in times), tuple(named or ("off",)), n_repeats=3
    )
    runs = [
        _run(
            workload, strategy, repeat, seconds, plain_s, prefill_s, is_other=strategy in other_text
        )
        for workload, each in times.items()
        for strategy, all_seconds in each.items()
        for repeat, seconds in enumerate(all_seconds, 1)
    ]
    return summarise(plan, runs, CONDITIONS, failures=failures, wall_s=12.0, is_complete=True)


def _run(
    workload: str,
    strategy: str,
    repeat: int,
    seconds: float,
    plain_s: float | None,
    prefill_s: float,
    *,
    is_other: bool,
) -> Run:
    drafts = 0 if strategy == "off" else 10
    return Run(
        workload, strategy, repeat, 3, "other" if is_other else "same", prefill_s, seconds,
        n_prompt=5, n_steps=2, n_drafted=drafts, n_accepted=drafts // 2, n_discarded=0,
        plain_s=plain_s,
    )  # fmt: skip
