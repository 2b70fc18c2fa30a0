"""What is kept comes back: now, while it waits for the disk, and after the next start."""

from __future__ import annotations

import contextlib
import json
import random
import sqlite3
import stat
import time
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from paceline.conversation import Attachment, Conversation, Message, ViewPlace
from paceline.params import ReplySettings
from paceline.run_record import RunRecord
from paceline.storage.archive import NEW_CHAT, Archive, ConversationStore
from paceline.storage.problems import StorageError
from paceline.storage.tables import packed
from storage.chats import as_of_old, chat, record, steps

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Open = "Callable[[], Archive]"


def test_it_is_a_store_for_sessions(db: Path) -> None:
    store: ConversationStore = Archive(db)
    assert store is not None
    assert not db.parent.exists()  # nothing is touched before `open`


def test_a_conversation_comes_back_whole(open_archive: Callable[[], Archive]) -> None:
    files = (Attachment("a.py", "print('ä')\n", 12), Attachment("b.txt", "", 0))
    before = Conversation("c", "Title", 10.5, changed_s=20.25, pinned=True, tags=("work", "ü"))
    before = before.add(Message("m0", None, "user", "Question?\0 with NUL", 11.0, files))
    before = before.add(Message("m1", "m0", "assistant", "Answer", 12.0))
    before = before.add(Message("m2", "m0", "assistant", "Another answer", 13.0)).activate("m1")
    archive = open_archive()
    archive.save(before, ["m0", "m1", "m2"])
    assert archive.load("c") == before
    assert archive.close()
    again = open_archive()
    assert again.load("c") == before
    assert list(again.load("c").messages) == ["m0", "m1", "m2"]
    (summary,) = again.summaries()
    assert (summary.title, summary.pinned, summary.tags) == ("Title", True, ("work", "ü"))
    assert (summary.created_s, summary.changed_s, summary.private) == (10.5, 20.25, False)


def test_changes_and_removals_of_messages(open_archive: Callable[[], Archive]) -> None:
    archive = open_archive()
    before = chat("c", "one", "two", "three")
    archive.save(before, list(before.messages))
    archive.flush()
    after = before.with_content("c-1", "zwei").renamed("New title")
    kept = {key: m for key, m in after.messages.items() if key != "c-2"}
    after = replace(after, messages=kept, leaf_id="c-1")
    archive.save(after, ["c-1"], ["c-2"])
    assert archive.load("c") == after
    archive.close()
    again = open_archive()
    assert again.load("c") == after
    assert [hit.message_id for hit in again.search("zwei")] == ["c-1"]
    assert again.search("three") == again.search("two") == ()


def test_what_was_sent_or_finished_is_on_the_disk_at_once(tmp_path: Path) -> None:
    path = tmp_path / "chats.db"
    archive = Archive(path)
    archive.open()
    made = chat("c", "question")
    with contextlib.closing(sqlite3.connect(path)) as other:
        texts = "SELECT content FROM messages ORDER BY key"
        archive.save(made, ["c-0"])
        assert other.execute(texts).fetchall() == [("question",)]
        archive.save(made.add(Message("c-1", "c-0", "assistant", "")), ["c-1"])
        archive.begin_run("c", RunRecord("c-1"))
        archive.end_run(record("c-1", "ans", "wer"), "answer")
        assert other.execute(texts).fetchall() == [("question",), ("answer",)]
    assert archive.close()


def test_a_reply_from_its_first_word_to_its_end(open_archive: Callable[[], Archive]) -> None:
    archive = open_archive()
    before = chat("c", "Question", "")
    archive.save(before, list(before.messages))
    archive.begin_run("c", RunRecord("c-1", started_s=5.0, strategy="draft"))
    made = steps(["One", " two", " three"])
    for i, one in enumerate(made):
        archive.extend_run("c-1", one.text, [one])
        assert (
            archive.load("c").messages["c-1"].content == "One two three"[: one.tokens[-1].text_end]
        )
        assert archive.steps("c-1") == made[: i + 1]
        if i == 1:
            assert archive.flush()
    assert archive.runs("c")["c-1"].status == "running"
    ended = record("c-1", "One", " two", " three", " four")
    archive.end_run(ended, "One two three four")
    for _ in range(2):
        assert archive.load("c").messages["c-1"].content == "One two three four"
        assert archive.steps("c-1") == ended.steps
        assert dict(archive.runs("c")) == {"c-1": replace(ended, steps=())}
        archive.close()
        archive = open_archive()
    assert archive.runs("c")["c-1"].steps == ()


def test_what_was_kept_before_plain_decoding_had_an_interval_is_kept_still(
    open_archive: Callable[[], Archive], db: Path
) -> None:
    archive = open_archive()
    made = chat("c", "Question", "One two")
    archive.save(made, list(made.messages))
    now = record("c-1", "One", " two")
    archive.end_run(now, "One two")
    archive.close()
    with contextlib.closing(sqlite3.connect(db)) as connection:
        (row,) = connection.execute("SELECT record FROM runs")
        data = as_of_old(json.loads(zlib.decompress(row[0])))
        connection.execute("UPDATE runs SET record = ?", (packed(data),))
        connection.execute("UPDATE conversations SET plain_tokens_per_s = 14.5")
        connection.commit()
    archive = open_archive()
    found = archive.runs("c")["c-1"]
    assert found.stats is not None
    assert now.stats is not None
    assert (found.stats.tokens_per_s, found.stats.speedup) == (30.0, None)
    assert replace(found, stats=now.stats, steps=now.steps) == now
    assert archive.steps("c-1") == now.steps


