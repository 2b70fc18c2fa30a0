"""A benchmark's strategies, plan, progress and end in words. Pure functions.

Strategies are named with their settings, in words that fit beside a bar: the same in the window and
in the command line's picture, which knows only the strategy's text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from paceline.bench.plan import Plan, is_controlled
from paceline.bench.runner import Progress
from paceline.bench.runs import Report, bound_of
from paceline.bench.verdict import speedup_of
from paceline.chat.auto_words import promise_words
from paceline.engine.draft.base import DrafterInfo, Parameter
from paceline.engine.draft.strategy import CompleteStrategy, parse_strategy, read_strategy
from paceline.errors import UserError
from paceline.gui.bench.driver import Ending
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import in_words, local, translator
from paceline.gui.state.sources import short_title
from paceline.gui.state.speculation import USUAL_LOOKUP, in_order

PLAIN = "off"
Kind = Literal["plain", "model", "lookup", "both"]
"""Colours of a strategy: "both" where a model and lookups draft."""

_LENGTHS = ("n_max", "max", "n_pred", "m")
"""Names of settings for the maximum draft length."""

_tr = translator("BenchWords")


def title_of(strategy: str) -> str:
    """Return the name of a strategy, with the settings in its text.

    An unknown strategy is called by its text.
    """
    parsed = _parsed(strategy)
    if parsed is None:
        return strategy
    infos = in_order([in_words(info) for info in parsed.infos])
    title = " → ".join(dict.fromkeys(map(short_title, infos)))
    kinds = [info.title for info in infos if info.family == "lookup"]
    is_usual = [info.id for info in infos if info.family == "lookup"] == [USUAL_LOOKUP]
    given = {
        (drafter, name) for drafter, own in read_strategy(strategy).drafters for name, _ in own
    }
    settings = [] if is_usual else kinds
    settings += [
        _setting(parsed.infos, info, parameter, values[parameter.name])
        for info, values in parsed.drafters
        for parameter in info.parameters
        if (info.id, parameter.name) in given or _is_told(parsed.infos, parameter)
    ]
    if strategy == PLAIN:
        title = _tr("Plain decoding")
    return f"{title} ({', '.join(settings)})" if settings else title


def in_use(strategies: Sequence[str], chosen: str) -> str:
    """Return the one of these strategies that equals the chosen one in any spelling, or empty."""
    wanted = _parsed(chosen)
    return next((each for each in strategies if wanted and _parsed(each) == wanted), "")


def kind_of(strategy: str) -> Kind:
    """Return the colours of a strategy; those of lookups where it is unknown here."""
    parsed = _parsed(strategy)
    if parsed is None:
        return "lookup"
    families = {str(info.family) for info in parsed.infos}
    if "auto" in families or families >= {"model", "lookup"}:
        return "both"
    if "off" in families:
        return "plain"
    return "model" if "model" in families else "lookup"


def prompt_title(name: str) -> str:
    """Return the title of a shipped prompt; other prompts keep their names."""
    return {
        "question": _tr("Question"),
        "quote": _tr("Quoting a text"),
        "edit": _tr("Editing code"),
        "chat": _tr("Second question of a chat"),
        "free-0.8": _tr("Free text, temperature 0.8"),
        "free-1.0": _tr("Free text, temperature 1"),
        "long": _tr("Long context"),
    }.get(name, name)


def _parsed(strategy: str) -> CompleteStrategy | None:
    try:
        return parse_strategy(strategy)
    except UserError:
        return None


def _is_told(infos: Sequence[DrafterInfo], parameter: Parameter) -> bool:
    """Return whether a setting is always shown, since a benchmark compares draft lengths."""
    return len(infos) == 1 and infos[0].family == "model" and parameter.name == _LENGTHS[0]


def _setting(
    infos: Sequence[DrafterInfo], info: DrafterInfo, parameter: Parameter, value: float
) -> str:
    is_known_length = parameter.name in _LENGTHS and parameter.kind == "int"
    if is_known_length and value == 0 and parameter.low > 0:
        return _tr("as many tokens as pay")
    if is_known_length and (len(infos) == 1 or info.family == "model"):
        return (_tr("{} token") if value == 1 else _tr("{} tokens")).format(f"{value:.0f}")
    shown = f"{value:.0f}" if parameter.kind == "int" else f"{local(value):g}"
    owner = f"{info.id}." if len(infos) > 1 else ""
    return f"{owner}{parameter.name} {shown}"


_A_FEW_S = 10


def rough_text(seconds: float) -> str:
    """Return a duration, rounded to its known precision."""
    if seconds < _A_FEW_S:
        return _tr("a few seconds")
    if seconds < 90:
        return _tr("{} s").format(round(seconds / 5) * 5)
    minutes = seconds / 60
    if minutes < 90:
        return _tr("{} min").format(round(minutes))
    return _tr("{:.1f} h").format(local(minutes / 60))


MAX_PREPARING_S = 15
"""Upper bound of the calibration before a benchmark, in seconds (`LIMIT_S` of the calibration)."""


@dataclass(frozen=True, slots=True)
class BenchPace:
    """Tokens per second of the last reply: of plain decoding, and of the prefill."""

    writes: float
    reads: float


def estimate_text(plan: Plan, pace: BenchPace | None) -> str:
    """Return the number of replies and the estimated duration, which is unknown without a pace."""
    counted = _tr("{:,} replies").format(local(plan.n_runs))
    if pace is None:
        longest = max((workload.max_tokens for workload in plan.workloads), default=0)
        return _tr("{} of up to {:,} tokens; the first ones show how long that takes.").format(
            counted, local(longest)
        )
    seconds = MAX_PREPARING_S + plan.n_written / pace.writes + plan.n_read / pace.reads
    return _tr("{}, about {}").format(counted, rough_text(seconds))


def state_text(progress: Progress, *, is_paused: bool) -> str:
    """Return the first line of the progress."""
    if is_paused:
        return _tr("Paused while a reply is written; it goes on by itself.")
    if progress.stage == "prepare":
        return _tr("Getting ready, {:.0f} s so far").format(progress.passed_s)
    return _tr("{:,} of {:,} replies measured").format(
        local(progress.n_done), local(progress.n_total)
    )


def now_text(progress: Progress) -> str:
    """Return words about the present measurement."""
    cell = progress.cell
    if cell is None and progress.stage != "prepare":
        return ""
    if cell is None:
        return _tr("Measuring what steps of each width cost…")
    what = _tr("“{}” by {}").format(prompt_title(cell.workload.name), title_of(cell.strategy))
    return _tr("{}, repeat {}").format(what, cell.repeat) if cell.repeat else what


def left_text(progress: Progress) -> str:
    """Return the time left, or empty if it is unknown."""
    if progress.left_s is None:
        return ""
    if progress.left_s < _A_FEW_S:
        return _tr("a few seconds left")
    return _tr("about {} left").format(rough_text(progress.left_s))


def bound_text(report: Report) -> str:
    """Return whether Auto kept its promise about time; empty if Auto was not compared.

    The promise for a short reply allows a loss; where a loss is shown, the text does not claim that
    Auto was never slower.
    """
    bound = bound_of(report, report.strategies)
    if bound is None:
        return ""
    gains = [speedup_of(report, name) for name in report.strategies if is_controlled(name)]
    is_loss = any(gain is not None and gain.verdict == "loss" for gain in gains)
    if is_loss and bound.n_within == bound.n_replies:
        return ""
    return said(promise_words(bound.n_within, bound.n_replies))


def ending_text(ending: Ending, reason: str, report: Report) -> str:
    """Return why a benchmark is over, or empty if it is complete."""
    if ending == "done":
        return ""
    words = {
        "stopped": _tr("Cancelled."),
        "died": _tr("The engine stopped working: {}").format(said(reason)),
        "other-models": _tr(
            "The models were unloaded or replaced, so the benchmark of this pair has ended."
        ),
    }[ending]
    if not report.runs:
        return words
    return _tr("{} The figures are of the {:,} replies that were measured before.").format(
        words, local(len(report.runs))
    )


def busy_text(report: Report) -> str:
    """Return what else used the processor, if it was enough to blur the figures."""
    machine = report.conditions.machine
    before = machine.load_average.before or (0.0,)
    if before[0] <= (machine.logical_cores or 1) / 2:
        return ""
    return _tr(
        "The machine was busy before this began (a load of {:.1f}), so the figures scatter."
    ).format(local(before[0]))


def models_text(target: str, draft: str) -> str:
    """Return the measured pair in words."""
    if not target:
        return _tr("No model is loaded.")
    if not draft:
        return _tr("{}, no draft model").format(target)
    return _tr("{} with {} as the draft model").format(target, draft)


def remark_text(report: Report) -> str:
    """Return the machine and the duration, for the foot of the page and of the picture."""
    made = report.conditions
    machine, n_threads = made.machine, made.machine.threads
    models = models_text(made.target.file, made.draft.file if made.draft is not None else "")
    threads = (_tr("{} thread") if n_threads == 1 else _tr("{} threads")).format(n_threads)
    parts = [models, f"{machine.cpu or 'CPU'}, {threads}", *machine.gpus]
    parts.append(_tr("{} replies in {}").format(len(report.runs), rough_text(report.wall_s)))
    return " · ".join(parts)
