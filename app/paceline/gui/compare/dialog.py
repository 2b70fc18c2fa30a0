"""The dialog of a comparison: two sides to choose, a button, two columns. Decides nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import QSize, Signal, Slot
from PySide6.QtWidgets import QDialog, QFrame, QPushButton, QWidget

from paceline.gui.compare.columns import ReplyColumn, TwoColumns
from paceline.gui.kit.card import FoldHeader
from paceline.gui.kit.dialogs import within_screen
from paceline.gui.kit.fields import DropDown
from paceline.gui.kit.labels import YieldingLabel, text_label
from paceline.gui.kit.layouts import column_of, grid_of, row_of, styled
from paceline.gui.look.current import look
from paceline.gui.look.scale import GAP, STEP, scaled

_SIZE, _SMALLEST = QSize(960, 680), QSize(480, 420)
Entries = Sequence[tuple[str, Any]]
"""Words of a list, with their values."""


class SideChoice(NamedTuple):
    """Entries of each list; the first entry of the last two lists is the present state."""

    strategies: Entries
    settings: Entries
    pairs: Entries


class SideForm:
    """Choices of one side: drafts, settings of the reply, models.

    Attributes:
        fields: The lists, in this order.
    """

    def __init__(self, offered: SideChoice, names: Sequence[str]) -> None:
        self.fields = tuple(
            DropDown(entries, name=name, n_letters=8)
            for entries, name in zip(offered, names, strict=True)
        )
        for field, name in zip(self.fields, names, strict=True):
            field.setToolTip(name)

    @property
    def value(self) -> tuple[Any, ...]:
        """The chosen value of each list."""
        return tuple(field.currentData() for field in self.fields)

    @property
    def words(self) -> tuple[str, ...]:
        """The chosen words of each list."""
        return tuple(field.currentText() for field in self.fields)


class CompareDialog(QDialog):
    """Two sides, their columns, and the buttons.

    Attributes:
        sides: The choices for left and right.
        columns: Both replies.
        start: Button that starts or stops the comparison.
        keeps: Buttons "Use this reply" below the columns.
    """

    started = Signal()
    stopped = Signal()
    keep_wanted = Signal(int)
    """The side, 0 or 1, whose reply goes into the chat"""

    def __init__(
        self,
        question: str,
        offered: SideChoice,
        chosen: tuple[int, int],
        columns: TwoColumns,
        parent: QWidget,
    ) -> None:
        """Set up the lists and the columns.

        Args:
            question: The question.
            offered: The entries of the lists.
            chosen: Indices of the strategies at the left and at the right.
            columns: Two empty ones.
            parent: The window below the dialog.
        """
        super().__init__(parent)
        self.setWindowTitle(self.tr("Answer twice and compare"))
        self._is_running = False
        names = self.tr("Drafts"), self.tr("Reply settings"), self.tr("Models")
        self.sides = tuple(SideForm(offered, names) for _ in range(2))
        for side, row in zip(self.sides, chosen, strict=True):
            side.fields[0].setCurrentIndex(row)
        self._question = styled(YieldingLabel(" ".join(question.split())), role="muted")
        self._more = FoldHeader()
        self._more.setText(self.tr("Other settings or models"))
        self.columns = columns
        self.keeps = tuple(
            self._make_keep(at, column)
            for at, column in enumerate((self.columns.left, self.columns.right))
        )
        self._obstacle = text_label("", wraps=True)
        self.start = styled(QPushButton(self.tr("&Start"), default=True), kind="primary")
        self.start.clicked.connect(self._on_clicked)
        self._lay_out()
        self._more.toggled.connect(self._show_more)
        self._show_more(on=False)
        self.show_running(is_running=False)
        look.follow(self._fit)
        self.resize(within_screen(self, scaled(_SIZE)))
        self.start.setFocus()

    def _make_keep(self, at: int, column: ReplyColumn) -> QPushButton:
        button = styled(QPushButton(self.tr("Use this reply"), autoDefault=False), kind="quiet")
        button.setToolTip(self.tr("Put it into the chat as a version of the reply"))
        button.clicked.connect((self._on_keep_left, self._on_keep_right)[at])
        column.foot.addStretch(1)
        column.foot.addWidget(button)
        return button

    def _lay_out(self) -> None:
        grid = grid_of(across=GAP, down=STEP, stretches=(0, 1))
        for at, side in enumerate(self.sides):
            for row, field in enumerate(side.fields):
                grid.addWidget(field, row, at)
        top = column_of(self._question, grid, self._more, spacing=STEP)
        foot = styled(QFrame(), kind="foot")
        close = QPushButton(self.tr("Close"), autoDefault=False)
        close.clicked.connect(self.reject)
        row_of(
            (self._obstacle, 1), self.start, close,
            on=foot, margins=(2 * STEP, STEP, 2 * STEP, STEP), spacing=STEP,
        )  # fmt: skip
        body = column_of(top, (self.columns, 1), margins=(16, 12, 16, 12), spacing=GAP)
        column_of((body, 1), foot, on=self, margins=0, spacing=0)

    def show_obstacle(self, words: str) -> None:
        """Show why nothing can be started now; empty words if it can."""
        self._obstacle.setText(words)
        self.start.setEnabled(self._is_running or not words)

    def show_running(self, *, is_running: bool) -> None:
        """Offer to stop a running comparison, or to start one."""
        self._is_running = is_running
        self.start.setText(self.tr("&Stop") if is_running else self.tr("&Start"))
        for side in self.sides:
            for field in side.fields:
                field.setEnabled(not is_running)
        for button in self.keeps:
            button.hide()

    def offer_reply(self, side: int) -> None:
        """Offer to put a side's reply into the chat."""
        self.keeps[side].setText(self.tr("Use this reply"))
        self.keeps[side].setEnabled(True)
        self.keeps[side].show()

    def show_kept(self, side: int) -> None:
        """Show that a side's reply is in the chat."""
        self.keeps[side].setText(self.tr("In the chat"))
        self.keeps[side].setEnabled(False)

    @Slot()
    def _fit(self) -> None:
        self.setMinimumSize(within_screen(self, scaled(_SMALLEST)))

    @Slot(bool)
    def _show_more(self, on: bool) -> None:  # noqa: FBT001
        for side in self.sides:
            for field in side.fields[1:]:
                field.setVisible(on)

    @Slot()
    def _on_clicked(self) -> None:
        (self.stopped if self._is_running else self.started).emit()

    @Slot()
    def _on_keep_left(self) -> None:
        self.keep_wanted.emit(0)

    @Slot()
    def _on_keep_right(self) -> None:
        self.keep_wanted.emit(1)
