"""The list of downloads: a row each with its progress and what can be done about it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from paceline.gui.theme import restyle
from paceline.gui.viewmodels.downloads import STEPS, line, permille, title
from paceline.gui.widgets.elided_label import ElidedLabel
from paceline.gui.widgets.local_style import panel_stylesheet
from paceline.gui.widgets.soft_breaks import BreakingLabel, with_soft_breaks

if TYPE_CHECKING:
    from paceline.catalog.download.values import DownloadState
    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.downloads import DownloadsModel, Step

_TITLE_PX = 2000
"""As wide as there is room for."""


class DownloadRow(QFrame):
    """One download: name, repository, bar, a line of figures, and buttons."""

    wanted = Signal(str, str)
    """A `Step`, and the download's id."""

    def __init__(self, download: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "card")
        self.download = download
        self._shown: tuple[Step, ...] = ()
        self.name = ElidedLabel(_TITLE_PX)
        self.name.setProperty("role", "title")
        self.repo = ElidedLabel(_TITLE_PX)
        self.repo.setProperty("role", "small")
        self.bar = QProgressBar()
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        self.line = BreakingLabel()
        self.line.setTextFormat(Qt.TextFormat.PlainText)
        self.line.setWordWrap(True)
        self.line.setProperty("role", "small")
        self.buttons: dict[Step, QPushButton] = {}
        foot = QHBoxLayout()
        foot.setSpacing(6)
        foot.addWidget(self.line, 1)
        texts: dict[Step, str] = {
            "pause": self.tr("Pause"),
            "resume": self.tr("Resume"),
            "retry": self.tr("Retry"),
            "use": self.tr("Use it"),
            "cancel": self.tr("Cancel"),
            "forget": self.tr("Remove"),
        }
        for step, text in texts.items():
            button = QPushButton(text)
            button.setProperty("kind", "compact")
            button.setProperty("step", step)
            button.clicked.connect(self._on_clicked)
            button.hide()
            foot.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
            self.buttons[step] = button
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 10, 14, 10)
        column.setSpacing(6)
        column.addWidget(self.name)
        column.addWidget(self.repo)
        column.addWidget(self.bar)
        column.addLayout(foot)

    def show_state(self, state: DownloadState) -> None:
        """Show how the download stands."""
        name, text = title(state), line(state)
        self.name.set_full_text(name)
        self.name.setToolTip("\n".join(state.request.files))
        self.repo.set_full_text(state.request.repo)
        self.repo.setToolTip(state.request.folder)
        self.bar.setValue(permille(state))
        self.bar.setVisible(state.status not in ("done", "cancelled"))
        self.bar.setAccessibleName(self.tr("Progress of {}").format(name))
        self.line.setText(with_soft_breaks(text))
        role = "danger" if state.problem else "small"
        if self.line.property("role") != role:
            self.line.setProperty("role", role)
            restyle(self.line)
        self.setAccessibleName(name)
        self.setAccessibleDescription(text)
        self._show_steps(STEPS[state.status], name)

    def focus_first(self) -> None:
        """Give the keyboard to the first of the buttons."""
        if self._shown:
            self.buttons[self._shown[0]].setFocus()

    def _show_steps(self, steps: tuple[Step, ...], name: str) -> None:
        if steps == self._shown:
            return
        self._shown = steps
        focused = [step for step, button in self.buttons.items() if button.hasFocus()]
        for step, button in self.buttons.items():
            button.setVisible(step in steps)
            button.setAccessibleName(f"{button.text()}: {name}")
        if focused and focused[0] not in steps:  # the keyboard stays with the download
            self.focus_first()

    @Slot()
    def _on_clicked(self) -> None:
        self.wanted.emit(self.sender().property("step"), self.download)


class DownloadsPanel(QWidget):
    """All downloads in a scrolling list, or a sentence when there are none."""

    wanted = Signal(str, str)
    """A `Step`, and the download's id."""

    def __init__(self, model: DownloadsModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.setAccessibleName(self.tr("Downloads"))
        self.rows: list[DownloadRow] = []
        self.empty = QLabel(
            self.tr(
                "Nothing is being downloaded. Models that you fetch from Hugging Face show here."
            )
        )
        self.empty.setProperty("role", "muted")
        self.empty.setWordWrap(True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        page = QWidget()
        page.setProperty("kind", "page")
        self._column = QVBoxLayout(page)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        self._column.addStretch(1)
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setWidget(page)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.empty, 1)
        outer.addWidget(self.area, 1)
        model.rowsInserted.connect(self._on_inserted)
        model.rowsRemoved.connect(self._on_removed)
        model.dataChanged.connect(self._on_changed)
        if model.rowCount():
            self._on_inserted(QModelIndex(), 0, model.rowCount() - 1)
        self._show_emptiness()
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        self.setStyleSheet(panel_stylesheet(theme))

    @Slot(QModelIndex, int, int)
    def _on_inserted(self, _parent: QModelIndex, first: int, last: int) -> None:
        for at in range(first, last + 1):
            state = self._model.states[at]
            row = DownloadRow(state.id)
            row.wanted.connect(self.wanted)
            row.show_state(state)
            self.rows.insert(at, row)
            self._column.insertWidget(at, row)
        self._order_by_sight()
        self._show_emptiness()

    @Slot(QModelIndex, int, int)
    def _on_removed(self, _parent: QModelIndex, first: int, last: int) -> None:
        gone = self.rows[first : last + 1]
        del self.rows[first : last + 1]
        had_focus = any(row.isAncestorOf(self.focusWidget()) for row in gone if self.focusWidget())
        for row in gone:
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._show_emptiness()
        if had_focus and self.rows:
            self.rows[min(first, len(self.rows) - 1)].focus_first()

    @Slot(QModelIndex, QModelIndex)
    def _on_changed(self, first: QModelIndex, last: QModelIndex) -> None:
        for at in range(first.row(), last.row() + 1):
            self.rows[at].show_state(self._model.states[at])

    def _order_by_sight(self) -> None:
        """Let the keyboard go from top to bottom, though the newest row was made last."""
        buttons = [button for row in self.rows for button in row.buttons.values()]
        for first, second in pairwise(buttons):
            QWidget.setTabOrder(first, second)

    def _show_emptiness(self) -> None:
        self.empty.setVisible(not self.rows)
        self.area.setVisible(bool(self.rows))
