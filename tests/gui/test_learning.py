"""Learning from stored chats: the switch, the word about it, what an older version left."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gui.fake_client import STATS, FakeClient
from paceline.chat.last_run import LastRun
from paceline.gui.kit.notices import Notice
from paceline.gui.speculation import learning
from paceline.messages import Remember, StartTurn, TurnFailed
from paceline.paths import Paths
from paceline.settings import Settings, left_learning_off

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


def test_the_switch_takes_everything_back(program: Program, client: FakeClient) -> None:
    program.settings.set("was_told_of_learning", value=True)
    program.chat.send("Hello?")
    assert client.last(StartTurn).remember
    client.reply("Hi")
    assert client.last(Remember).texts == ("Hello?", "Hi")
    program.settings.set("learns_from_chats", value=False)
    assert client.last(Remember).texts == ()
    n, posted = len(client.all(Remember)), told(program)
    program.shown.new()
    program.chat.send("Again?")
    assert not client.last(StartTurn).remember
    client.reply("Hi")
    program.loader.reload()
    client.finish_load()
    assert (len(client.all(Remember)), posted) == (n, [])


def test_it_is_said_once_as_soon_as_there_is_another_chat(
    program: Program, client: FakeClient
) -> None:
    posted = told(program)
    for is_private, n_told in ((True, 0), (False, 0), (False, 1), (False, 1)):
        program.shown.new(private=is_private)
        program.chat.send("Hello?")
        client.reply("Hi")
        program.loader.reload()
        client.finish_load()
        assert len(posted) == n_told
    (notice,) = posted
    assert notice.action is not None
    assert program.settings.settings.was_told_of_learning
    notice.action.run()
    assert not program.settings.value("learns_from_chats")


@pytest.mark.parametrize("was_told", [False, True])
@pytest.mark.parametrize("has_logs", [False, True])
def test_logs_of_an_older_version_whose_user_was_not_told_mean_that_it_was_off(
    tmp_path: Path, *, has_logs: bool, was_told: bool
) -> None:
    (tmp_path / "0123456789abcdef" / ("chats" if has_logs else "suffix")).mkdir(parents=True)
    is_off = left_learning_off(Settings(was_told_of_learning=was_told), tmp_path)
    assert is_off == (has_logs and not was_told)


@pytest.mark.parametrize("is_locked", [False, True])
def test_what_an_older_version_kept_goes_at_the_first_start(
    program: Program,
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    allow_warnings: Callable[[str], None],
    *,
    is_locked: bool,
) -> None:
    paths, tried = Paths.below(tmp_path), list[Path]()
    drafts, usual = paths.old_memory, learning.delete_folder
    (drafts / "0123456789abcdef" / "chats").mkdir(parents=True)
    (drafts.parent / "kept.db").write_bytes(b"kept")

    def delete(folder: Path) -> None:
        tried.append(folder)
        if is_locked:
            raise PermissionError(13, "Permission denied", str(folder))
        usual(folder)

    allow_warnings("drafts stays: .*Permission denied")
    monkeypatch.setattr(learning, "delete_folder", delete)
    program.settings.set("learns_from_chats", value=True)
    controller = learning.LearningController(program.context, paths=paths)
    qtbot.waitUntil(lambda: tried == [drafts] and drafts.exists() == is_locked)
    assert (drafts.parent / "kept.db").exists()
    assert not program.settings.settings.learns_from_chats
    controller.deleteLater()


def test_the_last_reply_is_kept_only_with_permission_and_once_it_is_whole(
    program: Program, client: FakeClient, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[LastRun] = []
    monkeypatch.setattr(learning, "save_last_run", lambda _folder, run: kept.append(run))
    program.settings.set("learns_from_chats", value=False)
    program.chat.send("Hello?")
    client.reply("Hi")
    program.settings.set("learns_from_chats", value=True)
    program.shown.new(private=True)
    program.chat.send("Secret?")
    client.reply("Shh.")
    program.shown.new()
    program.chat.send("Broken?")
    client.start_turn()
    client.figures()
    client.emit(TurnFailed("broken", "It broke.", ""))
    program.chat.send("Again?")
    client.reply("Hi")
    qtbot.waitUntil(lambda: bool(kept))
    (run,) = kept
    assert (run.stats, run.strategy) == (STATS, "draft")
    assert run.target == "paceline-demo-target-q8_0.gguf"
    assert run.draft == "paceline-demo-draft-q8_0.gguf"
