"""Continue: another version of a reply that begins with its text and is drawn as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from chat.chat_bench import ChatBench
from gui.fake_client import STATS
from paceline.messages import SamplingParams, StartTurn, TurnFinished
from paceline.params import ReplySettings, Strategy

if TYPE_CHECKING:
    from paceline.storage.archive import ConversationStore


@pytest.fixture
def bench(store: ConversationStore) -> ChatBench:
    bench = ChatBench(store)
    bench.set_settings(ReplySettings(SamplingParams(0.3), system_prompt="Be brief."))
    bench.send("Go?")
    cut(bench, "One two", "length")
    return bench


def cut(bench: ChatBench, text: str, reason: str) -> None:
    bench.client.start_turn()
    bench.client.step("One", 0)
    bench.client.step(" two", 1)
    bench.client.emit(
        TurnFinished(reason, text, (1, 1, 2, 3), 7, Strategy.of("off"), STATS)  # type: ignore[arg-type]
    )


def test_it_continues_as_another_version_with_its_own_settings(bench: ChatBench) -> None:
    first = bench.message(1)
    bench.set_settings(ReplySettings(SamplingParams(1.5), system_prompt="Sing.", max_tokens=9))
    assert bench.continue_reply()
    turn = bench.client.last(StartTurn)
    assert turn.begun == (1, 1, 2, 3)
    assert turn.begun_text == "One two"
    assert (turn.seed, turn.sampling, turn.max_tokens) == (7, SamplingParams(0.3), 9)
    assert [m.text for m in turn.prompt.messages] == ["Be brief.", "Go?"]
    bench.client.start_turn()
    bench.client.step(" three", 0)
    bench.client.finish_turn("One two three")
    assert bench.texts == ["Go?", "One two three"]
    bench.show_sibling(bench.message(1), -1)
    assert bench.texts == ["Go?", "One two"], "the version before stays"
    assert bench.message(1) == first


def test_its_record_says_that_it_has_two_parts(bench: ChatBench) -> None:
    bench.continue_reply()
    bench.client.start_turn()
    bench.client.step(" three", 0)
    bench.client.finish_turn("One two three")
    again = ChatBench(bench.store, prefix="again")
    again.show(bench.id)
    reply = again.full_reply(again.message(1))
    assert reply is not None
    assert reply.n_parts == 2
    assert "".join(step.text for step in reply.steps) == "One two three"


def test_a_reply_without_a_record_continues_by_its_text(bench: ChatBench) -> None:
    chat = bench.current
    bare = bench.import_copy(chat, {})
    assert bench.id == bare
    assert bench.continue_reply()
    turn = bench.client.last(StartTurn)
    assert (turn.begun, turn.begun_text) == ((), "One two")
