"""The Help menu gives the log away: its folder, and its last lines."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QDesktopServices, QGuiApplication

from paceline import logs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from PySide6.QtCore import QUrl
    from pytestqt.qtbot import QtBot

    from paceline.gui.kit.notices import Notice
    from paceline.gui.program import Program


@pytest.fixture
def log_file(tmp_path: Path) -> Iterator[Path]:
    logs.set_up(tmp_path / "log")
    file = logs.current_file()
    assert file is not None
    yield file
    logs.tear_down()
    logging.getLogger("paceline").setLevel(logging.NOTSET)


def test_the_last_lines_are_copied(
    program: Program, log_file: Path, qtbot: QtBot, notices: list[Notice]
) -> None:
    program.window.actions_.copy_log.trigger()
    qtbot.waitUntil(lambda: bool(notices))
    assert notices[-1].message == "The log is empty."
    for number in range(300):
        logging.getLogger("paceline.gui").info("line %d", number)
    program.window.actions_.copy_log.trigger()
    qtbot.waitUntil(lambda: len(notices) == 2)
    assert notices[-1].message == "The last lines of the log are in the clipboard."
    lines = QGuiApplication.clipboard().text().splitlines()
    assert len(lines) == 200
    assert lines[-1].endswith("line 299")


def test_the_folder_is_opened(
    program: Program, log_file: Path, monkeypatch: pytest.MonkeyPatch, notices: list[Notice]
) -> None:
    opened: list[str] = []

    def open_url(url: QUrl) -> bool:
        opened.append(url.toLocalFile())
        return log_file.parent.exists()

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    open_it = program.window.actions_.log_folder.trigger
    open_it()
    assert opened == [str(log_file.parent.parent)], "the folder comes with the first line"
    assert (notices[-1].message, notices[-1].hint) == (
        "No file manager could be opened.",
        f"The file is {log_file}.",
    )
    logging.getLogger("paceline.gui").info("a line")
    open_it()
    assert opened[-1] == str(log_file.parent)
    assert len(notices) == 1


def test_without_a_log_both_entries_say_so(program: Program, notices: list[Notice]) -> None:
    program.window.actions_.log_folder.trigger()
    program.window.actions_.copy_log.trigger()
    assert [notice.message for notice in notices] == ["Nothing is written into a log file."] * 2
