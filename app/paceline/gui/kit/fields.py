"""Fields for numbers, choices and lines of text, for a narrow scrolling panel.

The wheel scrolls the panel and never changes a value by accident; keyboard and typing do. Tab
leaves every field, also those of several lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from PySide6.QtCore import (
    QEvent,
    QMimeData,
    QSignalBlocker,
    QSize,
    Qt,
    Signal,
    SignalInstance,
    Slot,
)
from PySide6.QtGui import QKeyEvent, QKeySequence, QMouseEvent, QTextOption, QValidator, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QButtonGroup,
    QComboBox,
    QDoubleSpinBox,
    QFrame,
    QGridLayout,
    QLineEdit,
    QPlainTextEdit,
    QSizePolicy,
    QSlider,
    QSpinBox,
    QToolButton,
    QWidget,
)

from paceline.errors import UserError
from paceline.gui.kit.labels import YieldingLabel
from paceline.gui.kit.layouts import column_of, grid_of, rounded, row_of, styled
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local
from paceline.gui.look.current import look
from paceline.gui.look.scale import px
from paceline.parameters import Parameter

_LONG_CHARS = 2_000
_LONG_WORD = re.compile(rf"\S{{{_LONG_CHARS}}}")


def leaves_undo(event: QEvent, has_undo: Callable[[], bool]) -> bool:
    """Return True for the undo key in a field without anything to undo; Qt would consume it."""
    if (
        event.type() == QEvent.Type.ShortcutOverride
        and isinstance(event, QKeyEvent)
        and event.matches(QKeySequence.StandardKey.Undo)
        and not has_undo()
    ):
        event.ignore()
        return True
    return False


class TextField(QPlainTextEdit):
    """Plain text, whose lines break anywhere once it holds a very long word.

    To break lines between words, Qt searches for the end of the word in each line, which takes time
    quadratic in its length.
    """

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self.textChanged.connect(self._on_typed)
        if text:
            self.setPlainText(text)

    def has_undo(self) -> bool:
        """Return whether the undo key undoes something here; if not, it belongs to the window."""
        return self.document().isUndoAvailable()

    def event(self, event: QEvent) -> bool:
        """Leave the undo key to the window where nothing was written."""
        return leaves_undo(event, self.has_undo) or super().event(event)

    def setPlainText(self, text: str) -> None:
        """Show another text; the undo history is cleared."""
        with QSignalBlocker(self):  # keeps the old text from being laid out in the other way
            super().clear()
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self._make_way(text)
        super().setPlainText(text)

    def clear(self) -> None:
        """Remove the text."""
        self.setPlainText("")

    def insertPlainText(self, text: str) -> None:
        """Insert a text at the cursor."""
        self._make_way(text)
        super().insertPlainText(text)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste text."""
        self._make_way(source.text())
        super().insertFromMimeData(source)

    def _make_way(self, text: str) -> None:
        if _LONG_WORD.search(text):
            self.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)

    @Slot()
    def _on_typed(self) -> None:
        block = self.textCursor().block()
        if (
            block.length() > _LONG_CHARS
            and self.wordWrapMode() != QTextOption.WrapMode.WrapAnywhere
        ):
            self._make_way(block.text())


class LeavingEdit(TextField):
    """Plain text; Tab and Shift+Tab go to the next and the previous field."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the focus by Tab, and write with every other key."""
        if event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            event.ignore()
            self.focusNextPrevChild(event.key() == Qt.Key.Key_Tab)
            return
        super().keyPressEvent(event)


_MIN_LETTERS = 4
"""Minimum number of visible letters of a word; the frame around them takes about two more."""


class _Segment(QToolButton):
    """A button that elides its word where space is short; its tool tip has all of it."""

    def minimumSizeHint(self) -> QSize:
        """Return the size for a few letters."""
        hint = self.sizeHint()
        room = (_MIN_LETTERS + 2) * self.fontMetrics().averageCharWidth()
        return QSize(min(hint.width(), room), hint.height())


class Segments(QFrame):
    """Buttons with a value each; Tab reaches every one, Space selects."""

    chosen = Signal(str)
    """The value of the pressed button"""

    def __init__(self, choices: Sequence[tuple[str, str, str]]) -> None:
        """Offer triples of a value, its name, and its meaning."""
        super().__init__()
        self.setProperty("kind", "segments")
        row = row_of(on=self, margins=2, spacing=2)
        self._group = QButtonGroup(self)
        self.buttons: dict[str, QToolButton] = {}
        for value, name, explanation in choices:
            button = styled(_Segment(), kind="segment")
            button.setText(name)
            button.setCheckable(True)
            button.setToolTip(explanation)
            button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            self._group.addButton(button)
            self.buttons[value] = button
            row.addWidget(button)  # a stretch would make all equally wide, and cut one off
        self._group.buttonClicked.connect(self._on_clicked)

    @property
    def value(self) -> str:
        """The selected value, or empty before a choice."""
        return next((value for value, b in self.buttons.items() if b.isChecked()), "")

    def show_value(self, value: str) -> None:
        """Show a choice without emitting a signal."""
        self.buttons[value].setChecked(True)

    @Slot("QAbstractButton*")
    def _on_clicked(self, clicked: QAbstractButton) -> None:
        for value, button in self.buttons.items():
            if button is clicked:
                self.chosen.emit(value)


