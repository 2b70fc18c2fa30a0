"""From a benchmark's report to rows: over all prompts first, then per prompt. No widgets."""

from __future__ import annotations

import csv
import io
from statistics import geometric_mean
from typing import TYPE_CHECKING

from paceline.bench.plan import PLAIN
from paceline.bench.report import rows
from paceline.bench.summary import acceptance
from paceline.gui.viewmodels.bench_rows import BenchPanel, BenchRow

if TYPE_CHECKING:
    from paceline.bench.runs import Report, Result


def panels_of(report: Report) -> tuple[BenchPanel, ...]:
    """Return the rows over all prompts, then those of each; all strategies in every panel."""
    panels = [BenchPanel("", tuple(_overall(report, s) for s in report.strategies))]
    for workload in report.workloads:
        rows = [
            _row(strategy, workload.result_of(strategy), _problem(report, strategy, workload.name))
            for strategy in report.strategies
        ]
        panels.append(BenchPanel(workload.name, tuple(rows)))
    return tuple(panels)


def _row(strategy: str, result: Result | None, problem: str) -> BenchRow:
    if result is None:
        return BenchRow(strategy, problem=problem)
    ratio = result.ratio_to_off
    middle = 1.0 if strategy == PLAIN else ratio.median
    return BenchRow(
        strategy, result.tokens_per_s, middle, ratio.low, ratio.high,
        result.acceptance_rate, result.mean_committed_per_step, result.same_text, result.n_runs,
        problem,
    )  # fmt: skip


def _overall(report: Report, strategy: str) -> BenchRow:
    """A strategy over all prompts that every strategy has run.

    The ratio is the geometric mean over prompts, as in the report, and so are the quartiles.
    """
    problem = _problem(report, strategy)
    ratio = report.geomean.get(strategy)
    if ratio is None:
        return BenchRow(strategy, problem=problem)
    common = [
        w
        for w in report.workloads
        if all(w.result_of(s) is not None for s in report.strategies if s in report.geomean)
    ]
    names = {w.name for w in common}
    runs = [run for run in report.runs if run.strategy == strategy and run.workload in names]
    results = [result for w in common if (result := w.result_of(strategy)) is not None]
    n_steps = sum(run.n_steps for run in runs)
    return BenchRow(
        strategy,
        sum(len(run.tokens) for run in runs) / sum(run.decode_s for run in runs),
        1.0 if strategy == PLAIN else ratio,
        geometric_mean([result.ratio_to_off.low for result in results]),
        geometric_mean([result.ratio_to_off.high for result in results]),
        acceptance(runs),
        sum(len(run.tokens) - 1 for run in runs) / n_steps if n_steps else None,
        all(result.same_text for result in results),
        sum(result.n_runs for result in results),
        problem,
    )


def _problem(report: Report, strategy: str, workload: str = "") -> str:
    """What failed first with a strategy; with a name, at that prompt."""
    for failure in report.failures:
        if failure.strategy == strategy and workload in ("", failure.workload):
            return f"{failure.message} {failure.hint}".strip()
    return ""


def report_csv(report: Report) -> str:
    """Return all results as a table for other programs (RFC 4180); 1 and 0 are yes and no."""
    out = io.StringIO()
    table = csv.writer(out)
    for row in rows(report):
        table.writerow([_cell(value) for value in row])
    return out.getvalue()


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