def test_unsent_text_and_places(open_archive: Callable[[], Archive]) -> None:
    archive = open_archive()
    assert archive.unsent(NEW_CHAT) == ""
    assert archive.place("c") == ViewPlace()
    archive.save_unsent(NEW_CHAT, "half a thought \ud83d")
    archive.save_unsent("c", "something")
    archive.save_place("c", ViewPlace("c-7", -12))
    for _ in range(2):
        assert archive.unsent(NEW_CHAT) == "half a thought ?"
        assert archive.unsent("c") == "something"
        assert archive.place("c") == ViewPlace("c-7", -12)
        archive.close()
        archive = open_archive()
    archive.save_unsent("c", "")
    archive.flush()
    assert archive.unsent("c") == ""


def test_removed_conversations_are_not_seen(open_archive: Callable[[], Archive], db: Path) -> None:
    archive = open_archive()
    made = chat("c", "needle")
    archive.save(made, list(made.messages))
    archive.remove("c")
    for _ in range(2):
        assert archive.summaries() == ()
        assert archive.search("needle") == ()
        archive.flush()
    archive.close()
    again = Archive(db)
    assert again.open().removed == ("c",)
    again.restore("c")
    for _ in range(2):
        assert [s.conversation_id for s in again.summaries()] == ["c"]
        assert len(again.search("needle")) == 2
        again.flush()
    again.purge("c")
    for _ in range(2):
        assert again.summaries() == again.search("needle") == ()
        with pytest.raises(StorageError, match="not there"):
            again.load("c")
        again.flush()
    again.close()


def test_a_private_chat_is_not_kept(open_archive: Callable[[], Archive]) -> None:
    archive = open_archive()
    made = replace(chat("c", "secret"), private=True)
    archive.save(made, list(made.messages))
    archive.begin_run("c", RunRecord("c-0"))
    archive.flush()
    assert archive.summaries() == archive.search("secret") == ()


def test_only_the_owner_can_read_the_files(open_archive: Callable[[], Archive], db: Path) -> None:
    archive = open_archive()
    archive.save(chat("c", "x"), ["c-0"])
    archive.flush()
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in db.parent.iterdir()}
    assert modes == dict.fromkeys(["chats.db", "chats.db-wal", "chats.db-shm"], 0o600)
    assert stat.S_IMODE(db.parent.stat().st_mode) == 0o700
    archive.close()
    db.chmod(0o644)
    open_archive().close()
    assert stat.S_IMODE(db.stat().st_mode) == 0o600


def test_checkpoints_do_not_wait_long(open_archive: Callable[[], Archive]) -> None:
    archive = open_archive()
    made = chat("c", "q", "")
    archive.save(made, list(made.messages))
    archive.begin_run("c", RunRecord("c-1"))
    archive.extend_run("c-1", "text", steps(["text"]))
    until = time.monotonic() + 2  # wanted: 0.2
    while archive._pending and time.monotonic() < until:
        time.sleep(0.01)
    assert not archive._pending


def test_two_programs_write_to_one_database(open_archive: Callable[[], Archive]) -> None:
    both = open_archive(), open_archive()
    for i in range(40):
        for name, archive in zip("ab", both, strict=True):
            made = chat(f"{name}{i}", f"question {i}", "answer")
            archive.save(made, list(made.messages))
            archive.end_run(record(f"{name}{i}-1", "answer"), "answer")
    for archive in both:
        assert archive.flush(20)
    for archive in both:
        assert len(archive.summaries()) == 80
        assert len(archive.search("question", 100)) == 100
        archive.close()
    assert len(open_archive().summaries()) == 80


def test_what_is_set_in_a_chat_that_another_program_deleted_does_not_make_it_again(
    open_archive: Callable[[], Archive],
) -> None:
    mine, other = open_archive(), open_archive()
    made = chat("a", "question", "answer")
    mine.save(made, list(made.messages))
    assert mine.flush(20)
    other.purge("a")
    assert other.flush(20)
    mine.save(replace(made, settings=ReplySettings(seed=9)))
    assert mine.flush(20)
    assert other.summaries() == ()
    mine.save(made, list(made.messages))
    assert mine.flush(20)
    assert len(other.summaries()) == 1, "with messages it is kept"


