"""The figures of a benchmark as a table, with a button in each row that takes its strategy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QPushButton,
    QSizePolicy,
    QTableView,
    QWidget,
)

from paceline.gui.scale import px
from paceline.gui.viewmodels.bench_rows import ratio_tone
from paceline.gui.viewmodels.figures import percent_text, ratio_text, speed_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtCore import QObject
    from PySide6.QtGui import QResizeEvent

    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.bench_rows import BenchRow

Index = QModelIndex | QPersistentModelIndex

NAME, SPEED, RATIO, SPREAD, ACCEPTED, PER_STEP, SAME, RUNS, USE = range(9)
ROW_PX = 38
_BESIDE_PX, _BESIDE_BUTTON_PX = 22, 14
"""What a cell takes beside its text, or its button."""
_NAME_PX = 220
"""Names get so much before other columns get anything, if they are as long."""
_GIVING_WAY = (PER_STEP, RUNS, SPREAD, SAME, ACCEPTED, SPEED)
"""Columns that are hidden where there is no room, the first one first."""


class BenchTableModel(QAbstractTableModel):
    """Rows of figures as texts."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[BenchRow, ...] = ()
        self._theme = theme

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        self._theme = theme
        self._tell()

    def set_rows(self, rows: Sequence[BenchRow]) -> None:
        """Show other figures; the same strategies keep their rows."""
        is_same = [row.strategy for row in rows] == [row.strategy for row in self.rows]
        if is_same:
            self.rows = tuple(rows)
            self._tell()
            return
        self.beginResetModel()
        self.rows = tuple(rows)
        self.endResetModel()

    def _tell(self) -> None:
        if self.rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows) - 1, USE))

    def rowCount(self, parent: Index | None = None) -> int:
        """One row per strategy."""
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index | None = None) -> int:
        """All columns, whether there is room for them or not."""
        return 0 if parent is not None and parent.isValid() else USE + 1

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """What a column has."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignLeft if section == NAME else Qt.AlignmentFlag.AlignRight
            return side | Qt.AlignmentFlag.AlignVCenter
        names = (
            self.tr("Strategy"), self.tr("Tokens/s"), self.tr("To plain"), self.tr("Quartiles"),
            self.tr("Accepted"), self.tr("Per step"), self.tr("Same text"), self.tr("Replies"), "",
        )  # fmt: skip
        hints = (
            "",
            self.tr("Tokens of the reply by the time behind the prompt"),
            self.tr("Plain decoding's whole time by the strategy's"),
            self.tr("Half of the repeats are between these"),
            self.tr("Accepted of all drafted tokens that were judged"),
            self.tr("Tokens that a step of the target commits"),
            self.tr("Whether the replies are plain decoding's, token by token"),
            self.tr("Replies that were measured"),
            "",
        )
        if role == Qt.ItemDataRole.DisplayRole:
            return names[section]
        return hints[section] if role == Qt.ItemDataRole.ToolTipRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A figure, or how it looks."""
        if not index.isValid():
            return None
        row, column = self.rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(row, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return "\n".join(each for each in (row.title, row.strategy, row.problem) if each)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignLeft if column == NAME else Qt.AlignmentFlag.AlignRight
            return side | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ForegroundRole:
            return self._colour(row, column)
        return None

    def _text(self, row: BenchRow, column: int) -> str:
        if column == NAME:
            return row.title
        if row.ratio is None and row.tokens_per_s is None:
            return "–" if column in (SPEED, RATIO) else ""
        spread = "" if row.low is None or row.high is None else f"{row.low:.2f}–{row.high:.2f}"
        same = {None: "", True: self.tr("yes"), False: self.tr("no")}[row.same_text]
        return {
            SPEED: "–" if row.tokens_per_s is None else speed_text(row.tokens_per_s),
            RATIO: "–" if row.ratio is None else ratio_text(row.ratio),
            SPREAD: "" if row.kind == "plain" else spread,
            ACCEPTED: "" if row.acceptance is None else percent_text(row.acceptance),
            PER_STEP: "" if row.per_step is None else f"{row.per_step:.2f}",
            SAME: same,
            RUNS: str(row.n_runs),
        }.get(column, "")

    def _colour(self, row: BenchRow, column: int) -> QColor | None:
        theme = self._theme
        if row.problem and row.ratio is None:
            return QColor(theme.muted)
        if column == RATIO and row.ratio is not None and row.kind != "plain":
            tones = {"gain": theme.accent, "even": theme.text, "loss": theme.danger}
            return QColor(tones[ratio_tone(row.ratio)])
        return QColor(theme.danger) if column == SAME and row.same_text is False else None


class BenchTable(QTableView):
    """As high as its rows; the page around it scrolls."""

    used = Signal(str)
    """The strategy of a row is to be taken"""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.figures = BenchTableModel(theme, self)
        self.buttons: dict[str, QPushButton] = {}
        self._in_use = ""
        self.setModel(self.figures)
        self.setProperty("kind", "figures")
        self.setAccessibleName(self.tr("Figures of each strategy"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setSectionsClickable(False)
        header.setHighlightSections(False)
        header.setMinimumSectionSize(10)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours, or another size of text."""
        self.figures.set_theme(theme)
        self._fit()

    def show_rows(self, rows: Sequence[BenchRow], in_use: str) -> None:
        """Show figures; `in_use` is the strategy that the panel has."""
        before = [row.strategy for row in self.figures.rows]
        self.figures.set_rows(rows)
        self._in_use = in_use
        if [row.strategy for row in rows] != before:
            self._make_buttons()
        for strategy, button in self.buttons.items():
            is_in_use = strategy == in_use
            button.setText(self.tr("In use") if is_in_use else self.tr("Use this"))
            button.setEnabled(not is_in_use)
        self._fit()

    def _make_buttons(self) -> None:
        self.buttons = {}
        for at, row in enumerate(self.figures.rows):
            button = QPushButton(self.tr("Use this"))
            button.setProperty("kind", "compact")
            button.setAutoDefault(False)
            button.setProperty("strategy", row.strategy)
            button.setAccessibleName(self.tr("Use {}").format(row.title))
            button.setToolTip(self.tr("Sets the strategy of the panel: {}").format(row.strategy))
            button.clicked.connect(self._on_used)
            self.buttons[row.strategy] = button
            self.setIndexWidget(self.figures.index(at, USE), button)

    def sizeHint(self) -> QSize:
        """All rows and the header."""
        rows = self.figures.rowCount() * px(ROW_PX)
        return QSize(420, self.horizontalHeader().sizeHint().height() + rows + 2)

    def minimumSizeHint(self) -> QSize:
        """As high as that; as narrow as it may be."""
        return QSize(260, self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave columns out that there is no room for."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self.verticalHeader().setDefaultSectionSize(px(ROW_PX))
        widths = {column: self._wanted(column) for column in range(USE + 1)}
        shown = set(widths)
        for column in _GIVING_WAY:
            if sum(widths[each] for each in shown) <= self.viewport().width():
                break
            shown.discard(column)
        for column, width in widths.items():
            self.setColumnHidden(column, column not in shown)
            if column != NAME:
                self.setColumnWidth(column, width)
        self.updateGeometry()

    def _wanted(self, column: int) -> int:
        """How wide a column would be."""
        if column == USE:
            widths = [button.sizeHint().width() for button in self.buttons.values()]
            return max(widths, default=0) + px(_BESIDE_BUTTON_PX)
        model, metrics = self.figures, self.fontMetrics()
        texts = [model.index(row, column).data() for row in range(model.rowCount())]
        texts.append(model.headerData(column, Qt.Orientation.Horizontal))
        width = max(metrics.horizontalAdvance(text) for text in texts) + px(_BESIDE_PX)
        return min(width, px(_NAME_PX)) if column == NAME else width

    @Slot()
    def _on_used(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.used.emit(str(sender.property("strategy")))
