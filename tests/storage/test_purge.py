"""A purge overwrites the bytes in every file, not only the rows of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paceline.content import of_text
from paceline.run_record import RunRecord
from paceline.storage.archive import Archive
from paceline.storage.database import copies
from storage.chats import chat, record, steps

if TYPE_CHECKING:
    from pathlib import Path

CANARY = "xylophonecanary"


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


def test_nothing_of_a_purged_chat_is_left(db: Path) -> None:
    archive = Archive(db)
    archive.open()
    for i in range(50):
        made = chat(f"c{i}", f"question {i}", "answer " * 50)
        archive.save(made, list(made.messages))
    made = chat("gone", f"what is a {CANARY}?", "", f"the {CANARY} again", title=f"On {CANARY}")
    archive.save(made, list(made.messages))
    archive.begin_run("gone", RunRecord("gone-1"))
    archive.extend_run("gone", "gone-1", f"{CANARY} checkpoint", steps([f"{CANARY} checkpoint"]))
    archive.flush()
    archive.end_run("gone", record("gone-1"), of_text(f"{CANARY} " * 5000))
    archive.save_unsent("gone", f"unsent {CANARY}")
    archive.flush()
    archive.close()
    assert CANARY.encode() in bytes_of(db.parent)
    db.with_name("chats.db.before-layout-2").write_bytes(CANARY.encode())
    assert copies(db)
    archive = Archive(db)
    archive.open()
    archive.remove("gone")
    archive.purge("gone")
    assert archive.flush()
    assert archive.close()
    left = bytes_of(db.parent)
    assert CANARY.encode() not in left
    assert CANARY[:9].encode() not in left  # the index shortens words that begin alike
    assert [path.name for path in db.parent.iterdir()] == ["chats.db"]
    archive = Archive(db)
    archive.open()
    assert len(archive.search("question", 100)) == 100
    archive.close()


def test_replaced_texts_leave_the_file(db: Path) -> None:
    archive = Archive(db)
    archive.open()
    made = chat("c", f"the {CANARY}")
    archive.save(made.renamed("Title"), list(made.messages))
    archive.flush()
    archive.save(made.with_content("c-0", of_text("other")).renamed("Title"), ["c-0"])
    archive.flush()
    assert archive.search(CANARY) == ()
    archive.close()
