"""The dialog that edits a model's chat template, with the prompt that it gives beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from paceline.engine.prompt.formats import FORMATS
from paceline.gui.kit.dialogs import deciding_box
from paceline.gui.kit.fields import Choice, LeavingEdit
from paceline.gui.kit.labels import with_soft_breaks
from paceline.gui.look.scale import SMALL, STEP, px
from paceline.gui.look.theme import mono_font

if TYPE_CHECKING:
    from paceline.messages import PromptRendered

_SIZE_PX = 900, 560


class TemplateEditor(QDialog):
    """Says what it holds by `source`; its owner asks the engine for the prompt."""

    source_changed = Signal()

    def __init__(
        self, model: str, own: str, source: str, *, is_guessed: bool, parent: QWidget | None = None
    ) -> None:
        """Show a template.

        Args:
            model: The model's name.
            own: The file's template, or the guess where it has none.
            source: The one in force.
            is_guessed: Whether `own` is a guess.
            parent: What the dialog stands over.
        """
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(self.tr("Chat template"))
        self._own = own
        title = QLabel(self.tr("Chat template of {}").format(model))
        title.setProperty("role", "title")
        remark = QLabel(
            self.tr(
                "The file has no template that works, so this one is a guess. Yours is kept for "
                "this model."
            )
            if is_guessed
            else self.tr("How a chat is written for the model. Yours is kept for this model.")
        )
        remark.setProperty("role", "muted")
        remark.setWordWrap(True)
        self.editor = LeavingEdit(source)
        self.preview = QPlainTextEdit()
        self.preview.setReadOnly(True)
        self.verdict = QLabel()
        self.verdict.setWordWrap(True)
        self.verdict.setTextFormat(Qt.TextFormat.PlainText)
        panes = QHBoxLayout()
        panes.setSpacing(2 * STEP)
        panes.addLayout(self._pane(self.tr("Template (Jinja)"), self.editor))
        panes.addLayout(self._pane(self.tr("Prompt of this chat"), self.preview))
        self.reset_button = QPushButton(
            self.tr("Reset to the guess") if is_guessed else self.tr("Reset to the file's own")
        )
        self.reset_button.clicked.connect(self._on_reset)
        self.formats = self._make_formats()
        buttons, _ = deciding_box(self, self.tr("Use this template"), self.accept)
        foot = QHBoxLayout()
        foot.addWidget(self.reset_button)
        foot.addWidget(self.formats)
        foot.addStretch(1)
        foot.addWidget(buttons)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(STEP)
        for widget in (title, remark):
            column.addWidget(widget)
        column.addLayout(panes, 1)
        column.addWidget(self.verdict)
        column.addLayout(foot)
        self.resize(px(_SIZE_PX[0]), px(_SIZE_PX[1]))
        self.editor.textChanged.connect(self._on_text)
        self._on_text()

    @property
    def source(self) -> str:
        """The template as it is written now; the model's own where nothing is."""
        text = self.editor.toPlainText()
        return text if text.strip() and text != _as_shown(self._own) else self._own

    def show_prompt(self, answer: PromptRendered) -> None:
        """Show what became of the chat, or what is wrong; the last good prompt stays beside it."""
        if answer.problem:
            self._say(answer.problem, "danger")
            return
        if self.preview.toPlainText() != answer.text:
            self.preview.setPlainText(answer.text)
            bar = self.preview.verticalScrollBar()
            bar.setValue(bar.maximum())
        words = [self.tr("{:,} characters.").format(answer.n_chars), *answer.notes]
        if answer.stops:
            ends = ", ".join(f"“{stop.strip()}”" for stop in answer.stops)
            words.append(self.tr("A reply ends before {}.").format(ends))
        self._say(" ".join(words), "small")

    def _say(self, words: str, role: str) -> None:
        self.verdict.setText(with_soft_breaks(words))
        self.verdict.setProperty("role", role)
        self.verdict.style().polish(self.verdict)

    def _pane(self, name: str, field: QPlainTextEdit) -> QVBoxLayout:
        field.setProperty("kind", "code")
        field.setFont(mono_font(SMALL))
        field.setAccessibleName(name)
        label = QLabel(name)
        label.setProperty("role", "muted")
        label.setBuddy(field)
        column = QVBoxLayout()
        column.setSpacing(4)
        column.addWidget(label)
        column.addWidget(field, 1)
        return column

    def _make_formats(self) -> Choice:
        choice = Choice()
        choice.setAccessibleName(self.tr("Start from another template"))
        choice.setMinimumContentsLength(16)
        choice.addItem(self.tr("Start from…"), "")
        names = {
            "plain": self.tr("Plain text with User: and Assistant:"),
            "continue": self.tr("Go on with the text"),
        }
        for known in FORMATS:
            choice.addItem(names.get(known.name, known.name), known.source)
        choice.activated.connect(self._on_format)
        return choice

    def _put(self, source: str) -> None:
        """Put a text in place of what is written, as if it were typed: Ctrl+Z takes it back."""
        cursor = self.editor.textCursor()
        cursor.select(cursor.SelectionType.Document)
        cursor.insertText(source)

    @Slot()
    def _on_text(self) -> None:
        self.reset_button.setEnabled(self.source != self._own)
        self._say(self.tr("The prompt follows as soon as the engine has time."), "small")
        self.source_changed.emit()

    @Slot()
    def _on_reset(self) -> None:
        self._put(self._own)

    @Slot()
    def _on_format(self) -> None:
        source = str(self.formats.currentData())
        self.formats.setCurrentIndex(0)
        if source:
            self._put(source)


def _as_shown(text: str) -> str:
    """Return a text as an editor gives it back, which knows one end of a line and one blank."""
    for end in ("\r\n", "\r", "\u2028", "\u2029"):
        text = text.replace(end, "\n")
    return text.replace("\u00a0", " ")