_SLIDER_STEPS = 100
_EQUAL_WITHIN = 1e-9
"""Values whose difference is smaller are equal."""
LABEL_PX = 124
_FIELD_PX = 56
_PUT_BACK_PX = 20


def two_columns(names: Sequence[str], first_row: int = 0) -> QGridLayout:
    """Return a grid with these labels at the left and two equal columns beside them."""
    grid = grid_of(across=8, down=6, stretches=(1, 2))
    grid.setColumnMinimumWidth(0, LABEL_PX)
    for row, name in enumerate(names, start=first_row):
        grid.addWidget(styled(YieldingLabel(name, keeps=6), role="muted"), row, 0)
    return grid


class _StillUnderWheel:
    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the panel."""
        event.ignore()


class Slider(_StillUnderWheel, QSlider):
    """A horizontal slider that leaves the wheel to the panel around it."""

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)


class WholeNumber(_StillUnderWheel, QSpinBox):
    """A field for a whole number without buttons."""

    def __init__(self, low: int, high: int) -> None:
        super().__init__()
        _make_quiet(self)
        self.setRange(low, high)


def number_field(parameter: Parameter) -> WholeNumber:
    """Return a field for a whole number, with a word for the automatic value."""
    low, high = parameter.offered
    if parameter.can_be_auto:
        low = min(low, parameter.auto)
    field = WholeNumber(int(low), int(high))
    field.setSpecialValueText(parameter.unset)
    field.setSuffix(f" {parameter.unit}" if parameter.unit else "")
    field.setSingleStep(parameter.step)
    return field


class Number(_StillUnderWheel, QDoubleSpinBox):
    """A field for a number with two decimals, without buttons; point and comma mean the same."""

    def __init__(self, low: float, high: float) -> None:
        super().__init__()
        _make_quiet(self)
        self.setRange(low, high)
        self.setDecimals(2)
        self.setSingleStep(0.05)

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        """Validate the input, and show it with the language's decimal sign."""
        verdict: tuple[QValidator.State, str, int] = super().validate(self._local(text), position)
        return verdict

    def valueFromText(self, text: str) -> float:
        """Return the typed number."""
        return super().valueFromText(self._local(text))

    def _local(self, text: str) -> str:
        sign = self.locale().decimalPoint()
        return text.replace(",", sign).replace(".", sign)


class ParsedLine(QLineEdit):
    """A line of items between commas, which a function parses."""

    changed = Signal()

    def __init__(
        self,
        read: Callable[[str], tuple[Any, ...]],
        write: Callable[[Any], str],
        placeholder: str,
    ) -> None:
        """Keep the functions `read`, which parses the line or raises `UserError`, and `write`."""
        super().__init__(placeholderText=placeholder)
        self._read, self._write = read, write
        self.value: tuple[Any, ...] = ()
        self.problem = ""
        self.textChanged.connect(self._on_text)

    def show_value(self, value: tuple[Any, ...]) -> None:
        """Show a value without emitting a signal."""
        if value != self.value or self.problem:
            with QSignalBlocker(self):
                self.setText(", ".join(map(self._write, value)))
            self.value, self.problem = value, ""

    @Slot()
    def _on_text(self) -> None:
        try:
            self.value, self.problem = self._read(self.text()), ""
        except UserError as error:
            self.problem = said(error.message)
        self.changed.emit()


class DropDown(_StillUnderWheel, QComboBox):
    """A drop-down list that leaves the wheel to the panel around it."""

    def __init__(
        self, entries: Iterable[tuple[str, Any]] = (), *, name: str = "", n_letters: int = 5
    ) -> None:
        """Offer `entries` (words with values); at least `n_letters` of the words stay visible."""
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(n_letters)
        self.setProperty("kind", "value")
        self.setAccessibleName(name)
        for words, value in entries:
            self.addItem(words, value)

    def showPopup(self) -> None:
        """Show the list as wide as its widest entry, with its frame and a scroll bar."""
        if not self.view().window().testAttribute(Qt.WidgetAttribute.WA_TranslucentBackground):
            rounded(self.view().window())
        self.view().setMinimumWidth(self.view().sizeHintForColumn(0) + px(30))
        super().showPopup()


def choice_field(parameter: Parameter) -> DropDown:
    """Return a drop-down list of a parameter's choices."""
    return DropDown((words, value) for value, words in parameter.choices if words)


def value_of(field: Any) -> Any:
    """Return the value of a field: a number, a choice's data, a tick, or its own `value`."""
    match field:
        case QSpinBox() | QDoubleSpinBox():
            return field.value()
        case QComboBox():
            return field.currentData()
        case QAbstractButton():
            return field.isChecked()
        case QPlainTextEdit():
            return field.toPlainText()
    return field.value


