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


def test_nothing_is_edited_into_nothing(bench: ChatBench) -> None:
    assert not bench.edit_reply(bench.message(3), " \n")
    assert not bench.edit_reply(bench.message(3), "Two.")
    assert bench.texts[-1] == "Two."


def test_a_deleted_message_goes_with_what_follows_it_and_comes_back_whole(
    bench: ChatBench,
) -> None:
    deleted = bench.delete_message(bench.message(1))
    assert deleted is not None
    assert len(deleted.messages) == 3
    assert bench.texts == ["One?"]
    assert again(bench).texts == ["One?"]
    bench.new()
    bench.undelete(deleted)
    for life in (bench, again(bench)):
        assert life.texts == ["One?", "One.", "Two?", "Two."]
        for number in (1, 3):
            reply = life.full_reply(life.message(number))
            assert reply is not None
            assert reply.stats is not None
            assert "".join(step.text for step in reply.steps) == life.texts[number]


def test_where_a_version_is_deleted_another_is_shown(bench: ChatBench) -> None:
    bench.regenerate()
    bench.client.reply("Deux.")
    assert bench.delete_message(bench.message(3)) is not None
    assert bench.texts == ["One?", "One.", "Two?", "Two."]


def test_a_chat_whose_messages_were_all_deleted_goes_on(bench: ChatBench) -> None:
    deleted = bench.delete_message(bench.message(0))
    assert again(bench).texts == []
    assert bench.send("New?")
    bench.client.reply("New.")
    assert deleted is not None
    bench.undelete(deleted)
    assert bench.texts == ["One?", "One.", "Two?", "Two."]
    assert len(bench.current.children(None)) == 2, "both beginnings are there"


def test_nothing_is_deleted_while_a_reply_is_written(bench: ChatBench) -> None:
    bench.send("Three?")
    assert bench.delete_message(bench.message(0)) is None


def test_what_was_deleted_cannot_come_back_into_a_deleted_chat(bench: ChatBench) -> None:
    deleted = bench.delete_message(bench.message(1))
    assert deleted is not None
    bench.session.remove(bench.id)
    bench.session.conversations.purge(deleted.conversation_id)
    with pytest.raises(UserError):
        bench.undelete(deleted)


def test_a_branch_that_ends_with_a_question_is_answered(bench: ChatBench) -> None:
    bench.branch(bench.message(2))
    assert bench.texts == ["One?", "One.", "Two?"]
    assert bench.regenerate(bench.message(2))
    bench.client.reply("Zwei.")
    assert bench.texts == ["One?", "One.", "Two?", "Zwei."]
