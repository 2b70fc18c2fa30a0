"""Results of one run of a benchmark, the report of many, and the machine they ran on.

Ratios are paired within the repeats. The report's JSON form is the contract of `paceline bench`; no
names of people, of the machine or of folders are in it.
"""

from __future__ import annotations

import hashlib
import os
import platform
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import psutil

from paceline import __version__
from paceline.bench.plan import PLAIN, Plan, is_controlled
from paceline.bench.workload import Workload
from paceline.engine.auto.tuning import TUNING
from paceline.messages import EngineDescribed, KernelUse, ModelInfo, WidthCost
from paceline.run_record import ModelRecord
from paceline.settings import KeptPair

Loads = tuple[float, float, float]
"""The load of the last 1, 5 and 15 minutes."""


def load_average() -> Loads | None:
    """Return the present load, or None if the system does not report it."""
    try:
        one, five, fifteen = (round(load, 2) for load in os.getloadavg())
    except (AttributeError, OSError):
        return None
    return one, five, fifteen


@dataclass(frozen=True, slots=True)
class LoadAverage:
    """Load of the machine before and after; None where the system does not report it."""

    before: Loads | None = None
    after: Loads | None = None


@dataclass(frozen=True, slots=True)
class BenchMachine:
    """A computer, and the software that computed on it.

    Attributes:
        cpu: The processor in words.
        gpus: Graphics processors in words.
        cores: Physical cores, or None if not known.
        logical_cores: Cores with hyperthreading, or None if not known.
        threads: Threads of the target for decodes of one token.
        threads_batch: Threads of the target for wider ones.
        memory_bytes: Size of the memory, in use or not.
        system: Name and version of the system, and the architecture.
        python: Its version.
        paceline: Its version.
        library: llama-cpp-python's version.
        library_build: Instruction sets and options that llama.cpp was compiled for, in its words.
        load_average: Load before and after.
    """

    cpu: str
    gpus: tuple[str, ...] = ()
    cores: int | None = None
    logical_cores: int | None = None
    threads: int = 0
    threads_batch: int = 0
    memory_bytes: int = 0
    system: str = ""
    python: str = ""
    paceline: str = ""
    library: str = ""
    library_build: str = ""
    load_average: LoadAverage = field(default_factory=LoadAverage)


def describe_machine(
    engine: EngineDescribed | None, target: ModelInfo, load_before: Loads | None
) -> BenchMachine:
    """Return the machine at the end of a benchmark.

    Args:
        engine: The native library's description, or None if it was not asked.
        target: The loaded target, for its threads.
        load_before: `load_average` at the beginning.
    """
    devices = engine.devices if engine else ()
    cpus = [device.description or device.name for device in devices if device.kind == "cpu"]
    return BenchMachine(
        cpu=cpus[0] if cpus else platform.processor() or platform.machine(),
        gpus=tuple(
            d.name if d.server else d.description or d.name for d in devices if d.takes_layers
        ),
        cores=psutil.cpu_count(logical=False),
        logical_cores=psutil.cpu_count(),
        threads=target.n_threads,
        threads_batch=target.n_threads_batch,
        memory_bytes=psutil.virtual_memory().total,
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        python=platform.python_version(),
        paceline=__version__,
        library=engine.library_version if engine else "",
        library_build=engine.system_info if engine else "",
        load_average=LoadAverage(load_before, load_average()),
    )


@dataclass(frozen=True, slots=True)
class Drafted:
    """Tokens that one drafter proposed, and how many of them were accepted."""

    drafter: str
    n_drafted: int
    n_accepted: int


