"""The log: warnings on stderr, everything in a file, and no file is not the end of the world."""

from __future__ import annotations

import logging
import stat
import sys
from typing import TYPE_CHECKING

import pytest

from paceline import logs
from paceline.catalog.inspect import inspector
from paceline.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

log = logging.getLogger("paceline.test")


@pytest.fixture
def log_dir(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "new" / "log"
    logs.tear_down()
    logging.getLogger("paceline").setLevel(logging.NOTSET)


def test_nothing_is_written_before_there_is_something_to_say(log_dir: Path) -> None:
    logs.set_up(log_dir)
    log.debug("too fine")
    assert not log_dir.exists()


def test_the_file_gets_more_than_stderr(
    log_dir: Path, capsys: pytest.CaptureFixture[str], allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("mind")
    logs.set_up(log_dir)
    log.info("loaded %d layers", 8)
    log.warning("mind the gap")
    written = (log_dir / logs.FILE_NAME).read_text()
    assert "loaded 8 layers" in written
    assert "mind the gap" in written
    assert capsys.readouterr().err == "paceline: mind the gap\n"
    if sys.platform != "win32":
        assert stat.S_IMODE(log_dir.stat().st_mode) == 0o700


@pytest.mark.skipif(sys.platform == "win32", reason="it has other rights")
def test_only_the_owner_can_read_the_files(log_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log_dir.mkdir(parents=True)
    (log_dir / logs.FILE_NAME).touch(0o644)  # an older version's
    logs.set_up(log_dir)
    for handler in logging.getLogger("paceline").handlers:
        monkeypatch.setattr(handler, "maxBytes", 200, raising=False)
    for number in range(9):
        log.info("number %d %s", number, "x" * 50)
    files = list(log_dir.iterdir())
    assert len(files) > 2
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_a_traceback_goes_to_the_file_alone(
    log_dir: Path, capsys: pytest.CaptureFixture[str], allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("broken")
    logs.set_up(log_dir)
    try:
        raise ZeroDivisionError
    except ZeroDivisionError:
        log.exception("broken")
    assert "Traceback" in (log_dir / logs.FILE_NAME).read_text()
    assert capsys.readouterr().err == "paceline: broken\n"


def test_setting_up_twice_writes_once(log_dir: Path) -> None:
    logs.set_up(log_dir)
    logs.set_up(log_dir)
    log.info("once")
    assert (log_dir / logs.FILE_NAME).read_text().count("once") == 1


def test_the_file_is_rotated(log_dir: Path) -> None:
    logs.set_up(log_dir)
    for _ in range(60):
        log.info("x" * 100_000)
    sizes = [file.stat().st_size for file in log_dir.iterdir()]
    assert len(sizes) == 4
    assert max(sizes) <= 1_000_000


def test_a_folder_that_cannot_be_made_costs_the_file_and_one_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("log file")
    (tmp_path / "file").write_text("")
    logs.set_up(tmp_path / "file")
    try:
        log.info("one")
        log.info("two")
    finally:
        logs.tear_down()
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "PACELINE_HOME" in err


def test_what_comes_with_its_traceback_from_another_process_is_one_line_on_stderr(
    log_dir: Path, capsys: pytest.CaptureFixture[str], allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("broken there")
    logs.set_up(log_dir)
    log.error("%s", "broken there\nTraceback (most recent call last):\n  …")
    assert "Traceback" in (log_dir / logs.FILE_NAME).read_text()
    assert capsys.readouterr().err == "paceline: broken there\n"


def test_the_content_of_an_event_is_not_reported_twice(
    log_dir: Path, capsys: pytest.CaptureFixture[str], allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("SIGKILL")
    logs.set_up(log_dir)
    logging.getLogger("paceline.hosting.any").warning("ended by SIGKILL")
    logging.getLogger(inspector.__name__).warning("ended by SIGKILL, too")
    assert "SIGKILL, too" in (log_dir / logs.FILE_NAME).read_text()
    assert capsys.readouterr().err == ""


def test_the_last_lines_continue_before_a_rotation(
    log_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert logs.last_lines(3) == ""
    logs.set_up(log_dir)
    assert logs.last_lines(3) == "", "nothing has been written yet"
    for handler in logging.getLogger("paceline").handlers:
        monkeypatch.setattr(handler, "maxBytes", 300, raising=False)
    for number in range(5):
        log.info("number %d %s", number, "x" * 50)
    found = logs.last_lines(3).splitlines()
    assert [line.split()[-2] for line in found] == ["2", "3", "4"]
    assert len((log_dir / logs.FILE_NAME).read_text().splitlines()) < 3
    (log_dir / logs.FILE_NAME).write_bytes(b"\xff\n")
    assert logs.last_lines(1) == "\N{REPLACEMENT CHARACTER}\n"


def test_a_log_that_cannot_be_read_is_a_clear_error(log_dir: Path) -> None:
    logs.set_up(log_dir)
    (log_dir / logs.FILE_NAME).mkdir(parents=True)
    with pytest.raises(UserError, match="cannot be read"):
        logs.last_lines(3)
