"""Stories of conversations and messages, on a session with a store."""

from typing import Any

import pytest

from chat.chat_bench import ChatBench
from paceline.conversation import Attachment, Conversation, Message, ViewPlace
from paceline.errors import UserError
from paceline.messages import StartTurn
from paceline.params import ReplySettings
from paceline.storage.archive import NEW_CHAT, ConversationStore

NOTES = Attachment("notes.txt", "Buy milk.\n", 10)


# ------------------------------------------------------------------------------ the tree


def test_editing_keeps_the_files_or_takes_others(bench: ChatBench) -> None:
    bench.send("Read this", (NOTES,))
    bench.client.reply("Read.")
    bench.edit(bench.message(0), "Read it again")
    assert bench.current.path()[0].attachments == (NOTES,)
    bench.client.reply("Again.")
    bench.edit(bench.message(0), "Forget it", ())
    assert bench.current.path()[0].attachments == ()


def test_a_branch_is_a_chat_of_its_own(bench: ChatBench) -> None:
    bench.ask("One", "1")
    bench.ask("Two", "2")
    old = bench.current
    bench.session.tag(bench.id, ("work",))
    bench.session.pin(bench.id, True)
    branch = bench.branch(bench.message(1))
    assert bench.id == branch
    assert (bench.current.title, bench.current.tags) == ("One (2)", ("work",))
    assert not bench.current.pinned
    assert set(bench.current.messages).isdisjoint(old.messages)
    whole = bench.full_reply(bench.message(1))
    assert whole is not None
    assert whole.stats is not None
    assert [step.step for step in whole.steps] == [0, 1]
    bench.branch(bench.message(1))
    assert bench.current.title == "One (3)"


# ------------------------------------------------------------------------------ the list


def test_flags_are_kept_and_reported(bench: ChatBench) -> None:
    bench.ask("One", "1")
    bench.session.pin(bench.id, True)
    bench.session.tag(bench.id, (" work ", "", "home", "work", "two  words"))
    bench.session.rename(bench.id, "  Better\nname ")
    current = bench.current
    assert (current.pinned, current.tags) == (True, ("work", "home", "two words"))
    assert current.title == "Better name"
    assert bench.store.load(bench.id).tags == current.tags
    assert bench.session.summaries[0].title == "Better name"
    assert bench.told.names[-3:] == ["changed"] * 3


# ------------------------------------------------------------------------------ private


def test_a_private_chat_is_found_by_the_words_that_find_a_stored_one(bench: ChatBench) -> None:
    for private in (False, True):
        bench.new(private=private)
        bench.ask("Which Café in Paris?", "The one at the corner.")
    hits = bench.session.conversations.search("cafe PARIS")
    in_messages = [hit for hit in hits if hit.message_id]
    assert len({hit.conversation_id for hit in hits}) == 2
    assert all(hit.snippet == "Which Café in Paris?" for hit in in_messages)
    assert {hit.marks for hit in in_messages} == {((6, 10), (14, 19))}
    assert not bench.session.conversations.search("café corner")


def test_a_private_chat_that_is_purged_is_found_no_more(bench: ChatBench) -> None:
    bench.new(private=True)
    bench.ask("My secret", "Shh.")
    private, memory = bench.id, bench.session.conversations.store_of(bench.id)
    bench.session.remove(private)
    bench.session.conversations.purge(private)
    memory.restore(private)  # it would come back if it were only hidden
    assert (memory.summaries(), memory.search("secret")) == ((), ())


def test_nothing_of_a_private_chat_is_stored_or_remembered(bench: ChatBench) -> None:
    bench.options = type(bench.options)(remember=True)
    bench.new(private=True)
    bench.session.conversations.save_unsent(
        bench.session.conversations.unsent_id(bench.id), "a secret"
    )
    bench.ask("My secret", "Shh.")
    assert not bench.client.last(StartTurn).remember
    bench.session.conversations.save_place(bench.id, ViewPlace("x", 3))
    bench.session.tag(bench.id, ("hush",))
    assert bench.session.summaries[0].private
    assert bench.session.conversations.search("secret")[0].conversation_id == bench.id
    private = bench.id
    assert bench.store.summaries() == ()
    assert bench.store.search("secret") == ()
    assert bench.store.unsent(private) == ""
    assert bench.store.unsent(NEW_CHAT) == ""
    assert bench.store.place(private) == ViewPlace()
    bench.branch(bench.message(1))
    assert bench.current.private
    assert bench.store.summaries() == ()
    bench.show(private)
    assert bench.texts == ["My secret", "Shh."]
    whole = bench.full_reply(bench.message(1))
    assert whole is not None
    assert len(whole.steps) == 2
    assert bench.session.conversations.place(private) == ViewPlace("x", 3)


