"""The settings of a chat in the window: they follow the chat that is shown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from paceline.chat.pair import Pair
from paceline.messages import LoadPair, ModelParams
from paceline.params import LogitBias, ReplySettings, SamplingParams

if TYPE_CHECKING:
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


def test_neither_showing_a_chat_nor_a_change_changes_anything_else(
    program: Program, client: FakeClient
) -> None:
    card, shown = program.window.panel.sampling, program.shown
    sampling = SamplingParams(0.123456, top_p=0.87654321, logit_bias=(LogitBias(3, 0.123456789),))
    odd = ReplySettings(
        replace(sampling, json_schema='{"a":\u00a01}'), system_prompt="a\u00a0b\r\n"
    )
    chat = set_and_ask(program, client, odd, "One")
    shown.new()
    shown.show(chat)
    assert shown.settings == odd, "fields round what they show"
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
    composer = program.window.chat_pane.composer
    card.form.put_text("schema", "{")
    composer.set_text("More")
    assert not composer.button.isEnabled()
    shown.new()
    composer.set_text("More")
    assert composer.button.isEnabled(), "what keeps a chat from being answered is its own"


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
    card.use(ReplySettings())
    card.reset_button.click()
    assert card.settings == program.shown.settings == BRIEF
    errors = program.window.chat_pane.errors
    errors.action.click()
    assert card.settings == ReplySettings(), "it can be undone"
    card.reset_button.click()
    program.shown.show(precise)
    assert errors.isHidden(), "the undo was about the chat from before"
    assert card.settings.sampling.temperature == 0.2
    assert card.settings.system_prompt == ""
    program.shown.new()
    presets.delete("Brief")
    assert card.settings == ReplySettings(), "nothing was set in this chat"


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
    assert len(client.all(LoadPair)) == n_loads, "nothing is loaded unasked"
    errors.action.click()
    qtbot.waitUntil(lambda: len(client.all(LoadPair)) > n_loads)
    assert program.loader.state.pair == usual
    client.finish_load()
    assert errors.isHidden() or errors.action.text() == "Undo", "the strategy came back, too"
    program.models.load(Pair(ModelParams(str(other))))
    client.finish_load()
    program.shown.new()
    program.shown.show(chat)
    assert errors.action.text() == "Load them"
    program.chat.send("Two")
    client.reply("2")
    assert errors.isHidden(), "the loaded models have answered"


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
