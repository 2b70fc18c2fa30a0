"""A benchmark's report for a terminal: a matrix of ratios, and conclusions in words."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence

from paceline.bench.plan import PLAIN
from paceline.bench.recommend import Choice, Interval, Recommendation
from paceline.bench.runs import (
    Report,
    Result,
    acceptance,
    bound_of,
    common,
)
from paceline.bench.verdict import verdict
from paceline.chat.auto_words import promise_words
from paceline.cli.output import in_columns
from paceline.run_record import ModelRecord
from paceline.sizes import duration, percent, weights

_BEST, _OTHER_TEXT = "*", "≠"


def report_text(report: Report, found: Recommendation | None = None) -> str:
    """Return everything for people, in paragraphs; ends with a line break."""
    if not report.workloads:
        return "Nothing was measured.\n"
    parts = [_head(report), _matrix(report) + _legend(report), _verdict(report)]
    if found is not None:
        parts.append(_recommendation(found))
    return "\n".join(parts)


def _head(report: Report) -> str:
    target, draft = report.conditions.target, report.conditions.draft
    facts = [("Target", _model(target))]
    if draft:
        facts.append(("Draft", _model(draft)))
    return in_columns([*facts, ("Machine", _machine(report)), ("Measured", _measured(report))])


def _machine(report: Report) -> str:
    machine = report.conditions.machine
    load = machine.load_average.after
    threads = "1 thread" if machine.threads == 1 else f"{machine.threads} threads"
    busy = f", load {load[0]:g}" if load else ""
    cores = f" on {machine.cores} cores" if machine.cores else ""
    return f"{machine.cpu}, {threads}{cores}{busy}"


def _measured(report: Report) -> str:
    all_of_them = "" if report.is_complete else ", not all that were planned"
    return f"{len(report.runs)} replies in {duration(report.wall_s)}{all_of_them}"


def _model(model: ModelRecord) -> str:
    return f"{model.file}, {weights(model.n_params) or 'unknown'} weights"


# -------------------------------------------------------------------------------------- matrix


def _matrix(report: Report) -> str:
    """Return the matrix in as many blocks as the terminal's width asks for."""
    columns = [_titles(report), *(_column(report, w.name) for w in report.workloads)]
    columns += [
        ["all", *_means(report, report.geomean_writing), ""],
        ["whole", *_means(report, report.geomean), ""],
        _acceptances(report),
    ]
    if len(report.workloads) > len(report.strategies):
        columns = [list(row) for row in zip(*columns, strict=True)]
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 10_000
    blocks = [[columns[0]]]
    for column in columns[1:]:
        used = sum(max(map(len, c)) + 2 for c in (*blocks[-1], column)) - 2
        if used > width and len(blocks[-1]) > 1:
            blocks.append([columns[0]])
        blocks[-1].append(column)
    return "".join(_lines(block) + "\n" for block in blocks)


def _lines(columns: Sequence[Sequence[str]]) -> str:
    rows = list(zip(*columns, strict=True))
    return in_columns(rows, right=range(1, len(columns)))


def _titles(report: Report) -> list[str]:
    return ["", *report.strategies, f"{PLAIN}, tokens/s"]


def _column(report: Report, name: str) -> list[str]:
    workload = next(w for w in report.workloads if w.name == name)
    found = [workload.result_of(strategy) for strategy in report.strategies]
    best = max((r.ratio_writing.median for r in found if r), default=0.0)
    plain = workload.result_of(PLAIN)
    return [
        name,
        *(_cell(result, best) for result in found),
        f"{plain.tokens_per_s:.1f}" if plain else "",
    ]


def _cell(result: Result | None, best: float) -> str:
    if result is None:
        return "–"
    ratio = result.ratio_writing.median
    marks = (_OTHER_TEXT if result.n_different else "") + (_BEST if ratio == best else "")
    return f"{marks}{ratio:.2f}"


def _means(report: Report, means: Mapping[str, float]) -> list[str]:
    best = max(means.values(), default=0.0)
    return [
        f"{_BEST if mean == best else ''}{mean:.2f}" if (mean := means.get(s)) else "–"
        for s in report.strategies
    ]


def _acceptances(report: Report) -> list[str]:
    cells = []
    for strategy in report.strategies:
        rate = acceptance(run for run in report.runs if run.strategy == strategy)
        cells.append("" if rate is None else f"{percent(rate)}%")
    return ["right", *cells, ""]


