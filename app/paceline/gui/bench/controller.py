"""Controller of the benchmark: opens it, runs it on the window's engine, saves or uses results."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtGui import QGuiApplication

from paceline.bench.plan import make_plan
from paceline.bench.report import to_json
from paceline.bench.runs import Report
from paceline.bench.workload import Workload, read_workloads, shipped_workloads
from paceline.chat.pair import PairState
from paceline.chat.reply import Reply
from paceline.engine.draft.strategy import strategy_named
from paceline.errors import UserError
from paceline.gui.bench import words
from paceline.gui.bench.chart import picture_of
from paceline.gui.bench.choices import (
    CHAT_TOKENS,
    chat_outline,
    chat_workloads,
    contenders,
    n_questions,
)
from paceline.gui.bench.dialog import BenchDialog
from paceline.gui.bench.driver import BenchDriver, Ending
from paceline.gui.bench.result_page import show_report
from paceline.gui.bench.rows import report_csv
from paceline.gui.bench.setup_page import SetupChoice
from paceline.gui.bench.words import in_use
from paceline.gui.context import AppContext
from paceline.gui.kit.dialogs import DialogOwner
from paceline.gui.kit.file_dialogs import png_of
from paceline.gui.kit.sentences import said


def report_text(report: Report) -> str:
    """Return a report as JSON, as `paceline bench --json` writes it."""
    return json.dumps(to_json(report), ensure_ascii=False, indent=1) + "\n"


def _png(report: Report) -> bytes:
    return png_of(picture_of(report))  # drawing would freeze the window too long


_MIN_PREFILL_TOKENS = 32
"""Minimum number of prompt tokens that allow an estimate of the prefill's speed."""
_UPDATE_MS = 250
"""Interval of updates: figures change with every reply, of which there may be many per second; the
time left changes anyway."""


