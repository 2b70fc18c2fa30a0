"""Ways in which the loaded model is given a chat: the choice of reasoning, and templates."""

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
from paceline.settings import ModelPrompting

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program
    from paceline.gui.sampling.prompting import TemplateEditor

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
    program.context_meter.ask_now()
    assert client.last(CountTokens).prompt.prompting == Prompting(think="low")
    think(program, "")
    assert kept(program) == ()


def load(program: Program, client: FakeClient, path: str, file_id: str = "") -> None:
    program.models.load_models(Pair(ModelParams(path)))
    client.finish_load(file_id=file_id)


def test_a_choice_is_kept_for_its_model_and_dropped_where_it_is_gone(
    program: Program, client: FakeClient
) -> None:
    high = Prompting(think="high")
    others = ModelPrompting("other.gguf", Prompting("{{ messages }}"))
    program.settings.set("promptings", (ModelPrompting("mine.gguf", high), others))
    load(program, client, "/models/mine.gguf")
    assert program.next_reply.options().prompting == high
    client.emit(PromptRendered(problem="No model is loaded."))
    assert program.next_reply.options().prompting == high, "it says nothing about choices"
    load(program, client, "/models/mine.gguf")
    tell(client, "off", "on")
    assert program.next_reply.options().prompting == Prompting()
    assert kept(program) == (others,)
    load(program, client, "/elsewhere/other.gguf")
    assert client.last(RenderPrompt).chat.prompting == others.prompting
    assert program.next_reply.options().prompting == others.prompting


def test_a_choice_belongs_to_the_file_wherever_it_lies_and_whatever_its_name(
    program: Program, client: FakeClient
) -> None:
    by_name = ModelPrompting("model.gguf", Prompting(think="high"))  # kept by an older version
    program.settings.set("promptings", (by_name,))
    found = []
    for path, file_id in (
        ("/one/model.gguf", "a" * 16), ("/two/model.gguf", "b" * 16),
        ("/two/renamed.gguf", "a" * 16),
    ):  # fmt: skip
        load(program, client, path, file_id)
        tell(client, "off", "high")
        found.append(program.next_reply.options().prompting)
        if len(found) == 1:
            think(program, "off")
            assert kept(program) == (ModelPrompting("a" * 16, Prompting(think="off")),)
    assert found == [Prompting(think="high"), Prompting(), Prompting(think="off")]


@pytest.mark.parametrize(
    ("sent", "roles"),
    [((), ["system", "user"]), (("old", "new"), ["user", "assistant"])],
    ids=["empty", "long"],
)
def test_an_empty_chat_is_shown_by_an_example_and_of_a_long_one_the_end(
    program: Program, client: FakeClient, sent: tuple[str, ...], roles: list[str]
) -> None:
    tell(client)
    for word in sent:
        program.chat.send(word * 25_000)
        client.reply("Hi.")
    if not sent:
        program.window.panel.sampling.system_prompt.setPlainText("Be brief.")
    editor = opened(program)
    messages = client.last(RenderPrompt).chat.messages
    assert [m.role for m in messages] == roles
    assert not sent or messages[0].text.startswith("new")
    editor.reject()


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
    rendered(client, qtbot, editor)
    client.emit(PromptRendered(problem="Wrong in line 1.", own=OWN))
    client.emit(PromptRendered("an old answer", 3, own=OWN), first)
    assert editor.verdict.text() == "Wrong in line 1."
    assert editor.preview.toPlainText() == "A prompt."  # what was last right
    editor.reset_button.click()  # or its text would be there again in the next test
    editor.reject()


def test_a_template_is_used_kept_and_reset(
    make_program: Callable[..., Program], client: FakeClient
) -> None:
    program = make_program()  # its editor has nothing to undo yet
    client.finish_load()
    card = program.window.panel.sampling
    tell(client, is_guessed=True)
    guessed = card.template_button.text()
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
    assert card.template_button.text() != guessed
    program.chat.send("Once")
    assert client.last(StartTurn).prompt.prompting.template == CONTINUE.source
    client.reply(" upon")
    editor = opened(program)
    assert editor.source == CONTINUE.source
    editor.reset_button.click()
    editor.accept()
    assert kept(program) == ()


@pytest.mark.parametrize("written", ["  \n", None], ids=["nothing", "untouched"])
def test_what_says_nothing_else_than_the_own_template_stays_the_own(
    program: Program, client: FakeClient, written: str | None
) -> None:
    client.emit(PromptRendered("x", 1, own="a\r\n{{ messages[0].content }}\u00a0\u2028b"))
    editor = opened(program)
    if written is not None:
        editor.editor.setPlainText(written)
    editor.accept()
    assert kept(program) == ()


def test_without_a_model_there_is_nothing_to_edit(program: Program, client: FakeClient) -> None:
    card, action = program.window.panel.sampling, program.window.actions_.chat_template
    for is_loaded in (False, True):
        if is_loaded:
            client.finish_load()
            tell(client, "off", "on")
        else:
            program.models.reload()
        assert action.isEnabled() == is_loaded
        assert is_loaded or not card.thinking.isVisibleTo(card)


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


def test_a_model_that_is_loaded_meanwhile_does_not_touch_the_edited_one(
    program: Program, client: FakeClient
) -> None:
    program.settings.set("promptings", (ModelPrompting("mine.gguf", Prompting(think="high")),))
    load(program, client, "/models/mine.gguf")
    tell(client, "off", "high")
    editor = opened(program)
    load(program, client, "/models/other.gguf")
    tell(client)
    before = kept(program)
    editor.accept()
    assert before
    assert kept(program) == before


def test_what_was_put_back_before_escape_is_not_there_again(
    program: Program, client: FakeClient
) -> None:
    tell(client)
    for _ in range(2):
        editor = opened(program)
        assert editor.source == OWN
        editor.editor.setPlainText("{{ messages }} of mine")
        editor.reject()
        editor = opened(program)
        editor.reset_button.click()
        editor.reject()


def test_what_was_written_is_there_again_after_escape(program: Program, client: FakeClient) -> None:
    tell(client)
    editor = opened(program)
    editor.editor.setPlainText("{{ messages }} of mine")
    editor.reject()
    assert kept(program) == ()
    again = opened(program)
    assert again.source == "{{ messages }} of mine"
    again.accept()
    assert kept(program)[0].prompting.template == "{{ messages }} of mine"