class Model:
    """A store as simple as can be, to compare with."""

    def __init__(self) -> None:
        self.chats: dict[str, Conversation] = {}
        self.removed: set[str] = set()
        self.records: dict[str, RunRecord] = {}
        self.unsent: dict[str, str] = {}

    def answers(self, words: list[str]) -> dict[str, Any]:
        shown = {key: c for key, c in self.chats.items() if key not in self.removed}
        texts = [
            *((key, "", c.title) for key, c in shown.items()),
            *(
                (key, m.message_id, m.content)
                for key, c in shown.items()
                for m in c.messages.values()
            ),
        ]
        return {
            "chats": self.chats,
            "summaries": {key: (c.title, c.pinned) for key, c in shown.items()},
            "found": {
                word: {(c, m) for c, m, text in texts if word in text.lower().split()}
                for word in words
            },
            "unsent": {key: text for key, text in self.unsent.items() if text},
            "records": {
                key: {m: self.records[m] for m in c.messages if m in self.records}
                for key, c in self.chats.items()
            },
        }


def answers(archive: Archive, model: Model, words: list[str]) -> dict[str, Any]:
    return {
        "chats": {key: archive.load(key) for key in model.chats},
        "summaries": {s.conversation_id: (s.title, s.pinned) for s in archive.summaries()},
        "found": {
            word: {(h.conversation_id, h.message_id) for h in archive.search(word, 1000)}
            for word in words
        },
        "unsent": {key: archive.unsent(key) for key in model.unsent if archive.unsent(key)},
        "records": {key: dict(archive.runs(key)) for key in model.chats},
    }


WORDS = ["alpha", "beta", "gamma", "delta", "epsilon"]


def act(drawn: random.Random, archive: Archive, model: Model, number: int) -> None:
    """Do something at random to both."""
    key = f"c{drawn.randrange(4)}"
    conversation = model.chats.get(key)
    text = " ".join(drawn.choices(WORDS, k=2))
    what = drawn.choice(
        ["say", "say", "reply", "pin", "remove", "restore", "purge", "unsent", "cut"]
    )
    if what == "unsent":
        model.unsent[key] = text if drawn.random() < 0.7 else ""
        archive.save_unsent(key, model.unsent[key])
    elif conversation is None:
        model.chats[key] = chat(key, text)
        model.chats[key] = replace(
            model.chats[key],
            messages={
                f"m{number}": replace(
                    model.chats[key].messages[f"{key}-0"], message_id=f"m{number}"
                )
            },
            leaf_id=f"m{number}",
        )
        archive.save(model.chats[key], [f"m{number}"])
    elif what in ("say", "reply"):
        role = "user" if what == "say" else "assistant"
        parent = drawn.choice([conversation.leaf_id, conversation.path()[0].message_id])
        message = Message(
            f"m{number}", parent, role, "" if what == "reply" else text, float(number)
        )
        conversation = conversation.add(message)
        archive.save(conversation, [message.message_id])
        if what == "reply":
            ended = replace(record(message.message_id), strategy=drawn.choice(["draft", "off"]))
            archive.begin_run(key, RunRecord(message.message_id))
            archive.extend_run(message.message_id, text[:3], ())
            archive.end_run(ended, text)
            conversation = conversation.with_content(message.message_id, text)
            model.records[message.message_id] = ended
        model.chats[key] = conversation
    elif what == "pin":
        model.chats[key] = replace(conversation, pinned=not conversation.pinned, title=text)
        archive.save(model.chats[key])
    elif what == "cut":
        leaf = next(reversed(conversation.messages))
        parents = {m.parent_id for m in conversation.messages.values()}
        if leaf not in parents and conversation.messages[leaf].parent_id is not None:
            kept = {k: m for k, m in conversation.messages.items() if k != leaf}
            moved = conversation.messages[leaf].parent_id
            leaf_id = moved if conversation.leaf_id == leaf else conversation.leaf_id
            model.chats[key] = replace(conversation, messages=kept, leaf_id=leaf_id)
            archive.save(model.chats[key], (), [leaf])
    elif what == "remove":
        model.removed.add(key)
        archive.remove(key)
    elif what == "restore":
        model.removed.discard(key)
        archive.restore(key)
    else:
        del model.chats[key]
        model.removed.discard(key)
        model.unsent.pop(key, None)
        archive.remove(key)
        archive.purge(key)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("disk", ["flushed", "racing", "away"])
def test_answers_are_those_of_a_simple_store(
    tmp_path: Path, seed: int, disk: str, allow_warnings: Callable[[str], None]
) -> None:
    drawn, model = random.Random(seed), Model()
    folder = tmp_path / "data"
    if disk == "away":
        allow_warnings("chats are not written")
        allow_warnings("could not be stored")
        folder.write_text("a file where the folder should be")
    archive = Archive(folder / "chats.db")
    archive.open()
    for number in range(60):
        act(drawn, archive, model, number)
        if disk == "flushed":
            assert archive.flush()
        if number % 6 == 0 or number == 59:
            assert answers(archive, model, WORDS) == model.answers(WORDS)
    assert archive.close() == (disk != "away")
    if disk == "away":
        folder.unlink()
    again = Archive(folder / "chats.db")
    again.open()
    assert answers(again, model, WORDS) == model.answers(WORDS)
    assert again.flush()
    assert answers(again, model, WORDS) == model.answers(WORDS)
    assert again.close()