def text_mark(tokens: Iterable[int]) -> str:
    """Return a hash of a reply's tokens, which reveals none of its words."""
    return hashlib.sha256(" ".join(map(str, tokens)).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Run:
    """One reply; times in seconds.

    Attributes:
        workload: Its name.
        strategy: The strategy as written.
        repeat: From 1.
        n_tokens: Tokens of the reply, at least 1.
        text: `text_mark` of the tokens.
        prefill_s: See `TurnStats`, as all that follow.
        decode_s: See there.
        n_prompt: See there.
        n_steps: See there.
        n_drafted: See there.
        n_accepted: See there.
        n_discarded: See there.
        batch_invariant: See there.
        plain_s: The `decode_s` that it would have had without drafts, by its own figures, or None
            if not known.
        by_drafter: The tokens of each drafter.
    """

    workload: str
    strategy: str
    repeat: int
    n_tokens: int
    text: str
    prefill_s: float
    decode_s: float
    n_prompt: int
    n_steps: int
    n_drafted: int
    n_accepted: int
    n_discarded: int
    batch_invariant: bool | None = None
    plain_s: float | None = None
    by_drafter: tuple[Drafted, ...] = ()

    @property
    def total_s(self) -> float:
        """Seconds from the prompt's first token to the reply's last."""
        return self.prefill_s + self.decode_s

    @property
    def tokens_per_s(self) -> float:
        """Tokens of the reply by the time after the prompt."""
        return self.n_tokens / self.decode_s


@dataclass(frozen=True, slots=True)
class Failure:
    """A strategy that failed at a workload; it was not tried there again."""

    workload: str
    strategy: str
    code: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Ratio:
    """Median and quartiles of ratios; above 1 is faster than plain decoding."""

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Bound:
    """Figures of how well Auto's replies keep its promise.

    That is at most 1.02 times plain decoding, 4 plain steps, and 3 % of the prompt's time for a
    draft model that reads it.

    Attributes:
        n_within: Number of replies within the promise.
        n_replies: Number of all replies.
        worst: Largest ratio of a reply's time to the promised one; above 1 is too long.
    """

    n_within: int
    n_replies: int
    worst: float


@dataclass(frozen=True, slots=True)
class Result:
    """A strategy at a workload, over all repeats.

    Attributes:
        strategy: The strategy as written.
        tokens_per_s: Median.
        ratio_to_off: Plain decoding's whole time divided by the strategy's, paired within the
            repeats.
        ratio_writing: The same without the prompt's time.
        acceptance_rate: Accepted of all judged tokens, 0..1; None when nothing was drafted.
        mean_committed_per_step: Tokens per verify decode; None without a step.
        same_text: Whether the tokens are those of plain decoding in all repeats.
        n_runs: Repeats that were measured.
        n_different: Number of repeats in which the tokens differ.
        total_s: Median of the whole time.
        prefill_s: Median of the prompt's time.
        n_tokens: Median length of the reply in tokens.
        bound: For Auto, where a reply had a step.
        by_drafter: The tokens of each drafter in all repeats.
    """

    strategy: str
    tokens_per_s: float
    ratio_to_off: Ratio
    ratio_writing: Ratio
    acceptance_rate: float | None
    mean_committed_per_step: float | None
    same_text: bool
    n_runs: int
    n_different: int
    total_s: float
    prefill_s: float
    n_tokens: int
    bound: Bound | None = None
    by_drafter: tuple[Drafted, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkloadResult:
    """All strategies at one workload, at a temperature; plain decoding first."""

    name: str
    temperature: float
    n_prompt: int
    results: tuple[Result, ...]

    def result_of(self, strategy: str) -> Result | None:
        """Return a strategy's result, or None if it has none."""
        return next((r for r in self.results if r.strategy == strategy), None)


@dataclass(frozen=True, slots=True)
class Conditions:
    """Conditions of a benchmark.

    Attributes:
        machine: The machine.
        target: The target model.
        draft: The draft model, or None if there was none.
        date: Time of its end, as ``2026-11-23 08:15 UTC``, or empty if not known.
        settings: Requested parameters of the models, paths as names, or None if not known.
        kernels: The kernels that computed the target on the CPU; see `ModelInfo`.
        costs: Costs of the target's steps by width, or empty if not known.
        draft_costs: The same of the draft model.
    """

    machine: BenchMachine
    target: ModelRecord
    draft: ModelRecord | None = None
    date: str = ""
    settings: KeptPair | None = None
    kernels: tuple[KernelUse, ...] = ()
    costs: tuple[WidthCost, ...] = ()
    draft_costs: tuple[WidthCost, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """A whole benchmark.

    Attributes:
        conditions: The conditions.
        strategies: All that took part, plain decoding first.
        workloads: In the order of the file; those without a measured strategy are left out.
        geomean: Geometric mean of the ratios' medians over the workloads that all have run.
        geomean_writing: The same of `ratio_writing`.
        n_repeats: Repeats that were asked for.
        wall_s: Duration in seconds.
        is_complete: Whether every run was made.
        failures: The failures.
        runs: Every run that counts.
        notes: Further sentences for readers of the figures.
    """

    conditions: Conditions
    strategies: tuple[str, ...]
    workloads: tuple[WorkloadResult, ...]
    geomean: dict[str, float]
    geomean_writing: dict[str, float]
    n_repeats: int
    wall_s: float
    is_complete: bool
    failures: tuple[Failure, ...]
    runs: tuple[Run, ...]
    notes: tuple[str, ...] = ()


BOUND_STEPS = 4
"""Plain steps of Auto's promise, in addition to the shares of the time in `ledger`."""


def summarise(
    plan: Plan,
    runs: Sequence[Run],
    conditions: Conditions,
    *,
    failures: Sequence[Failure] = (),
    notes: Sequence[str] = (),
    wall_s: float,
    is_complete: bool,
) -> Report:
    """Return the report of runs in any number and order."""
    by_workload: dict[str, list[Run]] = {}
    for run in runs:
        by_workload.setdefault(run.workload, []).append(run)
    measured = [
        _workload(w, plan.strategies, by_workload[w.name])
        for w in plan.workloads
        if w.name in by_workload
    ]
    workloads = tuple(found for found in measured if found.results)
    return Report(
        conditions, plan.strategies, workloads,
        geomeans(plan.strategies, workloads, lambda result: result.ratio_to_off.median),
        geomeans(plan.strategies, workloads, lambda result: result.ratio_writing.median),
        plan.n_repeats, wall_s, is_complete, tuple(failures), tuple(runs), tuple(notes),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Plain:
    """Times of plain decoding at a workload in a repeat; medians where it ran several times."""

    total_s: float
    decode_s: float
    text: str


def _plain(runs: Sequence[Run]) -> _Plain:
    return _Plain(
        statistics.median(run.total_s for run in runs),
        statistics.median(run.decode_s for run in runs),
        runs[0].text,
    )


def _workload(workload: Workload, strategies: Sequence[str], here: Sequence[Run]) -> WorkloadResult:
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
    temperature, n_prompt = workload.sampling.temperature, here[0].n_prompt
    return WorkloadResult(workload.name, temperature, n_prompt, tuple(results))


def _result(strategy: str, pairs: Sequence[tuple[_Plain, Run]]) -> Result:
    runs = [run for _, run in pairs]
    text = pairs[0][0].text
    # Plain decoding itself is held against its first repeat.
    n_different = sum(run.text != (text if strategy == PLAIN else off.text) for off, run in pairs)
    n_steps = sum(run.n_steps for run in runs)
    n_tokens = sum(run.n_tokens - 1 for run in runs)  # the first is the prefill's
    return Result(
        strategy,
        tokens_per_s=statistics.median(run.tokens_per_s for run in runs),
        ratio_to_off=quartiles([off.total_s / run.total_s for off, run in pairs]),
        ratio_writing=quartiles([off.decode_s / run.decode_s for off, run in pairs]),
        acceptance_rate=acceptance(runs),
        mean_committed_per_step=n_tokens / n_steps if n_steps else None,
        same_text=not n_different,
        n_runs=len(runs),
        n_different=n_different,
        total_s=statistics.median(run.total_s for run in runs),
        prefill_s=statistics.median(run.prefill_s for run in runs),
        n_tokens=round(statistics.median(run.n_tokens for run in runs)),
        bound=_bound(runs) if is_controlled(strategy) else None,
        by_drafter=_by_drafter(runs),
    )


def _by_drafter(runs: Iterable[Run]) -> tuple[Drafted, ...]:
    sums: dict[str, Drafted] = {}
    for each in (drafted for run in runs for drafted in run.by_drafter):
        before = sums.get(each.drafter, Drafted(each.drafter, 0, 0))
        sums[each.drafter] = Drafted(
            each.drafter,
            before.n_drafted + each.n_drafted,
            before.n_accepted + each.n_accepted,
        )
    return tuple(sums.values())


def acceptance(runs: Iterable[Run]) -> float | None:
    """Return the accepted share of all judged tokens, or None if there were none."""
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
    """Return how replies kept to the bound, or None if no reply had a step.

    Each is compared with its own plain time, since another reply ran in another minute.
    """
    parts = [
        run.total_s
        / (
            (1.0 + TUNING.promised_share) * (run.prefill_s + plain)
            + TUNING.reading_share * run.prefill_s
            + BOUND_STEPS * plain / run.n_tokens
        )
        for run in runs
        if run.n_steps and (plain := run.plain_s)
    ]
    if not parts:
        return None
    return Bound(sum(part <= 1 for part in parts), len(parts), max(parts))


def bound_of(report: Report, strategies: Iterable[str]) -> Bound | None:
    """Return how these strategies kept to the bound over all workloads, or None if unknown."""
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
    """Return the workloads that were run by all strategies with any run."""
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
