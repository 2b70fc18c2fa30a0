"""Fields of the sampling card: the form of a reply, the seed, and stop texts as chips.

The form is free text, any object of JSON, one by a schema, or a grammar.

Errors are shown as far as they can be found without a model; the engine judges the rest when a
reply begins.
"""

from __future__ import annotations

import json
import re
from typing import Literal, get_args

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QKeyEvent, QTextCursor
from PySide6.QtWidgets import QLineEdit, QToolButton, QWidget

from paceline.chat.presets import MAX_STOP_CHARS, MAX_STOPS, check_stops
from paceline.errors import UserError
from paceline.gui.kit.fields import DropDown, LeavingEdit, Number, Segments
from paceline.gui.kit.labels import YieldingLabel, say, text_label, with_soft_breaks
from paceline.gui.kit.layouts import FlowLayout, column_of, discard, row_of, styled
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import fields_in_words, local, translator
from paceline.gui.look.current import look
from paceline.gui.look.scale import SMALL, px
from paceline.gui.look.theme import mono_font
from paceline.params import ReplySettings, read_stop, shown_stop

Form = Literal["free", "json", "schema", "grammar"]
ANY_JSON = '{"type": "object"}'
"""Schema of any object; the endpoint uses the same."""
EXAMPLES: dict[str, str] = {
    "schema": """{
  "type": "object",
  "properties": {
    "title": {"type": "string"},
    "year": {"type": "integer"},
    "tags": {"type": "array", "items": {"type": "string"}}
  },
  "required": ["title", "year", "tags"]
}""",
    "grammar": """root ::= answer "\\n"
answer ::= ("yes" | "no") ", because " reason "."
reason ::= [a-zA-Z ,]+""",
}
"""Examples for the editors of the forms; both can be used as they are."""
MAX_FORM_BYTES = 1_000_000
"""Maximum size of a file with a schema or a grammar."""
_ROOT = re.compile(r"^\s*root\s*::=", re.MULTILINE)

_tr = translator("ReplyForm")


def judge(form: Form, text: str) -> str:
    """Return the error of a schema or a grammar in words, or empty if none is found here."""
    if form == "schema":
        return _judge_schema(text)
    if form == "grammar":
        if not text.strip():
            return _tr('Write a grammar, for example: root ::= "yes" | "no"')
        if not _ROOT.search(text):
            return _tr("The grammar needs a rule named root: root ::= …")
    return ""


def _judge_schema(text: str) -> str:
    if not text.strip():
        return _tr("Write a JSON schema, for example: {}").format(ANY_JSON)
    try:
        schema = json.loads(text)
    except json.JSONDecodeError as error:
        return _tr("This is no JSON: {} (line {}, column {}).").format(
            error.msg, error.lineno, error.colno
        )
    except (ValueError, RecursionError):
        return _tr("This JSON is nested too deeply or holds too large numbers.")
    if not isinstance(schema, dict):
        return _tr("A JSON schema is an object in braces: {…}")
    return ""


_EDITOR_PX = 112


