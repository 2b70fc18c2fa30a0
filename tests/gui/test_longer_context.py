"""A message that does not fit stays in the composer, with what can be done about it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from msgspec import structs
from PySide6.QtCore import Qt

from gui.fake_client import model_info
from paceline.chat.pair import Pair, PairState
from paceline.gui.chat.composer_controllers import options_for
from paceline.gui.chat.context_meter import ContextUse
from paceline.messages import (
    CountTokens,
    LoadPair,
    ModelParams,
    PairLoaded,
    StartTurn,
    TokensCounted,
    TurnFailed,
)
from paceline.params import params_of

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.chat.composer import Composer
    from paceline.gui.program import Program

LONG = "A long message. " * 400


class Planner:
    """Has room for contexts up to a size."""

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self.asked: list[int] = []

    def n_free(self, _room: object) -> int:
        return 2**40

    def plan(self, _room: object, pair: Pair) -> SimpleNamespace:
        self.asked.append(pair.target.n_ctx)
        return SimpleNamespace(fits=pair.target.n_ctx <= self.longest)


def plan_by(program: Program, monkeypatch: pytest.MonkeyPatch, longest: int) -> Planner:
    """Give the window memory for contexts up to this size."""
    planner = Planner(longest)
    monkeypatch.setattr(program.devices, "planner", planner)
    return planner


def load(client: FakeClient, n_ctx_train: int = 32_768) -> None:
    """Answer the last load: a target of 2,048 tokens, or as many as were asked for."""
    command = client.last(LoadPair)
    n_ctx = command.target.n_ctx or 2048
    target = structs.replace(model_info(command.target.path), n_ctx=n_ctx, n_ctx_train=n_ctx_train)
    draft = structs.replace(model_info("draft.gguf"), n_ctx=2048, n_ctx_train=8192)
    client.emit(PairLoaded(target, draft, 0.1))


def count(program: Program, client: FakeClient, n_tokens: int) -> Composer:
    """Answer the question how many tokens the chat has with what is written."""
    program.context_meter.ask_now()
    question = client.last(CountTokens)
    each = (n_tokens // len(question.prompt.messages),) * len(question.prompt.messages)
    n_ctx = program.pair.state.target.n_ctx  # type: ignore[union-attr]
    client.emit(TokensCounted(n_tokens, n_ctx, each, 0))
    return program.window.chat_pane.composer


def test_it_is_held_back_and_sent_once_a_longer_context_is_loaded(
    program: Program, client: FakeClient, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    planner = plan_by(program, monkeypatch, 16_384)
    composer = program.window.chat_pane.composer
    composer.set_text(LONG)
    held = count(program, client, 6_700).held
    qtbot.waitUntil(held.button.isVisible)
    assert "8k" in held.button.text()
    assert "6,700" in composer.meter.text()
    assert not composer.can_send
    assert composer.button.toolTip() == held.label.text()
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    assert composer.text == LONG
    assert not client.all(StartTurn)
    count(program, client, 6_701)
    assert planner.asked == [8192], "the same is not planned again"
    held.button.click()
    asked = client.last(LoadPair)
    draft = params_of(asked.drafting)
    assert draft is not None
    assert (asked.target.n_ctx, draft.n_ctx) == (8192, 8192)
    assert held.isHidden(), "while models are loaded a message waits for them"
    load(client)
    count(program, client, 6_700)
    assert held.isHidden()
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    assert client.last(StartTurn)
    assert composer.text == ""


@pytest.mark.parametrize(
    ("longest", "n_tokens", "offer"),
    [(8_192, 7_900, "8k"), (4_096, 7_900, ""), (2**20, 40_000, "")],
    ids=["fits", "no room", "trained for less"],
)
def test_what_cannot_be_loaded_is_not_offered(
    program: Program,
    client: FakeClient,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    longest: int,
    n_tokens: int,
    offer: str,
) -> None:
    plan_by(program, monkeypatch, longest)
    program.window.chat_pane.composer.set_text(LONG)
    composer = count(program, client, n_tokens)
    held = composer.held
    qtbot.waitUntil(lambda: held.button.isVisible() == bool(offer) and held.isVisible())
    assert offer in held.button.text()
    why = held.label.text()
    count(program, client, n_tokens + 1)
    assert held.label.text() == why, "what is known stays while more is written"
    composer.set_text("")
    program.context_meter.ask_now()
    qtbot.waitUntil(held.isHidden)


def test_what_was_sent_too_early_comes_back(program: Program, client: FakeClient) -> None:
    composer = program.window.chat_pane.composer
    composer.set_text(LONG)
    composer.button.click()
    client.emit(TurnFailed("prompt-too-long", "Too many tokens.", "Shorten it."))
    assert composer.text.strip() == LONG.strip()
    assert program.shown.conversation.path() == ()
    assert "Too many tokens" not in program.window.chat_pane.errors.text.text()
    count(program, client, 6_700)
    assert "8k" in composer.held.button.text()


def test_a_reply_that_cannot_continue_leaves_no_failed_version(
    program: Program, client: FakeClient
) -> None:
    program.chat.send("Hello")
    client.reply("Hi there")
    program.chat.continue_reply()
    client.emit(TurnFailed("prompt-too-long", "Too many tokens.", "Shorten it."))
    path = program.shown.conversation.path()
    assert [message.text for message in path] == ["Hello", "Hi there"]
    assert program.shown.conversation.place_of(path[1].message_id) == (0, 1)
    assert "Too many tokens" in program.window.chat_pane.errors.text.text()


def test_the_sizes_on_offer() -> None:
    state = PairState(
        "ready", Pair(ModelParams("t.gguf")), structs.replace(model_info("t"), n_ctx_train=40_960)
    )

    def sizes(n_used: int, room: int, n_cut_tokens: int = 0) -> list[int]:
        use = ContextUse(n_used, 2048, n_unsent=1, room=room, n_cut_tokens=n_cut_tokens)
        return [pair.target.n_ctx for pair in options_for(state, use)]

    assert sizes(2_100, 1024) == [4096]
    assert sizes(4_000, 1024) == [8192, 4096]
    assert sizes(2_100, 1024, n_cut_tokens=6_000) == [16_384, 8192]
    assert sizes(33_000, 1024) == [40_960]
    assert sizes(40_500, 1024) == [40_960]
    assert sizes(40_960, 1024) == []


@pytest.fixture(autouse=True)
def _with_a_target_of_2048_tokens(program: Program, client: FakeClient) -> None:
    program.models.load_demo_pair()
    load(client)
