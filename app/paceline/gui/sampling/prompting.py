"""Prompting of the loaded model: its chat template and its amount of reasoning, kept per model.

Only the engine knows the effect of a template: it renders the shown chat for the editor, and
returns the choices for the model's reasoning.
"""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from paceline.chat.pair import PairState
from paceline.chat.prompt import build_messages
from paceline.engine.prompt.formats import FORMATS
from paceline.gui.context import AppContext
from paceline.gui.kit.dialogs import DialogOwner, deciding_box
from paceline.gui.kit.fields import DropDown, LeavingEdit, TextField
from paceline.gui.kit.labels import text_label, with_soft_breaks
from paceline.gui.kit.layouts import column_of, row_of, set_look
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local
from paceline.gui.look.scale import SMALL, STEP, px
from paceline.gui.look.theme import mono_font
from paceline.gui.sampling.sampling_settings import SamplingSettings
from paceline.gui.state.next_reply import kept_for, names_of
from paceline.hosting.newest import NewestQuestion
from paceline.messages import Chat, ChatMessage, Event, PromptRendered, RenderPrompt
from paceline.params import Prompting
from paceline.settings import MAX_PROMPTINGS, ModelPrompting

_SIZE_PX = 900, 560


class TemplateEditor(QDialog):
    """Editor of a template, read by `source`; its owner requests the prompt from the engine."""

    source_changed = Signal()

    def __init__(
        self, model: str, own: str, source: str, *, is_guessed: bool, parent: QWidget | None = None
    ) -> None:
        """Show a template.

        Args:
            model: The model's name.
            own: The file's template, or the guess where it has none.
            source: The template in force.
            is_guessed: Whether `own` is a guess.
            parent: The window below the dialog.
        """
        super().__init__(parent)
        self.setWindowTitle(self.tr("Chat template"))
        self._own = own
        title = text_label(self.tr("Chat template of {}").format(model), "title", plain=True)
        remark = text_label(
            self.tr(
                "The file has no template that works, so this one is a guess. Yours is kept for "
                "this model."
            )
            if is_guessed
            else self.tr("How a chat is written for the model. Yours is kept for this model."),
            "muted",
            wraps=True,
        )
        self.editor = LeavingEdit(source)
        self.preview = TextField()
        self.preview.setReadOnly(True)
        self.verdict = text_label("", "", wraps=True, plain=True)
        panes = row_of(
            self._pane(self.tr("Template (Jinja)"), self.editor),
            self._pane(self.tr("Prompt of this chat"), self.preview),
            spacing=2 * STEP,
        )
        self.reset_button = QPushButton(
            self.tr("Reset to the guess") if is_guessed else self.tr("Reset to the file's own")
        )
        self.reset_button.clicked.connect(self._on_reset)
        self.formats = self._make_formats()
        buttons, _ = deciding_box(self, self.tr("Use this template"), self.accept)
        foot = row_of(self.reset_button, self.formats, None, buttons)
        column_of(
            title,
            remark,
            (panes, 1),
            self.verdict,
            foot,
            on=self,
            margins=(20, 18, 20, 16),
            spacing=STEP,
        )
        self.resize(px(_SIZE_PX[0]), px(_SIZE_PX[1]))
        self.editor.textChanged.connect(self._on_text)
        self._on_text()

    @property
    def source(self) -> str:
        """The template as written now, or the model's own for an empty text."""
        text = self.editor.toPlainText()
        return text if text.strip() and text != _as_shown(self._own) else self._own

    def show_prompt(self, answer: PromptRendered) -> None:
        """Show the rendered chat, or the error beside the last good prompt."""
        if answer.problem:
            self._say(said(answer.problem), "danger")
            return
        if self.preview.toPlainText() != answer.text:
            self.preview.setPlainText(answer.text)
            bar = self.preview.verticalScrollBar()
            bar.setValue(bar.maximum())
        words = [
            self.tr("{:,} characters.").format(local(answer.n_chars)),
            *map(said, answer.notes),
        ]
        if answer.stops:
            ends = ", ".join(f"“{stop.strip()}”" for stop in answer.stops)
            words.append(self.tr("A reply ends before {}.").format(ends))
        self._say(" ".join(words), "small")

    def _say(self, words: str, role: str) -> None:
        self.verdict.setText(with_soft_breaks(words))
        set_look(self.verdict, role=role)

    def _pane(self, name: str, field: QPlainTextEdit) -> QVBoxLayout:
        field.setProperty("kind", "code")
        field.setFont(mono_font(SMALL))
        label = text_label(name, "muted")
        label.setBuddy(field)
        return column_of(label, (field, 1), spacing=4)

    def _make_formats(self) -> DropDown:
        names = {
            "plain": self.tr("Plain text with User: and Assistant:"),
            "continue": self.tr("Go on with the text"),
        }
        known = ((names.get(each.name, each.name), each.source) for each in FORMATS)
        entries = ((self.tr("Start from…"), ""), *known)
        choice = DropDown(entries, name=self.tr("Start from another template"), n_letters=16)
        choice.activated.connect(self._on_format)
        return choice

    def _put(self, source: str) -> None:
        """Replace the text as if it were typed, so that Ctrl+Z undoes it."""
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
    """Return a text in an editor's form, with one kind of line end and of space."""
    for end in ("\r\n", "\r", "\u2028", "\u2029"):
        text = text.replace(end, "\n")
    return text.replace("\u00a0", " ")


REFUSALS = ("bad-template", "template-refused", "no-thinking-switch", "control-token")
"""Error codes for a template that cannot be used; the reply has not begun then."""
TEMPLATE = "template"
"""Topic of notices about the chat template; a change of it resolves them."""
RENDER_AFTER_MS = 300
"""Pause after the last key press in the editor before it is rendered."""
_MAX_CHAT_CHARS = 100_000
"""Maximum number of characters of the chat, from its end, that the editor renders."""


