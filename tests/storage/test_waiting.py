"""What waits, in a private chat for good, has nothing that a later change made superfluous."""

from __future__ import annotations

from dataclasses import replace

from paceline.conversation import Conversation, ViewPlace
from paceline.run_record import RunRecord
from paceline.storage.archive import ConversationStore
from paceline.storage.changes import (
    ExtendRun,
    Purge,
    Remove,
    SaveChat,
    SaveUnsent,
    Sync,
    saved,
)
from paceline.storage.writer import Pending
from storage.chats import chat, record, steps


def held(store: ConversationStore) -> str:
    return repr(store._pending.snapshot())


def without(made: Conversation, *gone: str) -> Conversation:
    messages = {key: m for key, m in made.messages.items() if key not in gone}
    return replace(made, messages=messages, leaf_id=next(reversed(messages), None))


def replied(store: ConversationStore, made: Conversation, message_id: str, text: str) -> None:
    store.begin_run(made.conversation_id, RunRecord(message_id))
    store.extend_run(message_id, text[:9], steps([text[:9]]))
    store.end_run(record(message_id, text), text)


def test_deleted_text_is_not_held() -> None:
    store = ConversationStore()
    made = chat("c", "kept", "", "secret question", "", title="secret title")
    for message_id in made.messages:
        store.save(made, [message_id])
    replied(store, made, "c-1", "kept answer")
    replied(store, made, "c-3", "secret answer")
    store.save_unsent("c", "secret draft")
    store.save_unsent("c", "")
    left = without(made, "c-2", "c-3").renamed("Title")
    store.save(left, (), ["c-2", "c-3"])
    assert "secret" not in held(store)
    assert held(store).count("c-3") == 1  # where it is to be deleted from the disk
    assert store.load("c") == left.with_content("c-1", "kept answer")
    assert list(store.runs("c")) == ["c-1"]
    store.save(made, ["c-2", "c-3"])
    assert list(store.load("c").messages) == list(made.messages)


def test_the_text_of_a_reply_waits_once_when_it_has_ended() -> None:
    store = ConversationStore()
    made = chat("c", "question", "", "again", "")
    store.save(made, list(made.messages))
    store.extend_run("c-3", "other", steps(["other"]))
    replied(store, made, "c-1", "the whole answer")
    pieces = [c for c in store._pending.snapshot() if isinstance(c, ExtendRun)]
    assert [piece.message_id for piece in pieces] == ["c-3"]


def test_what_a_purged_chat_leaves_is_its_id() -> None:
    store = ConversationStore()
    for key in ("gone", "kept"):
        made = chat(key, "question", "")
        store.save(made, list(made.messages))
        replied(store, made, f"{key}-1", f"{key} answer")
        store.save_unsent(key, f"{key} draft")
        store.save_place(key, ViewPlace(f"{key}-0", 5))
    store.remove("gone")
    store.purge("gone")
    assert held(store).count("gone") == 1
    assert store.load("kept").path()[-1].content == "kept answer"
    assert store.steps("kept-1")
    assert store.unsent("kept") == "kept draft"


def test_the_queue_of_a_chat_that_is_used_long_stays_short() -> None:
    store = ConversationStore()
    both = chat("a", "one"), chat("b", "two")
    for made in both:
        store.save(made, list(made.messages))
    for i in range(100):
        for made in both:
            key = made.conversation_id
            store.save(made.renamed(f"title {i}"))
            store.save_place(key, ViewPlace("x", i))
            store.save_unsent(key, f"draft {i}")
            more = chat(f"{key}{i}", "more").messages[f"{key}{i}-0"]
            store.save(made.add(more), [more.message_id])
            store.save(made.renamed(f"title {i}"), (), [more.message_id])
            store.remove(key)
            store.restore(key)
    assert len(store._pending) <= 8
    assert {s.title for s in store.summaries()} == {"title 99"}
    assert (store.unsent("a"), store.place("b")) == ("draft 99", ViewPlace("x", 99))


def test_what_is_being_written_is_left_alone() -> None:
    pending, made = Pending(), chat("c", "question", "answer")
    first = [saved(made, list(made.messages)), SaveUnsent("c", "old")]
    for change in first:
        pending.add(change)
    assert pending.take() == first
    pending.add(removal := saved(without(made, "c-1"), (), ["c-1"]))
    pending.add(SaveUnsent("c", "new"))
    assert pending.snapshot() == (*first, removal, SaveUnsent("c", "new"))
    pending.written()
    assert pending.snapshot() == (removal, SaveUnsent("c", "new"))


def test_of_several_syncs_the_last_is_carried_out() -> None:
    pending, made = Pending(), chat("c", "question")
    for change in (Sync(), save := saved(made, ["c-0"]), Sync()):
        pending.add(change)
    assert pending.snapshot() == (save, Sync())


def test_a_hidden_chat_is_made_before_it_is_hidden() -> None:
    pending, made = Pending(), chat("c", "question", "")
    for change in (saved(made, ["c-0", "c-1"]), Remove("c")):
        pending.add(change)
    pending.add(saved(without(made, "c-0", "c-1"), (), ["c-0", "c-1"]))
    kinds = [type(change) for change in pending.snapshot()]
    assert kinds == [SaveChat, Remove, SaveChat]


def test_a_chat_that_begins_again_does_so_after_it_was_purged() -> None:
    pending, made = Pending(), chat("c", "question")
    pending.add(saved(made, ["c-0"]))
    pending.take()
    pending.add(Purge("c"))
    pending.not_written()
    pending.add(saved(without(made, "c-0")))
    kinds = [type(change) for change in pending.snapshot()]
    assert kinds == [SaveChat, Purge, SaveChat]
