"""A report as JSON, by the contract of `paceline bench`; and as rows for a spreadsheet.

Beside what the contract names stand the ratios without the prompt's time, the figures of every run,
how Auto's replies keep to their bound, and what went wrong.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from paceline.figures import by_kind

if TYPE_CHECKING:
    from paceline.bench.runs import Report, Result, Run

_DIGITS = 6
COLUMNS = (
    "workload", "strategy", "tokens_per_s", "ratio", "ratio_low", "ratio_high", "decode_ratio",
    "acceptance_rate", "mean_committed_per_step", "same_text", "n_runs", "total_s",
)  # fmt: skip


def to_json(report: Report) -> dict[str, Any]:
    """Return the report as JSON data."""
    data: dict[str, Any] = {
        "machine": report.machine,
        "target": report.target,
        "draft": report.draft,
        "kernels": by_kind(report.kernels),
        "repeat": report.n_repeats,
        "complete": report.is_complete,
        "wall_s": round(report.wall_s, 3),
        "workloads": [
            {
                "name": workload.name,
                "n_prompt": workload.n_prompt,
                "results": [
                    _result(result, [r for r in report.runs if _belongs(r, workload.name, result)])
                    for result in workload.results
                ],
            }
            for workload in report.workloads
        ],
        "geomean": report.geomean,
        "decode_geomean": report.decode_geomean,
        "costs": [asdict(cost) for cost in report.costs],
        "notes": list(report.notes),
        "failures": [asdict(failure) for failure in report.failures],
    }
    rounded: dict[str, Any] = _rounded(data)
    return rounded


def rows(report: Report) -> list[list[str | float | int | bool | None]]:
    """Return one row per workload and strategy, behind the titles in `COLUMNS`."""
    found: list[list[str | float | int | bool | None]] = [list(COLUMNS)]
    for workload in report.workloads:
        for r in workload.results:
            ratio = r.ratio_to_off
            found.append(
                [
                    workload.name, r.strategy, r.tokens_per_s, ratio.median, ratio.low, ratio.high,
                    r.decode_ratio_to_off.median, r.acceptance_rate, r.mean_committed_per_step,
                    r.same_text, r.n_runs, r.total_s,
                ]
            )  # fmt: skip
    return found


def _belongs(run: Run, workload: str, result: Result) -> bool:
    return (run.workload, run.strategy) == (workload, result.strategy)


def _result(result: Result, runs: list[Run]) -> dict[str, Any]:
    data = asdict(result)
    if result.bound is None:
        del data["bound"]
    data["runs"] = [
        {
            "repeat": run.repeat,
            "n_tokens": len(run.tokens),
            "prefill_s": run.prefill_s,
            "decode_s": run.decode_s,
            "total_s": run.total_s,
            "n_steps": run.n_steps,
            "n_drafted": run.n_drafted,
            "n_accepted": run.n_accepted,
        }
        for run in runs
    ]
    return data


def _rounded(value: Any) -> Any:
    """Return JSON data without digits that nobody measured."""
    match value:
        case float():
            return round(value, _DIGITS)
        case dict():
            return {key: _rounded(item) for key, item in value.items()}
        case list() | tuple():
            return [_rounded(item) for item in value]
        case _:
            return value
