"""Every store answers like a dictionary: in memory, and on a disk that is slow or fails.

The machine is the contract of `ConversationStore`; each kind of store is a subclass of it. That on
the disk is closed, killed and opened again between the steps, and nothing written is lost.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from paceline.codec import made_of
from paceline.content import Content, Text, of_text, text_of
from paceline.conversation import (
    Attachment,
    Conversation,
    ConversationSummary,
    Folder,
    Message,
    ViewPlace,
)
from paceline.params import ReplySettings
from paceline.run_record import INTERRUPTED, RunRecord
from paceline.storage import archive as archives
from paceline.storage import writer
from paceline.storage.archive import NEW_CHAT, Archive, ConversationStore
from paceline.storage.disk import Disk
from paceline.storage.problems import StorageError
from storage.chats import record, steps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paceline.storage.changes import Change

WORDS = ("alpha", "beta", "gamma")
CHATS = ("a", "b")
FOLDERS = ("f", "g")
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=2).map(" ".join)
contents = st.lists(texts.map(lambda text: Text(f"{text} ")), min_size=1, max_size=2).map(tuple)
places = st.integers(0, 5)


class Store(RuleBasedStateMachine):
    """A store in memory, beside what it has to answer."""

    def __init__(self) -> None:
        super().__init__()
        self.store = ConversationStore()
        self.chats: dict[str, Conversation] = {}
        self.removed: set[str] = set()
        self.records: dict[str, RunRecord] = {}
        self.folders: dict[str, Folder] = {}
        self.unsent: dict[str, str] = {}
        self.unsent_files: dict[str, tuple[Attachment, ...]] = {}
        self.places: dict[str, ViewPlace] = {}
        self.deleted: list[tuple[str, Message, RunRecord | None]] = []
        self.n_messages = 0

    def message(self, key: str, at: int) -> Message:
        messages = list(self.chats[key].messages.values())
        return messages[at % len(messages)]

    def running(self, key: str) -> list[RunRecord]:
        messages = self.chats[key].messages if key in self.chats else ()
        records = [self.records[name] for name in messages if name in self.records]
        return [one for one in records if one.status == "running"]

    def put(
        self, made: Conversation, changed: Sequence[str] = (), gone: Sequence[str] = ()
    ) -> None:
        self.chats[made.conversation_id] = made
        # A reply that is under way is kept with an empty text, and its pieces.
        under_way = {one.message_id: "" for one in self.running(made.conversation_id)}
        for message_id, text in under_way.items():
            made = made.with_content(message_id, of_text(text))
        self.store.save(made, changed, gone)

    @rule(key=st.sampled_from(CHATS), text=texts, at=places)
    def ask(self, key: str, text: str, at: int) -> None:
        message_id, self.n_messages = f"m{self.n_messages}", self.n_messages + 1
        if key in self.chats:
            parent = self.message(key, at).message_id
            made = self.chats[key].add(Message.of_text(message_id, parent, "user", text, 1.0))
        else:
            made = Conversation(key, text).add(Message.of_text(message_id, None, "user", text, 1.0))
        self.put(made, [message_id])

    @precondition(lambda self: self.chats)
    @rule(data=st.data(), pieces=st.lists(texts, max_size=3), end=st.one_of(st.none(), contents))
    def reply(self, data: st.DataObject, pieces: list[str], end: Content | None) -> None:
        """Begin a reply, or go on with one, and perhaps end it."""
        key = data.draw(st.sampled_from(sorted(self.chats)))
        if not self.running(key):
            self.begin(key)
        message_id = self.running(key)[0].message_id
        for text in pieces:
            made = steps([f"{text} "])
            self.store.extend_run(key, message_id, f"{text} ", made)
            one = self.records[message_id]
            self.records[message_id] = replace(one, steps=one.steps + made)
            text = self.chats[key].messages[message_id].text + f"{text} "  # noqa: PLW2901
            self.chats[key] = self.chats[key].with_content(message_id, of_text(text))
        if end is not None:
            self.records[message_id] = record(message_id, *text_of(end).split())
            self.chats[key] = self.chats[key].with_content(message_id, end)
            self.store.end_run(key, self.records[message_id], end)

    def begin(self, key: str) -> None:
        message_id, self.n_messages = f"m{self.n_messages}", self.n_messages + 1
        made = self.chats[key]
        self.put(
            made.add(Message.of_text(message_id, made.leaf_id, "assistant", "", 2.0)), [message_id]
        )
        self.records[message_id] = RunRecord(message_id, started_s=5.0, strategy="draft")
        self.store.begin_run(key, self.records[message_id])

    @precondition(lambda self: self.chats)
    @rule(
        data=st.data(),
        text=texts,
        content=contents,
        at=places,
        folder_id=st.sampled_from(("", *FOLDERS)),
    )
    def change(
        self, data: st.DataObject, text: str, content: Content, at: int, folder_id: str
    ) -> None:
        key = data.draw(st.sampled_from(sorted(self.chats)))
        made = self.chats[key].renamed(text)
        message = self.message(key, at)
        if message.role == "user":
            made = made.with_content(message.message_id, content)
        made = replace(made, pinned=not made.pinned, archived=bool(at % 2), folder_id=folder_id)
        self.put(replace(made, tags=(text,)), [message.message_id])

    @rule(key=st.sampled_from(FOLDERS), name=texts, instructions=st.one_of(texts, st.just("")))
    def name_folder(self, key: str, name: str, instructions: str) -> None:
        self.folders[key] = Folder(key, name, instructions)
        self.store.save_folder(self.folders[key])

    @precondition(lambda self: self.chats)
    @rule(data=st.data())
    def delete_the_last(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.chats)))
        *kept, last = self.chats[key].messages.values()
        if not kept:
            return
        self.deleted.append((key, last, self.records.pop(last.message_id, None)))
        made = replace(self.chats[key], messages={m.message_id: m for m in kept})
        if made.leaf_id == last.message_id:
            made = replace(made, leaf_id=last.parent_id)
        self.put(made, (), [last.message_id])

    @precondition(lambda self: self.deleted)
    @rule()
    def bring_back(self) -> None:
        key, message, was = self.deleted.pop()
        if key not in self.chats or message.parent_id not in self.chats[key].messages:
            return
        self.put(self.chats[key].add(message), [message.message_id])
        if was is not None:
            was = self.records[message.message_id] = replace(was, status="finished")
            self.store.begin_run(key, replace(was, steps=()))
            self.store.end_run(key, was, message.content)

    @rule(key=st.sampled_from((*CHATS, *FOLDERS)), back=st.booleans())
    def remove(self, key: str, *, back: bool) -> None:
        if key in self.chats or key in self.folders:
            self.removed.add(key)
            self.store.remove(key)
        if back:
            self.removed.discard(key)
            self.store.restore(key)

    @rule(key=st.sampled_from((*CHATS, *FOLDERS)))
    def purge(self, key: str) -> None:
        self.folders.pop(key, None)
        for message_id in self.chats.pop(key, Conversation("")).messages:
            self.records.pop(message_id, None)
        self.deleted = [one for one in self.deleted if one[0] != key]
        self.removed.discard(key)
        self.unsent.pop(key, None)
        self.unsent_files.pop(key, None)
        self.places.pop(key, None)
        self.store.purge(key)

    @rule(key=st.sampled_from((NEW_CHAT, *CHATS)), text=st.one_of(texts, st.just("")))
    def leave(self, key: str, text: str) -> None:
        self.unsent[key] = text
        self.store.save_unsent(key, text)
        if text != "alpha":  # files stay beside another text, and the text beside other files
            files = tuple(Attachment(f"{word}.txt", text, 5) for word in text.split())
            self.unsent_files[key] = files
            self.store.save_unsent_files(key, files)
        self.places[key] = ViewPlace("m0", len(text))
        self.store.save_place(key, self.places[key])

    @rule()
    def answers(self) -> None:
        shown = {key: made for key, made in self.chats.items() if key not in self.removed}
        store = self.store
        listed = {one.conversation_id: one for one in store.summaries()}
        assert listed == {key: made_of(ConversationSummary, made) for key, made in shown.items()}
        folders = {one.folder_id: one for one in store.folders()}
        assert folders == {k: one for k, one in self.folders.items() if k not in self.removed}
        assert store.gone(CHATS) == set(CHATS) - shown.keys()
        for key in CHATS:
            assert store.unsent(key) == self.unsent.get(key, "")
            assert store.unsent_files(key) == self.unsent_files.get(key, ())
            assert store.place(key) == self.places.get(key, ViewPlace())
            if key not in self.chats:
                with pytest.raises(StorageError, match="not there"):
                    store.load(key)
                assert store.runs(key) == {}
                continue
            found = store.load(key)
            assert found == self.chats[key]
            assert list(found.messages) == list(self.chats[key].messages)
            known = {m: self.records[m] for m in found.messages if m in self.records}
            assert store.runs(key) == {m: replace(one, steps=()) for m, one in known.items()}
            for message_id, one in known.items():
                assert store.steps(message_id) == one.steps
        assert store.unsent(NEW_CHAT) == self.unsent.get(NEW_CHAT, "")
        for _, message, _ in self.deleted:
            assert store.steps(message.message_id) == ()
        for word in WORDS:
            hits = store.search(word, 1000)
            found_in = {(hit.conversation_id, hit.message_id) for hit in hits}
            assert found_in == set(self.having(shown, word))
            archived = [shown[hit.conversation_id].archived for hit in hits]
            assert archived == sorted(archived)
            # A limited search ranks the newest alone, so its hits need not be the first of all.
            some = store.search(word, len(hits) // 2)
            assert len(some) == len(hits) // 2
            assert set(some) <= set(hits)

    def having(self, shown: dict[str, Conversation], word: str) -> list[tuple[str, str]]:
        """Titles and messages with a word; not the replies that are under way."""
        under_way = {one.message_id for key in shown for one in self.running(key)}
        messages = [
            (key, message.message_id)
            for key, made in shown.items()
            for message in made.messages.values()
            if word in message.text and message.message_id not in under_way
        ]
        return messages + [(key, "") for key, made in shown.items() if word in made.title]

    def teardown(self) -> None:
        self.answers()


class StoreOnDisk(Store):
    """The same on a disk that may be slow, fail, or fail after it has written."""

    def __init__(self) -> None:
        super().__init__()
        self.ends = contextlib.ExitStack()
        patch = self.ends.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(writer, "RETRY_S", 0.01)
        patch.setattr(archives, "MAX_READ_WAIT_S", 0.01)
        patch.setattr(archives, "MAX_SHOWN_WAIT_S", 0.01)
        self.goes_on = threading.Event()
        self.goes_on.set()
        self.fails = ""
        write = Disk.write

        def faulty(disk: Disk, changes: Sequence[Change], *, durable: bool) -> None:
            self.goes_on.wait()
            if self.fails != "before":
                write(disk, changes, durable=durable)
            if self.fails:
                error = sqlite3.OperationalError("database or disk is full")
                error.sqlite_errorcode = sqlite3.SQLITE_FULL
                raise error

        patch.setattr(Disk, "write", faulty)
        self.tidies = threading.Lock()
        tidy = Disk.tidy

        def lone(disk: Disk) -> bool:
            with self.tidies:
                return tidy(disk)

        patch.setattr(Disk, "tidy", lone)
        folder = self.ends.enter_context(tempfile.TemporaryDirectory())
        self.path = Path(folder) / "data" / "chats.db"

    @initialize()
    def open(self) -> None:
        self.store = self.archive = Archive(self.path)
        self.archive.open()

    @rule(is_slow=st.booleans(), fails=st.sampled_from(("", "before", "after")))
    def other_disk(self, *, is_slow: bool, fails: str) -> None:
        self.fails = fails
        self.goes_on.clear() if is_slow else self.goes_on.set()

    @rule(end=st.sampled_from(("close", "close on a failing disk", "kill")))
    def restart(self, end: str) -> None:
        """End and open it; what a failing disk does not take comes back all the same."""
        if end == "kill":
            self.flush()
            with self.tidies:  # a checkpoint between two files would leave a state that never was
                shutil.copytree(self.path.parent, f"{self.path.parent} then")
        self.fails = "before" if end == "close on a failing disk" else ""
        self.goes_on.set()
        assert self.archive.close() or self.fails
        self.fails = ""
        if end == "kill":  # the files are as they were, with no time for anything
            shutil.rmtree(self.path.parent)
            Path(f"{self.path.parent} then").rename(self.path.parent)
        for key in CHATS:
            for one in self.running(key):
                ended = replace(one, status="failed", error=INTERRUPTED)
                self.records[one.message_id] = ended
        self.open()

    @rule()
    def flush(self) -> None:
        self.other_disk(is_slow=False, fails="")
        self.archive.retry()
        assert self.archive.flush()

    def teardown(self) -> None:
        try:
            super().teardown()
            self.flush()
            super().teardown()
        finally:
            self.other_disk(is_slow=False, fails="")
            self.archive.close()
            self.ends.close()


TestStore = Store.TestCase


@pytest.fixture
def _noted(allow_warnings: Callable[[str], None]) -> None:
    allow_warnings("chats are not written")
    allow_warnings("could not be stored")


@pytest.mark.usefixtures("_noted")
class TestStoreOnDisk(StoreOnDisk.TestCase):
    # Threads take other turns when an example is tried again, so it is not made smaller.
    settings = settings(stateful_step_count=40, phases=[Phase.generate])


# -------------------------------------------------------------------------------- examples


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_whatever_a_chat_holds_comes_back(kind: str, open_archive: Callable[[], Archive]) -> None:
    files = (Attachment("a.py", "print('ä')\n", 12), Attachment("b.txt", "", 0))
    before = Conversation("c", "Title", 10.5, changed_s=20.25, pinned=True, tags=("work", "ü"))
    before = before.add(
        Message.of_text("m0", None, "user", "Question?\0 with NUL", 11.0, attachments=files)
    )
    answer = (Text("An"), Text("swer\ud83d"), Text(""))
    before = before.add(Message("m1", "m0", "assistant", answer, 12.0))
    before = before.add(Message.of_text("m2", "m0", "assistant", "Another answer", 13.0)).activate(
        "m1"
    )
    before = replace(before, settings=ReplySettings(seed=9, system_prompt="Be brief. ü"))
    store = ConversationStore() if kind == "memory" else open_archive()
    store.save(before, ["m0", "m1", "m2"])
    store.save_unsent(NEW_CHAT, "half a thought \ud83d")
    written = before.with_content("m1", (Text("An"), Text("swer?"), Text("")))
    assert store.load("c") == written
    assert store.unsent(NEW_CHAT) == "half a thought ?"
    (summary,) = store.summaries()
    assert (summary.title, summary.pinned, summary.tags) == ("Title", True, ("work", "ü"))
    assert (summary.created_s, summary.changed_s, summary.private) == (10.5, 20.25, False)
