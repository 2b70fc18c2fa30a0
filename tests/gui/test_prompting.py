"""How the loaded model is given a chat: the choice of reasoning, and the editor of templates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from paceline.chat.pair import Pair
from paceline.engine.prompt.formats import CONTINUE
from paceline.gui.sampling.prompting import REFUSALS
from paceline.messages import (
    CountTokens,
    LoadPair,
    PromptRendered,
    RenderPrompt,
    StartTurn,
    TurnFailed,
)
from paceline.params import ModelParams, Prompting
from paceline.settings import ModelPrompting, Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program
    from paceline.gui.sampling.prompting import TemplateEditor

pytestmark = [
    pytest.mark.qt_log_ignore("This plugin does not support"),
]
OWN = "{{ messages[0].content }}"


def tell(client: FakeClient, *thinking: str, is_guessed: bool = False) -> None:
    """Answer the window's newest question about a prompt."""
    client.emit(PromptRendered("the prompt", 10, thinking=thinking, own=OWN, is_guessed=is_guessed))


def target_of(client: FakeClient) -> str:
    return client.last(LoadPair).target.path.rpartition("/")[2]


def kept(program: Program) -> tuple[ModelPrompting, ...]:
    return program.settings.settings.promptings


def think(program: Program, choice: str) -> None:
    field = program.window.panel.sampling.thinking
    field.setCurrentIndex(field.findData(choice))
    field.activated.emit(field.currentIndex())


def opened(program: Program) -> TemplateEditor:
    program.window.actions_.chat_template.trigger()
    editor = program.prompting.dialog
    assert editor is not None
    return editor


def rendered(client: FakeClient, qtbot: QtBot, editor: TemplateEditor) -> RenderPrompt:
    """The question about what is written in the editor."""
    qtbot.waitUntil(lambda: client.last(RenderPrompt).chat.prompting.template == editor.source)
    return client.last(RenderPrompt)


def test_reasoning_can_be_chosen_where_the_template_has_a_switch(
    program: Program, client: FakeClient
) -> None:
    card = program.window.panel.sampling
    program.window.panel.open_only(("more",))
    assert not card.thinking.isVisibleTo(card)
    tell(client, "off", "low", "high")
    assert card.thinking.isVisibleTo(card)
    assert [card.thinking.itemData(i) for i in range(4)] == ["", "off", "low", "high"]
    think(program, "low")
    assert kept(program) == (ModelPrompting(target_of(client), Prompting(think="low")),)
    program.chat.send("Hello?")
    assert client.last(StartTurn).prompt.prompting == Prompting(think="low")
    client.reply("Hi.")
    think(program, "")
    assert kept(program) == ()


def test_a_choice_is_kept_for_its_model_and_dropped_where_it_is_gone(
    make_program: Callable[..., Program], client: FakeClient
) -> None:
    name = "mine.gguf"
    others = ModelPrompting("other.gguf", Prompting("{{ messages }}"))
    program = make_program(
        Settings(promptings=(ModelPrompting(name, Prompting(think="high")), others))
    )
    program.models.load_models(Pair(ModelParams(f"/models/{name}")))
    client.finish_load()
    assert program.next_reply.options().prompting == Prompting(think="high")
    tell(client, "off", "on")
    assert program.next_reply.options().prompting == Prompting()
    assert kept(program) == (others,)
    program.models.load_models(Pair(ModelParams("/elsewhere/other.gguf")))
    client.finish_load()
    assert client.last(RenderPrompt).chat.prompting == others.prompting
    assert program.next_reply.options().prompting == others.prompting


def test_a_choice_belongs_to_the_file_wherever_it_lies_and_whatever_it_is_called(
    make_program: Callable[..., Program], client: FakeClient
) -> None:
    by_name = ModelPrompting("model.gguf", Prompting(think="high"))  # kept by an older version
    program = make_program(Settings(promptings=(by_name,)))

    def load(path: str, file_id: str) -> Prompting:
        program.models.load_models(Pair(ModelParams(path)))
        client.finish_load(file_id=file_id)
        tell(client, "off", "high")
        return program.next_reply.options().prompting

    assert load("/one/model.gguf", "a" * 16) == Prompting(think="high")
    think(program, "off")
    assert kept(program) == (ModelPrompting("a" * 16, Prompting(think="off")),)
    assert load("/two/model.gguf", "b" * 16) == Prompting(), "another model of that name"
    assert load("/two/renamed.gguf", "a" * 16) == Prompting(think="off")


