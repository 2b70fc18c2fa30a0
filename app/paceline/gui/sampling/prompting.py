"""How the loaded model is given a chat: its template and how much it reasons, kept per model.

What a template does, only the engine knows: it renders the shown chat for the editor, and says
which choices there are for the model's reasoning.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from paceline.chat.prompt import build_messages
from paceline.gui.sampling.template_editor import TemplateEditor
from paceline.messages import ChatMessage, PromptRendered, RenderPrompt
from paceline.params import Prompting
from paceline.settings import MAX_PROMPTINGS, ModelPrompting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.chat.pair import PairState
    from paceline.gui.context import AppContext
    from paceline.gui.sampling.sampling_settings import SamplingSettings
    from paceline.messages import Event

REFUSALS = ("bad-template", "template-refused", "no-thinking-switch", "control-token")
"""What the engine answers to a template that it cannot use; the reply has not begun then."""
TEMPLATE = "template"
"""Topic of notices about the chat template; a change of it settles them."""
RENDER_AFTER_MS = 300
"""After the last key press in the editor."""
_MOST_CHARS = 100_000
"""Of the chat, from its end, that the editor shows through the template."""


def prompting_for(kept: Sequence[ModelPrompting], state: PairState) -> Prompting:
    """Return what is kept for a pair's target; the defaults where nothing is."""
    return _kept_for(kept, _names_of(state))


def _kept_for(kept: Sequence[ModelPrompting], names: Sequence[str]) -> Prompting:
    found = (each.prompting for name in names for each in kept if each.target == name)
    return next(found, Prompting())


def _names_of(state: PairState) -> tuple[str, ...]:
    """Return what a target's choices are kept under: its id, or, before that, its file name."""
    if state.target is None:
        return ()
    return tuple(filter(None, (state.target.file_id, Path(state.target.path).name)))


class PromptingController(QObject):
    """Binds the choice of reasoning and the editor to engine and settings; main thread."""

    def __init__(
        self, context: AppContext, card: SamplingSettings, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._context = context
        self._kept = context.settings.setting("promptings")
        self._card = card
        self._names: tuple[str, ...] = ()
        self._own, self._is_guessed = "", False
        self._n_asked = 0
        self._about_model = self._about_chat = ""  # the newest questions of both kinds
        self.editor: TemplateEditor | None = None
        # By target: what was written when an editor was left.
        self._unsaved: dict[tuple[str, ...], str] = {}
        self._render = QTimer(self, singleShot=True, interval=RENDER_AFTER_MS)
        self._render.timeout.connect(self._on_render)
        card.think_chosen.connect(self._on_think)
        card.template_button.clicked.connect(context.actions.chat_template.trigger)
        context.actions.chat_template.triggered.connect(self.open)
        context.session.add_observer(self._on_event)
        context.pair.changed.connect(self._on_pair)
        self._kept.changed.connect(self._on_kept)
        self._on_pair(context.pair.state)

    @property
    def prompting(self) -> Prompting:
        """What is kept for the target that was loaded last."""
        return _kept_for(self._kept.value, self._names)

    @Slot()
    def open(self) -> None:
        """Open the editor, which asks for the prompt of the shown chat."""
        if self.editor is None:
            self.editor = TemplateEditor(
                self._context.pair.target_name,
                self._own,
                self._unsaved.get(self._names) or self.prompting.template or self._own,
                is_guessed=self._is_guessed,
                parent=self._context.window,
            )
            self.editor.source_changed.connect(self._render.start)
            self.editor.accepted.connect(self._on_accepted)
            self.editor.rejected.connect(self._on_rejected)
            self.editor.finished.connect(self._on_finished)
            self.editor.open()
            self._on_render()

    def close(self) -> None:
        """Close what is open, with the window."""
        if self.editor is not None:
            self.editor.reject()

    # -------------------------------------------------------------------------------- asking

    def _ask_about_model(self) -> None:
        probe = (ChatMessage("user", "?"),)
        self._about_model = self._ask(probe, Prompting(self.prompting.template))

    def _ask(self, messages: tuple[ChatMessage, ...], prompting: Prompting) -> str:
        self._n_asked += 1
        request_id = f"prompt-{self._n_asked}"
        self._context.client.submit(RenderPrompt(request_id, messages, prompting))
        return request_id

    @Slot()
    def _on_render(self) -> None:
        """Ask for the shown chat through the template that is being written."""
        if self.editor is None:
            return
        path = self._context.session.current.path()
        messages = build_messages(path, self._context.session.conversations.settings.system_prompt)
        if not any(message.role == "user" for message in messages):
            messages = (*messages, ChatMessage("user", self.tr("What is a list?")))
        prompting = replace(self.prompting, template=self.editor.source)
        self._about_chat = self._ask(_end_of(messages), prompting)

    def _on_event(self, event: Event) -> None:
        if not isinstance(event, PromptRendered):
            return
        if event.request_id == self._about_chat and self.editor is not None:
            self.editor.show_prompt(event)
        elif event.request_id == self._about_model:
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
            if self.editor is None:  # what is written there belongs to the model from before
                self._names = _names_of(state)
                self._ask_about_model()
        else:  # an open editor stays, with what is written in it
            self._context.actions.chat_template.setEnabled(False)
            self._card.show_prompting(Prompting(), (), is_guessed=False)

    @Slot()
    def _on_kept(self) -> None:
        self._context.notices.settled.emit(TEMPLATE)

    @Slot(str)
    def _on_think(self, think: str) -> None:
        self._keep(replace(self.prompting, think=think))

    @Slot()
    def _on_accepted(self) -> None:
        if self.editor is not None:
            source = self.editor.source
            template = "" if source == self._own else source
            self._keep(replace(self.prompting, template=template))
            self._unsaved.pop(self._names, None)

    @Slot()
    def _on_rejected(self) -> None:
        if self.editor is not None and self.editor.source != (self.prompting.template or self._own):
            self._unsaved[self._names] = self.editor.source

    @Slot()
    def _on_finished(self) -> None:
        self.editor = None
        self._render.stop()
        self._on_pair(self._context.pair.state)


def _end_of(messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
    """Return the newest messages, from a question on; the system prompt stays."""
    n_chars = 0
    begin = len(messages) - 1
    for i in range(len(messages) - 1, -1, -1):
        n_chars += len(messages[i].content)
        if n_chars > _MOST_CHARS:
            break
        if messages[i].role == "user":
            begin = i
    head = messages[:1] if messages[0].role == "system" else ()
    return (*head, *messages[max(begin, len(head)) :])
