"""A benchmark's plan, progress and end in words. Pure functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from paceline.bench.summary import bound_of
from paceline.gui.viewmodels.bench_titles import prompt_title, title_of

if TYPE_CHECKING:
    from paceline.bench.plan import Plan
    from paceline.bench.runner import Progress
    from paceline.bench.runs import Report
    from paceline.gui.bench_driver import Ending


_FEW_S = 10


def _tr(text: str) -> str:
    return QCoreApplication.translate("BenchWords", text)


def duration_text(seconds: float) -> str:
    """A length of time to plan by: no more exact than it is known."""
    if seconds < _FEW_S:
        return _tr("a few seconds")
    if seconds < 90:
        return _tr("{} s").format(round(seconds / 5) * 5)
    minutes = seconds / 60
    if minutes < 90:
        return _tr("{} min").format(round(minutes))
    return _tr("{:.1f} h").format(minutes / 60)


def estimate_text(plan: Plan, plain_tokens_per_s: float | None) -> str:
    """How much is to be done, and how long that takes at most; that is guessed from plain speed."""
    counted = _tr("{:,} replies").format(plan.n_runs)
    lengths = [workload.max_tokens for workload in plan.workloads]
    if not plain_tokens_per_s:
        return _tr("{} of up to {:,} tokens; the first ones show how long that takes.").format(
            counted, max(lengths, default=0)
        )
    tokens = plan.n_runs * sum(lengths) / max(len(lengths), 1)
    return _tr("{}, {} or less at {:.0f} tokens/s, prompts not counted.").format(
        counted, duration_text(tokens / plain_tokens_per_s), plain_tokens_per_s
    )


def state_text(progress: Progress, *, is_paused: bool) -> str:
    """The first line of the progress."""
    if is_paused:
        return _tr("Paused while a reply is written; it goes on by itself.")
    if progress.stage == "prepare":
        return _tr("Getting ready: short replies warm up the models and show what prompts cost.")
    return _tr("{:,} of {:,} replies measured").format(progress.n_done, progress.n_total)


def now_text(progress: Progress) -> str:
    """What is under way."""
    cell = progress.cell
    if cell is None and progress.stage != "prepare":
        return ""
    if cell is None:
        return _tr("Measuring what steps of each width cost…")
    what = _tr("“{}” by {}").format(prompt_title(cell.workload.name), title_of(cell.strategy))
    return _tr("{}, repeat {}").format(what, cell.repeat) if cell.repeat else what


def left_text(progress: Progress) -> str:
    """The time that is left; empty where it is not known."""
    if progress.left_s is None:
        return ""
    if progress.left_s < _FEW_S:
        return _tr("a few seconds left")
    return _tr("about {} left").format(duration_text(progress.left_s))


def bound_text(report: Report) -> str:
    """Whether Auto kept to the time that it promises; empty where it did not take part."""
    bound = bound_of(report, report.strategies)
    if bound is None:
        return ""
    return _tr(
        "Auto's promise is that no reply takes longer than 1.02 times plain decoding and 4 steps: "
        "{:,} of {:,} kept to it."
    ).format(bound.n_within, bound.n_replies)


def ending_text(ending: Ending, reason: str, report: Report) -> str:
    """Why a benchmark is over; empty where it is complete."""
    if ending == "done":
        return ""
    words = {
        "stopped": _tr("Cancelled."),
        "died": _tr("The engine stopped working: {}").format(reason),
        "other-models": _tr(
            "The models were unloaded or replaced, so the benchmark of this pair has ended."
        ),
    }[ending]
    if not report.runs:
        return words
    return _tr("{} The figures are of the {:,} replies that were measured before.").format(
        words, len(report.runs)
    )


def busy_text(report: Report) -> str:
    """What else the machine was doing, where that was enough to blur the figures."""
    before = (report.machine.get("load_average") or {}).get("before") or [0.0]
    if before[0] <= (report.machine.get("logical_cores") or 1) / 2:
        return ""
    return _tr(
        "The machine was busy before this began (a load of {:.1f}), so the figures scatter."
    ).format(before[0])


def models_text(target: str, draft: str) -> str:
    """The pair that is measured."""
    if not target:
        return _tr("No model is loaded.")
    if not draft:
        return _tr("{}, no draft model").format(target)
    return _tr("{} with {} as the draft model").format(target, draft)


def remark_text(report: Report) -> str:
    """What it ran on: for the foot of the page, and of the picture."""
    machine, draft = report.machine, report.draft
    models = models_text(_file(report.target), _file(draft) if draft is not None else "")
    n_threads = machine.get("threads", 0)
    threads = (_tr("{} thread") if n_threads == 1 else _tr("{} threads")).format(n_threads)
    on = f"{machine.get('cpu') or 'CPU'}, {threads}"
    gpus = machine.get("gpus") or ()
    parts = [models, on, *map(str, gpus)]
    parts.append(_tr("{} replies in {}").format(len(report.runs), duration_text(report.wall_s)))
    return " · ".join(parts)


def _file(model: dict[str, object]) -> str:
    return str(model.get("file") or model.get("name") or "")
