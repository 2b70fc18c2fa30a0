"""A report as JSON, by the contract of `paceline bench`, and back; and as rows for a spreadsheet.

Beside what the contract names stand the ratios without the prompt's time, the figures of every run,
how Auto's replies keep to their bound, and what went wrong. With the hashes of the model files in
it, it is the passport of a pair on a machine, which others can look at. Such a file is foreign: it
may be damaged or malicious. So what is derived is not taken from it, but computed again from its
runs; everything else is checked.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from paceline.bench.plan import PLAIN, Plan
from paceline.bench.runs import Conditions, Failure, Report, Result, Run, summarise
from paceline.bench.workload import Workload
from paceline.codec import CodecError, decode_known, decode_part, encode_part
from paceline.errors import UserError
from paceline.figures import by_kind
from paceline.files import open_ordinary
from paceline.params import SamplingParams
from paceline.sizes import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from paceline.figures import WidthCost


FORMAT = "paceline-passport"
VERSION = 1
MAX_BYTES = 8_000_000
_HEAD = 1000  # bytes in which a passport says that it is one
MAX_RUNS = 10_000
"""So many fit into `MAX_BYTES` in any case."""
_MOST_CHARS = 2_000
_MOST = 1e15
_SHORTEST_S, _LONGEST_S = 1e-6, 1e6
_MOST_STRATEGIES, _MOST_FAILURES = 100, 1_000
_MOST_COSTS, _WIDEST = 200, 1_024
_DIGITS = 6
_HINT = "Ask for the file again where it comes from."
COLUMNS = (
    "workload", "strategy", "tokens_per_s", "ratio", "ratio_low", "ratio_high", "decode_ratio",
    "acceptance_rate", "mean_committed_per_step", "same_text", "n_runs", "total_s",
)  # fmt: skip


def to_json(report: Report) -> dict[str, Any]:
    """Return the report as JSON data."""
    conditions = encode_part(report.conditions)
    runs: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for run in report.runs:
        data = encode_part(run) | {"total_s": run.total_s}
        runs.setdefault((data.pop("workload"), data.pop("strategy")), []).append(data)
    found: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
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
        "decode_geomean": report.decode_geomean,
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
    """Return JSON data, rounded to the digits that were measured."""
    match value:
        case float():
            return round(value, _DIGITS)
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
                    r.decode_ratio_to_off.median, r.acceptance_rate, r.mean_committed_per_step,
                    r.same_text, r.n_runs, r.total_s,
                ]
            )  # fmt: skip
    return found


# ------------------------------------------------------------------------------------- and back


def is_passport(raw: bytes) -> bool:
    """Whether a file's content says that it is one."""
    return re.search(rf'"format"\s*:\s*"{FORMAT}"'.encode(), raw[:_HEAD]) is not None


def read_passport(path: Path) -> Report:
    """Return the report in a file.

    Raises:
        UserError: It cannot be read, or is none; says what is wrong with it.
    """
    try:
        with open_ordinary(path) as file:
            raw = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise UserError(
            "file-unreadable",
            f"{path} cannot be read ({getattr(error, 'strerror', None) or error}).",
            "Give a file that `paceline bench --passport` wrote.",
        ) from error
    return parse_passport(raw, path.name)


def parse_passport(raw: bytes, name: str) -> Report:
    """Return the report that a file's content is.

    Args:
        raw: The content, or its first `MAX_BYTES` + 1 bytes.
        name: The file's name, for errors.

    Raises:
        UserError: It is none; says what is wrong with it.
    """
    name = one_line(name)
    if len(raw) > MAX_BYTES:
        raise _unusable(f"“{name}” is larger than {MAX_BYTES // 10**6} MB, which no passport is.")
    try:
        data = json.loads(raw.decode("utf-8-sig"), parse_constant=_no_number)
    except (ValueError, RecursionError):  # no UTF-8 is a ValueError, too
        raise _unusable(f"“{name}” is not whole: it is no JSON.") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise _unusable(
            f"“{name}” is no passport of a benchmark.",
            "Choose a file that `paceline bench --passport` wrote.",
        )
    version = data.get("version")
    if type(version) is not int or not 0 < version < 10**300:  # a float can be
        raise _unusable(f"“{name}” is damaged (its version is no whole number from 1 on).")
    if version > VERSION:
        raise _unusable(
            f"“{name}” was written by a newer Paceline "
            f"(version {version:.6g} of passports; known: {VERSION}).",
            "Install the newest Paceline and open it there.",
        )
    try:
        return _from_json(_checked(data))
    except KeyError as error:
        raise _unusable(f"“{name}” is damaged: {error.args[0]:.40} is missing.") from None
    except (TypeError, ValueError, OverflowError) as error:  # a `CodecError` is a `ValueError`
        if isinstance(error, CodecError) and error.place:
            place, why = error.place.removeprefix("."), one_line(error.why)
            raise _unusable(f"“{name}” is damaged: {place} {why}.") from None
        raise _unusable(f"“{name}” is damaged ({one_line(str(error))}).") from None