def _legend(report: Report) -> str:
    n_different = sum(r.n_different for w in report.workloads for r in w.results)
    other = f" {_OTHER_TEXT}: another text than {PLAIN} in some repeat." if n_different else ""
    return (
        f"Times as fast as {PLAIN} in writing, the prompt not counted; medians.\n"
        f"{_BEST}: the fastest.{other} all: geometric mean. whole: the same of the whole reply, "
        "with its prompt. right: guesses that were right.\n"
    )


# --------------------------------------------------------------------------------------- words


def _verdict(report: Report) -> str:
    lines = [*_fastest(report), *_auto(report), *_texts(report), *report.notes, *_failures(report)]
    return "".join(f"{line}\n" for line in lines)


def _fastest(report: Report) -> list[str]:
    if len(report.geomean) < 2:
        return []
    found = verdict(report)
    where = "" if _is_whole(report) else " Only workloads that all have run count."
    return [f"{found.sentence}{where}{_why(report) if found.kind in ('none', 'few') else ''}"]


def _is_whole(report: Report) -> bool:
    """Return whether every workload that was measured counts in the geometric means."""
    n = len(common(report.strategies, report.workloads))
    return report.is_complete or n == len(report.workloads)


def _why(report: Report) -> str:
    """Return a sentence on the cost of verifying, if that explains why there is no gain."""
    costs = {cost.width: cost.seconds for cost in report.conditions.costs}
    if not costs.get(1) or 2 not in costs:
        return ""
    ratio = costs[2] / costs[1]
    if ratio < 1.5:
        return ""
    return (
        f" Verifying two tokens takes {ratio:.1f} times as long as decoding one: the target is too "
        "small for this machine to gain by drafts."
    )


def _auto(report: Report) -> list[str]:
    return [
        f"{strategy}: {promise_words(bound.n_within, bound.n_replies)} "
        f"The slowest took {bound.worst:.0%} of the time that it may take."
        for strategy in report.strategies
        if (bound := bound_of(report, [strategy]))
    ]


def _texts(report: Report) -> list[str]:
    results = [r for w in report.workloads for r in w.results]
    n_different = sum(result.n_different for result in results)
    if not n_different:
        same = "Every reply has the text of plain decoding."
        return [same] if len(report.strategies) > 1 else []
    n = sum(result.n_runs for result in results)
    why = {
        False: " On this machine logits depend a little on the number of tokens decoded at once, "
        "so that near-ties can fall either way.",
        None: " Whether logits depend on the number of tokens decoded at once was not looked at "
        "long enough; a window, or a chat that waits for a line, goes on in idle time.",
        True: "",
    }[_invariance(report)]
    return [f"{n_different} of {n} replies differ from plain decoding's.{why}"]


def _invariance(report: Report) -> bool | None:
    known = {run.batch_invariant for run in report.runs}
    return False if False in known else None if None in known else True


def _failures(report: Report) -> list[str]:
    return [
        f"{f.workload} by {f.strategy} failed: {f.message}" for f in report.failures if f.workload
    ]


# ------------------------------------------------------------------------------ recommendation


def _recommendation(found: Recommendation) -> str:
    rows = [("", "best fixed setting", "by off", "auto by off", "auto by the best")]
    rows += [_choice(choice) for choice in (*found.by_workload, found.over_all)]
    best = found.over_all
    lines = [
        "Chosen on the odd repeats, compared on the even ones; medians with 95 % intervals.",
        "",
        *in_columns(rows).splitlines(),
        "",
        f"The best fixed setting over all is {best.best}: {_number(best.best_ratio)} times plain "
        "decoding.",
    ]
    if best.auto_ratio and best.auto_by_best:
        lines.append(
            f"Auto gives {_number(best.auto_ratio)} times plain decoding, which is "
            f"{_number(best.auto_by_best)} of that."
        )
    return "".join(f"{line}\n" for line in lines)


def _choice(choice: Choice) -> tuple[str, str, str, str, str]:
    return (
        choice.workload or "all",
        choice.best,
        _number(choice.best_ratio),
        _number(choice.auto_ratio),
        _number(choice.auto_by_best),
    )


def _number(interval: Interval | None) -> str:
    if interval is None:
        return "–"
    return f"{interval.median:.2f} [{interval.low:.2f}, {interval.high:.2f}]"
