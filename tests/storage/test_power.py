"""A power failure takes nothing that was sent, and at most the last moments of a reply."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from paceline.content import of_text
from paceline.run_record import RunRecord
from paceline.storage.changes import BeginRun, ExtendRun
from paceline.storage.disk import Disk
from storage.chats import chat, record, steps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pytest

    from paceline.storage.archive import Archive
    from paceline.storage.changes import Change

FULL, NORMAL = 2, 1
"""SQLite's PRAGMA synchronous: whether a transaction waits for the disk."""


def test_a_message_waits_for_the_disk_and_the_text_under_way_does_not(
    open_archive: Callable[[], Archive], monkeypatch: pytest.MonkeyPatch
) -> None:
    levels: dict[bool, set[int]] = {False: set(), True: set()}
    has_grown = threading.Event()
    write = Disk.write

    def watched(disk: Disk, changes: Sequence[Change], *, durable: bool) -> None:
        write(disk, changes, durable=durable)
        (level,) = disk.ready().writer.execute("PRAGMA synchronous").fetchone()
        kinds = {type(change) for change in changes}
        levels[not kinds <= {BeginRun, ExtendRun}].add(level)
        if ExtendRun in kinds:
            has_grown.set()

    monkeypatch.setattr(Disk, "write", watched)
    archive = open_archive()
    asked = chat("c", "Question", "")
    archive.save(asked, list(asked.messages))
    archive.flush()
    archive.begin_run("c", RunRecord("c-1", started_s=5.0, strategy="draft"))
    for one in steps(["One", " two"]):
        archive.extend_run("c", "c-1", one.text, [one])
    assert has_grown.wait(5), "without being asked for"
    archive.end_run("c", record("c-1", "One", " two"), of_text("One two"))
    assert archive.close()
    assert levels == {False: {NORMAL}, True: {FULL}}
