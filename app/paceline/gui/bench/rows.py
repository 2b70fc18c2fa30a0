"""The figures of a benchmark for chart and table, and what they say in one sentence. No widgets.

A ratio is plain decoding's whole time over the strategy's, paired prompt by prompt, so 1.42 means
that a reply takes 1 / 1.42 of the time. `paceline.bench.report` says how it is measured.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Literal

from paceline.bench.report import rows
from paceline.bench.runs import Report, acceptance, common
from paceline.figures import SpeedupVerdict
from paceline.gui.bench.words import PLAIN, Kind, kind_of, title_of
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import translator
from paceline.gui.state.figures import ratio_text, speed_text


def rows_of(report: Report) -> tuple[BenchRow, ...]:
    """Return a row for each strategy, over all prompts."""
    return tuple(_row(report, strategy) for strategy in report.strategies)


def _row(report: Report, strategy: str) -> BenchRow:
    """Sum a strategy up over all prompts that every strategy has run.

    Ratio, quartiles and speed are geometric means over prompts of what is each one's median. The
    speed of all tokens together could contradict the ratio: one reply that was held up moves it.
    """
    problem = _problem(report, strategy)
    ratio = report.geomean.get(strategy)
    if ratio is None:
        return BenchRow(strategy, problem=problem)
    shared = common(report.strategies, report.workloads)
    names = {w.name for w in shared}
    runs = [run for run in report.runs if run.strategy == strategy and run.workload in names]
    results = [result for w in shared if (result := w.result_of(strategy)) is not None]
    n_steps = sum(run.n_steps for run in runs)
    return BenchRow(
        strategy,
        geometric_mean([result.tokens_per_s for result in results]),
        1.0 if strategy == PLAIN else ratio,
        geometric_mean([result.ratio_to_off.low for result in results]),
        geometric_mean([result.ratio_to_off.high for result in results]),
        acceptance(runs),
        sum(run.n_tokens - 1 for run in runs) / n_steps if n_steps else None,
        all(result.same_text for result in results),
        sum(result.n_runs for result in results),
        problem,
    )


def _problem(report: Report, strategy: str) -> str:
    """Return what failed first with a strategy."""
    for failure in report.failures:
        if failure.strategy == strategy:
            return said(failure.message, failure.hint)
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


PAYS_FROM, COSTS_BELOW = 1.05, 0.95
"""Ratios between these are called even: a few repeats scatter by about that much."""
AS_FAST = 0.98
"""What comes this near to the best is called as fast."""

_tr = translator("BenchRows")


def ratio_tone(ratio: float) -> SpeedupVerdict:
    """What a ratio means; wherever a benchmark shows one, this decides its colour."""
    if ratio >= PAYS_FROM:
        return "gain"
    return "even" if ratio >= COSTS_BELOW else "loss"


@dataclass(frozen=True, slots=True)
class BenchRow:
    """One strategy over all prompts; figures are None where nothing was measured.

    Attributes:
        strategy: Its text.
        tokens_per_s: Tokens over the time of decoding; the median of the replies to a prompt.
        ratio: Plain decoding's time over this one's, the median.
        low: The first quartile of the repeats' ratios.
        high: The third quartile.
        acceptance: Accepted of the judged tokens, 0..1.
        per_step: Tokens that a step commits on average.
        same_text: Whether all replies were those of plain decoding; None: not compared.
        n_runs: Replies that were measured.
        problem: Why there is nothing, or less.
    """

    strategy: str
    tokens_per_s: float | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    acceptance: float | None = None
    per_step: float | None = None
    same_text: bool | None = None
    n_runs: int = 0
    problem: str = ""

    @property
    def title(self) -> str:
        """What it is called."""
        return title_of(self.strategy)

    @property
    def kind(self) -> Kind:
        """Which colours it has."""
        return kind_of(self.strategy)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the figures say; `details` are further sentences."""

    tone: Literal["accent", "muted", "lookup", "danger"]
    sentence: str
    details: str = ""
    strategy: str = ""
    """What is fastest; empty where nothing is."""


def best_of(rows: Sequence[BenchRow]) -> BenchRow | None:
    """The row with the highest ratio; None where none has one."""
    measured = [row for row in rows if row.ratio is not None]
    return max(measured, key=_ratio, default=None)


def verdict(rows: Sequence[BenchRow]) -> Verdict:
    """Return what the rows mean."""
    measured = [row for row in rows if row.ratio is not None or row.tokens_per_s is not None]
    others = [row for row in measured if row.strategy != PLAIN]
    plain = next((row for row in measured if row.strategy == PLAIN), None)
    details = _remarks(rows)
    if not measured:
        return Verdict("muted", _tr("Nothing has been measured yet."), details)
    best = best_of(others)
    if best is None or best.ratio is None or plain is None:
        if len(measured) == 1 and measured[0].tokens_per_s is not None:
            words = _tr("{} gives {} tokens/s; nothing else was measured.").format(
                measured[0].title, speed_text(measured[0].tokens_per_s)
            )
            return Verdict("muted", words, details)
        return Verdict("muted", _tr("There is too little to compare yet."), details)
    if best.ratio < PAYS_FROM <= (best.high or 0.0):
        words = _tr(
            "Whether speculation pays cannot be told: the best, {}, reaches {} of plain decoding's "
            "speed, but {} or more in a quarter of the repeats: more of them would tell."
        ).format(best.title, ratio_text(best.ratio), ratio_text(best.high or 0.0))
        return Verdict("muted", words, details)
    if best.ratio < PAYS_FROM:
        words = _tr(
            "Speculation does not pay with this pair: the best, {}, reaches {} of plain "
            "decoding's speed."
        ).format(best.title, ratio_text(best.ratio))
        return Verdict("lookup", words, details, PLAIN if best.ratio < COSTS_BELOW else "")
    if best.low is not None and best.low < 1 <= (best.high or best.ratio):
        words = _tr(
            "{} seems fastest, {} as fast as plain decoding, but a quarter of the repeats are "
            "slower than that: more of them would tell."
        ).format(best.title, ratio_text(best.ratio))
        return Verdict("muted", words, details, best.strategy)
    near = [row for row in others if row is not best and _ratio(row) >= best.ratio * AS_FAST]
    words = _tr("{} is fastest: {} as fast as plain decoding.").format(
        best.title, ratio_text(best.ratio)
    )
    if near:
        as_fast = _tr("{} is about as fast.").format(near[0].title)
        if len(near) > 1:
            as_fast = _tr("{} others are about as fast.").format(len(near))
        words = f"{words} {as_fast}"
    return Verdict("accent", words, details, best.strategy)


def _remarks(rows: Sequence[BenchRow]) -> str:
    """What else has to be said, one sentence per line."""
    lines = []
    other_text = [row.title for row in rows if row.same_text is False]
    if other_text:
        lines.append(
            _tr(
                "Not every reply of {} is plain decoding's, token by token: where logits depend on "
                "the width of a batch, near-ties fall either way. Exact mode avoids that."
            ).format(_listed(other_text))
        )
    lines += [f"{row.title}: {row.problem}" for row in rows if row.problem]
    return "\n".join(lines)


def _listed(names: Sequence[str]) -> str:
    """Up to three names."""
    if len(names) <= 3:
        return ", ".join(names)
    return _tr("{} and {} more").format(", ".join(names[:2]), len(names) - 2)


def _ratio(row: BenchRow) -> float:
    return row.ratio if row.ratio is not None else 0.0