class BenchController(DialogOwner[BenchDialog]):
    """Owner of the open dialog, and of the last results while the program runs."""

    def __init__(self, context: AppContext, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._shown, self._pair = context.shown, context.pair
        self._speculation = context.speculation
        self._workloads: tuple[Workload, ...] = ()
        self._pace: words.BenchPace | None = None
        self._choice: SetupChoice | None = None  # the last choice
        self._ending = ""
        self._n_shown = 0
        self.report: Report | None = None
        """The last results, or None before the first benchmark."""
        self.driver = BenchDriver(context.client, context.session, context.loader, self)
        self._update_timer = QTimer(self, interval=_UPDATE_MS)
        self._update_timer.timeout.connect(self._show_progress)
        self._reveal = QTimer(self, singleShot=True, interval=0)
        self._reveal.timeout.connect(self._on_reveal)
        signals = context.signals
        context.actions.benchmark.triggered.connect(self.open)
        signals.started.connect(self._on_started)
        signals.ended.connect(self._on_ended)
        context.shown.path_changed.connect(self._show_chat)
        context.pair.changed.connect(self._on_pair)
        context.speculation.choices_changed.connect(self._refresh)
        context.speculation.strategy_changed.connect(self._on_strategy)

    # -------------------------------------------------------------------------- user actions

    @Slot()
    def open(self) -> None:
        """Show the dialog, or bring it to the front; earlier results are still there."""
        if self.dialog is None:
            dialog = self._make_dialog()
            self._refresh()
            dialog.show_setup()  # only now is there something to focus
            if self.report is not None:
                self._reveal.start()  # the other page takes as long again to build
        if not self._reveal.isActive():
            self._show_dialog()

    @Slot()
    def _on_reveal(self) -> None:
        """Show earlier results, and the dialog with them."""
        if self.dialog is None:
            return
        if self.report is not None and not self.driver.is_running:
            show_report(
                self.dialog.results, self.report, self._speculation.text, ending=self._ending
            )
            self.dialog.show_results(is_running=False, has_figures=True)
        self._show_dialog()

    def _show_dialog(self) -> None:
        if self.dialog is not None:
            self.dialog.show()
            self.bring_to_front()

    def _make_dialog(self) -> BenchDialog:
        dialog = self.own(BenchDialog(self._context.window))
        problem = ""
        try:
            self._workloads = read_workloads(shipped_workloads())
        except UserError as error:
            self._workloads, problem = (), said(str(error))
        dialog.setup.prompts.show_shipped(self._workloads, problem)
        if self._choice is not None:
            dialog.setup.choose(self._choice)
        dialog.setup.changed.connect(self._show_estimate)
        dialog.start.clicked.connect(self._on_start)
        dialog.stop_wanted.connect(self._on_stop)
        dialog.copy.triggered.connect(self._on_copy)
        dialog.save_wanted.connect(self._on_save)
        dialog.used.connect(self._on_used)
        return dialog

    @Slot()
    def _on_start(self) -> None:
        dialog = self.dialog
        if dialog is None or self._obstacle(self._chosen()):
            return
        setup = dialog.setup
        plan = make_plan(self._chosen(is_outline=False), setup.strategies, setup.repeats.value())
        self.report, self._ending = None, ""
        if not self.driver.start(plan):
            self._show_estimate()
            return
        dialog.results.show_remark("")
        self._update_timer.start()
        dialog.show_results(is_running=True, has_figures=False)
        self._show_progress()
        self._show_figures()

    @Slot()
    def _on_stop(self) -> None:
        self.driver.stop()

    @Slot()
    def _on_finished(self) -> None:
        if self.dialog is not None:
            self._choice = self.dialog.setup.choice
        super()._on_finished()
        self._reveal.stop()
        self.driver.stop()

    @Slot()
    def close(self) -> None:
        """Close the dialog and stop the benchmark: the window closes."""
        self._update_timer.stop()
        super().close()

    @Slot(str)
    def _on_used(self, strategy: str) -> None:
        self._context.notices.attempt(self._speculation.use, strategy_named(strategy))

    @Slot()
    def _on_copy(self) -> None:
        """Copy the report as JSON; in the background, since it may be long."""
        report, context = self._shown_report(), self._context
        if report is not None:
            context.background.start(
                partial(report_text, report),
                QGuiApplication.clipboard().setText,
                context.notices.user_error,
            )

    @Slot(str)
    def _on_save(self, kind: str) -> None:
        """Save the report as "json", "csv" or "png"."""
        report = self._shown_report()
        ways: dict[str, tuple[Callable[[Report], bytes | str], str]] = {
            "json": (report_text, self.tr("Reports (*.json)")),
            "csv": (report_csv, self.tr("Tables (*.csv)")),
            "png": (_png, self.tr("Pictures (*.png)")),
        }
        if report is not None and self.dialog is not None:
            make, kinds = ways[kind]
            title, name = self.tr("Save the benchmark"), f"paceline-bench.{kind}"
            self._context.save_file.ask(self.dialog, title, name, kinds, partial(make, report))

    def _shown_report(self) -> Report | None:
        return self.report or self.driver.report()

    # ----------------------------------------------------------------------- possible actions

    def _chosen(self, *, is_outline: bool = True) -> Sequence[Workload]:
        """Return the chosen prompts; an outline has only the questions of a chat."""
        assert self.dialog is not None
        prompts = self.dialog.setup.prompts
        if prompts.is_chat:
            chat, settings = self._shown.conversation, self._shown.sent_settings
            if is_outline:
                return chat_outline(chat, settings, prompts.n_questions)
            known = self._context.session.conversations.known_in(chat.conversation_id)
            return chat_workloads(chat, settings, prompts.n_questions, known)
        return [workload for workload in self._workloads if workload.name in prompts.names]

    def _obstacle(self, workloads: Sequence[Workload]) -> str:
        """Return why the benchmark cannot start, or empty if it can."""
        assert self.dialog is not None
        status = self._pair.state.status
        if status == "loading":
            return self.tr("The models are still being loaded.")
        if status != "ready":
            return self.tr("No model is loaded.")
        if self.driver.is_running:
            return self.tr("A benchmark is under way.")
        if len(self.dialog.setup.strategies) < 2:
            return self.tr("Tick a strategy to compare with plain decoding.")
        if workloads:
            return ""
        if self.dialog.setup.prompts.is_chat:
            return self.tr("The shown chat has no questions yet.")
        return self.tr("Choose at least one prompt.")

    @Slot()
    def _refresh(self) -> None:
        """Offer what can be compared now."""
        dialog = self.dialog
        if dialog is None:
            return
        state = self._pair.state
        can_rollback = state.target is None or state.target.can_rollback
        setup = dialog.setup
        setup.pair.setText(
            words.models_text(self._pair.target_name, self._pair.draft_name)
            if state.status in ("ready", "loading")
            else words.models_text("", "")
        )
        setup.show_contenders(contenders(self._speculation, can_rollback=can_rollback))
        self._show_chat()

    @Slot()
    def _show_chat(self) -> None:
        """Show how many questions of the shown chat can be asked again."""
        if self.dialog is not None:
            asked = n_questions(self._shown.conversation)
            self.dialog.setup.prompts.show_chat(asked, CHAT_TOKENS)
            self._show_estimate()

    @Slot()
    def _show_estimate(self) -> None:
        dialog = self.dialog
        if dialog is None:
            return
        setup, chosen = dialog.setup, self._chosen()
        plan = make_plan(chosen, setup.strategies, setup.repeats.value())
        dialog.show_estimate(words.estimate_text(plan, self._pace), self._obstacle(chosen))

    # ------------------------------------------------------------------------------- running

    def bench_progressed(self) -> None:
        """Show the figures so far, a few times a second."""
        if not self._update_timer.isActive() and self.driver.is_running:
            self._update_timer.start()

    def bench_ended(self, report: Report, ending: Ending, reason: str) -> None:
        """Keep and show the results."""
        self._update_timer.stop()
        self.report = report if report.runs else None
        self._ending = words.ending_text(ending, reason, report)
        if self.dialog is None:
            return
        show_report(self.dialog.results, report, self._speculation.text, ending=self._ending)
        self.dialog.show_results(is_running=False, has_figures=bool(report.runs))
        self.dialog.results.announce()
        self._refresh()

    @Slot()
    def _show_progress(self) -> None:
        progress, dialog = self.driver.progress, self.dialog
        if progress is None or dialog is None:
            return
        is_paused = self.driver.is_paused
        dialog.results.strip.show_progress(
            words.state_text(progress, is_paused=is_paused),
            words.now_text(progress),
            words.left_text(progress),
            None if progress.stage == "prepare" else progress.n_done / max(progress.n_total, 1),
            is_paused=is_paused,
        )
        if progress.n_done != self._n_shown:
            self._show_figures()

    def _show_figures(self) -> None:
        report = self.driver.report()
        if report is None or self.dialog is None:
            return
        self._n_shown = len(report.runs)
        show_report(self.dialog.results, report, self._speculation.text, is_running=True)
        self.dialog.show_results(is_running=True, has_figures=bool(report.runs))

    # -------------------------------------------------------------------------- other events

    @Slot(object)
    def _on_started(self, _reply: object) -> None:
        self.driver.reply_began()
        self._show_progress()  # a reply may be over before the next tick of the timer

    @Slot(object)
    def _on_ended(self, reply: Reply) -> None:
        stats = reply.stats
        if stats is not None and stats.plain_tokens_per_s:
            n_read = stats.n_prompt - stats.n_reused
            reads = (
                n_read / stats.prefill_s
                if n_read > _MIN_PREFILL_TOKENS and stats.prefill_s
                else 0.0
            )
            before = self._pace.reads if self._pace is not None else stats.plain_tokens_per_s
            self._pace = words.BenchPace(stats.plain_tokens_per_s, reads or before)
        self.driver.reply_ended()
        self._refresh()

    @Slot(object)
    def _on_pair(self, state: PairState) -> None:
        if state.status == "loading":
            self._pace = None
        self.driver.models_changed()
        self._refresh()

    @Slot()
    def _on_strategy(self) -> None:
        report = self._shown_report()
        if self.dialog is not None and report is not None:
            chosen = self._speculation.text
            self.dialog.results.show_in_use(in_use(report.strategies, chosen))
        self._refresh()
