"""The log: its end is read in the background, filtered, followed, copied."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QGuiApplication

from gui.conftest import deliver_deletes
from paceline import logs
from paceline.errors import UserError
from paceline.gui.help.log_view import (
    LEVELS,
    MOST_BYTES,
    MOST_LINES,
    LogDialog,
    LogLines,
    Place,
    ReadTail,
    as_lines,
)
from paceline.gui.kit.background import Background
from paceline.gui.look.current import look

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

RECORD = "2026-01-02 03:04:05,678 {} paceline.gui MainThread: {}\n"
INFO, WARNING, ERROR = (LEVELS.index(level) for level in ("INFO", "WARNING", "ERROR"))


def test_a_traceback_has_the_level_of_its_record() -> None:
    text = (
        RECORD.format("ERROR", "it failed") + "Traceback:\n  line 1\n" + RECORD.format("INFO", "x")
    )
    assert [line.level for line in as_lines(text)] == [ERROR, ERROR, ERROR, INFO]
    assert [line.level for line in as_lines("  line 2\n", ERROR)] == [ERROR]


def test_reading_goes_on_where_it_was(tmp_path: Path) -> None:
    file = tmp_path / "log"
    missing = ReadTail(file)()
    assert (missing.lines, missing.is_new) == ((), False)
    file.write_text("one\ntwo\nhal")
    first = ReadTail(file)()
    assert [line.text for line in first.lines] == ["one", "two"]
    assert first.is_new
    with file.open("a") as log:
        log.write("f\nmore\n")
    second = ReadTail(file, first.place)()
    assert ([line.text for line in second.lines], second.is_new) == (["half", "more"], False)
    assert ReadTail(file, second.place)().lines == ()
    file.rename(tmp_path / "log.1")
    file.write_text("new\n")
    third = ReadTail(file, second.place)()
    assert ([line.text for line in third.lines], third.is_new) == (["new"], True)
    file.unlink()
    assert ReadTail(file, third.place)().is_new


def test_of_a_large_file_only_the_end_is_read(tmp_path: Path) -> None:
    file = tmp_path / "log"
    line = "x" * 99 + "\n"
    file.write_text("the first line\n" + line * 30_000)
    tail = ReadTail(file)()
    assert MOST_BYTES - 200 < sum(len(found.text) + 1 for found in tail.lines) <= MOST_BYTES
    assert {found.text for found in tail.lines} == {line.strip()}
    with file.open("a") as log:
        log.write("the last line\n")
    assert [found.text for found in ReadTail(file, tail.place)().lines] == ["the last line"]


def test_bytes_that_are_no_text_are_no_problem(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_bytes(b"\xff\xfe broken \x00\n" + "ü\n".encode()[:-2] + b"\n" + b"y" * 5000 + b"\n")
    lines = ReadTail(file)().lines
    assert len(lines) == 3
    assert len(lines[2].text) == 2000


def test_a_file_that_cannot_be_read_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        ReadTail(tmp_path, Place())()


def test_levels_and_words_filter_the_lines() -> None:
    model = LogLines()
    text = "".join(RECORD.format(LEVELS[1 + at % 3], f"entry-{at}") for at in range(9))
    model.replace(as_lines(text))
    assert model.rowCount() == 9
    model.set_level(WARNING)
    assert model.rowCount() == 6
    model.set_search("ENTRY-7")
    assert [model.rows[0].level, model.rowCount()] == [WARNING, 1]
    model.append(as_lines(RECORD.format("ERROR", "entry-77") + RECORD.format("INFO", "entry-78")))
    assert model.rowCount() == 2
    model.set_search("")
    model.set_level(0)
    assert model.rowCount() == 11
    model.append(as_lines("line\n" * MOST_LINES))
    assert model.rowCount() == MOST_LINES


@pytest.fixture
def log_file(tmp_path: Path) -> Iterator[Path]:
    logs.set_up(tmp_path / "log")
    file = logs.current_file()
    assert file is not None
    yield file
    logs.tear_down()


@pytest.fixture
def background(qapp: object) -> Iterator[Background]:
    made = Background()
    yield made
    assert made.close()
    made.deleteLater()


def test_the_dialog_follows_the_program_s_log(
    log_file: Path, background: Background, qtbot: QtBot
) -> None:
    logger = logging.getLogger("paceline.gui")
    logger.info("first words")
    dialog = LogDialog(
        log_file,
        engine=None,
        background=background,
    )
    dialog.show()
    page = dialog.page
    qtbot.waitUntil(lambda: page.lines.rowCount() == 1)
    logger.info("second words")
    page.read()
    qtbot.waitUntil(lambda: page.lines.rowCount() == 2)
    page.search.setText("second")
    page.copy.click()
    assert "second words" in QGuiApplication.clipboard().text()
    assert "first words" not in QGuiApplication.clipboard().text()
    page.search.clear()
    page.level.setCurrentIndex(2)
    page.level.activated.emit(2)
    assert page.told.text() == "Nothing to show."
    look.set_mode("dark")
    assert not dialog.grab().isNull()
    dialog.reject()
    page.read()  # too late, and harmless
    deliver_deletes()


def test_two_megabytes_do_not_stop_the_window(
    tmp_path: Path, background: Background, qtbot: QtBot
) -> None:
    file = tmp_path / "log"
    file.write_text(RECORD.format("INFO", "words " * 12) * 20_000)
    dialog = LogDialog(file, engine=None, background=background)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.page.lines.rowCount() > 10_000)
    begin = time.perf_counter()
    dialog.page.search.setText("nothing")
    dialog.page.search.setText("")
    assert time.perf_counter() - begin < 1.0
    assert dialog.page.list.verticalScrollBar().value() > 0
    dialog.reject()
    deliver_deletes()


def test_without_a_file_it_says_so(background: Background, qtbot: QtBot) -> None:
    logs.tear_down()
    assert logs.current_file() is None
    dialog = LogDialog(None, engine=None, background=background)
    dialog.show()
    assert "Nothing is written" in dialog.page.told.text()
    assert not dialog.page.folder.isEnabled()
    dialog.reject()
    deliver_deletes()


def test_an_unreadable_log_is_told_once(
    tmp_path: Path, background: Background, qtbot: QtBot
) -> None:
    dialog = LogDialog(tmp_path, engine=None, background=background)
    qtbot.waitUntil(lambda: "cannot be read" in dialog.page.told.text())
    dialog.reject()
    deliver_deletes()
