"""Fields of the sampling card: the seed, and stop texts as chips."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QToolButton, QVBoxLayout, QWidget

from paceline.chat.presets import MAX_STOP_CHARS, MAX_STOPS, check_stops, read_stop, shown_stop
from paceline.errors import UserError
from paceline.gui.kit.fields import Number, Segments
from paceline.gui.kit.flow_layout import FlowLayout
from paceline.gui.kit.labels import YieldingLabel, with_soft_breaks
from paceline.gui.look.scale import px
from paceline.params import MAX_SEED

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
        """Show a choice without emitting a signal; the number stays when there is none."""
        self.choice.show_value(_NEW if seed is None else _FIXED)
        if seed is not None:
            with QSignalBlocker(self.number):
                self.number.setValue(seed)
        self._fit()

    def use(self, seed: int) -> None:
        """Fix this seed and emit `changed`."""
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


_SHOWN_CHARS = 28
_TAKES = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_REMOVES = (Qt.Key.Key_Backspace, Qt.Key.Key_Delete)


class StopField(QWidget):
    """At most 16 strings of 1 to 200 characters."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._stops: tuple[str, ...] = ()
        self.chips: list[QToolButton] = []
        label = QLabel(self.tr("Stop strings"))
        label.setProperty("role", "muted")
        self.field = QLineEdit()
        # Escapes take two characters for one.
        self.field.setMaxLength(2 * MAX_STOP_CHARS)
        self.field.setPlaceholderText(self.tr("Text, then Enter"))
        self.field.setAccessibleName(label.text())
        self.field.setToolTip(
            self.tr(
                "The reply ends before the first of these texts. Write \\n for a line end and \\t "
                "for a tab. Often used: \\n\\n for one paragraph, ``` for one piece of code. "
                "At most {} texts."
            ).format(MAX_STOPS)
        )
        self.field.setAccessibleDescription(self.field.toolTip())
        self.field.installEventFilter(self)
        self.field.textEdited.connect(self._on_edited)
        label.setBuddy(self.field)
        self.problem = QLabel()
        self.problem.setProperty("role", "danger")
        self.problem.setWordWrap(True)
        self.problem.hide()
        self._row = QWidget()
        self._row.setAccessibleName(label.text())
        self._flow = FlowLayout(self._row, 4)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        for widget in (label, self.field, self.problem, self._row):
            column.addWidget(widget)
        self._make_chips()

    @property
    def stops(self) -> tuple[str, ...]:
        """What ends a reply."""
        return self._stops

    def show_stops(self, stops: tuple[str, ...]) -> None:
        """Show these without emitting a signal; what is half typed is dropped."""
        with QSignalBlocker(self.field):
            self.field.clear()
        self._say("")
        if stops != self._stops:
            self._stops = stops
            self._make_chips()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter adds; Backspace in an empty field goes to the last chip, on a chip it removes."""
        if event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent):
            return super().eventFilter(watched, event)
        if watched is self.field:
            if event.key() in _TAKES:
                self.add(self.field.text())
                return True
            if event.key() == Qt.Key.Key_Backspace and not self.field.text() and self.chips:
                self.chips[-1].setFocus(Qt.FocusReason.ShortcutFocusReason)
                return True
        elif watched in self.chips and event.key() in _REMOVES:
            self._remove(self.chips.index(watched))
            return True
        return super().eventFilter(watched, event)

    def add(self, typed: str) -> None:
        """Take what was typed, or say why not."""
        stop = read_stop(typed)
        if not stop:
            return
        try:
            check_stops((*self._stops, stop))
        except UserError as error:
            self._say(str(error))
            return
        self._stops = (*self._stops, stop)
        self.field.clear()
        self._say("")
        self._make_chips()
        self.changed.emit()

    def _remove(self, at: int) -> None:
        self._stops = (*self._stops[:at], *self._stops[at + 1 :])
        self._make_chips()
        following: QWidget = self.chips[min(at, len(self.chips) - 1)] if self.chips else self.field
        following.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._say("")
        self.changed.emit()

    def _make_chips(self) -> None:
        for chip in self.chips:
            self._flow.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        self.chips = []
        before: QWidget = self.field
        for stop in self._stops:
            shown = shown_stop(stop)
            chip = QToolButton()
            chip.setProperty("kind", "stop_chip")
            short = shown if len(shown) <= _SHOWN_CHARS else f"{shown[: _SHOWN_CHARS - 1]}…"
            chip.setText(f"{short.replace('&', '&&')}  ✕")
            chip.setAccessibleName(self.tr("Remove the stop string {}").format(shown))
            chip.setToolTip(self.tr("“{}”: a click removes it").format(with_soft_breaks(shown)))
            chip.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            chip.installEventFilter(self)
            chip.clicked.connect(self._on_chip)
            self._flow.addWidget(chip)
            chip.show()  # now, so that it can have the keyboard
            QWidget.setTabOrder(before, chip)
            before = chip
            self.chips.append(chip)
        self._row.setVisible(bool(self.chips))

    def _say(self, problem: str) -> None:
        self.problem.setText(with_soft_breaks(problem))
        self.problem.setVisible(bool(problem))

    @Slot()
    def _on_chip(self) -> None:
        chip = self.sender()
        if chip in self.chips:
            self._remove(self.chips.index(chip))

    @Slot()
    def _on_edited(self) -> None:
        self._say("")
