"""The settings of a chat in the window: they follow the chat that is shown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from paceline.chat.pair import Pair
from paceline.messages import LoadPair, ModelParams, StartTurn, Tune
from paceline.params import LogitBias, ReplySettings, SamplingParams
from paceline.settings import ReplyPreset, Settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PySide6.QtWidgets import QWidget
    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program

BRIEF = ReplySettings(SamplingParams(0.2, json_schema='{"type": "object"}'), 50, 3, "Be brief.")


def set_and_ask(program: Program, client: FakeClient, settings: ReplySettings, text: str) -> str:
    """Set what a chat has, ask in it, and return its id."""
    program.window.panel.sampling.use(settings)
    program.chat.send(text)
    client.reply("An answer.")
    return program.shown.id


def test_the_card_follows_the_chat_at_once_also_while_another_one_is_answered(
    program: Program, client: FakeClient
) -> None:
    card = program.window.panel.sampling
    brief = set_and_ask(program, client, BRIEF, "One")
    program.shown.new()
    assert card.settings == ReplySettings()
    program.chat.send("Two")
    plain = program.shown.id
    client.start_turn()
    client.step("Well", 0)
    program.shown.show(brief)
    assert card.settings == BRIEF
    assert card.system_prompt.toPlainText() == "Be brief."
    card.sliders["temperature"].field.setValue(1.5)
    client.step(" then", 1)
    program.shown.show(plain)
    assert card.settings == ReplySettings()
    client.finish_turn("Well then")
    reply = program.shown.reply(program.shown.conversation.path()[1].message_id)
    assert reply is not None
    assert reply.options.settings == ReplySettings()
    assert not client.all(Tune)
    program.shown.show(brief)
    assert card.sliders["temperature"].value == 1.5
    assert len(client.all(StartTurn)) == 2


def test_showing_a_chat_changes_nothing_in_it(program: Program, client: FakeClient) -> None:
    odd = ReplySettings(SamplingParams(temperature=0.123456, top_p=0.87654))
    program.shown.set_settings(odd)
    program.chat.send("One")
    client.reply("1")
    chat = program.shown.id
    program.shown.new()
    program.shown.show(chat)
    assert program.shown.settings == odd, "fields round what they show"


def test_a_change_changes_nothing_else(program: Program) -> None:
    card, shown = program.window.panel.sampling, program.shown
    sampling = SamplingParams(0.123456, top_p=0.87654321, logit_bias=(LogitBias(3, 0.123456789),))
    odd = ReplySettings(
        replace(sampling, json_schema='{"a":\u00a01}'), system_prompt="a\u00a0b\r\n"
    )
    card.use(odd)
    assert shown.settings == odd
    card.sliders["temperature"].field.setValue(0.5)
    assert shown.settings == replace(odd, sampling=replace(odd.sampling, temperature=0.5))
    card.max_tokens.setValue(77)
    card.system_prompt.setPlainText("c")
    card.biases.setText("")
    assert shown.settings == replace(
        odd,
        sampling=replace(odd.sampling, temperature=0.5, logit_bias=()),
        max_tokens=77,
        system_prompt="c",
    )


def test_what_keeps_a_chat_from_being_answered_is_its_own(
    program: Program, client: FakeClient
) -> None:
    composer, card = program.window.chat_pane.composer, program.window.panel.sampling
    fine = set_and_ask(program, client, BRIEF, "One")
    program.shown.new()
    program.chat.send("Two")
    client.reply("2")
    card.form.put_text("schema", "{")
    composer.set_text("More")
    assert not composer.button.isEnabled()
    program.shown.show(fine)
    composer.set_text("More")
    assert composer.button.isEnabled()


def test_other_defaults_change_a_new_chat_and_no_old_one(
    program: Program, client: FakeClient
) -> None:
    card, presets = program.window.panel.sampling, program.sampling.presets
    chat = set_and_ask(program, client, BRIEF, "One")
    presets.save_as("Brief")
    program.shown.new()
    program.sampling.apply(":precise")
    program.chat.send("Two")
    client.reply("2")
    precise = program.shown.id
    program.shown.new()
    assert card.settings == ReplySettings()
    program.shown.show(chat)
    presets.make_default()
    program.shown.new()
    assert card.settings == BRIEF
    program.shown.show(precise)
    assert card.settings.sampling.temperature == 0.2
    assert card.settings.system_prompt == ""
    program.shown.new()
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
    assert card.settings == program.shown.settings == mine
    errors.action.click()
    assert card.settings == BRIEF
    card.reset_button.click()
    program.chat.send("One")
    client.reply("1")
    program.shown.new()
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
    second.shown.show(chat)
    assert second.window.panel.sampling.settings == BRIEF


# ------------------------------------------------------------------------------------ the badge


def test_the_badge_says_what_differs_and_leads_there_and_back(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    badge, window = program.sampling.badge, program.window
    assert badge.isHidden()
    plain = set_and_ask(program, client, ReplySettings(), "One")
    program.shown.new()
    window.panel.sampling.use(BRIEF)
    assert badge.isVisible()
    assert (
        badge.open_button.text()
        == "Temperature 0.2 · JSON schema · Longest reply 50 tokens · 2 more"
    )
    assert "• Longest reply 50 tokens\n• Seed 3" in badge.open_button.toolTip()
    window.panes.toggle("panel")
    assert not window.panes.is_shown("panel")
    badge.open_button.click()
    assert window.panes.is_shown("panel")
    assert window.panel.tab == "chat"
    assert window.panel.sampling.sliders["temperature"].field.hasFocus()
    program.shown.show(plain)
    assert badge.isHidden()
    window.panel.sampling.use(BRIEF)
    badge.reset_button.click()
    assert badge.isHidden()
    assert program.shown.settings == ReplySettings()


# ------------------------------------------------------------------------------- the chat's models


def test_a_chat_of_other_models_offers_to_load_them(
    program: Program, client: FakeClient, qtbot: QtBot, tmp_path: Path
) -> None:
    errors = program.window.chat_pane.errors
    chat = set_and_ask(program, client, ReplySettings(), "One")
    usual = program.loader.state.pair
    other = tmp_path / "other.gguf"
    other.write_bytes(b"GGUF")
    program.models.load(Pair(ModelParams(str(other))))
    client.finish_load()
    assert errors.action.isHidden(), "they were chosen while the chat was shown"
    n_loads = len(client.all(LoadPair))
    program.shown.new()
    program.shown.show(chat)
    assert "answered by other models" in errors.text.text()
    assert errors.action.text() == "Load them"
    program.shown.new()
    assert errors.isHidden(), "it was about the chat"
    program.shown.show(chat)
    assert not errors.isHidden()
    assert len(client.all(LoadPair)) == n_loads, "nothing is loaded unasked"
    errors.action.click()
    qtbot.waitUntil(lambda: len(client.all(LoadPair)) > n_loads)
    assert program.loader.state.pair == usual
    assert errors.isHidden()
    client.finish_load()
    assert errors.isHidden() or errors.action.text() == "Undo", "the strategy came back, too"


def test_what_is_sent_goes_to_the_loaded_models_and_ends_the_offer(
    program: Program, client: FakeClient, tmp_path: Path
) -> None:
    errors = program.window.chat_pane.errors
    chat = set_and_ask(program, client, ReplySettings(), "One")
    program.shown.new()
    program.models.load(Pair(ModelParams("/models/other.gguf")))
    client.finish_load()
    program.shown.show(chat)
    assert not errors.isHidden()
    program.chat.send("Two")
    client.reply("2")
    assert errors.isHidden()


def test_the_tab_key_goes_along_the_composer(program: Program) -> None:
    composer, presets = program.window.chat_pane.composer, program.sampling
    named = [
        composer.edit, composer.offer, composer.held.button, composer.elsewhere.button,
        presets.badge.open_button, presets.badge.reset_button,
        composer.attach, presets.foot_button, composer.meter, composer.button,
    ]  # fmt: skip
    stops: list[QWidget] = []
    widget: QWidget = composer.edit
    while len(stops) < len(named):
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and not widget.focusProxy():
            stops.append(widget)
        widget = widget.nextInFocusChain()
    assert [named.index(stop) for stop in stops] == list(range(len(named)))