def show_value(field: Any, value: Any) -> None:
    """Show a value without a signal; a value that a list does not offer shows its first entry."""
    with QSignalBlocker(field):
        match field:
            case QSpinBox() | QDoubleSpinBox():
                field.setValue(value)
            case QComboBox():
                field.setCurrentIndex(max(field.findData(value), 0))
            case QAbstractButton():
                field.setChecked(value)
            case QPlainTextEdit():
                field.setPlainText(value)
            case _:
                field.show_value(value)


def changes_of(field: Any) -> SignalInstance:
    """Return the signal of a field's changes."""
    match field:
        case QSpinBox() | QDoubleSpinBox():
            return field.valueChanged
        case QComboBox():
            return field.currentIndexChanged
        case QAbstractButton():
            return field.toggled
        case QPlainTextEdit():
            return field.textChanged
    signal: SignalInstance = field.changed
    return signal


# WORKAROUND: under a style sheet that places the buttons, `NoButtons` leaves a field of one pixel
# (Qt 6.11); so the panel's style sheet hides the buttons of kind "value" instead.
def _make_quiet(field: QAbstractSpinBox) -> None:
    field.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    field.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    field.setKeyboardTracking(False)
    field.setProperty("kind", "value")


class _NameLabel(YieldingLabel):
    """The name of a value; a double click requests the default."""

    double_clicked = Signal()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Request the default."""
        event.accept()
        self.double_clicked.emit()


class SliderField(QWidget):
    """A parameter's name, a slider for the usual values, and a field that takes all of them.

    A small button restores the default; it is visible while another value is shown.
    """

    changed = Signal()

    def __init__(self, parameter: Parameter, explanation: str = "") -> None:
        """Show a parameter's default; without `explanation`, its help is the tool tip."""
        super().__init__()
        self._default = parameter.default
        self._low, slider_end = parameter.on_slider
        self._span = slider_end - self._low
        self._whole = whole = parameter.kind == "int"
        title, (low, high) = parameter.title, parameter.offered
        self.label = styled(_NameLabel(title), role="muted")
        self.label.double_clicked.connect(self.put_back)
        self.put_back_button = styled(QToolButton(), kind="mini")
        self.put_back_button.setText("↺")
        self.put_back_button.clicked.connect(self.put_back)
        self.slider = Slider()
        self.slider.setRange(0, int(self._span) if whole else _SLIDER_STEPS)
        self.slider.setPageStep(1 if whole and self._span <= 16 else 4)
        self.field: WholeNumber | Number = (
            WholeNumber(int(low), int(high)) if whole else Number(low, high)
        )
        look.follow(self._fit)
        self.label.setBuddy(self.field)
        shown = f"{local(self._default):g}"
        explanation = self.tr("{}\nDefault: {}").format(explanation or parameter.help, shown)
        self.put_back_button.setAccessibleName(self.tr("Put {} back").format(title))
        self.put_back_button.setToolTip(self.tr("Back to {}").format(shown))
        for widget in (self, self.label, self.slider, self.field):
            widget.setToolTip(explanation)
        self.slider.setAccessibleName(title)
        # The slider has a line of its own: 64 values need more space than the names leave.
        head = row_of((self.label, 1), self.put_back_button, self.field, spacing=6)
        column_of(head, self.slider, on=self, margins=0, spacing=0)
        room = self.put_back_button.sizePolicy()
        room.setRetainSizeWhenHidden(True)
        self.put_back_button.setSizePolicy(room)
        self.put_back_button.hide()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.slider.valueChanged.connect(self._on_slider_moved)
        self.field.valueChanged.connect(self._on_field_changed)
        self._show_on_slider(low)

    @Slot()
    def _fit(self) -> None:
        self.field.setFixedWidth(px(_FIELD_PX))
        self.put_back_button.setFixedWidth(px(_PUT_BACK_PX))

    @property
    def value(self) -> float:
        """The shown value; an integer where only whole numbers are offered."""
        return self.field.value()

    def show_value(self, value: float) -> None:
        """Show a value without emitting a signal."""
        with QSignalBlocker(self.field):
            if isinstance(self.field, WholeNumber):
                self.field.setValue(round(value))
            else:
                self.field.setValue(value)
        self._show_on_slider(value)

    @Slot()
    def put_back(self) -> None:
        """Restore the default."""
        if self.value != self._default:
            had_keyboard = self.put_back_button.hasFocus()
            self.show_value(self._default)
            self.changed.emit()
            if had_keyboard:
                self.field.setFocus()

    @Slot(int)
    def _on_slider_moved(self, position: int) -> None:
        if isinstance(self.field, WholeNumber):
            self.field.setValue(round(self._low) + position)
        else:
            self.field.setValue(self._low + self._span * position / _SLIDER_STEPS)

    @Slot()
    def _on_field_changed(self) -> None:
        self._show_on_slider(self.value)
        self.changed.emit()

    def _show_on_slider(self, value: float) -> None:
        offset = value - self._low
        position = round(offset if self._whole else offset / self._span * _SLIDER_STEPS)
        with QSignalBlocker(self.slider):
            self.slider.setValue(max(0, min(position, self.slider.maximum())))
        self.put_back_button.setVisible(abs(value - self._default) > _EQUAL_WITHIN)
