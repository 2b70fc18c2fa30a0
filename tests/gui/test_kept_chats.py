"""Chats over several lives of the window: real widgets, the real database, a scripted engine."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QMimeData, Qt

from gui.fake_client import FakeClient
from paceline.conversation import Attachment
from paceline.gui.chat.composer_controllers import KEEP_AFTER_MS
from paceline.gui.chat.messages import message_pages
from paceline.gui.chat.messages.reply_view import ReplyFooter
from paceline.gui.conversations.sidebar import UNDO_MS
from paceline.gui.storage_controller import STORAGE
from paceline.messages import Remember, StartTurn, TurnStarted
from paceline.run_record import CLOSED, INTERRUPTED
from paceline.settings import Settings, load_settings
from paceline.storage import database, writer
from paceline.storage.archive import Archive
from paceline.storage.problems import StorageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from paceline.gui.kit.notices import Notice
    from paceline.gui.program import Program
    from paceline.messages import StepCommitted

LONG = "A line of text that is shown.\n\n" * 40


class Life:
    """One run of the window on the same files."""

    def __init__(self, make: Callable[..., Program], home: Path, **changes: object) -> None:
        self.client = FakeClient()
        self.file = home / "data" / "chats.db"
        settings = load_settings(home / "config" / "settings.json").settings
        self.program = make(settings, chats_file=self.file, engine=self.client, **changes)
        self.session = self.program.session
        self.composer = self.program.window.chat_pane.composer
        self.chat = self.program.window.chat_pane.chat

    def load(self) -> Life:
        self.client.finish_load()
        return self

    def ask(self, text: str, answer: str) -> None:
        assert self.program.chat.send(text)
        self.client.reply(answer)

    def message(self, number: int) -> str:
        return self.program.shown.conversation.path()[number].message_id

    @property
    def shown(self) -> list[str]:
        """What the replies of the shown path say, as far as they are built."""
        views = [self.chat.reply_view(m.message_id) for m in self.program.shown.conversation.path()]
        return [view.plain_text for view in views if view is not None]

    @property
    def titles(self) -> list[str]:
        return sorted(summary.title for summary in self.session.summaries)

    def end(self) -> None:
        self.program.window.close()


@pytest.fixture
def live(
    make_program: Callable[..., Program], paceline_home: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Life]:
    # Whole chats are shown at once, also where the machine has no time for it.
    monkeypatch.setattr(message_pages, "FIRST_PAINT_S", 60)

    def live(**changes: object) -> Life:
        return Life(make_program, paceline_home, **changes)

    return live


# --------------------------------------------------------------------------------- restarting


def test_what_was_said_is_shown_again_after_a_restart(live: Callable[..., Life]) -> None:
    first = live().load()
    first.ask("What is a list?", "A **sequence**.")
    first.end()
    second = live().load()
    assert second.program.shown.conversation.title == "What is a list?"
    assert second.shown == ["A sequence."]
    view = second.chat.reply_view(second.message(1))
    assert view is not None
    assert view.drafters, "the colours of the tokens come back, too"
    assert "41.2" in view.findChild(type(view._footer.stats)).toolTip()
    assert second.program.live.reply is not None
    assert second.program.live.reply.stats is not None
    second.program.chat.send("And a tuple?")
    contents = [m.text for m in second.client.last(StartTurn).prompt.messages]
    assert contents == ["What is a list?", "A **sequence**.", "And a tuple?"]


def test_a_reply_that_runs_when_the_window_closes_keeps_what_it_had(
    live: Callable[..., Life],
) -> None:
    first = live().load()
    first.program.chat.send("Tell me everything.")
    first.client.start_turn()
    first.client.step("Half ", 0)
    first.client.figures()
    first.client.step("of it", 1)
    first.end()
    second = live()
    assert second.shown == ["Half of it"]
    reply = second.program.shown.reply(second.message(1))
    assert reply is not None
    assert reply.error is not None
    assert reply.error.code == CLOSED.code
    assert_ended(second, "Stopped when the program was closed.")
    stats = second.chat.findChildren(ReplyFooter)[0].stats
    assert stats.isVisibleTo(second.chat)
    assert "t/s" in stats.toolTip()


def assert_ended(life: Life, words: str) -> None:
    """The only reply says how it ended, in a quiet line, and can go on."""
    view = life.chat.reply_view(life.message(1))
    assert view is not None
    assert view.note is not None
    assert view.note.text() == words
    assert view._error is None, "no fault of it"
    assert life.program.window.actions_.continue_reply.isEnabled()


def test_a_reply_that_was_lost_with_the_program_says_so(
    live: Callable[..., Life], paceline_home: Path
) -> None:
    first = live().load()
    first.program.chat.send("Tell me everything.")
    first.client.start_turn()
    first.client.step("Half of it", 0)
    first.session._runner.active = None  # what a crash leaves: a run without an end
    first.end()
    second = live()
    assert second.shown == ["Half of it"]
    reply = second.program.shown.reply(second.message(1))
    assert reply is not None
    assert reply.error is not None
    assert reply.error.code == INTERRUPTED.code
    assert_ended(second, "Stopped when the program ended.")


def test_the_open_chat_its_place_and_the_panes_come_back(
    live: Callable[..., Life], qtbot: QtBot
) -> None:
    first = live().load()
    for number in range(6):
        first.ask(f"Question {number}", LONG)
    kept = first.program.shown.id
    first.program.window.actions_.panel.trigger()
    first.program.window.resize(1300, 700)
    qtbot.wait(20)
    first.chat.go_to(first.message(4))
    qtbot.wait(20)
    place = first.chat.place()
    assert place.message_id in (first.message(3), first.message(4))
    first.end()
    second = live()
    qtbot.wait(50)
    assert second.program.shown.id == kept
    assert second.chat.place().message_id == place.message_id
    assert abs(second.chat.place().offset_px - place.offset_px) <= 2
    assert not second.program.window.panel.isVisible()


def test_a_chat_is_left_and_found_at_the_same_place(
    live: Callable[..., Life], qtbot: QtBot
) -> None:
    life = live().load()
    for number in range(6):
        life.ask(f"Question {number}", LONG)
    first = life.program.shown.id
    qtbot.wait(100)
    life.chat.go_to(life.message(2))
    qtbot.wait(100)
    place = life.chat.place()
    assert place.message_id in (life.message(1), life.message(2))
    life.program.shown.new()
    life.program.shown.show(first)
    qtbot.wait(20)
    assert life.chat.place() == place


def test_a_chat_that_is_gone_is_not_opened(live: Callable[..., Life]) -> None:
    first = live().load()
    first.ask("One", "1")
    gone = first.program.shown.id
    first.program.conversations._on_delete(gone)
    first.program.conversations._on_undo_over()
    first.end()
    assert live().program.shown.conversation.messages == {}


def test_a_hit_of_a_search_opens_its_message(live: Callable[..., Life], qtbot: QtBot) -> None:
    life = live().load()
    for number in range(6):
        life.ask(f"Question {number}", f"{LONG}needle{number}")
    first, wanted = life.program.shown.id, life.message(5)
    life.program.shown.new()
    sidebar = life.program.window.sidebar
    sidebar.search.setText("needle2")
    sidebar.finder.search_wanted.emit("needle2")
    (hit,) = life.session.conversations.search("needle2")
    assert (hit.conversation_id, hit.message_id) == (first, wanted)
    sidebar.finder.hit_chosen.emit(hit.conversation_id, hit.message_id, ("needle2",))
    qtbot.wait(50)
    assert life.program.shown.id == first
    assert life.chat.place().message_id in (life.message(4), wanted)
    view = life.chat.reply_view(wanted)
    assert view is not None
    assert view.isVisible()


# ------------------------------------------------------------------------------- unsent text


def test_what_was_written_and_not_sent_stays_with_its_chat(
    live: Callable[..., Life], qtbot: QtBot
) -> None:
    life = live().load()
    qtbot.keyClicks(life.composer.edit, "for the first")
    life.ask("One", "1")
    first = life.program.shown.id
    assert life.composer.text == "for the first"
    qtbot.keyClicks(life.composer.edit, " one")
    life.program.shown.new()
    assert life.composer.text == ""
    life.composer.set_text("for a second one")
    life.program.shown.show(first)
    assert life.composer.text == "for the first one"
    life.end()
    second = live()
    assert second.composer.text == "for the first one"
    second.program.shown.new()
    assert second.composer.text == "for a second one"


def test_a_long_paste_comes_back_with_its_chat(live: Callable[..., Life], qtbot: QtBot) -> None:
    life = live().load()
    data = QMimeData()
    data.setText(pasted := "a" * 100_000)
    life.composer.edit.insertFromMimeData(data)
    qtbot.keyClicks(life.composer.edit, "why?")
    life.ask("One", "1")
    life.program.shown.new()
    assert (life.composer.text, life.composer.attachments) == ("", ())
    life.end()
    second = live()
    second.program.shown.show(next(iter(second.session.summaries)).conversation_id)
    assert second.composer.text == "why?"
    assert [file.text for file in second.composer.attachments] == [pasted]


def test_a_file_that_was_not_sent_is_there_at_the_next_start(live: Callable[..., Life]) -> None:
    life, file = live().load(), Attachment("notes.md", "# Größe", 8)
    life.composer.files.add([file])
    life.end()
    second = live().load()
    assert second.composer.attachments == (file,)
    second.composer.button.click()
    second.client.reply("A heading.")
    second.end()
    third = live()
    assert third.composer.attachments == ()
    (chat,) = third.session.summaries
    assert third.session.conversations.get(chat.conversation_id).path()[0].attachments == (file,)


def test_unsent_text_is_kept_when_typing_rests(live: Callable[..., Life], qtbot: QtBot) -> None:
    life = live().load()
    qtbot.keyClicks(life.composer.edit, "half a thou")
    qtbot.waitUntil(
        lambda: life.session.conversations.unsent("") == "half a thou", timeout=20 * KEEP_AFTER_MS
    )


def test_what_was_sent_is_not_written_any_more(live: Callable[..., Life], qtbot: QtBot) -> None:
    first = live().load()
    qtbot.keyClicks(first.composer.edit, "One")
    first.program.unsent.keep()
    qtbot.keyClick(first.composer.edit, Qt.Key.Key_Return)
    first.client.reply("1")
    assert first.session.conversations.unsent("") == ""
    first.end()
    second = live()
    assert second.composer.text == ""
    second.program.shown.new()
    assert second.composer.text == ""


# ------------------------------------------------------------------------- edit, branch, siblings


def test_a_question_is_edited_and_both_ways_can_be_walked(live: Callable[..., Life]) -> None:
    life = live().load()
    life.ask("One", "1")
    life.ask("Two", "2")
    life.chat.edit_submitted.emit(life.message(0), "Uno")
    life.client.reply("eins")
    assert life.shown == ["eins"]
    life.chat.sibling_requested.emit(life.message(0), -1)
    assert life.shown == ["1", "2"]
    life.chat.regenerate_requested.emit(life.message(1))
    life.client.reply("1b")
    assert life.shown == ["1b"]
    life.end()
    again = live()
    assert again.shown == ["1b"]
    shown = again.program.shown.id
    assert again.session.turn_to_sibling(shown, again.message(1), -1)
    assert again.shown == ["1", "2"]


def test_an_edit_waits_while_another_reply_is_written(live: Callable[..., Life]) -> None:
    life = live().load()
    life.ask("One", "1")
    life.program.chat.send("Two")
    life.chat.edit_submitted.emit(life.message(0), "Uno")
    assert len(life.client.all(StartTurn)) == 2
    assert life.program.shown.conversation.path()[0].text == "One"


def test_a_branch_opens_as_a_chat_of_its_own(live: Callable[..., Life]) -> None:
    life = live().load()
    life.ask("One", "First")
    life.ask("Two", "2")
    life.chat.branch_requested.emit(life.message(1))
    assert life.shown == ["First"]
    assert life.titles == ["One", "One (2)"]
    view = life.chat.reply_view(life.message(1))
    assert view is not None
    assert view.drafters


def test_a_branch_is_marked_as_one_and_leads_back(live: Callable[..., Life]) -> None:
    life = live().load()
    life.ask("One", "1")
    life.ask("Two", "2")
    parted = life.message(1)
    original = life.program.shown.id
    life.chat.branch_requested.emit(parted)
    life.ask("Three", "3")
    life.end()
    life = live()  # it is stored
    view = life.chat.reply_view(life.message(1))
    assert view is not None
    mark = view._origin
    assert mark is not None
    assert mark.text() == "Branched here from “One”"
    assert mark.isVisibleTo(view)
    others = (life.chat._pages.item(life.message(at)) for at in (0, 2, 3))
    assert all(item is not None and item._origin is None for item in others)
    rows = life.program.window.sidebar.finder.list.model()
    tips = [str(rows.index(at, 0).data(Qt.ItemDataRole.ToolTipRole)) for at in range(3)]
    assert [("Branch of “One”" in tip) for tip in tips].count(True) == 1
    mark.click()
    assert life.program.shown.id == original
    assert life.shown == ["1", "2"]
    item = life.chat._list.first_seen()
    assert item is not None
    (branch,) = [s for s in life.session.summaries if s.origin is not None]
    life.session.remove(original)
    life.program.shown.show(branch.conversation_id)
    view = life.chat.reply_view(life.message(1))
    assert view is not None
    assert view._origin is not None
    assert view._origin.text() == "Branched here from a chat that was deleted"
    view._origin.click()
    assert life.program.shown.id == branch.conversation_id


def test_messages_that_were_left_out_are_told_below_the_reply(live: Callable[..., Life]) -> None:
    first = live().load()
    first.program.chat.send("One")
    first.client.emit(TurnStarted(10, 0, 7, n_cut=4))
    first.client.step("1", 0)
    first.client.finish_turn("1")
    for life in (first, None):
        if life is None:
            first.end()
        shown = life or live()
        view = shown.chat.reply_view(shown.message(1))
        assert view is not None
        assert view.note is not None
        assert view.note.text() == ("The oldest 4 messages were left out: the context is full.")


def test_a_reply_whose_steps_cannot_be_read_is_shown_without_them(
    live: Callable[..., Life], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = live().load()
    first.ask("One", "1 and more")
    first.end()

    def fail(self: Archive, message_id: str) -> tuple[StepCommitted, ...]:
        raise StorageError("chats-damaged", "The file is damaged.")

    monkeypatch.setattr(Archive, "steps", fail)
    assert live().shown == ["1 and more"]


# ------------------------------------------------------------------------- deleting, privacy


def test_a_deletion_is_undone_until_the_next_one(live: Callable[..., Life]) -> None:
    life = live().load()
    ids = []
    for text in ("One", "Two"):
        life.program.shown.new()
        life.ask(text, text)
        ids.append(life.program.shown.id)
    sidebar = life.program.window.sidebar
    for conversation_id in ids:
        sidebar.delete_requested.emit(conversation_id)
        assert not sidebar.undo_bar.isHidden()
    assert life.titles == []
    assert life.client.all(Remember)[-2:] == [Remember(deleted) for deleted in ids]
    sidebar.undo_bar.wanted.emit()
    assert life.titles == ["Two"]
    assert life.shown == ["Two"]
    assert life.client.last(Remember) == Remember(ids[1], ("Two", "Two"))
    life.end()
    assert removed_in(life.file) == 0
    assert live().titles == ["Two"]


def test_a_deletion_is_final_when_the_time_is_over(live: Callable[..., Life]) -> None:
    life = live().load()
    life.ask("One", "1")
    deleted = life.program.shown.id
    life.program.window.sidebar.delete_requested.emit(deleted)
    assert life.client.last(Remember) == Remember(deleted)  # long before the time is over
    timer = life.program.conversations._purge
    assert (timer.isActive(), timer.interval()) == (True, UNDO_MS)
    timer.timeout.emit()
    life.end()
    assert removed_in(life.file) == 0
    assert life.program.window.sidebar.undo_bar.isHidden()


def removed_in(file: Path) -> int:
    archive = Archive(file)
    n_removed = len(archive.open().removed)
    archive.close()
    return n_removed


def test_what_was_deleted_before_the_end_goes_for_good_at_the_next_start(
    live: Callable[..., Life],
) -> None:
    first = live().load()
    first.ask("One", "1")
    deleted = first.program.shown.id
    first.program.window.sidebar.delete_requested.emit(deleted)
    first.end()
    second = live()
    assert (second.titles, second.session.conversations.search("One")) == ([], ())
    second.load()
    others = second.program.conversations._others
    assert others.isActive()  # it may be another window's, which can take it back
    others.timeout.emit()
    assert second.client.all(Remember) == []
    second.end()
    assert removed_in(second.file) == 0


def test_another_window_does_not_purge_what_is_brought_back(live: Callable[..., Life]) -> None:
    first = live().load()
    first.ask("One", "1")
    deleted = first.program.shown.id
    first.program.window.sidebar.delete_requested.emit(deleted)
    assert isinstance(first.program.storage.store, Archive)
    assert first.program.storage.store.flush()
    second = live().load()
    first.program.window.sidebar.undo_bar.wanted.emit()
    assert first.program.storage.store.flush()
    second.program.conversations._others.stop()
    second.program.conversations._others.timeout.emit()
    second.end()
    first.end()
    assert live().titles == ["One"]


def test_a_private_chat_leaves_nothing_behind(live: Callable[..., Life]) -> None:
    first = live().load()
    first.program.window.sidebar.private_action.trigger()
    assert first.program.shown.conversation.private
    first.composer.set_text("a zebra secret")
    first.program.unsent.keep()
    first.composer.set_text("")
    first.ask("My zebra secret", "Shh, zebra.")
    assert first.shown == ["Shh, zebra."]
    first.end()
    second = live()
    assert (second.titles, second.shown, second.composer.text) == ([], [], "")
    second.end()
    written = b"".join(
        path.read_bytes() for path in second.file.parent.parent.rglob("*") if path.is_file()
    )
    assert b"zebra" not in written


# ------------------------------------------------------------------------- when writing fails


def notices(program: Program) -> list[Notice]:
    posted: list[Notice] = []
    program.notices.posted.connect(posted.append)
    return posted


def test_a_problem_is_told_once_and_settles_by_itself(
    live: Callable[..., Life],
    qtbot: QtBot,
    allow_warnings: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    allow_warnings("chats are not written")
    monkeypatch.setattr(database, "LOCK_WAIT_S", 0.2)
    life = live().load()
    posted = notices(life.program)
    settled: list[str] = []
    life.program.notices.resolved.connect(settled.append)
    other = sqlite3.connect(life.file, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        life.ask("One", "1")
        qtbot.waitUntil(lambda: any(n.topic == STORAGE for n in posted), timeout=15_000)
        assert life.program.shown.show(life.program.shown.id) is None
        notice = next(n for n in posted if n.topic == STORAGE)
        assert (notice.level, notice.action.text) == ("error", "Try again")
        settled.clear()
    finally:
        other.rollback()
        other.close()
    life.program.window.chat_pane.errors.action.click()
    qtbot.waitUntil(lambda: STORAGE in settled, timeout=15_000)
    assert len([n for n in posted if n.topic == STORAGE]) == 1
    life.end()
    assert live().shown == ["1"]


def test_chats_that_cannot_be_read_at_the_start_are_listed_as_soon_as_they_can(
    live: Callable[..., Life],
    qtbot: QtBot,
    allow_warnings: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    allow_warnings("chats are not written")
    monkeypatch.setattr(writer, "RETRY_S", 0.2)
    life = live().load()
    life.ask("An older question", "1")
    life.end()
    with contextlib.closing(sqlite3.connect(life.file, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        life = live().load()
        life.ask("A newer question", "2")
        assert life.titles == ["A newer question"]
        notice = life.program.window.chat_pane.errors
        assert "locked" in notice.text.text()
        assert notice.action.text() == "Try again"
    listed = life.program.window.sidebar.model
    n_before = listed.rowCount()
    qtbot.waitUntil(lambda: listed.rowCount() > n_before, timeout=15_000)
    qtbot.waitUntil(notice.isHidden, timeout=15_000)
    assert life.titles == ["A newer question", "An older question"]
    life.end()
    assert live().titles == ["A newer question", "An older question"]


def test_a_database_of_a_later_version_is_left_alone_and_that_is_said(
    live: Callable[..., Life], qtbot: QtBot, allow_warnings: Callable[[str], None]
) -> None:
    import sqlite3

    allow_warnings("chats are not written|could not be stored")
    first = live().load()
    first.ask("One", "1")
    first.end()
    database = sqlite3.connect(first.file)
    database.execute("CREATE TABLE later (x)")
    database.execute("PRAGMA user_version = 99")
    database.close()
    second = live().load()
    bar = second.program.window.chat_pane.errors
    qtbot.waitUntil(lambda: "newer version" in bar.text.text().replace("\u200b", ""), timeout=5000)
    second.ask("Two", "2")
    assert second.shown == ["2"]
    assert second.titles == ["Two"]
    second.end()
    database = sqlite3.connect(first.file)
    assert database.execute("PRAGMA user_version").fetchone() == (99,)
    assert database.execute("SELECT count(*) FROM conversations").fetchone() == (1,)
    database.close()


def test_settings_say_which_chat_is_open(live: Callable[..., Life], paceline_home: Path) -> None:
    life = live().load()
    life.ask("One", "1")
    life.program.settings.save()
    saved = load_settings(paceline_home / "config" / "settings.json").settings
    assert saved.window.open_conversation == life.program.shown.id
    life.program.shown.new(private=True)
    life.ask("Secret", "Shh")
    life.program.settings.save()
    assert life.program.settings.settings.window.open_conversation == ""
    assert Settings().window.open_conversation == ""


def test_a_reply_of_the_real_engine_comes_back_token_by_token(
    make_real: Callable[..., Program], paceline_home: Path, qtbot: QtBot
) -> None:
    file = paceline_home / "data" / "chats.db"
    first = make_real("thread", chats_file=file, max_tokens=24)
    first.start()
    assert first.chat.send("What is a list?")
    qtbot.waitUntil(lambda: first.session.active is None, timeout=60_000)
    path = first.shown.conversation.path()
    told = first.shown.full_reply(path[1].message_id)
    first.settings.save()
    opened = first.settings.settings.window
    first.window.close()
    second = make_real("thread", chats_file=file, window=opened)
    second.conversations.start(opened.open_conversation, second.storage.leftovers)
    assert second.shown.conversation.path() == path
    kept = second.shown.full_reply(path[1].message_id)
    assert told is not None
    assert kept is not None
    # Times are kept in microseconds.
    assert [(t.token, t.source, t.position, t.text_end) for t in kept.traces] == [
        (t.token, t.source, t.position, t.text_end) for t in told.traces
    ]
    assert [s.drafted for s in kept.steps] == [s.drafted for s in told.steps]
    assert kept.stats == told.stats
    assert kept.text == path[1].text != ""
    assert kept.target is not None
    assert kept.target.n_ctx > 0
    assert kept.engine_version
