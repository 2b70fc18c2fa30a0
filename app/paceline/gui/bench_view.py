"""Brings a report onto the page of results, also while it grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from paceline.engine.drafters.strategy import parse_strategy
from paceline.gui.viewmodels import bench_words as words
from paceline.gui.viewmodels.bench_panels import panels_of
from paceline.gui.viewmodels.bench_rows import Verdict, verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.bench.runs import Report
    from paceline.gui.widgets.bench.result_page import ResultPage


def _tr(text: str) -> str:
    return QCoreApplication.translate("BenchView", text)


def show_report(
    results: ResultPage, report: Report, chosen: str, *, ending: str = "", is_running: bool = False
) -> None:
    """Show a report.

    Args:
        results: The page.
        report: What was measured, so far or at all.
        chosen: The strategy that the panel has.
        ending: Why it is over, where it is not complete.
        is_running: Whether more will come.
    """
    panels = panels_of(report)
    results.show_panels(panels, in_use(report.strategies, chosen))
    results.show_cards(has_figures=is_running or bool(report.runs))
    found = verdict(panels[0].rows)
    if is_running:
        sentence = found.sentence
        if report.runs:
            sentence = _tr("So far: {}").format(sentence)
        results.show_verdict(Verdict("muted", sentence, found.details))
        results.show_remark("")
        return
    if ending and not report.runs:
        results.show_verdict(Verdict("muted", ending, "\n".join(report.notes)))
        results.show_remark("")
        return
    remarks = (
        ending, found.details, *report.notes, words.bound_text(report), words.busy_text(report)
    )  # fmt: skip
    details = "\n".join(remark for remark in remarks if remark)
    results.show_verdict(Verdict(found.tone, found.sentence, details, found.strategy))
    results.show_remark(words.remark_text(report))


def in_use(strategies: Sequence[str], chosen: str) -> str:
    """Which of these strategies the chosen one is, however it is written; empty: none."""
    wanted = parse_strategy(chosen)
    return next((each for each in strategies if parse_strategy(each) == wanted), "")
