r"""Stop strings as chips behind a field: Enter adds what is typed, a click or Backspace removes.

Line ends and tabs are typed and shown as ``\n`` and ``\t``.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLabel, QLineEdit, QToolButton, QVBoxLayout, QWidget

from paceline.chat.stops import MAX_STOP_CHARS, MAX_STOPS, check_stops, read_stop, shown_stop
from paceline.errors import UserError
from paceline.gui.widgets.flow_layout import FlowLayout
from paceline.gui.widgets.soft_breaks import with_soft_breaks

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
        """Show these without telling anybody; what is half typed is dropped."""
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