def _unusable(message: str, hint: str = _HINT) -> UserError:
    return UserError("bad-passport", message, hint)


def _no_number(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")


def _checked(value: Any) -> Any:
    """Return JSON data whose texts can be shown, each on a line.

    Raises:
        ValueError: A text or a number is none of a benchmark.
    """
    match value:
        case str():
            if len(value) > _MOST_CHARS:
                raise CodecError(f"a text has more than {_MOST_CHARS:,} characters")
            return one_line(value, _MOST_CHARS)
        case int() | float():
            if not -1 <= value <= _MOST:  # -1: "auto" of a setting
                raise CodecError("a number is in it that cannot have been measured")
            return value
        case dict():
            return {_checked(key): _checked(item) for key, item in value.items()}
        case list():
            return [_checked(item) for item in value]
        case _:
            return value


@dataclass(frozen=True, slots=True)
class _Passport:
    """Fields of the file that are about all replies."""

    strategies: tuple[str, ...]
    repeat: int
    complete: bool
    wall_s: float
    notes: tuple[str, ...]
    failures: tuple[Failure, ...]


def _from_json(data: dict[str, Any]) -> Report:
    """Return the report that `to_json` gave this data for; other things in it are left alone.

    Raises:
        CodecError, KeyError, TypeError, ValueError: It is no such data.
    """
    uses = data["kernels"]
    if not isinstance(uses, dict):
        raise CodecError("is not an object", ".kernels")
    kernels = [{"kind": kind, "by": by} for kind, by in uses.items()]
    conditions = decode_known(Conditions, data | {"kernels": kernels})
    costs = *conditions.costs, *conditions.draft_costs
    if len(costs) > _MOST_COSTS or not all(
        0 < cost.width <= _WIDEST and cost.seconds > 0 for cost in costs
    ):
        raise CodecError("costs of steps are in it that cannot be")
    conditions = replace(
        conditions,
        costs=_measured(conditions.costs),
        draft_costs=_measured(conditions.draft_costs),
    )
    whole = decode_known(_Passport, data)
    workloads: list[Workload] = []
    runs: list[Run] = []
    for found in _objects(data, "workloads"):
        sampling = decode_part(SamplingParams, {"temperature": found["temperature"]})
        workloads.append(Workload(found["name"], sampling=sampling))
        for result in _objects(found, "results"):
            where = {"workload": found["name"], "strategy": result["strategy"]}
            runs += (_run(run | where) for run in _objects(result, "runs"))
    if max(len(runs), len(workloads), whole.repeat) > MAX_RUNS or whole.repeat < 1:
        raise CodecError(f"more than {MAX_RUNS:,} replies are in it, or no repeat")
    if len(whole.strategies) > _MOST_STRATEGIES or len(whole.failures) > _MOST_FAILURES:
        raise CodecError("more strategies or failures are in it than can be shown")
    names = [workload.name for workload in workloads]
    if whole.strategies[:1] != (PLAIN,) or _repeats(whole.strategies) or _repeats(names):
        raise CodecError("a name is in it twice, or plain decoding is not the first strategy")
    return summarise(
        Plan(tuple(workloads), whole.strategies, whole.repeat),
        runs,
        conditions,
        failures=whole.failures,
        notes=whole.notes,
        wall_s=whole.wall_s,
        is_complete=whole.complete,
    )


def _measured(costs: Sequence[WidthCost]) -> tuple[WidthCost, ...]:
    """Leave out what was guessed: earlier builds wrote it down, too, as measured 0 times."""
    return tuple(cost for cost in costs if cost.n_samples > 0)


def _run(data: dict[str, Any]) -> Run:
    run = decode_known(Run, data)
    times = run.prefill_s, run.decode_s, run.plain_s or 0.0
    counts = (
        run.n_prompt, run.n_steps, run.n_discarded, run.n_accepted,
        run.n_drafted - run.n_accepted - run.n_discarded, run.n_tokens - 1, run.repeat - 1,
        *(each.n_drafted - each.n_accepted for each in run.by_drafter),
    )  # fmt: skip
    is_too_short = min(times) < 0 or run.decode_s < _SHORTEST_S
    if min(counts) < 0 or is_too_short or max(times) > _LONGEST_S:
        raise CodecError("a reply has times or counts that cannot be")
    return run


def _objects(data: dict[str, Any], key: str) -> list[dict[str, Any]]:
    found = data[key]
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise CodecError("is not a list of objects", key)
    return found


def _repeats(names: Sequence[str]) -> bool:
    return len(set(names)) < len(names)
