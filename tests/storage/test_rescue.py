"""Changes that wait in a file for the next start, and files that are none of ours."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import pytest

from message_samples import sample
from paceline.codec import CodecError
from paceline.content import Text, of_text
from paceline.conversation import Attachment, Folder, Head, ViewPlace
from paceline.storage import changes as rescue
from paceline.storage.archive import Archive
from paceline.storage.changes import (
    BeginRun,
    Change,
    EndRun,
    ExtendRun,
    Purge,
    Remove,
    Restore,
    SaveChat,
    SaveFolder,
    SavePlace,
    SaveUnsent,
    SaveUnsentFiles,
    saved,
)
from storage.chats import chat, record, steps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

CHANGES: list[Change] = [
    saved(chat("c", "question", "answer"), ["c-0", "c-1"], ["x"]),
    SaveChat(replace(sample(Head), private=False)),
    BeginRun("c", record("c-1")),
    ExtendRun("c", "c-1", 3, "texté", steps(["texté"])),
    EndRun("c", record("c-1", "a", "b"), of_text("ab")),
    Remove("c"),
    Restore("c"),
    Purge("d"),
    SaveUnsent("c", "half"),
    SaveUnsentFiles("c", (Attachment("a.txt", "é", 2),)),
    SaveFolder(Folder("f", "Work", "Be brief.")),
    SavePlace("c", ViewPlace("c-0", -5)),
]


def put_aside(db: Path, changes: Sequence[Change]) -> Path:
    """Write a file of changes."""
    path = rescue.rescue(db, changes)
    assert path is not None
    return path


def test_every_change_comes_back(db: Path) -> None:
    assert {type(change) for change in CHANGES} == set(get_args(Change))
    path = put_aside(db, CHANGES)
    assert rescue.rescued(db) == [path]
    assert rescue.read_rescued(path) == CHANGES


def test_the_version_before_can_read_a_conversation(db: Path) -> None:
    path = put_aside(db, CHANGES)
    data = json.loads(path.read_text())["changes"]
    heads = [one["head"] for one in data if "head" in one]
    assert len(heads) == 2
    assert not any("private" in head for head in heads)
    assert not any(name in heads[0] for name in ("folder_id", "archived"))
    saved_chat, end = data[0], data[4]
    assert [message["content"] for message in saved_chat["messages"]] == ["question", "answer"]
    assert end["text"] == "ab"
    assert not any("parts" in one for one in (*saved_chat["messages"], end))


OF_THE_VERSION_BEFORE = """{"format": 1, "database": "chats.db", "changes": [
{"kind": "SaveChat", "head": {"conversation_id": "c", "title": "Hi", "created_s": 1.0,
 "changed_s": 2.0, "pinned": false, "tags": [], "origin": null, "leaf_id": "a", "settings": null},
 "messages": [{"message_id": "q", "parent_id": null, "role": "user", "content": "Hi",
 "created_s": 1.0, "attachments": [{"name": "f", "text": "x", "n_bytes": 1}]},
 {"message_id": "a", "parent_id": "q", "role": "assistant", "content": "", "created_s": 2.0,
 "attachments": []}], "removed": []},
{"kind": "BeginRun", "conversation_id": "c", "record": {"message_id": "a", "status": "running"}},
{"kind": "EndRun", "conversation_id": "c", "record": {"message_id": "a", "status": "finished"},
 "text": "Hello"}]}"""


def test_what_the_version_before_could_not_write_is_taken_in(db: Path) -> None:
    path = put_aside(db, CHANGES)
    path.write_text(OF_THE_VERSION_BEFORE)
    archive = Archive(db)
    archive.open()
    made = archive.load("c")
    assert [message.content for message in made.path()] == [of_text("Hi"), of_text("Hello")]
    assert made.messages["q"].attachments[0].text == "x"
    assert archive.runs("c")["a"].status == "finished"
    assert archive.close()
    assert not path.exists()


def test_parts_are_beside_their_text(db: Path) -> None:
    content = (Text("a"), Text("b"))
    made = chat("c", "question").with_content("c-0", content)
    changes: list[Change] = [saved(made, ["c-0"]), EndRun("c", record("c-0"), content)]
    path = put_aside(db, changes)
    saved_chat, end = json.loads(path.read_text())["changes"]
    assert (saved_chat["messages"][0]["content"], end["text"]) == ("a\n\nb", "a\n\nb")
    assert rescue.read_rescued(path) == changes


@pytest.mark.parametrize(("last", "text"), [(CHANGES[3], "texté"), (CHANGES[4], "ab")])
def test_runs_of_the_version_before_are_seen_while_a_disk_is_locked(
    db: Path, last: Change, text: str
) -> None:
    archive = Archive(db)
    archive.open()
    archive.save(chat("c", "question", ""), ["c-0", "c-1"])
    archive.begin_run("c", replace(record("c-1"), status="running"))
    assert archive.close()
    path = put_aside(db, [last])
    data = json.loads(path.read_text())
    del data["changes"][0]["conversation_id"]
    path.write_text(json.dumps(data))
    with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        archive = Archive(db)
        archive.open()
        assert archive.load("c").messages["c-1"].text == text
    archive.retry()
    assert archive.flush()
    assert archive.load("c").messages["c-1"].text == text
    assert archive.runs("c")["c-1"].status == ("failed" if last is CHANGES[3] else "finished")
    assert archive.close()


def test_files_are_taken_in_order_and_names_are_not_taken_twice(db: Path) -> None:
    first, second = put_aside(db, [Remove("a")]), put_aside(db, [Restore("a")])
    os.utime(second, ns=(0, 0))
    assert rescue.rescued(db) == [second, first]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"format": 999, "changes": []}',
        '{"format": 1}',
        '{"format": 1, "changes": [1]}',
        '{"format": 1, "changes": [{"kind": "Explode"}]}',
        '{"format": 1, "changes": [{"kind": "Remove", "conversation_id": 5}]}',
        '{"format": 1, "changes": [{"kind": "SaveChat", "head": {}, "messages": []}]}',
    ],
)
def test_what_cannot_be_understood_stays_where_it_is(
    db: Path, text: str, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("cannot be taken in")
    path = put_aside(db, [Remove("a")])
    path.write_text(text)
    with pytest.raises(CodecError):
        rescue.read_rescued(path)
    archive = Archive(db)
    archive.open()
    assert archive.close()
    assert path.read_text() == text


@pytest.mark.skipif(sys.platform == "win32", reason="no owners and modes")
def test_files_of_others_are_not_read(db: Path) -> None:
    path = put_aside(db, [Remove("a")])
    path.chmod(0o666)
    assert rescue.rescued(db) == []
    path.chmod(0o600)
    assert rescue.rescued(db) == [path]
    target = path.rename(path.with_name("elsewhere"))
    path.symlink_to(target)
    assert rescue.rescued(db) == []


def test_values_that_no_database_takes_cost_only_themselves(
    db: Path, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("cannot be stored")
    archive = Archive(db)
    archive.open()
    archive.save(chat("a", "before"), ["a-0"])
    archive.save_place("a", ViewPlace("a-0", 2**70))
    archive.save(chat("b", "behind"), ["b-0"])
    assert archive.flush()
    assert archive.problem is None
    assert archive.close()
    (refused,) = db.parent.glob("*.refused-*.json")
    (change,) = json.loads(refused.read_text())["changes"]
    assert change["place"]["offset_px"] == 2**70
    again = Archive(db)
    again.open()
    assert {summary.conversation_id for summary in again.summaries()} == {"a", "b"}
    again.close()
    assert refused.exists()


def test_without_a_folder_for_temporary_files_they_lie_beside_the_chats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr("tempfile.gettempdir", none)
    path = put_aside(tmp_path / "chats.db", CHANGES)
    assert rescue.rescued(tmp_path / "chats.db") == [path]
    assert rescue.rescued(tmp_path / "not there" / "chats.db") == []
