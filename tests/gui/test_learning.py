"""Learning from stored chats: the switch, the word about it, what an older version left."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gui.fake_client import STATS, FakeClient
from paceline.chat.last_run import LastRun, load_last_run, save_last_run
from paceline.gui.kit.notices import Notice
from paceline.gui.speculation import learning
from paceline.messages import Remember, StartTurn, TurnFailed
from paceline.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from paceline.gui.program import Program


def told(program: Program) -> list[Notice]:
    """The notices from now on that say something of stored chats."""
    posted: list[Notice] = []

    def note(notice: Notice) -> None:
        if "stored chats" in notice.message:
            posted.append(notice)

    program.notices.posted.connect(note)
    return posted


def load(program: Program, client: FakeClient) -> None:
    program.loader.reload()
    client.finish_load()


def test_it_is_on_and_the_switch_takes_everything_back(
    program: Program, client: FakeClient
) -> None:
    assert program.settings.value("learns_from_chats")
    program.chat.send("Hello?")
    assert client.last(StartTurn).remember
    client.reply("Hi")
    assert client.last(Remember).texts == ("Hello?", "Hi")
    program.settings.set("learns_from_chats", value=False)
    assert client.last(Remember).texts == ()
    assert not program.settings.settings.learns_from_chats
    n = len(client.all(Remember))
    program.chat.send("Again?")
    assert not client.last(StartTurn).remember
    client.reply("Hi")
    assert len(client.all(Remember)) == n
    program.settings.set("learns_from_chats", value=True)
    assert client.last(Remember).texts == ("Hello?", "Hi", "Again?", "Hi")


def test_who_switched_it_off_stays_off(
    make_program: Callable[..., Program], client: FakeClient
) -> None:
    program = make_program(Settings(learns_from_chats=False))
    posted = told(program)
    client.finish_load()
    program.chat.send("Hello?")
    client.reply("Hi")
    load(program, client)
    assert client.all(Remember) == []
    assert posted == []


def test_it_is_said_once_in_a_home(
    make_program: Callable[..., Program], client: FakeClient, paceline_home: Path
) -> None:
    program = make_program(Settings())
    posted = told(program)
    client.finish_load()
    program.shown.new(private=True)
    program.chat.send("Secret?")
    client.reply("Shh.")
    load(program, client)
    assert posted == [], "there is nothing to learn from yet"
    program.shown.new()
    program.chat.send("Hello?")
    client.reply("Hi")
    load(program, client)
    assert posted == [], "there is no chat beside the present one yet"
    program.shown.new()
    load(program, client)
    (notice,) = posted
    assert notice.level == "info"
    assert notice.action is not None
    load(program, client)
    assert len(posted) == 1
    assert program.settings.settings.was_told_of_learning
    notice.action.run()
    assert not program.settings.value("learns_from_chats")
    assert client.last(Remember).texts == ()


@pytest.mark.parametrize("logs", [False, True])
def test_what_an_older_version_kept_goes_at_the_first_start(
    make_program: Callable[..., Program],
    client: FakeClient,
    paceline_home: Path,
    qtbot: QtBot,
    *,
    logs: bool,
) -> None:
    """Logs say that learning was once on; the settings say that it was off at last."""
    drafts = paceline_home / "data" / "drafts"
    vocabulary = drafts / "0123456789abcdef"
    (vocabulary / "suffix").mkdir(parents=True)
    (vocabulary / "suffix" / "00000001-00000001.suffixes").write_bytes(b"text")
    (vocabulary / "ngram-mod-24.pool").write_bytes(bytes(64))
    (drafts.parent / "kept.db").write_bytes(b"kept")
    if logs:
        (vocabulary / "chats").mkdir()
        (vocabulary / "chats" / "1.learned").write_bytes(b"log")
    program = make_program(Settings())
    qtbot.waitUntil(lambda: not drafts.exists())
    assert (drafts.parent / "kept.db").exists()
    assert program.settings.settings.learns_from_chats is not logs
    client.finish_load()
    program.chat.send("Hello?")
    client.reply("Hi")
    assert bool(client.all(Remember)) is not logs
    program.window.close()
    assert make_program(program.settings.settings, engine=FakeClient()).settings.settings == (
        program.settings.settings
    )


def test_who_had_it_on_keeps_it_on_and_is_told_nothing(
    make_program: Callable[..., Program], client: FakeClient, paceline_home: Path, qtbot: QtBot
) -> None:
    drafts = paceline_home / "data" / "drafts"
    (drafts / "0123456789abcdef" / "chats").mkdir(parents=True)
    program = make_program(Settings(was_told_of_learning=True))
    posted = told(program)
    qtbot.waitUntil(lambda: not drafts.exists())
    client.finish_load()
    program.chat.send("Hello?")
    client.reply("Hi")
    load(program, client)
    assert client.all(Remember)
    assert posted == []


def test_files_that_stay_are_named_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("drafts stays: .*Permission denied")

    def locked(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    (tmp_path / "drafts").mkdir()
    (tmp_path / "drafts" / "x").write_text("")
    monkeypatch.setattr(Path, "unlink", locked)
    learning._delete(tmp_path / "drafts")
    assert (tmp_path / "drafts" / "x").exists()


def test_the_last_reply_is_kept_only_with_permission(
    make_program: Callable[..., Program], client: FakeClient, paceline_home: Path, qtbot: QtBot
) -> None:
    program = make_program()
    client.finish_load()
    folder = paceline_home / "data"
    program.settings.set("learns_from_chats", value=False)
    program.chat.send("Hello?")
    client.reply("Hi")
    program.background.close()
    assert load_last_run(folder) is None
    program.settings.set("learns_from_chats", value=True)
    program.chat.send("Again?")
    client.reply("Hi")
    qtbot.waitUntil(lambda: load_last_run(folder) is not None)
    run = load_last_run(folder)
    assert run is not None
    assert (run.stats, run.strategy) == (STATS, "draft")
    assert run.target == "paceline-demo-target-q8_0.gguf"
    assert run.draft == "paceline-demo-draft-q8_0.gguf"


def test_a_reply_that_breaks_off_is_not_the_last_one(
    program: Program, client: FakeClient, paceline_home: Path
) -> None:
    program.chat.send("Hello?")
    client.start_turn()
    client.step("abc", 1)
    client.figures()
    client.emit(TurnFailed("broken", "It broke.", ""))
    program.background.close()
    assert load_last_run(paceline_home / "data") is None


def test_nothing_of_a_private_reply_is_kept_for_doctor(
    make_program: Callable[..., Program],
    client: FakeClient,
    paceline_home: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = make_program()
    client.finish_load()
    kept: list[float] = []

    def keep(data_dir: Path, run: LastRun) -> None:
        kept.append(run.when)
        save_last_run(data_dir, run)

    monkeypatch.setattr("paceline.gui.speculation.learning.save_last_run", keep)
    program.shown.new(private=True)
    program.chat.send("Secret?")
    client.reply("Shh.")
    program.shown.new()
    program.chat.send("Hello?")
    client.reply("Hi")
    qtbot.waitUntil(lambda: load_last_run(paceline_home / "data") is not None)
    assert len(kept) == 1
