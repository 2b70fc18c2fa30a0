"""Opens the benchmark, runs it on the window's engine, and carries out what its rows offer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from paceline.bench.plan import make_plan
from paceline.bench.workload import read_workloads, shipped_workloads
from paceline.errors import UserError
from paceline.gui.bench_driver import BenchDriver
from paceline.gui.bench_exports import BenchExports
from paceline.gui.bench_view import in_use, show_report
from paceline.gui.viewmodels import bench_prompts
from paceline.gui.viewmodels import bench_words as words
from paceline.gui.viewmodels.bench_choices import contenders
from paceline.gui.widgets.bench.dialog import BenchDialog
from paceline.messages import PairLoaded, TurnFinished

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.bench.runs import Report
    from paceline.bench.workload import Workload
    from paceline.chat.pair import PairLoader
    from paceline.chat.session import ChatSession
    from paceline.gui.background import Background
    from paceline.gui.bench_driver import Ending
    from paceline.gui.main_window import MainWindow
    from paceline.gui.notifications import Notifications
    from paceline.gui.save_file import SaveFile
    from paceline.gui.theme import Theme, ThemeController
    from paceline.gui.viewmodels.chat import ChatSignals
    from paceline.gui.viewmodels.pair import PairModel
    from paceline.gui.viewmodels.speculation import SpeculationModel
    from paceline.hosting.client import EngineClient
    from paceline.messages import Event

_TELL_MS = 250
"""Figures change with every reply, which can be many in a second; time left changes anyway."""


class BenchController(QObject):
    """Owns the dialog while it is open, and what was found while the program runs."""

    def __init__(
        self,
        *,
        client: EngineClient,
        session: ChatSession,
        signals: ChatSignals,
        loader: PairLoader,
        pair: PairModel,
        speculation: SpeculationModel,
        save: SaveFile,
        background: Background,
        notifications: Notifications,
        themes: ThemeController,
        window: MainWindow,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._loader = loader
        self._pair = pair
        self._speculation = speculation
        self._notifications = notifications
        self._themes = themes
        self._window = window
        self._exports = BenchExports(save, background, notifications, self)
        self._workloads: tuple[Workload, ...] = ()
        self._plain_tokens_per_s: float | None = None
        self._ending = ""
        self._n_shown = 0
        self.report: Report | None = None
        """What was measured last; None: nothing yet"""
        self.dialog: BenchDialog | None = None
        self.driver = BenchDriver(client, session, loader, self)
        session.add_observer(self._on_event)
        self._tell = QTimer(self, interval=_TELL_MS)
        self._tell.timeout.connect(self._show_progress)
        self._reveal = QTimer(self, singleShot=True, interval=0)
        self._reveal.timeout.connect(self._on_reveal)
        window.actions_.benchmark.triggered.connect(self.open)
        window.closing.connect(self._on_closing)
        themes.changed.connect(self._on_theme)
        signals.started.connect(self._on_started)
        signals.ended.connect(self._on_ended)
        signals.shown.connect(self._show_chat)
        pair.changed.connect(self._on_pair)
        speculation.choices_changed.connect(self._refresh)
        speculation.strategy_changed.connect(self._on_strategy)

    # ------------------------------------------------------------------------- what users do

    @Slot()
    def open(self) -> None:
        """Show the dialog, or bring it to the front; what was measured before is still there."""
        if self.dialog is None:
            self.dialog = self._make_dialog()
            self._refresh()
            self.dialog.show_setup()  # there is something to give the keyboard to by now
            if self.report is not None:
                self._reveal.start()  # the other page takes as long again to build
        if not self._reveal.isActive():
            self._show_dialog()

    @Slot()
    def _on_reveal(self) -> None:
        """Show what was measured before, and the dialog with it."""
        if self.dialog is None:
            return
        if self.report is not None and not self.driver.is_running:
            self._show_report(self.dialog, self.report)
            self.dialog.show_results(is_running=False, has_figures=True)
        self._show_dialog()

    def _show_dialog(self) -> None:
        if self.dialog is not None:
            self.dialog.show()
            self.dialog.raise_()
            self.dialog.activateWindow()

    def _make_dialog(self) -> BenchDialog:
        dialog = BenchDialog(self._themes.current, self._window)
        problem = ""
        try:
            self._workloads = read_workloads(shipped_workloads())
        except UserError as error:
            self._workloads, problem = (), str(error)
        dialog.setup.prompts.show_shipped(self._workloads, problem)
        dialog.setup.changed.connect(self._show_estimate)
        dialog.start_wanted.connect(self._on_start)
        dialog.stop_wanted.connect(self._on_stop)
        dialog.copy_wanted.connect(self._on_copy)
        dialog.save_wanted.connect(self._on_save)
        dialog.used.connect(self._on_used)
        dialog.finished.connect(self._on_finished)
        return dialog

    @Slot()
    def _on_start(self) -> None:
        dialog = self.dialog
        if dialog is None or self._obstacle(self._chosen()):
            return
        setup = dialog.setup
        plan = make_plan(self._chosen(is_outline=False), setup.strategies, setup.n_repeats)
        self.report, self._ending = None, ""
        if not self.driver.start(plan):
            self._show_estimate()
            return
        dialog.results.show_remark("")
        self._tell.start()
        dialog.show_results(is_running=True, has_figures=False)
        self._show_progress()
        self._show_figures()

    @Slot()
    def _on_stop(self) -> None:
        self.driver.stop()

    @Slot()
    def _on_finished(self) -> None:
        dialog, self.dialog = self.dialog, None
        self._reveal.stop()
        self.driver.stop()
        if dialog is not None:
            dialog.deleteLater()

    @Slot()
    def _on_closing(self) -> None:
        self._tell.stop()
        if self.dialog is not None:
            self.dialog.reject()

    @Slot(str)
    def _on_used(self, strategy: str) -> None:
        try:
            self._speculation.use(strategy)
        except UserError as error:
            self._notifications.user_error(error)

    @Slot()
    def _on_copy(self) -> None:
        report = self._shown_report()
        if report is not None:
            self._exports.copy(report)

    @Slot(str)
    def _on_save(self, kind: str) -> None:
        report = self._shown_report()
        if report is not None and self.dialog is not None:
            self._exports.save(self.dialog, report, kind)

    def _shown_report(self) -> Report | None:
        return self.report or self.driver.report()

    # ----------------------------------------------------------------------- what can be done

    def _chosen(self, *, is_outline: bool = True) -> Sequence[Workload]:
        """The prompts that are chosen; an outline has only the questions of a chat."""
        assert self.dialog is not None
        prompts = self.dialog.setup.prompts
        if prompts.is_chat:
            settings = self._window.panel.sampling.settings
            make = bench_prompts.chat_outline if is_outline else bench_prompts.chat_workloads
            return make(self._session.current, settings, prompts.n_questions)
        return [workload for workload in self._workloads if workload.name in prompts.names]

    def _obstacle(self, workloads: Sequence[Workload]) -> str:
        """Why it cannot begin; empty: it can."""
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
        setup.show_pair(
            words.models_text(self._pair.target_name, self._pair.draft_name)
            if state.status in ("ready", "loading")
            else words.models_text("", "")
        )
        setup.show_contenders(contenders(self._speculation, can_rollback=can_rollback))
        self._show_chat()

    @Slot()
    def _show_chat(self) -> None:
        """Know what the shown chat could be asked again."""
        if self.dialog is not None:
            n_questions = bench_prompts.n_questions(self._session.current)
            self.dialog.setup.prompts.show_chat(n_questions, bench_prompts.CHAT_TOKENS)
            self._show_estimate()

    @Slot()
    def _show_estimate(self) -> None:
        dialog = self.dialog
        if dialog is None:
            return
        setup, chosen = dialog.setup, self._chosen()
        plan = make_plan(chosen, setup.strategies, setup.n_repeats)
        dialog.show_estimate(
            words.estimate_text(plan, self._plain_tokens_per_s), self._obstacle(chosen)
        )

    # ------------------------------------------------------------------------------- running

    def bench_progressed(self) -> None:
        """Show what there is, a few times a second."""
        if not self._tell.isActive() and self.driver.is_running:
            self._tell.start()

    def bench_ended(self, report: Report, ending: Ending, reason: str) -> None:
        """Keep what was measured, and show it."""
        self._tell.stop()
        self.report = report if report.runs else None
        self._ending = words.ending_text(ending, reason, report)
        if self.dialog is None:
            return
        self._show_report(self.dialog, report)
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
            progress.n_done / progress.n_total if progress.n_total else None,
            is_paused=is_paused,
        )
        if progress.n_done != self._n_shown:
            self._show_figures()

    def _show_figures(self) -> None:
        report = self.driver.report()
        if report is None or self.dialog is None:
            return
        self._n_shown = len(report.runs)
        show_report(self.dialog.results, report, self._speculation.strategy, is_running=True)
        self.dialog.show_results(is_running=True, has_figures=bool(report.runs))

    def _show_report(self, dialog: BenchDialog, report: Report) -> None:
        """Show what there is at the end."""
        show_report(dialog.results, report, self._speculation.strategy, ending=self._ending)

    # --------------------------------------------------------------------- what goes on besides

    def _on_event(self, event: Event) -> None:
        """Learn how fast plain decoding is here, for the estimate."""
        if isinstance(event, PairLoaded):
            self._plain_tokens_per_s = None
        elif isinstance(event, TurnFinished) and event.stats.plain_tokens_per_s:
            self._plain_tokens_per_s = event.stats.plain_tokens_per_s

    @Slot(object)
    def _on_started(self, _reply: object) -> None:
        self.driver.reply_began()
        self._show_progress()  # a reply may be over before the next turn of the timer

    @Slot(object)
    def _on_ended(self, _reply: object) -> None:
        self.driver.reply_ended()
        self._refresh()

    @Slot(object)
    def _on_pair(self, _state: object) -> None:
        self.driver.models_changed()
        self._refresh()

    @Slot()
    def _on_strategy(self) -> None:
        report = self._shown_report()
        if self.dialog is not None and report is not None:
            chosen = self._speculation.strategy
            self.dialog.results.show_in_use(in_use(report.strategies, chosen))
        self._refresh()

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        if self.dialog is not None:
            self.dialog.set_theme(theme)
