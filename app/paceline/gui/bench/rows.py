"""Figures of a benchmark for chart and table, and a sentence about them. No widgets.

A ratio is plain decoding's time over the strategy's, paired prompt by prompt: 1.42 means that the
same tokens take 1 / 1.42 of the time. There are two ratios: of decoding alone, which the tokens per
second also describe, and of the whole reply with its prompt. `paceline.bench.report` explains the
measurement.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import geometric_mean

from paceline.bench.report import rows
from paceline.bench.runs import Report, acceptance, common
from paceline.bench.verdict import speedup_of, whole
from paceline.figures import Speedup
from paceline.gui.bench.words import PLAIN, Kind, kind_of, title_of
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import translator
from paceline.gui.state.figures import about_one, ratio_text

_ONE = Speedup(1.0, 1.0, 1.0)


def rows_of(report: Report) -> tuple[BenchRow, ...]:
    """Return a row for each strategy, over all prompts."""
    return tuple(_row(report, strategy) for strategy in report.strategies)


def _row(report: Report, strategy: str) -> BenchRow:
    """Aggregate a strategy over all prompts that every strategy has run.

    Ratio and quartiles are geometric means of the prompts' medians. The speed is plain decoding's,
    a mean of the same kind, times the ratio: the ratio compares runs made close together, while a
    median of speeds alone depends on when it was measured and could contradict the ratio.
    """
    problem = _problem(report, strategy)
    speedup = speedup_of(report, strategy)
    if speedup is None:
        return BenchRow(strategy, problem=problem)
    shared = common(report.strategies, report.workloads)
    names = {w.name for w in shared}
    runs = [run for run in report.runs if run.strategy == strategy and run.workload in names]
    results = [result for w in shared if (result := w.result_of(strategy)) is not None]
    n_steps = sum(run.n_steps for run in runs)
    plain = [result.tokens_per_s for w in shared if (result := w.result_of(PLAIN)) is not None]
    if strategy == PLAIN:
        speedup = _ONE
    return BenchRow(
        strategy,
        geometric_mean(plain) * speedup.ratio,
        speedup,
        speedup_of(report, strategy, whole) if strategy != PLAIN else _ONE,
        acceptance(runs),
        sum(run.n_tokens - 1 for run in runs) / n_steps if n_steps else None,
        all(result.same_text for result in results),
        sum(result.n_runs for result in results),
        problem,
    )


def _problem(report: Report, strategy: str) -> str:
    """Return the first failure of a strategy."""
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


_tr = translator("BenchRows")


@dataclass(frozen=True, slots=True)
class BenchRow:
    """One strategy over all prompts; figures are None where nothing was measured.

    Attributes:
        strategy: Its text.
        tokens_per_s: Plain decoding's tokens over the time of decoding, the median of the replies
            to a prompt, times the ratio of `speedup`.
        speedup: Its gain in decoding: the median, and the quartiles of the repeats.
        whole: The gain of the whole reply, with its prompt.
        acceptance: Accepted share of the judged tokens, 0..1.
        per_step: Tokens committed per step on average.
        same_text: Whether all replies equalled plain decoding's, or None if they were not compared.
        n_runs: Number of measured replies.
        problem: Why results are missing, or incomplete.
    """

    strategy: str
    tokens_per_s: float | None = None
    speedup: Speedup | None = None
    whole: Speedup | None = None
    acceptance: float | None = None
    per_step: float | None = None
    same_text: bool | None = None
    n_runs: int = 0
    problem: str = ""

    @property
    def title(self) -> str:
        """Its name for users."""
        return title_of(self.strategy)

    @property
    def ratio_text(self) -> str:
        """Its gain as text; empty where nothing was measured."""
        return "" if self.speedup is None else self._shown(self.speedup)

    @property
    def whole_text(self) -> str:
        """The whole reply's gain as text."""
        return "" if self.whole is None else self._shown(self.whole)

    def _shown(self, speedup: Speedup) -> str:
        is_even = speedup.verdict == "even" and self.kind != "plain"
        return about_one() if is_even else ratio_text(speedup.ratio)

    @property
    def kind(self) -> Kind:
        """Kind of the strategy, which decides the colours."""
        return kind_of(self.strategy)


def best_of(rows: Sequence[BenchRow]) -> BenchRow | None:
    """Return the row with the highest ratio, or None if no row has one."""
    measured = [row for row in rows if row.speedup is not None]
    return max(measured, key=lambda row: row.speedup or Speedup(0, 0, 0), default=None)


def remarks(rows: Sequence[BenchRow]) -> str:
    """Return further remarks, one sentence per line."""
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
    """Return up to three names as a list in words."""
    if len(names) <= 3:
        return ", ".join(names)
    return _tr("{} and {} more").format(", ".join(names[:2]), len(names) - 2)
