"""A benchmark's report as JSON (the output of `paceline bench --json`) and as spreadsheet rows.

Besides the results per workload and strategy, the JSON contains the speed ratios without the time
for reading the prompt, the figures of each run, whether Auto's replies kept to their bound, and the
failures.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from paceline.bench.runs import Report, Result
from paceline.codec import encode
from paceline.figures import by_kind

_DECIMALS = 6
COLUMNS = (
    "workload", "strategy", "tokens_per_s", "ratio", "ratio_low", "ratio_high", "ratio_writing",
    "acceptance_rate", "mean_committed_per_step", "same_text", "n_runs", "total_s",
)  # fmt: skip


def to_json(report: Report) -> dict[str, Any]:
    """Return the report as JSON data."""
    conditions = encode(report.conditions)
    runs: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for run in report.runs:
        data = encode(run) | {"total_s": run.total_s}
        runs.setdefault((data.pop("workload"), data.pop("strategy")), []).append(data)
    found: dict[str, Any] = {
        **conditions,
        "kernels": by_kind(report.conditions.kernels),
        "strategies": list(report.strategies),
        "repeat": report.n_repeats,
        "complete": report.is_complete,
        "wall_s": round(report.wall_s, 3),
        "workloads": [
            asdict(workload)
            | {
                "results": [
                    _result(result) | {"runs": runs.get((workload.name, result.strategy), [])}
                    for result in workload.results
                ],
            }
            for workload in report.workloads
        ],
        "geomean": report.geomean,
        "geomean_writing": report.geomean_writing,
        "notes": list(report.notes),
        "failures": [asdict(failure) for failure in report.failures],
    }
    rounded: dict[str, Any] = _rounded(found)
    return rounded


def _result(result: Result) -> dict[str, Any]:
    data = asdict(result)
    if result.bound is None:
        del data["bound"]
    return data


def _rounded(value: Any) -> Any:
    """Return JSON data with all floats rounded to 6 decimals."""
    match value:
        case float():
            return round(value, _DECIMALS)
        case dict():
            return {key: _rounded(item) for key, item in value.items()}
        case list() | tuple():
            return [_rounded(item) for item in value]
        case _:
            return value


def rows(report: Report) -> list[list[str | float | int | bool | None]]:
    """Return one row per workload and strategy, in the columns of `COLUMNS`."""
    found: list[list[str | float | int | bool | None]] = [list(COLUMNS)]
    for workload in report.workloads:
        for r in workload.results:
            ratio = r.ratio_to_off
            found.append(
                [
                    workload.name, r.strategy, r.tokens_per_s, ratio.median, ratio.low, ratio.high,
                    r.ratio_writing.median, r.acceptance_rate, r.mean_committed_per_step,
                    r.same_text, r.n_runs, r.total_s,
                ]
            )  # fmt: skip
    return found
