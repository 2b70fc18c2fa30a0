"""The seed of a reply: a new one each time, or a fixed one, which the last reply can lend."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from paceline.gui.scale import px
from paceline.gui.widgets.fields import Number
from paceline.gui.widgets.segments import Segments
from paceline.gui.widgets.yielding import YieldingLabel
from paceline.settings import MAX_SEED

_NEW, _FIXED = "new", "fixed"
_FIELD_PX = 128


class SeedField(QWidget):
    """A segmented choice; with a fixed seed, the number below it."""

    changed = Signal()
    last_wanted = Signal()
    """The seed of the last reply is to be used"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        label = YieldingLabel(self.tr("Seed"), keeps=6)
        label.setProperty("role", "muted")
        self.choice = Segments(
            [
                (_NEW, self.tr("New each time"), self.tr("Every reply draws a new seed.")),
                (
                    _FIXED,
                    self.tr("Fixed"),
                    self.tr(
                        "The same seed gives the same reply to the same question, with any "
                        "strategy. For comparisons."
                    ),
                ),
            ]
        )
        self.choice.setAccessibleName(label.text())
        self.number = Number(0, MAX_SEED)
        self.number.setDecimals(0)
        self.number.setSingleStep(1)
        self.number.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.number.setAccessibleName(label.text())
        self.number.setToolTip(self.tr("A whole number from 0 to {}").format(f"{MAX_SEED:,}"))
        label.setBuddy(self.number)
        self.copy = _link(self.tr("Copy"), self.tr("Copy the seed"))
        self.last = _link(self.tr("Last reply's"), self.tr("Use the seed of the last reply"))
        self.last.setEnabled(False)
        self._row = QWidget()
        row = QHBoxLayout(self._row)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self.number)
        row.addStretch(1)
        row.addWidget(self.copy)
        head = QHBoxLayout()
        head.addWidget(label)
        head.addStretch(1)
        head.addWidget(self.last)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self.choice)
        column.addWidget(self._row)
        self.choice.chosen.connect(self._on_chosen)
        self.number.valueChanged.connect(self._on_number)
        self.copy.clicked.connect(self._on_copy)
        self.last.clicked.connect(self.last_wanted)
        self.show_seed(None)

    @property
    def seed(self) -> int | None:
        """The fixed seed; None: a new one each time."""
        return int(self.number.value()) if self.choice.value == _FIXED else None

    def show_seed(self, seed: int | None) -> None:
        """Show a choice without telling anybody; the number stays when there is none."""
        self.choice.show_value(_NEW if seed is None else _FIXED)
        if seed is not None:
            with QSignalBlocker(self.number):
                self.number.setValue(seed)
        self._fit()

    def use(self, seed: int) -> None:
        """Fix this seed and tell it."""
        self.show_seed(seed)
        self.changed.emit()

    def offer_last(self, *, is_there: bool) -> None:
        """Say whether there is a last reply with a seed."""
        self.last.setEnabled(is_there)
        if not is_there and self.last.hasFocus():
            self.choice.setFocus()

    def _fit(self) -> None:
        self.number.setMinimumWidth(px(_FIELD_PX))
        self._row.setVisible(self.choice.value == _FIXED)

    @Slot(str)
    def _on_chosen(self, _value: str) -> None:
        self._fit()
        self.changed.emit()

    @Slot()
    def _on_number(self) -> None:
        self.changed.emit()

    @Slot()
    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(str(int(self.number.value())))


def _link(text: str, explanation: str) -> QToolButton:
    button = QToolButton()
    button.setProperty("kind", "link")
    button.setText(text)
    button.setToolTip(explanation)
    button.setAccessibleName(explanation)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return button
