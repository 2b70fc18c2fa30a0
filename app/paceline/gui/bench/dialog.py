"""The dialog of the benchmark: the choice of what to compare, then the results.

It decides nothing (the controller does) and does not block the window: a benchmark takes minutes,
and replies go first.
"""

from __future__ import annotations

from PySide6.QtCore import QSize, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QMenu,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QWidget,
)

from paceline.gui.bench.result_page import ResultPage
from paceline.gui.bench.setup_page import SetupPage
from paceline.gui.kit.dialogs import scrolling, within_screen
from paceline.gui.kit.labels import text_label
from paceline.gui.kit.layouts import column_of, row_of, styled
from paceline.gui.look.current import look
from paceline.gui.look.scale import PAGE, STEP, scaled
from paceline.gui.look.style import BENCH

SIZE = QSize(920, 720)
SMALLEST = QSize(480, 420)


class BenchDialog(QDialog):
    """Two pages above a row of buttons."""

    used = Signal(str)
    """The strategy to use from now on"""
    stop_wanted = Signal()
    save_wanted = Signal(str)
    """ "json", "csv" or "png" """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Benchmark"))
        self.setObjectName(BENCH)
        self._results: ResultPage | None = None
        self.setup = SetupPage()
        self._pages = QStackedWidget()
        self._pages.addWidget(scrolling(self.setup))
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._build_results)
        column_of((self._pages, 1), self._make_foot(), on=self, margins=0, spacing=0)
        self.resize(within_screen(self, scaled(SIZE)))
        look.follow(self._set_smallest)
        self.show_setup()

    def _make_foot(self) -> QFrame:
        foot = styled(QFrame(), kind="foot")
        self.estimate = text_label("", "muted", wraps=True)
        self.estimate.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.export = QPushButton(self.tr("&Export"), autoDefault=False)
        menu = QMenu(self.export)
        self.json = menu.addAction(self.tr("JSON…"))
        self.csv = menu.addAction(self.tr("Table (CSV)…"))
        self.png = menu.addAction(self.tr("Picture (PNG)…"))
        menu.addSeparator()
        self.copy = menu.addAction(self.tr("Copy as JSON"))
        for action, kind in ((self.json, "json"), (self.csv, "csv"), (self.png, "png")):
            action.setData(kind)
        menu.triggered.connect(self._on_export)
        self.export.setMenu(menu)
        self.again = QPushButton(self.tr("&New benchmark"), autoDefault=False)
        self.again.clicked.connect(self.show_setup)
        self.start = styled(QPushButton(self.tr("&Start"), autoDefault=False), kind="primary")
        self.close_button = QPushButton(self.tr("Close"), autoDefault=False)
        self.close_button.clicked.connect(self.reject)
        row_of(
            (self.estimate, 1),
            self.export,
            (None, 0),
            self.again,
            self.start,
            self.close_button,
            on=foot,
            margins=(PAGE, STEP + 4, PAGE, STEP + 4),
            spacing=STEP,
        )
        return foot

    @Slot()
    def _set_smallest(self) -> None:
        self.setMinimumSize(within_screen(self, scaled(SMALLEST)))

    @property
    def results(self) -> ResultPage:
        """Page of results; built after the first turn of the event loop or on first access."""
        return self._results or self._build_results()

    @Slot()
    def _build_results(self) -> ResultPage:
        if self._results is None:
            self._results = ResultPage()
            self._results.strip.stop.clicked.connect(self.stop_wanted)
            self._results.table.used.connect(self.used)
            self._pages.addWidget(scrolling(self._results, self.tr("Results")))
        return self._results

    def showEvent(self, event: QShowEvent) -> None:
        """Build the rest when the dialog is shown."""
        super().showEvent(event)
        self._later.start()

    @Slot()
    def show_setup(self) -> None:
        """Show the choice of what to compare."""
        self._turn(0)
        self.setup.focus_first()

    def show_results(self, *, is_running: bool, has_figures: bool) -> None:
        """Show the results so far, with the progress while the benchmark runs."""
        results = self.results
        self._turn(1)
        had_keyboard = results.strip.stop.hasFocus()
        results.strip.setVisible(is_running)
        self.again.setVisible(not is_running)
        for action in (self.json, self.csv, self.png, self.copy):
            action.setEnabled(has_figures)
        self.export.setEnabled(has_figures)
        if is_running and self.start.hasFocus():
            results.strip.stop.setFocus()
        elif had_keyboard and not is_running:
            self.close_button.setFocus()

    def show_estimate(self, words: str, obstacle: str) -> None:
        """Show how long it will take, or why it cannot start."""
        self.estimate.setText(obstacle or words)
        self.start.setEnabled(not obstacle)
        self.start.setToolTip(obstacle)
        self.start.setAccessibleDescription(obstacle or words)

    def _turn(self, page: int) -> None:
        self._pages.setCurrentIndex(page)
        is_setup = page == 0
        self.estimate.setVisible(is_setup)
        self.start.setVisible(is_setup)
        self.again.setVisible(not is_setup)
        self.export.setVisible(not is_setup)

    @Slot(QAction)
    def _on_export(self, action: QAction) -> None:
        if kind := action.data():
            self.save_wanted.emit(kind)