# ------------------------------------------------------------------------------ deleting


@pytest.mark.parametrize("has_begun", [True, False])
def test_a_chat_that_is_purged_gets_no_more_of_its_reply(
    bench: ChatBench, *, has_begun: bool
) -> None:
    bench.send("One")
    if has_begun:
        bench.client.start_turn()
    first = bench.id
    bench.session.remove(first)
    bench.session.conversations.purge(first)
    if not has_begun:
        bench.client.start_turn()
    bench.client.step("late", 0)
    assert bench.store.runs(first) == {}
    bench.client.finish_turn("late")
    assert bench.session.active is None
    assert bench.store.summaries() == ()


# ------------------------------------------------------------------------- how it was left


def test_unsent_text_belongs_to_its_chat(bench: ChatBench) -> None:
    session = bench.session
    assert session.conversations.unsent_id(bench.id) == NEW_CHAT
    session.conversations.save_unsent(session.conversations.unsent_id(bench.id), "new")
    bench.ask("One", "1")
    first = session.conversations.unsent_id(bench.id)
    assert first == bench.id
    session.conversations.save_unsent(first, "more")
    bench.new()
    assert (
        session.conversations.unsent(session.conversations.unsent_id(bench.id)),
        session.conversations.unsent(first),
    ) == ("new", "more")


def test_the_place_of_a_chat_without_messages_is_not_kept(bench: ChatBench) -> None:
    bench.session.conversations.save_place(bench.id, ViewPlace("x", 1))
    assert bench.session.conversations.place(bench.id) == ViewPlace()
    bench.ask("One", "1")
    bench.session.conversations.save_place(bench.id, ViewPlace("x", 1))
    assert bench.session.conversations.place(bench.id) == ViewPlace("x", 1)


# ------------------------------------------------------------------------------ from a file


def test_a_foreign_chat_is_taken_in_under_new_ids(bench: ChatBench) -> None:
    bench.ask("Mine", "1")
    foreign = (
        Conversation("c", created_s=5.0)
        .add(Message.of_text("m1", None, "user", "Theirs", 6.0))
        .add(Message.of_text("m2", "m1", "assistant", "Yes", 7.0))
    )
    for _ in range(2):
        bench.import_copy(foreign, {})
        assert bench.texts == ["Theirs", "Yes"]
    assert len(bench.session.summaries) == 3
    assert (bench.current.created_s, bench.current.changed_s) == (5.0, 7.0)


HALF = "half \ud83d"


def test_halves_of_characters_are_the_same_before_and_after_a_restart(
    store: ConversationStore,
) -> None:
    bench = ChatBench(store)
    bench.ask("One", "1")
    bench.session.rename(bench.id, HALF)
    bench.session.tag(bench.id, [HALF])
    file = Attachment(HALF, HALF, 5)
    message = Message.of_text("m1", None, "user", HALF, 1.0, attachments=(file,))
    foreign = Conversation("c", HALF, 1.0, tags=(HALF,)).add(message)
    bench.import_copy(foreign, {})
    bench.set_settings(ReplySettings(system_prompt=HALF))
    bench.ask(HALF, "1")
    again = ChatBench(store, prefix="again")
    by_id = {line.conversation_id: line for line in again.session.summaries}
    for line in bench.session.summaries:
        assert by_id[line.conversation_id] == line
        assert line.title == "half ?"
        bench.show(line.conversation_id)
        again.show(line.conversation_id)
        assert again.current.path() == bench.current.path()


class Unreadable(ConversationStore):
    """A store whose disk went away."""

    def runs(self, conversation_id: str) -> Any:
        raise UserError("chats-not-opened", "The disk is gone.")

    def unsent(self, conversation_id: str) -> str:
        raise UserError("chats-not-opened", "The disk is gone.")

    def place(self, conversation_id: str) -> ViewPlace:
        raise UserError("chats-not-opened", "The disk is gone.")


def test_a_new_chat_is_possible_where_an_old_one_cannot_be_read() -> None:
    bench = ChatBench(Unreadable())
    bench.ask("One", "1")
    first = bench.id
    bench.new()
    with pytest.raises(UserError):
        bench.show(first)
    assert bench.path == []
    assert bench.session.conversations.unsent(first) == ""
    assert bench.session.conversations.place(first) == ViewPlace()
    bench.ask("Two", "2")
    assert bench.texts == ["Two", "2"]
