"""A reply edited by its user, messages deleted and brought back, branches that go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from chat.chat_bench import ChatBench
from paceline.errors import UserError
from paceline.messages import StartTurn

if TYPE_CHECKING:
    from paceline.storage.archive import ConversationStore


@pytest.fixture
def bench(store: ConversationStore) -> ChatBench:
    bench = ChatBench(store)
    for question, answer in (("One?", "One."), ("Two?", "Two.")):
        bench.send(question)
        bench.client.reply(answer)
    return bench


def again(bench: ChatBench) -> ChatBench:
    """The same chat after a restart."""
    later = ChatBench(bench.store, prefix="later")
    later.show(bench.id)
    return later


def test_an_edited_reply_is_a_version_without_figures_that_says_so(bench: ChatBench) -> None:
    assert bench.edit_reply(bench.message(3), "Mine.\n")
    assert bench.texts == ["One?", "One.", "Two?", "Mine.\n"]
    assert bench.session.active is None, "the model is not asked"
    later = again(bench)
    reply = later.full_reply(later.message(3))
    assert reply is not None
    assert (reply.edited, reply.stats, reply.steps) == (True, None, [])
    assert later.continue_reply()
    turn = later.client.last(StartTurn)
    assert (turn.begun, turn.begun_text, turn.seed) == ((), "Mine.\n", 7)
    later.session.stop()
    assert later.show_sibling(later.message(3), -2)
    assert later.texts[-1] == "Two."


def test_a_chat_whose_messages_were_all_deleted_continues(bench: ChatBench) -> None:
    deleted = bench.delete_message(bench.message(0))
    assert again(bench).texts == []
    assert bench.send("New?")
    bench.client.reply("New.")
    assert deleted is not None
    bench.undelete(deleted)
    assert bench.texts == ["One?", "One.", "Two?", "Two."]
    assert len(bench.current.children(None)) == 2, "both beginnings are there"


def test_what_was_deleted_cannot_come_back_into_a_deleted_chat(bench: ChatBench) -> None:
    deleted = bench.delete_message(bench.message(1))
    assert deleted is not None
    bench.session.remove(bench.id)
    bench.session.conversations.purge(deleted.conversation_id)
    with pytest.raises(UserError):
        bench.undelete(deleted)