class PromptingController(DialogOwner[TemplateEditor]):
    """Connects the choice of reasoning and the editor with engine and settings; main thread."""

    def __init__(self, context: AppContext, card: SamplingSettings, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._kept = context.settings.setting("promptings")
        self._card = card
        self._names: tuple[str, ...] = ()
        self._own, self._is_guessed = "", False
        self._about_model = NewestQuestion(context.client, self._on_about_model)
        self._about_chat = NewestQuestion(context.client, self._on_about_chat)
        # Unsaved text of a closed editor, by target.
        self._unsaved: dict[tuple[str, ...], str] = {}
        self._render = QTimer(self, singleShot=True, interval=RENDER_AFTER_MS)
        self._render.timeout.connect(self._on_render)
        card.thinking.activated.connect(self._on_think)
        card.template_button.clicked.connect(context.actions.chat_template.trigger)
        context.actions.chat_template.triggered.connect(self.open)
        context.pair.changed.connect(self._on_pair)
        self._kept.changed.connect(self._on_kept)
        self._on_pair(context.pair.state)

    @property
    def prompting(self) -> Prompting:
        """The choices stored for the target that was loaded last."""
        return kept_for(self._kept.value, self._names)

    @Slot()
    def open(self) -> None:
        """Open the editor, which requests the prompt of the shown chat."""
        if self.dialog is None:
            editor = TemplateEditor(
                self._context.pair.target_name,
                self._own,
                self._unsaved.get(self._names) or self.prompting.template or self._own,
                is_guessed=self._is_guessed,
                parent=self._context.window,
            )
            editor.source_changed.connect(self._render.start)
            editor.accepted.connect(self._on_accepted)
            editor.rejected.connect(self._on_rejected)
            self.own(editor).open()
            self._on_render()

    # -------------------------------------------------------------------------------- asking

    def _ask_about_model(self) -> None:
        probe = (ChatMessage.of_text("user", "?"),)
        prompting = Prompting(self.prompting.template)
        self._about_model.ask(RenderPrompt(Chat(probe, prompting)))

    @Slot()
    def _on_render(self) -> None:
        """Request the shown chat rendered by the edited template."""
        if self.dialog is None:
            return
        shown = self._context.shown
        known = self._context.session.conversations.known_in(shown.id)
        path, system_prompt = shown.conversation.path(), shown.sent_settings.system_prompt
        messages = build_messages(path, system_prompt, known)
        if not any(message.role == "user" for message in messages):
            messages = (*messages, ChatMessage.of_text("user", self.tr("What is a list?")))
        prompting = replace(self.prompting, template=self.dialog.source)
        self._about_chat.ask(RenderPrompt(Chat(_end_of(messages), prompting)))

    def _on_about_chat(self, event: Event) -> None:
        if isinstance(event, PromptRendered) and self.dialog is not None:
            self.dialog.show_prompt(event)

    def _on_about_model(self, event: Event) -> None:
        if isinstance(event, PromptRendered):
            self._own, self._is_guessed = event.own, event.is_guessed
            prompting = self.prompting
            if not event.problem and prompting.think not in ("", *event.thinking):
                self._keep(replace(prompting, think=""))
            self._card.show_prompting(self.prompting, event.thinking, is_guessed=event.is_guessed)
            self._context.actions.chat_template.setEnabled(bool(event.own))

    # ------------------------------------------------------------------------------- keeping

    def _keep(self, prompting: Prompting) -> None:
        names = self._names
        others = tuple(each for each in self._kept.value if each.target not in names)
        if names and prompting != Prompting():
            others = (ModelPrompting(names[0], prompting), *others)
        self._kept.set_value(others[:MAX_PROMPTINGS])

    @Slot(object)
    def _on_pair(self, state: PairState) -> None:
        if state.status == "ready":
            if self.dialog is None:  # its text belongs to the previous model
                self._names = names_of(state)
                self._ask_about_model()
        else:  # an open editor stays, with its text
            self._context.actions.chat_template.setEnabled(False)
            self._card.show_prompting(Prompting(), (), is_guessed=False)

    @Slot()
    def _on_kept(self) -> None:
        self._context.notices.resolved.emit(TEMPLATE)

    @Slot()
    def _on_think(self) -> None:
        think = str(self._card.thinking.currentData())
        self._keep(replace(self.prompting, think=think))

    @Slot()
    def _on_accepted(self) -> None:
        if self.dialog is not None:
            source = self.dialog.source
            template = "" if source == self._own else source
            self._keep(replace(self.prompting, template=template))
            self._unsaved.pop(self._names, None)

    @Slot()
    def _on_rejected(self) -> None:
        if self.dialog is None:
            return
        source = self.dialog.source
        if source == (self.prompting.template or self._own):
            self._unsaved.pop(self._names, None)
        else:
            self._unsaved[self._names] = source

    @Slot()
    def _on_finished(self) -> None:
        super()._on_finished()
        self._render.stop()
        self._on_pair(self._context.pair.state)


def _end_of(messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
    """Return the newest messages, from a question on; the system prompt stays."""
    n_chars = 0
    begin = len(messages) - 1
    for i in range(len(messages) - 1, -1, -1):
        n_chars += len(messages[i].text)
        if n_chars > _MAX_CHAT_CHARS:
            break
        if messages[i].role == "user":
            begin = i
    head = messages[:1] if messages[0].role == "system" else ()
    return (*head, *messages[max(begin, len(head)) :])
