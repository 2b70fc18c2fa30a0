"""What can be taken away of a run: its record as JSON, its steps as a table, its plot."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from shiboken6 import isValid

from paceline.gui.viewmodels.steps_csv import steps_csv
from paceline.gui.widgets.plot_picture import PlotPicture, png_of
from paceline.run_json import record_to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QImage
    from PySide6.QtWidgets import QWidget

    from paceline.gui.save_file import SaveFile
    from paceline.gui.widgets.speed_plot import SpeedPlot
    from paceline.messages import StepCommitted, TurnStats
    from paceline.run_record import RunRecord


def record_text(record: RunRecord) -> str:
    """A record as JSON for people, too: a field per line, its steps in columns."""
    fields = record_to_json(record).items()
    lines = (
        f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


class RunExports(QObject):
    """Asks where to save; what is saved is as it was when that was wanted."""

    def __init__(self, save: SaveFile, parent: QObject) -> None:
        super().__init__(parent)
        self._save = save
        self._window: QWidget | None = None
        self._picture = PlotPicture(self)
        self._picture.made.connect(self._on_picture)

    def save_record(self, window: QWidget, record: RunRecord) -> None:
        """Save a record as JSON."""
        self._save.ask(
            window,
            self.tr("Save the run record"),
            "paceline-run.json",
            self.tr("Run records (*.json)"),
            partial(_json, record),
        )

    def save_plot(self, plot: SpeedPlot) -> None:
        """Save what a plot shows as a picture."""
        self._window = plot.window()
        self._picture.start(plot)

    @Slot(object)
    def _on_picture(self, image: QImage) -> None:
        if self._window is not None and isValid(self._window):
            self._save.ask(
                self._window,
                self.tr("Export the plot"),
                "paceline-plot.png",
                self.tr("Pictures (*.png)"),
                partial(png_of, image),
            )

    def save_steps(
        self, window: QWidget, steps: Sequence[StepCommitted], stats: TurnStats | None
    ) -> None:
        """Save steps as a table."""
        self._save.ask(
            window,
            self.tr("Export the steps"),
            "paceline-steps.csv",
            self.tr("Tables (*.csv)"),
            partial(_csv, tuple(steps), stats),
        )


def _json(record: RunRecord) -> bytes:
    return record_text(record).encode()


def _csv(steps: Sequence[StepCommitted], stats: TurnStats | None) -> bytes:
    return steps_csv(steps, stats).encode()