def test_the_meter_counts_by_the_template_in_force(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    tell(client, "off", "on")
    program.chat.send("Hello?")
    client.reply("Hi.")
    think(program, "off")
    qtbot.waitUntil(
        lambda: any(c.prompt.prompting == Prompting(think="off") for c in client.all(CountTokens))
    )


def test_the_editor_shows_the_chat_through_what_is_written(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    tell(client)
    program.chat.send("Hello?")
    client.reply("Hi.")
    editor = opened(program)
    assert editor.source == OWN
    assert not editor.reset_button.isEnabled()
    asked = client.last(RenderPrompt)
    first = client.tickets[-1]
    assert [m.text for m in asked.chat.messages] == ["Hello?", "Hi."]
    client.emit(PromptRendered("A prompt.", 9, stops=("\nUser:",), own=OWN))
    assert editor.preview.toPlainText() == "A prompt."
    assert "“User:”" in editor.verdict.text()
    editor.editor.setPlainText("{% if %}")
    asked = rendered(client, qtbot, editor)
    client.emit(PromptRendered(problem="Wrong in line 1.", own=OWN))
    assert editor.verdict.text() == "Wrong in line 1."
    assert editor.preview.toPlainText() == "A prompt."  # what was last right
    client.emit(PromptRendered("an old answer", 3, own=OWN), first)
    assert editor.verdict.text() == "Wrong in line 1."


def test_an_empty_chat_is_shown_by_an_example(program: Program, client: FakeClient) -> None:
    tell(client)
    program.window.panel.sampling.system_prompt.setPlainText("Be brief.")
    opened(program)
    assert [m.role for m in client.last(RenderPrompt).chat.messages] == ["system", "user"]


def test_of_a_long_chat_the_end_is_shown(program: Program, client: FakeClient) -> None:
    tell(client)
    for word in ("old", "new"):
        program.chat.send(word * 25_000)
        client.reply("Hi.")
    opened(program)
    messages = client.last(RenderPrompt).chat.messages
    assert [m.text[:3] for m in messages] == ["new", "Hi."]


def test_a_template_is_used_kept_and_reset(
    make_program: Callable[..., Program], client: FakeClient, qtbot: QtBot
) -> None:
    program = make_program()
    client.finish_load()
    card = program.window.panel.sampling
    tell(client, is_guessed=True)
    assert "guessed" in card.template_button.text()
    editor = opened(program)
    row = editor.formats.findData(CONTINUE.source)
    editor.formats.setCurrentIndex(row)
    editor.formats.activated.emit(row)
    assert editor.source == CONTINUE.source
    editor.editor.undo()
    assert editor.source == OWN
    editor.editor.redo()
    editor.accept()
    assert kept(program) == (ModelPrompting(target_of(client), Prompting(CONTINUE.source)),)
    tell(client)
    assert "your own" in card.template_button.text()
    program.chat.send("Once")
    assert client.last(StartTurn).prompt.prompting.template == CONTINUE.source
    client.reply(" upon")
    editor = opened(program)
    assert editor.source == CONTINUE.source
    editor.reset_button.click()
    editor.accept()
    assert kept(program) == ()


def test_what_is_written_is_not_used_when_cancelled_and_nothing_counts_as_the_own(
    program: Program, client: FakeClient
) -> None:
    tell(client)
    editor = opened(program)
    editor.editor.setPlainText("something else")
    editor.reject()
    assert kept(program) == ()
    editor = opened(program)
    editor.editor.setPlainText("  \n")
    editor.accept()
    assert kept(program) == ()


def test_without_a_model_there_is_nothing_to_edit(
    make_program: Callable[..., Program], client: FakeClient
) -> None:
    program = make_program()
    action = program.window.actions_.chat_template
    assert not action.isEnabled()
    client.finish_load()
    tell(client, "off", "on")
    assert action.isEnabled()
    program.models.reload()
    assert not action.isEnabled()
    assert not program.window.panel.sampling.thinking.isVisibleTo(program.window.panel.sampling)


@pytest.mark.grid(short=2)
@pytest.mark.parametrize("code", REFUSALS)
def test_a_template_that_refuses_a_chat_gives_the_message_back(
    program: Program, client: FakeClient, code: str
) -> None:
    tell(client)
    program.chat.send("Hello?")
    client.emit(TurnFailed(code, "The chat template failed.", "Take another one."))
    assert program.window.chat_pane.composer.text == "Hello?"
    assert program.shown.conversation.path() == ()
    notice = program.window.chat_pane.errors
    assert "template failed" in notice.text.text()
    editor = opened(program)
    editor.editor.setPlainText("a better one")
    editor.accept()
    assert notice.isHidden()


@pytest.fixture
def reasoning(make_program: Callable[[Settings], Program], client: FakeClient) -> Program:
    """With a choice that is kept for the loaded model."""
    chosen = Prompting(think="high")
    program = make_program(Settings(promptings=(ModelPrompting("mine.gguf", chosen),)))
    program.models.load_models(Pair(ModelParams("/models/mine.gguf")))
    client.finish_load()
    return program


def test_an_answer_that_names_a_problem_says_nothing_about_choices(
    reasoning: Program, client: FakeClient
) -> None:
    client.emit(PromptRendered(problem="No model is loaded."))
    assert kept(reasoning)[0].prompting.think == "high"


def test_a_model_that_is_loaded_meanwhile_does_not_touch_the_edited_one(
    reasoning: Program, client: FakeClient
) -> None:
    tell(client, "off", "high")
    editor = opened(reasoning)
    reasoning.models.load_models(Pair(ModelParams("/models/other.gguf")))
    client.finish_load()
    tell(client)
    before = kept(reasoning)
    editor.accept()
    assert before
    assert kept(reasoning) == before


def test_what_was_written_is_there_again_after_escape(program: Program, client: FakeClient) -> None:
    target_of(client)
    tell(client)
    opened(program).editor.setPlainText("{{ messages }} of mine")
    opened(program).reject()
    assert kept(program) == ()
    again = opened(program)
    assert again.source == "{{ messages }} of mine"
    again.accept()
    assert kept(program)[0].prompting.template == "{{ messages }} of mine"


def test_a_template_that_was_not_touched_stays_the_own(
    program: Program, client: FakeClient
) -> None:
    own = "a\r\n{{ messages[0].content }}\u00a0\u2028b"
    client.emit(PromptRendered("x", 1, own=own))
    opened(program).accept()
    assert kept(program) == ()
