"""Learning across chats: the switch, forgetting, and the figures of the last reply."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QMessageBox

from gui.fake_client import STATS, FakeClient
from paceline.chat.last_run import load_last_run
from paceline.errors import UserError
from paceline.gui.learning_controller import MEMORY_FOLDER, _Forget
from paceline.messages import LoadPair, StartTurn, TurnFailed
from paceline.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from paceline.gui.program import Program

# Dialogs are windows, about which the offscreen platform has regrets.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


@pytest.fixture
def memory(paceline_home: Path) -> Path:
    folder = paceline_home / "data" / MEMORY_FOLDER
    (folder / "vocabulary").mkdir(parents=True)
    (folder / "vocabulary" / "pool.bin").write_bytes(b"123")
    (folder.parent / "conversations.db").write_bytes(b"kept")
    return folder


def shown(program: Program) -> QMessageBox:
    box = program.learning.dialog
    assert isinstance(box, QMessageBox)
    return box


def button(box: QMessageBox, text: str) -> None:
    next(b for b in box.buttons() if b.text() == text).click()


def test_the_folder_is_always_told_and_the_permission_only_when_given(
    program: Program, client: FakeClient, paceline_home: Path
) -> None:
    assert client.last(LoadPair).memory_dir == str(paceline_home / "data" / "drafts")
    program.session.send("Hello?")
    assert not client.last(StartTurn).remember
    client.reply("Hi")
    program.window.panel.learning.switch.click()
    program.session.send("Again?")
    assert client.last(StartTurn).remember
    client.reply("Hi")
    assert program.settings().remember_drafts


def test_the_permission_is_restored(
    make_program: Callable[..., Program], client: FakeClient
) -> None:
    program = make_program(Settings(remember_drafts=True))
    assert program.window.panel.learning.switch.isChecked()
    assert program.panel.turn_options().remember


def test_the_last_reply_is_kept_only_with_permission(
    program: Program, client: FakeClient, paceline_home: Path, qtbot: QtBot
) -> None:
    folder = paceline_home / "data"
    program.session.send("Hello?")
    client.reply("Hi")
    program.background.close()
    assert load_last_run(folder) is None
    program.window.panel.learning.switch.click()
    program.session.send("Again?")
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
    program.window.panel.learning.switch.click()
    program.session.send("Hello?")
    turn_id = client.start_turn()
    client.step("abc", 1)
    client.figures()
    client.emit(TurnFailed(turn_id, "broken", "It broke.", ""))
    program.background.close()
    assert load_last_run(paceline_home / "data") is None


def test_forgetting_deletes_what_was_learned_and_nothing_else(
    memory: Path, program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    n_loads = len(client.all(LoadPair))
    program.window.panel.learning.forget.click()
    box = shown(program)
    assert "cannot be brought back" in box.text()
    assert box.defaultButton() is box.button(QMessageBox.StandardButton.Cancel)
    button(box, "Delete what was learned")
    qtbot.waitUntil(lambda: not memory.exists())
    assert (memory.parent / "conversations.db").exists()
    # What the pair holds in memory must not be written back.
    qtbot.waitUntil(lambda: len(client.all(LoadPair)) == n_loads + 1)
    client.finish_load()
    assert program.window.panel.learning.remark.text() == "What was learned is deleted."
    assert program.window.panel.learning.forget.isEnabled()


def test_cancelling_forgets_nothing(memory: Path, program: Program) -> None:
    program.window.panel.learning.forget.click()
    box = shown(program)
    button(box, "Cancel")
    program.background.close()
    assert (memory / "vocabulary" / "pool.bin").exists()
    assert program.learning.dialog is None


def test_nothing_is_forgotten_while_a_reply_runs(
    memory: Path, program: Program, client: FakeClient
) -> None:
    forget = program.window.panel.learning.forget
    program.window.panel.learning.forget.click()
    box = shown(program)
    program.session.send("Hello?")
    client.start_turn()
    assert not forget.isEnabled()
    assert "until the reply has ended" in forget.toolTip()
    button(box, "Delete what was learned")  # opened before the reply began
    program.background.close()
    assert memory.exists()
    client.finish_turn("Hi")
    assert forget.isEnabled()


def test_forgetting_nothing_says_so(program: Program, client: FakeClient, qtbot: QtBot) -> None:
    n_loads = len(client.all(LoadPair))
    program.window.panel.learning.forget.click()
    box = shown(program)
    button(box, "Delete what was learned")
    remark = program.window.panel.learning.remark
    qtbot.waitUntil(lambda: remark.text() == "Nothing was kept.")
    assert len(client.all(LoadPair)) == n_loads


@pytest.mark.skipif(sys.platform == "win32", reason="links need a permission there")
def test_a_folder_that_cannot_be_deleted_is_told(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "drafts"
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="could not be deleted") as raised:
        _Forget(link)()
    assert str(link) in raised.value.hint
    assert (tmp_path / "elsewhere").exists()
