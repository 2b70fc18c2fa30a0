"""The form of a reply: free text, JSON by a schema, or a grammar; with what is wrong about it.

Only what can be said without a model is said here; the engine judges the rest when a reply begins.
"""

from __future__ import annotations

import json
import re
from typing import Literal

from PySide6.QtCore import QCoreApplication, QEvent, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from paceline.gui.kit.fields import Choice, LeavingEdit
from paceline.gui.kit.flow_layout import FlowLayout
from paceline.gui.kit.labels import YieldingLabel, with_soft_breaks
from paceline.gui.look.scale import SMALL, px
from paceline.gui.look.theme import mono_font

Form = Literal["free", "schema", "grammar"]
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
"""What the editors of the forms can be filled with; both can be used as they are."""
MAX_FORM_BYTES = 1_000_000
"""Of a file that holds a schema or a grammar."""
_ROOT = re.compile(r"^\s*root\s*::=", re.MULTILINE)


def _tr(text: str) -> str:
    return QCoreApplication.translate("ReplyForm", text)


def judge(form: Form, text: str) -> str:
    """What is wrong with a schema or a grammar, in words; empty: nothing that shows here."""
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
        return _tr("Write a JSON schema, for example: {}").format('{"type": "object"}')
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
    """A drop-down list and, unless the text is free, an editor. Each form keeps its own text."""

    changed = Signal()
    load_wanted = Signal(str)
    """The text of a file is to be put into this form: "schema" or "grammar"."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._texts: dict[Form, str] = {"free": "", "schema": "", "grammar": ""}
        self._shown: Form = "free"
        self._refusal = ""
        label = YieldingLabel(self.tr("Structured output"), keeps=8)
        label.setProperty("role", "muted")
        self.form_choice = Choice()
        for form, name in (
            ("free", self.tr("Free text")),
            ("schema", self.tr("JSON schema")),
            ("grammar", self.tr("Grammar")),
        ):
            self.form_choice.addItem(name, form)
        self.form_choice.setMinimumContentsLength(9)
        self.form_choice.setAccessibleName(label.text())
        self.form_choice.setToolTip(
            self.tr("What the reply must look like; forced pieces are drafted for free.")
        )
        label.setBuddy(self.form_choice)
        self.editor = LeavingEdit()
        self.editor.setProperty("kind", "code")
        self.problem = QLabel()
        self.problem.setProperty("role", "danger")
        self.problem.setWordWrap(True)
        row = QHBoxLayout()
        row.addWidget(label)
        row.addStretch(1)
        row.addWidget(self.form_choice)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(row)
        column.addWidget(self.editor)
        column.addWidget(self.problem)
        column.addWidget(self._make_tools())
        self.form_choice.currentIndexChanged.connect(self._on_form)
        self.editor.textChanged.connect(self._on_text)
        self._fit()
        self._refresh()

    @property
    def schema(self) -> str:
        """The JSON schema in force; empty: none."""
        return self.editor.toPlainText() if self._shown == "schema" else ""

    @property
    def grammar(self) -> str:
        """The grammar in force; empty: none."""
        return self.editor.toPlainText() if self._shown == "grammar" else ""

    @property
    def obstacle(self) -> str:
        """What keeps a reply from beginning, in words; empty: nothing."""
        return judge(self._shown, self.editor.toPlainText())

    def show_constraints(self, grammar: str, schema: str) -> None:
        """Show these without emitting a signal."""
        form: Form = "schema" if schema else "grammar" if grammar else "free"
        self._texts["schema"], self._texts["grammar"] = schema, grammar
        with QSignalBlocker(self.form_choice):
            self.form_choice.setCurrentIndex(self.form_choice.findData(form))
        self._show_form(form)

    def show_refusal(self, text: str) -> None:
        """Say why the engine did not take it; a change takes that away."""
        self._refusal = text
        self._refresh()

    def put_text(self, form: str, text: str) -> None:
        """Put a text into a form and choose it, as if it were typed; Ctrl+Z takes it back."""
        self.form_choice.setCurrentIndex(self.form_choice.findData(form))
        cursor = QTextCursor(self.editor.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)
        self.editor.setFocus()

    def changeEvent(self, event: QEvent) -> None:
        """Larger text needs more room."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and hasattr(self, "problem"):
            self._fit()

    def _fit(self) -> None:
        self.editor.setFixedHeight(px(_EDITOR_PX))
        self.editor.setFont(mono_font(SMALL))

    def _make_tools(self) -> QWidget:
        self.load = QToolButton()
        self.load.setText(self.tr("Load from file…"))
        self.load.clicked.connect(self._on_load)
        self.example = QToolButton()
        self.example.setText(self.tr("Insert an example"))
        self.example.clicked.connect(self._on_example)
        self.tools = QWidget()
        row = FlowLayout(self.tools)
        for button in (self.load, self.example):
            button.setProperty("kind", "link")
            button.setAccessibleName(button.text())
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            row.addWidget(button)
        return self.tools

    def _show_form(self, form: Form) -> None:
        self._shown = form
        self._refusal = ""
        with QSignalBlocker(self.editor):
            self.editor.setPlainText(self._texts[form])
        self._refresh()

    def _refresh(self) -> None:
        is_free = self._shown == "free"
        self.editor.setVisible(not is_free)
        self.tools.setVisible(not is_free)
        is_schema = self._shown == "schema"
        name = self.tr("JSON schema") if is_schema else self.tr("Grammar (GBNF)")
        self.editor.setAccessibleName(name)
        self.editor.setPlaceholderText(
            '{"type": "object", "properties": {…}}' if is_schema else 'root ::= "yes" | "no"'
        )
        is_empty = not self.editor.toPlainText().strip()
        problem = "" if is_empty else self._refusal or self.obstacle
        self.problem.setText(with_soft_breaks(problem))
        self.problem.setVisible(bool(problem))

    @Slot()
    def _on_form(self) -> None:
        self._show_form(self.form_choice.currentData())
        self.changed.emit()

    @Slot()
    def _on_text(self) -> None:
        self._texts[self._shown] = self.editor.toPlainText()
        self._refusal = ""
        self._refresh()
        self.changed.emit()

    @Slot()
    def _on_load(self) -> None:
        self.load_wanted.emit(self._shown)

    @Slot()
    def _on_example(self) -> None:
        if self._shown != "free":
            self.put_text(self._shown, EXAMPLES[self._shown])
