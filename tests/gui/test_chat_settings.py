"""The settings of a chat in the window: they follow the chat that is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paceline.messages import StartTurn, Tune
from paceline.params import ReplySettings, SamplingParams
from paceline.settings import ReplyPreset, Settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program

BRIEF = ReplySettings(SamplingParams(0.2, json_schema='{"type": "object"}'), 50, 3, "Be brief.")


def set_and_ask(program: Program, client: FakeClient, settings: ReplySettings, text: str) -> str:
    """Set what a chat has, ask in it, and return its id."""
    program.window.panel.sampling.use(settings)
    program.session.send(text)
    client.reply("An answer.")
    return program.session.current.conversation_id


def test_the_card_follows_the_chat_at_once_also_while_another_one_is_answered(
    program: Program, client: FakeClient
) -> None:
    card, status = program.window.panel.sampling, program.window.status
    brief = set_and_ask(program, client, BRIEF, "One")
    program.session.new()
    assert card.settings == ReplySettings()
    program.session.send("Two")
    plain = program.session.current.conversation_id
    turn_id = client.start_turn()
    client.step("Well", 0)
    program.session.show(brief)
    assert card.settings == BRIEF
    assert card.system_prompt.toPlainText() == "Be brief."
    assert "T 0.2" in status.settings
    card.temperature.field.setValue(1.5)
    client.step(" then", 1)
    program.session.show(plain)
    assert card.settings == ReplySettings()
    client.finish_turn("Well then")
    reply = program.session.conversations.reply_of(program.session.current.path()[1].message_id)
    assert reply is not None
    assert reply.options.settings == ReplySettings()
    assert not client.all(Tune)
    program.session.show(brief)
    assert card.temperature.value == 1.5
    assert client.last(StartTurn).turn_id == turn_id


def test_showing_a_chat_changes_nothing_in_it(program: Program, client: FakeClient) -> None:
    odd = ReplySettings(SamplingParams(temperature=0.123456, top_p=0.87654))
    program.session.conversations.set_settings(odd)
    program.session.send("One")
    client.reply("1")
    chat = program.session.current.conversation_id
    program.session.new()
    program.session.show(chat)
    assert program.session.conversations.settings == odd, "fields round what they show"


def test_what_keeps_a_chat_from_being_answered_is_its_own(
    program: Program, client: FakeClient
) -> None:
    composer, card = program.window.chat_pane.composer, program.window.panel.sampling
    fine = set_and_ask(program, client, BRIEF, "One")
    program.session.new()
    program.session.send("Two")
    client.reply("2")
    card.form.put_text("schema", "{")
    composer.set_text("More")
    assert not composer.button.isEnabled()
    program.session.show(fine)
    composer.set_text("More")
    assert composer.button.isEnabled()


def test_other_defaults_change_a_new_chat_and_no_old_one(
    program: Program, client: FakeClient
) -> None:
    card, presets = program.window.panel.sampling, program.reply_presets.presets
    chat = set_and_ask(program, client, BRIEF, "One")
    presets.save_as("Brief")
    program.session.new()
    program.reply_presets.apply(":precise")
    program.session.send("Two")
    client.reply("2")
    precise = program.session.current.conversation_id
    program.session.new()
    assert card.settings == ReplySettings()
    program.session.show(chat)
    presets.make_default()
    program.session.new()
    assert card.settings == BRIEF
    program.session.show(precise)
    assert card.settings.sampling.temperature == 0.2
    assert card.settings.system_prompt == ""
    program.session.new()
    presets.delete("Brief")
    assert card.settings == ReplySettings(), "nothing was set in this chat"


def test_reset_puts_all_back_to_the_defaults_of_new_chats_and_can_be_undone(
    make_program: Callable[..., Program], client: FakeClient
) -> None:
    mine = ReplySettings(SamplingParams(0.4), system_prompt="Of the defaults.")
    program = make_program(
        Settings(
            was_welcomed=True, reply_presets=(ReplyPreset("Mine", mine),), default_preset="Mine"
        )
    )
    client.finish_load()
    card, errors = program.window.panel.sampling, program.window.chat_pane.errors
    assert card.settings == mine
    card.use(BRIEF)
    card.reset_button.click()
    assert card.settings == program.session.conversations.settings == mine
    errors.action.click()
    assert card.settings == BRIEF
    card.reset_button.click()
    program.session.send("One")
    client.reply("1")
    program.session.new()
    assert errors.isHidden(), "the undo was about the chat from before"


def test_settings_outlive_the_window(
    make_program: Callable[..., Program], client: FakeClient, tmp_path: Path, qtbot: QtBot
) -> None:
    file = tmp_path / "chats.db"
    first = make_program(Settings(was_welcomed=True), chats_file=file)
    client.finish_load()
    chat = set_and_ask(first, client, ReplySettings(), "One")
    first.window.panel.sampling.use(BRIEF)
    first.window.close()
    second = make_program(Settings(was_welcomed=True), chats_file=file, engine=type(client)())
    second.session.show(chat)
    assert second.window.panel.sampling.settings == BRIEF
