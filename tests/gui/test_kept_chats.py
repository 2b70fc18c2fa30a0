"""Chats over several lives of the window: real widgets, the real database, a scripted engine."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtWidgets import QToolButton

from gui.chat_help import settle
from gui.clocks import let_pass
from gui.fake_client import FakeClient
from paceline.conversation import Attachment
from paceline.gui.chat.messages import message_pages
from paceline.gui.chat.messages.reply_view import ReplyFooter
from paceline.gui.conversations.sidebar import UNDO_MS
from paceline.gui.storage_controller import STORAGE
from paceline.messages import Remember, StartTurn, TurnStarted
from paceline.run_record import CLOSED, INTERRUPTED
from paceline.settings import load_settings
from paceline.storage import database, writer
from paceline.storage.archive import Archive
from paceline.storage.problems import StorageError
from storage.chats import chat as kept_chat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from paceline.gui.chat.messages.reply_view import ReplyView
    from paceline.gui.program import Program
    from paceline.messages import StepCommitted

LONG = "A line of text that is shown.\n\n" * 40


def ask(program: Program, client: FakeClient, text: str, answer: str) -> None:
    assert program.chat.send(text)
    client.reply(answer)


def message(program: Program, number: int) -> str:
    return program.shown.conversation.path()[number].message_id


def view_of(program: Program, number: int) -> ReplyView:
    view = program.window.chat_pane.chat.reply_view(message(program, number))
    assert view is not None
    return view


def replies(program: Program) -> list[str]:
    """Return what the replies of the shown path say, as far as they are built."""
    chat, path = program.window.chat_pane.chat, program.shown.conversation.path()
    views = [chat.reply_view(each.message_id) for each in path]
    return [view.plain_text for view in views if view is not None]


def titles(program: Program) -> list[str]:
    return sorted(summary.title for summary in program.session.summaries)


class Life:
    """One run of the window on the same files."""

    def __init__(self, make: Callable[..., Program], home: Path) -> None:
        self.client = FakeClient()
        self.file = home / "data" / "chats.db"
        settings = load_settings(home / "config" / "settings.json").settings
        self.program = make(settings, chats_file=self.file, engine=self.client)
        self.session, self.shown = self.program.session, self.program.shown
        self.composer = self.program.window.chat_pane.composer
        self.chat = self.program.window.chat_pane.chat

    def load(self) -> Life:
        self.client.finish_load()
        return self

    def ask(self, text: str, answer: str) -> None:
        ask(self.program, self.client, text, answer)

    def flush(self) -> None:
        store = self.program.storage.store
        assert isinstance(store, Archive)
        assert store.flush()

    def end(self) -> None:
        self.program.window.close()


@pytest.fixture
def live(
    make_program: Callable[..., Program], paceline_home: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], Life]:
    # Whole chats are shown at once, also where the machine has no time for it.
    monkeypatch.setattr(message_pages, "FIRST_PAINT_S", 60)
    return lambda: Life(make_program, paceline_home)


@contextlib.contextmanager
def opened(file: Path) -> Iterator[Archive]:
    """Open the chats of a window that has ended, or that is still to start."""
    archive = Archive(file)
    archive.open()
    try:
        yield archive
    finally:
        assert archive.close()


# --------------------------------------------------------------------------------- restarting


def test_the_open_chat_comes_back_with_its_place_colours_figures_and_panes(
    live: Callable[[], Life], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = live().load()
    for number in range(5):
        first.ask(f"Question {number}", LONG)
    first.program.chat.send("And now?")
    first.client.emit(TurnStarted(10, 0, 7, n_cut=4))
    first.client.step("All **of", 0)
    first.client.step(" it**.", 1)
    first.client.finish_turn("All **of it**.")
    notes = [view_of(first.program, 11).note.text()]
    assert "4" in notes[0], "so many messages were left out"
    first.program.window.actions_.panel.trigger()
    first.program.window.resize(1300, 700)
    settle(qtbot)
    first.chat.go_to(message(first.program, 4))
    qtbot.waitUntil(lambda: bool(first.chat.place().message_id))
    kept, place = first.shown.id, first.chat.place()
    first.end()
    second = live().load()
    qtbot.waitUntil(lambda: second.chat.place().message_id == place.message_id)
    assert second.shown.id == kept
    assert abs(second.chat.place().offset_px - place.offset_px) <= 2
    assert not second.program.window.panel.isVisible()
    second.chat.go_to(message(second.program, 11))
    view = view_of(second.program, 11)
    notes.append(view.note.text())
    assert (view.plain_text, notes[1]) == ("All of it.", notes[0])
    assert view.drafters, "the colours of the tokens come back, too"
    assert "41.2" in view.findChildren(ReplyFooter)[0].stats.toolTip()
    assert second.program.live.reply is not None
    assert second.program.live.reply.stats is not None
    second.program.chat.send("And a tuple?")
    contents = [m.text for m in second.client.last(StartTurn).prompt.messages]
    assert (len(contents), contents[-2:]) == (13, ["All **of it**.", "And a tuple?"])
    second.end()

    def fail(self: Archive, message_id: str) -> tuple[StepCommitted, ...]:
        raise StorageError("chats-damaged", "The file is damaged.")

    monkeypatch.setattr(Archive, "steps", fail)
    third = live()
    third.chat.go_to(message(third.program, 11))
    assert view_of(third.program, 11).plain_text == "All of it.", "shown without its steps"


@pytest.mark.parametrize("ending", [CLOSED, INTERRUPTED], ids=["closed", "crashed"])
def test_a_reply_that_was_cut_off_by_the_programs_end_keeps_its_text_and_can_continue(
    live: Callable[[], Life], ending: object
) -> None:
    first = live().load()
    first.program.chat.send("Tell me everything.")
    first.client.start_turn()
    first.client.step("Half ", 0)
    first.client.figures()
    first.client.step("of it", 1)
    if ending is CLOSED:
        first.end()
    else:  # a run without an end, as a crash leaves it
        first.flush()
        first.program.settings.save()
    second = live()
    assert replies(second.program) == ["Half of it"]
    reply = second.shown.reply(message(second.program, 1))
    assert reply is not None
    assert reply.error is not None
    assert reply.error.code == ending.code  # type: ignore[attr-defined]
    view = view_of(second.program, 1)
    assert view.note is not None, "told in a quiet line"
    assert second.program.window.actions_.continue_reply.isEnabled()
    assert view.findChildren(ReplyFooter)[0].stats.isVisibleTo(second.chat)


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


# ------------------------------------------------------------------------------- unsent text


def test_what_was_written_and_not_sent_stays_with_its_chat(
    live: Callable[[], Life], qtbot: QtBot
) -> None:
    first = live().load()
    pasted, file = "a" * 100_000, Attachment("notes.md", "# Größe", 8)
    data = QMimeData()
    data.setText(pasted)
    first.composer.edit.insertFromMimeData(data)
    qtbot.keyClicks(first.composer.edit, "for the first")
    assert let_pass(first.program.unsent), "kept when typing rests"
    assert first.session.conversations.unsent("") == "for the first"
    first.ask("One", "1")
    one = first.shown.id
    qtbot.keyClicks(first.composer.edit, " one")
    first.shown.new()
    assert (first.composer.text, first.composer.attachments) == ("", ())
    first.composer.set_text("for a second one")
    first.composer.files.add([file])
    first.shown.show(one)
    assert first.composer.text == "for the first one"
    first.end()
    second = live().load()
    assert second.composer.text == "for the first one"
    assert [each.text for each in second.composer.attachments] == [pasted]
    second.shown.new()
    assert (second.composer.text, second.composer.attachments) == ("for a second one", (file,))
    qtbot.keyClick(second.composer.edit, Qt.Key.Key_Return)
    second.client.reply("A heading.")
    sent = second.shown.id
    second.shown.new()
    assert (second.composer.text, second.composer.attachments) == ("", ()), "it was sent"
    second.end()
    third = live()
    third.shown.new()
    assert (third.composer.text, third.composer.attachments) == ("", ())
    assert third.session.conversations.get(sent).path()[0].attachments == (file,)


def test_a_chat_is_left_and_found_at_the_same_place_and_a_hit_opens_its_message(
    program: Program, client: FakeClient, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_pages, "FIRST_PAINT_S", 60)
    chat, sidebar = program.window.chat_pane.chat, program.window.sidebar
    for number in range(6):
        ask(program, client, f"Question {number}", f"{LONG}needle{number}")
    first, near, wanted = program.shown.id, message(program, 2), message(program, 5)
    chat.go_to(near)
    qtbot.waitUntil(lambda: bool(chat.place().message_id))
    place = chat.place()
    program.shown.new()
    program.shown.show(first)
    assert chat.place() == place
    program.shown.new()
    sidebar.search.setText("needle2")
    sidebar.search.emit_now()
    (hit,) = program.session.conversations.search("needle2")
    assert (hit.conversation_id, hit.message_id) == (first, wanted)
    sidebar.finder.hit_chosen.emit(hit.conversation_id, hit.message_id, ("needle2",))
    assert program.shown.id == first
    view = view_of(program, 5)
    qtbot.waitUntil(lambda: view.isVisible() and not view.visibleRegion().isEmpty())


def test_a_branch_is_a_chat_that_is_marked_and_leads_back(
    program: Program, client: FakeClient
) -> None:
    chat = program.window.chat_pane.chat

    def mark() -> QToolButton | None:
        """Find what says where the shown chat was branched; it is said in one place."""
        buttons = [b for b in chat.findChildren(QToolButton) if b.isVisibleTo(chat)]
        found = [b for b in buttons if "Branched" in b.text()]
        assert len(found) < 2
        return found[0] if found else None

    ask(program, client, "One", "First")
    ask(program, client, "Two", "2")
    original = program.shown.id
    chat.branch_requested.emit(message(program, 1))
    assert (replies(program), titles(program)) == (["First"], ["One", "One (2)"])
    assert view_of(program, 1).drafters
    branch = program.shown.id
    ask(program, client, "Three", "3")
    found = mark()
    assert found is not None
    assert view_of(program, 1).isAncestorOf(found)
    rows = program.window.sidebar.finder.list.model()
    tips = [str(rows.index(at, 0).data(Qt.ItemDataRole.ToolTipRole)) for at in range(3)]
    assert [("Branch of “One”" in tip) for tip in tips].count(True) == 1
    found.click()
    assert program.shown.id == original
    assert replies(program) == ["First", "2"]
    program.session.remove(original)
    program.shown.show(branch)
    found = mark()
    assert found is not None
    assert "“One”" not in found.text()
    found.click()
    assert program.shown.id == branch, "the original was deleted"


# ------------------------------------------------------------------------- deleting, privacy


def test_only_the_last_deletion_can_be_undone_and_not_for_ever(
    program: Program, client: FakeClient
) -> None:
    ids, sidebar = [], program.window.sidebar
    for text in ("One", "Two"):
        program.shown.new()
        ask(program, client, text, text)
        ids.append(program.shown.id)
    for conversation_id in ids:
        sidebar.delete_requested.emit(conversation_id)
        assert not sidebar.undo_bar.isHidden()
    assert titles(program) == []
    assert client.all(Remember)[-2:] == [Remember(deleted) for deleted in ids]
    sidebar.undo_bar.wanted.emit()
    assert (titles(program), replies(program)) == (["Two"], ["Two"])
    assert client.last(Remember) == Remember(ids[1], ("Two", "Two"))
    sidebar.delete_requested.emit(ids[1])
    assert let_pass(program.conversations, UNDO_MS)
    assert sidebar.undo_bar.isHidden()
    assert program.storage.store.gone(ids) == frozenset(ids)


def test_what_was_deleted_goes_for_good_unless_another_window_takes_it_back(
    live: Callable[[], Life],
) -> None:
    first = live().load()
    first.ask("One", "1")
    sidebar, deleted = first.program.window.sidebar, first.shown.id
    sidebar.delete_requested.emit(deleted)
    first.flush()
    second = live().load()
    assert titles(second.program) == []
    sidebar.undo_bar.wanted.emit()
    first.flush()
    assert let_pass(second.program.conversations, UNDO_MS)
    second.end()
    assert titles(first.program) == ["One"]
    sidebar.delete_requested.emit(deleted)
    first.end()
    third = live()
    assert (titles(third.program), third.session.conversations.search("One")) == ([], ())
    assert third.shown.conversation.messages == {}, "the chat that was open is gone"
    third.load()
    assert let_pass(third.program.conversations, UNDO_MS)
    assert third.client.all(Remember) == []
    third.end()
    with opened(third.file) as archive:
        assert archive.removed() == ()
        assert archive.gone([deleted]) == {deleted}


def test_a_private_chat_leaves_nothing_on_disk(live: Callable[[], Life]) -> None:
    life = live().load()
    life.program.window.sidebar.private_action.trigger()
    assert life.shown.conversation.private
    life.composer.set_text("a zebra secret")
    life.program.unsent.keep()
    life.composer.set_text("")
    life.ask("My zebra secret", "Shh, zebra.")
    assert replies(life.program) == ["Shh, zebra."]
    life.end()
    assert life.program.settings.settings.window.open_conversation == ""
    with opened(life.file) as archive:
        assert (archive.summaries(), archive.unsent("")) == ((), "")
    home = life.file.parent.parent
    written = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert b"zebra" not in written


# ------------------------------------------------------------------------- when writing fails


def test_a_problem_is_reported_once_and_settles_by_itself(
    live: Callable[[], Life],
    qtbot: QtBot,
    allow_warnings: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    allow_warnings("chats are not written")
    monkeypatch.setattr(database, "LOCK_WAIT_S", 0.2)
    life = live().load()
    topics: list[str] = []
    settled: list[str] = []
    life.program.notices.posted.connect(lambda notice: topics.append(notice.topic))
    life.program.notices.resolved.connect(settled.append)
    with contextlib.closing(sqlite3.connect(life.file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        life.ask("One", "1")
        qtbot.waitUntil(lambda: STORAGE in topics, timeout=15_000)
        settled.clear()
        other.rollback()
    life.program.window.chat_pane.errors.action.click()
    qtbot.waitUntil(lambda: STORAGE in settled, timeout=15_000)
    assert topics.count(STORAGE) == 1
    life.end()
    with opened(life.file) as archive:
        (summary,) = archive.summaries()
        texts = [m.text for m in archive.load(summary.conversation_id).path()]
    assert texts == ["One", "1"]


def test_chats_that_cannot_be_read_at_the_start_are_listed_as_soon_as_they_can(
    live: Callable[[], Life],
    qtbot: QtBot,
    paceline_home: Path,
    allow_warnings: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    allow_warnings("chats are not written")
    monkeypatch.setattr(writer, "RETRY_S", 0.2)
    file = keep_a_chat(paceline_home)
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        life = live().load()
        life.ask("A newer question", "2")
        assert titles(life.program) == ["A newer question"]
        notice = life.program.window.chat_pane.errors
        assert not notice.isHidden()
        assert not notice.action.isHidden()
    qtbot.waitUntil(notice.isHidden, timeout=15_000)
    qtbot.waitUntil(lambda: len(titles(life.program)) == 2, timeout=15_000)
    life.end()
    with opened(file) as archive:
        assert len(archive.summaries()) == 2


def keep_a_chat(home: Path) -> Path:
    """Leave a chat as an earlier life would; return its file."""
    file = home / "data" / "chats.db"
    file.parent.mkdir(parents=True)
    with opened(file) as archive:
        old = kept_chat("old", "An older question", "1", title="An older question")
        archive.save(old, [*old.messages])
    return file


def test_a_database_of_a_later_version_is_left_alone_and_that_is_said(
    live: Callable[[], Life],
    qtbot: QtBot,
    paceline_home: Path,
    allow_warnings: Callable[[str], None],
) -> None:
    allow_warnings("chats are not written|could not be stored")
    file = keep_a_chat(paceline_home)
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE later (x)")
        connection.execute("PRAGMA user_version = 99")
    life = live().load()
    qtbot.waitUntil(lambda: not life.program.window.chat_pane.errors.isHidden(), timeout=5000)
    life.ask("Two", "2")
    assert (replies(life.program), titles(life.program)) == (["2"], ["Two"])
    life.end()
    with contextlib.closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (99,)
        assert connection.execute("SELECT count(*) FROM conversations").fetchone() == (1,)
