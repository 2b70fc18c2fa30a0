"""What can be taken away of a benchmark: its report as JSON or table, and its bars as a picture."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from paceline.bench.report import to_json
from paceline.gui.bench_picture import picture_of
from paceline.gui.viewmodels.bench_panels import report_csv
from paceline.gui.widgets.plot_picture import png_of

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from paceline.bench.runs import Report
    from paceline.gui.background import Background
    from paceline.gui.notifications import Notifications
    from paceline.gui.save_file import SaveFile


def report_text(report: Report) -> str:
    """A report as JSON, as `paceline bench --json` writes it."""
    return json.dumps(to_json(report), ensure_ascii=False, indent=1) + "\n"


class BenchExports(QObject):
    """Asks where to save, or copies; what is taken away is made in another thread."""

    def __init__(
        self, save: SaveFile, background: Background, notifications: Notifications, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._save = save
        self._background = background
        self._notifications = notifications

    def copy(self, report: Report) -> None:
        """Copy a report as JSON; hundreds of replies have too many tokens to do it at once."""
        self._background.start(
            partial(report_text, report), self._on_made, self._notifications.user_error
        )

    def _on_made(self, text: object) -> None:
        QGuiApplication.clipboard().setText(str(text))

    def save(self, window: QWidget, report: Report, kind: str) -> None:
        """Save a report as "json", "csv" or "png"."""
        if kind == "json":
            name, kinds = "paceline-bench.json", self.tr("Reports (*.json)")
            make = partial(_json, report)
        elif kind == "csv":
            name, kinds = "paceline-bench.csv", self.tr("Tables (*.csv)")
            make = partial(_csv, report)
        else:
            name, kinds = "paceline-bench.png", self.tr("Pictures (*.png)")
            make = partial(_png, report)
        self._save.ask(window, self.tr("Save the benchmark"), name, kinds, make)


def _json(report: Report) -> bytes:
    return report_text(report).encode()


def _png(report: Report) -> bytes:
    return png_of(picture_of(report))  # drawing takes longer than the window may stand still


def _csv(report: Report) -> bytes:
    return report_csv(report).encode()