class ReplyForm(QWidget):
    """A drop-down list and, for a schema or a grammar, an editor. Each form keeps its own text."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._texts: dict[Form, str] = dict.fromkeys(get_args(Form), "")
        self.shown: Form = "free"
        self._refusal = ""
        label = styled(YieldingLabel(self.tr("Structured output"), keeps=8), role="muted")
        forms = (
            (self.tr("Free text"), "free"),
            (self.tr("Any JSON"), "json"),
            (self.tr("JSON schema"), "schema"),
            (self.tr("Grammar"), "grammar"),
        )
        self.form_choice = DropDown(forms, n_letters=9)
        self.form_choice.setToolTip(
            self.tr("What the reply must look like; forced pieces are drafted for free.")
        )
        label.setBuddy(self.form_choice)
        self.editor = styled(LeavingEdit(), kind="code")
        self.problem = text_label("", "danger", wraps=True)
        row = row_of(label, None, self.form_choice)
        column_of(row, self.editor, self.problem, self._make_tools(), on=self, margins=0, spacing=6)
        self.form_choice.currentIndexChanged.connect(self._on_form)
        self.editor.textChanged.connect(self._on_text)
        look.follow(self._fit)
        self._refresh()

    @property
    def schema(self) -> str:
        """JSON schema in force, or empty."""
        if self.shown == "json":
            return ANY_JSON
        return self.editor.toPlainText() if self.shown == "schema" else ""

    @property
    def grammar(self) -> str:
        """Grammar in force, or empty."""
        return self.editor.toPlainText() if self.shown == "grammar" else ""

    @property
    def obstacle(self) -> str:
        """Reason why no reply can begin, in words, or empty."""
        return judge(self.shown, self.editor.toPlainText())

    def show_constraints(self, grammar: str, schema: str) -> None:
        """Show a grammar or a schema without emitting a signal."""
        form: Form = "schema" if schema else "grammar" if grammar else "free"
        if schema == ANY_JSON:
            form, schema = "json", ""
        self._texts["schema"], self._texts["grammar"] = schema, grammar
        with QSignalBlocker(self.form_choice):
            self.form_choice.setCurrentIndex(self.form_choice.findData(form))
        self._show_form(form)

    def show_refusal(self, text: str) -> None:
        """Show why the engine refused it, until it is changed."""
        self._refusal = text
        self._refresh()

    def put_text(self, form: str, text: str) -> None:
        """Set the text of a form and choose it, as if it were typed; Ctrl+Z undoes it."""
        self.form_choice.setCurrentIndex(self.form_choice.findData(form))
        cursor = QTextCursor(self.editor.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)
        self.editor.setFocus()

    @Slot()
    def _fit(self) -> None:
        self.editor.setFixedHeight(px(_EDITOR_PX))
        self.editor.setFont(mono_font(SMALL))

    def _make_tools(self) -> QWidget:
        self.load = QToolButton()
        self.load.setText(self.tr("Load from file…"))
        self.example = QToolButton()
        self.example.setText(self.tr("Insert an example"))
        self.example.clicked.connect(self._on_example)
        self.tools = QWidget()
        row = FlowLayout(self.tools)
        for button in (self.load, self.example):
            button.setProperty("kind", "link")
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            row.addWidget(button)
        return self.tools

    def _show_form(self, form: Form) -> None:
        self.shown = form
        self._refusal = ""
        with QSignalBlocker(self.editor):
            self.editor.setPlainText(self._texts[form])
        self._refresh()

    def _refresh(self) -> None:
        is_written = self.shown in EXAMPLES
        self.editor.setVisible(is_written)
        self.tools.setVisible(is_written)
        is_schema = self.shown == "schema"
        name = self.tr("JSON schema") if is_schema else self.tr("Grammar (GBNF)")
        self.editor.setAccessibleName(name)
        self.editor.setPlaceholderText(
            '{"type": "object", "properties": {…}}' if is_schema else 'root ::= "yes" | "no"'
        )
        is_empty = not self.editor.toPlainText().strip()
        problem = "" if is_empty else self._refusal or self.obstacle
        say(self.problem, with_soft_breaks(problem))

    @Slot()
    def _on_form(self) -> None:
        self._show_form(self.form_choice.currentData())
        self.changed.emit()

    @Slot()
    def _on_text(self) -> None:
        self._texts[self.shown] = self.editor.toPlainText()
        self._refusal = ""
        self._refresh()
        self.changed.emit()

    @Slot()
    def _on_example(self) -> None:
        if self.shown in EXAMPLES:
            self.put_text(self.shown, EXAMPLES[self.shown])


_NEW, _FIXED = "new", "fixed"
_FIELD_PX = 128


class SeedField(QWidget):
    """A segmented choice; with a fixed seed, the number below it."""

    changed = Signal()
    """The seed of the last reply is to be used."""

    def __init__(self) -> None:
        super().__init__()
        parameter = fields_in_words(ReplySettings)["seed"]
        label = styled(YieldingLabel(parameter.title, keeps=6), role="muted")
        self.choice = Segments(
            [
                (_NEW, self.tr("New each time"), self.tr("Every reply draws a new seed.")),
                (_FIXED, self.tr("Fixed"), parameter.help),
            ]
        )
        self.choice.setAccessibleName(label.text())
        low, high = parameter.offered
        self.number = Number(low, high)
        self.number.setDecimals(0)
        self.number.setSingleStep(1)
        self.number.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.number.setAccessibleName(label.text())
        self.number.setToolTip(self.tr("A whole number from 0 to {}").format(f"{local(high):,}"))
        label.setBuddy(self.number)
        self.copy = _link(self.tr("Copy"), self.tr("Copy the seed"))
        self.last = _link(self.tr("Last reply's"), self.tr("Use the seed of the last reply"))
        self.last.setEnabled(False)
        self._row = QWidget()
        row_of(self.number, None, self.copy, on=self._row, margins=0, spacing=4)
        head = row_of(label, None, self.last)
        column_of(head, self.choice, self._row, on=self, margins=0, spacing=4)
        self.choice.chosen.connect(self._on_chosen)
        self.number.valueChanged.connect(self.changed)
        self.copy.clicked.connect(self._on_copy)
        self.show_value(None)

    @property
    def value(self) -> int | None:
        """The fixed seed, or None for a new one each time."""
        return int(self.number.value()) if self.choice.value == _FIXED else None

    def show_value(self, seed: int | None) -> None:
        """Show a choice without emitting a signal; None leaves the number as it is."""
        self.choice.show_value(_NEW if seed is None else _FIXED)
        if seed is not None:
            with QSignalBlocker(self.number):
                self.number.setValue(seed)
        self._fit()

    def use(self, seed: int) -> None:
        """Fix this seed and emit `changed`."""
        self.show_value(seed)
        self.changed.emit()

    def offer_last(self, *, is_there: bool) -> None:
        """Set whether there is a last reply with a seed."""
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
    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(str(int(self.number.value())))


def _link(text: str, explanation: str) -> QToolButton:
    button = styled(QToolButton(), kind="link")
    button.setText(text)
    button.setToolTip(explanation)
    button.setAccessibleName(explanation)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return button


_SHOWN_CHARS = 28
_TAKES = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_REMOVES = (Qt.Key.Key_Backspace, Qt.Key.Key_Delete)


class StopField(QWidget):
    """Field for at most 16 strings of 1 to 200 characters.

    Attributes:
        value: The strings that end a reply.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.value: tuple[str, ...] = ()
        self.chips: list[QToolButton] = []
        label = text_label(fields_in_words(ReplySettings)["stop"].title, "muted")
        self.field = QLineEdit()
        # Escapes take two characters for one.
        self.field.setMaxLength(2 * MAX_STOP_CHARS)
        self.field.setPlaceholderText(self.tr("Text, then Enter"))
        self.field.setToolTip(
            self.tr(
                "The reply ends before the first of these texts in its answer. Write \\n for a "
                "line end, \\t for a tab and \\\\ for a backslash. Often used: \\n\\n for one "
                "paragraph, ``` for one piece of code. At most {} texts."
            ).format(MAX_STOPS)
        )
        self.field.installEventFilter(self)
        self.field.textEdited.connect(self._on_edited)
        label.setBuddy(self.field)
        self.problem = text_label("", "danger", wraps=True)
        self.problem.hide()
        self._row = QWidget(accessibleName=label.text())
        self._flow = FlowLayout(self._row, 4)
        column_of(label, self.field, self.problem, self._row, on=self, margins=0, spacing=4)
        self._make_chips()

    def show_value(self, stops: tuple[str, ...]) -> None:
        """Show these without emitting a signal; half-typed text is dropped."""
        with QSignalBlocker(self.field):
            self.field.clear()
        self._say("")
        if stops != self.value:
            self.value = stops
            self._make_chips()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Add on Enter; with Backspace, go to the last chip if the field is empty, or remove it."""
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
        """Add the typed text, or say why that is impossible."""
        stop = read_stop(typed)
        if not stop:
            return
        try:
            check_stops((*self.value, stop))
        except UserError as error:
            self._say(said(str(error)))
            return
        self.value = (*self.value, stop)
        self.field.clear()
        self._say("")
        self._make_chips()
        self.changed.emit()

    def _remove(self, at: int) -> None:
        self.value = (*self.value[:at], *self.value[at + 1 :])
        self._make_chips()
        following: QWidget = self.chips[min(at, len(self.chips) - 1)] if self.chips else self.field
        following.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._say("")
        self.changed.emit()

    def _make_chips(self) -> None:
        discard(self.chips, self._flow)
        self.chips = []
        before: QWidget = self.field
        for stop in self.value:
            shown = shown_stop(stop)
            chip = styled(QToolButton(), kind="stop_chip")
            short = shown if len(shown) <= _SHOWN_CHARS else f"{shown[: _SHOWN_CHARS - 1]}…"
            chip.setText(f"{short.replace('&', '&&')}  ✕")
            chip.setAccessibleName(self.tr("Remove the stop string {}").format(shown))
            chip.setToolTip(self.tr("“{}”: a click removes it").format(with_soft_breaks(shown)))
            chip.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            chip.installEventFilter(self)
            chip.clicked.connect(self._on_chip)
            self._flow.addWidget(chip)
            chip.show()  # now, so that it can take the focus
            QWidget.setTabOrder(before, chip)
            before = chip
            self.chips.append(chip)
        self._row.setVisible(bool(self.chips))

    def _say(self, problem: str) -> None:
        say(self.problem, with_soft_breaks(problem))

    @Slot()
    def _on_chip(self) -> None:
        chip = self.sender()
        if chip in self.chips:
            self._remove(self.chips.index(chip))

    @Slot()
    def _on_edited(self) -> None:
        self._say("")
