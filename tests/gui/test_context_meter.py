"""The context meter: its text, its requests, and the contents of its popover."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from msgspec import structs
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from paceline.conversation import Attachment, Conversation, Message
from paceline.gui.chat import composer_controllers
from paceline.gui.chat.context_meter import (
    ContextMeter,
    ContextUse,
    description,
    meter_text,
    parts,
    short_tokens,
    use_of,
    warning,
)
from paceline.messages import ChatMessage, CountTokens, TokensCounted, TurnStarted, Unloaded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.content import StoredRole
    from paceline.gui.program import Program


CALM = ContextUse(2143, 8192, n_system=120, n_chat=1803, n_messages=12, n_unsent=180, room=1024)
FULL = replace(CALM, n_used=7300, n_chat=6960)
CUT = replace(CALM, n_used=5600, n_cut=4, n_cut_tokens=2900)
REFUSED = ContextUse(9600, 8192, n_unsent=9500, room=1024)


# ------------------------------------------------------------------------------------- figures


@pytest.mark.parametrize(
    ("n_tokens", "n_ctx", "text"),
    [
        (0, 8192, "0"),
        (1023, 8192, "1023"),
        (1024, 8192, "1k"),
        (2143, 8192, "2.1k"),
        (100_000, 131072, "97.7k"),
        (2500, 10_000, "2.5k"),
        (999_999, 1_000_000, "1000k"),
    ],
)
def test_numbers_are_short(n_tokens: int, n_ctx: int, text: str) -> None:
    assert short_tokens(n_tokens, n_ctx) == text


@pytest.mark.parametrize(
    ("use", "tone", "words"),
    [
        (CALM, "calm", ""),
        (FULL, "amber", "at most 892 tokens"),
        (CUT, "amber", "The oldest 4 messages will be left out of the next reply."),
        (replace(CUT, n_cut=1), "amber", "The oldest message will be left out"),
        (REFUSED, "danger", "The next message does not fit"),
        (replace(CUT, room=0), "calm", "left out of this reply: 4"),
        (ContextUse(-1, 8192, room=9), "calm", "cannot be counted"),
    ],
)
def test_what_is_wrong_is_said_and_coloured(use: ContextUse, tone: str, words: str) -> None:
    assert use.tone == tone
    assert words in warning(use)
    assert bool(words) == bool(warning(use))
    assert warning(use) in description(use)


def test_the_parts_add_up_to_the_context() -> None:
    for use in (CALM, FULL, CUT):
        rows = dict(parts(use))
        rows.pop("Left out", None)
        assert sum(rows.values()) == use.n_ctx
    for use, text, room in (
        (CALM, "Context 2.1k of 8k", "The reply may have 1,024 tokens."),
        (FULL, "Context 7.1k of 8k", "The reply may have 892 tokens."),
        (ContextUse(-1, 8192), "Context ? of 8k", ""),
        (replace(REFUSED, n_used=8200), "Context 8,200 of 8,192", ""),
    ):
        assert meter_text(use) == text
        assert room in description(use)
        assert ("The reply may have" in description(use)) == bool(room)


def test_an_answer_is_taken_apart_by_what_was_asked() -> None:
    messages = [
        ChatMessage.of_text("system", "s"),
        ChatMessage.of_text("user", "a"),
        ChatMessage.of_text("assistant", "b"),
        ChatMessage.of_text("user", "c"),
        ChatMessage.of_text("assistant", "d"),
        ChatMessage.of_text("user", "e"),
    ]
    counted = TokensCounted(130, 100, (10, 20, 30, 25, 15, 20), n_cut=2)
    use = use_of(counted, messages, has_unsent=True, room=8)
    assert (use.n_used, use.n_system, use.n_chat, use.n_unsent) == (80, 10, 40, 20)
    assert (use.n_messages, use.n_cut, use.n_cut_tokens) == (2, 2, 50)
    whole = use_of(structs.replace(counted, n_cut=0), messages, has_unsent=False, room=8)
    assert (whole.n_unsent, whole.n_chat, whole.is_refused) == (0, 110, True)
    unknown = use_of(TokensCounted(-1, 100), messages, has_unsent=True, room=8)
    assert unknown == ContextUse(-1, 100, room=8)


# -------------------------------------------------------------------------------------- widget


@pytest.fixture
def meter(qtbot: QtBot) -> Iterator[ContextMeter]:
    host = QWidget()
    qtbot.addWidget(host)
    made = ContextMeter(host)
    host.resize(400, 300)
    host.show()
    yield made
    host.close()


def test_bar_tone_and_names_follow(meter: ContextMeter) -> None:
    for use, share in ((CALM, 262), (FULL, 891), (CUT, 684), (REFUSED, 1000)):
        meter.show_use(use)
        assert meter.isVisible()
        assert meter.bar.value() == share
        assert meter.property("tone") == meter.bar.property("tone") == use.tone
        assert meter.accessibleName() == meter.text() == meter_text(use)
        assert meter.toolTip() == description(use)
    meter.set_wanted(False)
    assert not meter.isVisible()
    meter.set_wanted(True)
    meter.show_use(ContextUse())
    assert not meter.isVisible(), "there is nothing to measure"


@pytest.mark.parametrize("key", [Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_the_keyboard_opens_the_popover_and_closes_it(
    meter: ContextMeter, qtbot: QtBot, key: Qt.Key
) -> None:
    meter.show_use(CUT)
    meter.setFocus()
    qtbot.keyClick(meter, key)
    popover = meter.popover
    assert popover is not None
    assert popover.isVisible()
    words = [label.text() for label in popover.findChildren(QLabel) if not label.isHidden()]
    assert "5,600 of 8,192 tokens are in use." in words
    assert "The oldest 4 messages will be left out of the next reply." in words
    assert "2,900" in words
    meter.show_use(CALM)
    assert popover.title.text() == "2,143 of 8,192 tokens are in use.", "it follows"
    assert not popover.warning.isVisible()
    qtbot.keyClick(popover, Qt.Key.Key_Escape)
    assert not popover.isVisible()


# ---------------------------------------------------------------------------------- controller


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composer_controllers, "ASK_AFTER_MS", 0)
    monkeypatch.setattr(composer_controllers, "FOLLOW_EVERY_MS", 0)
    monkeypatch.setattr(composer_controllers, "TURN_S", 0.0)  # a message between other events


def meter_of(program: Program) -> ContextMeter:
    return program.window.chat_pane.composer.meter


def asked(client: FakeClient, qtbot: QtBot, n: int) -> CountTokens:
    """Wait for the `n`-th question."""
    qtbot.waitUntil(lambda: len(client.all(CountTokens)) >= n)
    assert len(client.all(CountTokens)) == n
    return client.last(CountTokens)


def answer(client: FakeClient, question: CountTokens, n_tokens: int, n_cut: int = 0) -> None:
    share = n_tokens // max(len(question.prompt.messages), 1)
    each = (share,) * len(question.prompt.messages)
    client.emit(TokensCounted(n_tokens, 2048, each, n_cut))


def test_what_is_typed_is_counted_when_the_typing_stops(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    composer = program.window.chat_pane.composer
    qtbot.wait(10)
    n_before = len(client.all(CountTokens))
    for letter in "Hello":
        qtbot.keyClicks(composer.edit, letter)
    qtbot.waitUntil(lambda: len(client.all(CountTokens)) > n_before, timeout=5000)
    question = client.last(CountTokens)
    assert question.prompt.messages[-1] == ChatMessage.of_text("user", "Hello")
    assert len(client.all(CountTokens)) == n_before + 1
    answer(client, question, 300)
    assert meter_of(program).text() == "Context 300 of 2k"
    assert meter_of(program).use.n_unsent > 0


@pytest.mark.usefixtures("quick")
class TestQuickly:
    """The same without the wait."""

    def test_all_of_the_next_prompt_counts_and_only_the_last_question(
        self, program: Program, client: FakeClient, qtbot: QtBot
    ) -> None:
        program.context_meter.ask_now()
        assert client.all(CountTokens) == [], "an empty chat is not asked about"
        assert meter_of(program).text() == "Context 0 of 2k"
        composer, sampling = program.window.chat_pane.composer, program.window.panel.sampling
        composer.set_text("one")
        first = asked(client, qtbot, 1)
        sampling.use(replace(sampling.settings, system_prompt="Be brief.", max_tokens=77))
        second = asked(client, qtbot, 2)
        system = ChatMessage.of_text("system", "Be brief.")
        assert second.prompt.messages == (system, *first.prompt.messages)
        assert second.max_tokens == 77
        composer.files.add([Attachment("a.py", "print(1)", 8)])
        third = asked(client, qtbot, 3)
        assert "print(1)" in third.prompt.messages[-1].text
        answer(client, third, 20)
        answer(client, first, 10)
        assert meter_of(program).use.n_used == 20
        assert meter_of(program).use.n_unsent > 0

    def test_a_running_reply_is_followed_and_nothing_is_asked(
        self, program: Program, client: FakeClient, qtbot: QtBot
    ) -> None:
        composer = program.window.chat_pane.composer
        composer.set_text("Hello")
        late = asked(client, qtbot, 1)
        composer.button.click()
        client.start_turn()
        client.step("Hi there")
        composer.set_text("next")
        n_tokens = 10 + len(program.session.active.traces)  # type: ignore[union-attr]
        qtbot.waitUntil(lambda: meter_of(program).use.n_used == n_tokens)
        answer(client, late, 999)
        assert meter_of(program).use.n_used == n_tokens
        assert meter_of(program).use.n_reply == n_tokens - 10
        qtbot.wait(20)
        assert len(client.all(CountTokens)) == 1
        client.finish_turn("Hi there")
        question = asked(client, qtbot, 2)
        assert [m.role for m in question.prompt.messages] == ["user", "assistant", "user"]

    def test_what_the_model_no_longer_sees_is_marked(
        self, program: Program, client: FakeClient, qtbot: QtBot
    ) -> None:
        chat = Conversation("long")
        for number in range(6):
            role: StoredRole = "assistant" if number % 2 else "user"
            parent = str(number - 1) if number else None
            text = f"Text {number}" if number != 1 else ""  # a reply that never got a text
            chat = chat.add(Message.of_text(str(number), parent, role, text))
        program.shown.show_copy(program.session.conversations.add_copy(chat, {}))
        path = program.shown.conversation.path()
        marked: list[str] = []
        program.context_meter.kept_from.connect(marked.append)
        answer(client, asked(client, qtbot, 1), 900, n_cut=2)  # questions 0 and 2 are one message
        assert marked == [path[4].message_id]
        program.window.chat_pane.composer.set_text("And more")
        answer(client, asked(client, qtbot, 2), 900)
        assert marked[-1] == ""
        program.window.chat_pane.composer.button.click()
        client.emit(TurnStarted(10, 0, 7, n_cut=4))
        client.step("A", 0)  # the figures follow what moves
        qtbot.waitUntil(lambda: marked[-1] == program.shown.conversation.path()[6].message_id)
        client.emit(Unloaded())
        assert marked[-1] == ""

    def test_a_reason_takes_its_place(self, program: Program) -> None:
        composer = program.window.chat_pane.composer
        for reason in ("", "Choose a model first.", ""):
            composer.set_obstacle(reason)
            assert composer.meter.isVisibleTo(composer) == (not reason)

    def test_without_models_there_is_no_meter(
        self, program: Program, client: FakeClient, qtbot: QtBot
    ) -> None:
        client.emit(Unloaded())
        assert meter_of(program).use.n_ctx == 0
        program.window.chat_pane.composer.set_text("Hello")
        qtbot.wait(10)
        assert client.all(CountTokens) == []


def test_the_real_engine_answers(
    make_real: Callable[..., Program], qtbot: QtBot, demo_pair: object
) -> None:
    program = make_real()
    program.start()
    qtbot.waitUntil(lambda: program.pair.state.status == "ready", timeout=30_000)
    program.window.chat_pane.composer.set_text("What does os.path.join do?")
    qtbot.waitUntil(lambda: meter_of(program).use.n_unsent > 5, timeout=10_000)
    n_counted = meter_of(program).use.n_used
    program.window.chat_pane.composer.button.click()
    qtbot.waitUntil(
        lambda: program.session.active is None and bool(program.shown.conversation.path()),
        timeout=60_000,
    )
    replies = [program.shown.reply(m.message_id) for m in program.shown.conversation.path()]
    assert replies[-1] is not None
    assert replies[-1].n_prompt == n_counted
    qtbot.waitUntil(lambda: meter_of(program).use.n_messages == 2, timeout=10_000)
    assert meter_of(program).use.n_used > n_counted
