"""A home has one window: the second start hands over its files, and nothing stale is in its way."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from paceline.gui import one_window
from paceline.gui.one_window import OneWindow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

    from paceline.gui.program import Program
    from trials import Trials

APP = Path(__file__).parents[2] / "app"
FIRST = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from paceline.gui.one_window import OneWindow
app = QCoreApplication([])
one = OneWindow(Path(sys.argv[1]))
assert one.claim()
one.called.connect(lambda files: print(*files, sep="|", flush=True))
print("ready", flush=True)
app.exec() if len(sys.argv) < 3 else __import__("time").sleep(60)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The machine's folder for sockets is another one for each test."""
    place = Path(f"{tmp_path}-run")
    place.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(place))
    return place


class Started:
    """A program of its own, with its lines of output."""

    def __init__(self, arguments: list[str], home: Path) -> None:
        self.child = subprocess.Popen(
            [sys.executable, *arguments],
            env={**os.environ, "PYTHONPATH": str(APP), "PACELINE_HOME": str(home)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def line(self) -> str:
        assert self.child.stdout is not None
        return self.child.stdout.readline().rstrip("\n")

    def end(self, how: int = signal.SIGKILL) -> int:
        with contextlib.suppress(ProcessLookupError):
            self.child.send_signal(how)
        self.child.communicate(timeout=60)
        return self.child.returncode


@pytest.fixture
def start() -> Iterator[Callable[..., Started]]:
    started: list[Started] = []

    def start_one(arguments: list[str], home: Path) -> Started:
        started.append(Started(arguments, home))
        return started[-1]

    yield start_one
    for one in started:
        one.end()


def test_the_second_start_hands_over_its_files(
    tmp_path: Path, start: Callable[..., Started], qapp: object
) -> None:
    first = start(["-c", FIRST, str(tmp_path)], tmp_path)
    assert first.line() == "ready"
    assert not OneWindow(tmp_path).claim([Path("a b.gguf"), Path("ü.json")])
    assert first.line() == f"{Path.cwd()}/a b.gguf|{Path.cwd()}/ü.json"
    assert not OneWindow(tmp_path / "x" / "..").claim()
    assert first.line() == ""
    other = OneWindow(tmp_path / "other")
    assert other.claim()
    other.close()


def test_a_killed_window_is_not_in_the_way(
    tmp_path: Path, folder: Path, start: Callable[..., Started], qapp: object
) -> None:
    first = start(["-c", FIRST, str(tmp_path)], tmp_path)
    assert first.line() == "ready"
    assert first.end() == -signal.SIGKILL
    assert len(list(folder.iterdir())) == 2  # its lock and its socket
    began = time.monotonic()
    again = OneWindow(tmp_path)
    assert again.claim()
    assert time.monotonic() - began < 20
    third = start(["-c", FIRST.replace("assert one", "assert not one"), str(tmp_path)], tmp_path)
    heard: list[list[str]] = []
    again.called.connect(heard.append)
    while not heard:
        qapp.processEvents()  # type: ignore[attr-defined]
    assert heard == [[]]
    assert third.line() == "ready"
    again.close()


def test_of_several_starts_at_once_one_has_the_home(
    tmp_path: Path, start: Callable[..., Started], trials: Trials
) -> None:
    script = FIRST.replace("assert one.claim()", "print(one.claim(), flush=True)")
    for number in trials(1, 100):
        home = tmp_path / str(number)
        home.mkdir()
        started = [start(["-c", script, str(home)], home) for _ in range(3 + number % 3)]
        assert sorted(one.line() for one in started) == ["False"] * (len(started) - 1) + ["True"]
        for one in started:
            one.end()


def test_a_window_that_hangs_does_not_keep_another_from_opening(
    tmp_path: Path,
    start: Callable[..., Started],
    qapp: object,
    allow_warnings: Callable[[str], None],
) -> None:
    allow_warnings("does not answer")
    first = start(["-c", FIRST, str(tmp_path), "hang"], tmp_path)
    assert first.line() == "ready"
    one = OneWindow(tmp_path)
    assert one.claim(patience_s=0.5)
    one.close()
    assert first.child.poll() is None


def test_without_a_folder_of_ones_own_windows_open(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, qapp: object
) -> None:
    folder.chmod(0o755)  # others could put a socket there
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "not there" / "either"))
    monkeypatch.setattr(one_window, "private_folder", _fails)
    first, second = OneWindow(tmp_path), OneWindow(tmp_path)
    assert first.claim()
    assert second.claim()
    assert list(folder.iterdir()) == []


def _fails(folder: Path) -> None:
    raise PermissionError(folder)


def test_it_comes_to_the_front_and_takes_files(program: Program, qtbot: QtBot) -> None:
    program.window.showMinimized()
    with qtbot.waitSignal(program.window.drop_zones.chats_dropped) as chats:
        program.call(["/somewhere/chats.json"])
    assert chats.args == [["/somewhere/chats.json"]]
    assert not program.window.isMinimized()


def test_two_windows_of_the_program(tmp_path: Path, start: Callable[..., Started]) -> None:
    home = tmp_path / "home"
    first = start(["-m", "paceline"], home)
    database = home / "data" / "chats.db"
    until = time.monotonic() + 60
    while not database.exists() and time.monotonic() < until:
        time.sleep(0.05)
    text = tmp_path / "chats.json"
    text.write_text(json.dumps({}))
    second = start(["-m", "paceline", str(text)], home)
    assert second.child.wait(60) == 0
    assert first.child.poll() is None
    assert first.end(signal.SIGINT) == 130
    assert "Traceback" not in (home / "log" / "paceline.log").read_text("utf-8")
