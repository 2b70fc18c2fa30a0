"""The smoke test as a user runs it: a process of its own, real engine, no display."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from PySide6.QtGui import QColor, QImage

from gui.clocks import let_pass
from paceline.gui import smoke
from paceline.gui.look.colours import LIGHT
from paceline.messages import LoadFailed

if TYPE_CHECKING:
    from collections.abc import Callable

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program


def start(out: Path) -> subprocess.Popen[str]:
    """Start it as a user does, where no display is named."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    }
    return subprocess.Popen(
        [sys.executable, "-m", "paceline", "--smoke-test", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=environment,
    )


@dataclass
class Finished:
    """A run, and what was seen of its processes meanwhile.

    Attributes:
        own: Files of libraries that the window's process had loaded.
        engines: The same for each process that it started for the engine, by the id.
    """

    out: Path
    returncode: int
    stdout: str
    stderr: str
    own: set[str]
    engines: dict[int, set[str]]


def libraries(process: psutil.Process) -> set[str]:
    """The files of code in a process; empty when it has ended, or is no more than a copy yet."""
    try:
        return {Path(m.path).name for m in process.memory_maps() if ".so" in Path(m.path).name}
    except (psutil.Error, FileNotFoundError, AttributeError):
        return set()


def is_engine(process: psutil.Process) -> bool:
    try:
        return "paceline-engine" in process.cmdline()
    except psutil.Error:
        return False


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    out = tmp_path_factory.mktemp("smoke") / "out.png"
    run = start(out)
    process = psutil.Process(run.pid)
    own: set[str] = set()
    engines: dict[int, set[str]] = {}
    deadline = time.monotonic() + smoke.TIME_LIMIT_S + 60
    while run.poll() is None and time.monotonic() < deadline:
        own |= libraries(process)
        with contextlib.suppress(psutil.Error):
            for child in filter(is_engine, process.children()):
                engines.setdefault(child.pid, set()).update(libraries(child))
        time.sleep(0.5)
    stdout, stderr = run.communicate(timeout=5)
    return Finished(out, run.returncode, stdout, stderr, own, engines)


def test_it_ends_well_and_its_last_line_has_the_figures(
    finished: Finished,
) -> None:
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr == ""
    result = json.loads(finished.stdout.splitlines()[-1])
    assert set(result) == {"n_drafted", "n_accepted", "text", "tokens_per_s"}
    assert 0 < result["n_accepted"] <= result["n_drafted"]
    assert result["tokens_per_s"] > 0
    assert result["text"].strip()


def test_the_picture_shows_the_window_with_a_filled_plot(
    finished: Finished,
) -> None:
    picture = QImage(str(finished.out))
    assert (picture.width(), picture.height()) == smoke.SIZE
    # The draft model's bars stand at the right, below the headline and above the time bar.
    accent = QColor(LIGHT.accent).rgb()
    inside = [
        (x, y) for x in range(1110, 1420) for y in range(390, 478) if picture.pixel(x, y) == accent
    ]
    assert len(inside) > 100


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_window_and_engine_are_apart(finished: Finished) -> None:
    """llama.cpp is in the engine's process alone, Qt in the window's, and both end."""
    ((pid, libraries_of_engine),) = finished.engines.items()
    assert any(name.startswith("libllama") for name in libraries_of_engine)
    assert any("Qt6Core" in name for name in finished.own)
    native = [name for name in finished.own if name.startswith(("libllama", "libggml"))]
    assert native == []
    assert [name for name in libraries_of_engine if "Qt" in name or "PySide" in name] == []
    assert not psutil.pid_exists(pid)


DRIVE = """
import signal, sys
from PySide6.QtCore import QTimer
from paceline.gui import app, program
from paceline.gui.beginning import begin

class Driven(program.Program):
    def start(self):
        super().start()
        self.signals.grew.connect(self.on_grew)
        self.chat.send("Tell me everything about files, please, at length.")
    def on_grew(self, reply, step):
        if step.step == 5:
            QTimer.singleShot(0, self.leave)
    def leave(self):
        if sys.argv[1] == "close":
            self.window.close()
        else:
            signal.raise_signal(signal.SIGINT)

app.Program = Driven
sys.exit(app.run(begin(["paceline"], [])))
"""


@pytest.mark.grid(short=1)
@pytest.mark.parametrize(("how", "code"), [("close", 0), ("interrupt", 130)])
def test_leaving_in_mid_reply_is_clean(paceline_home: Path, how: str, code: int) -> None:
    began = time.perf_counter()
    process = subprocess.run(
        [sys.executable, "-c", DRIVE, how],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    print(f"{how}: whole run {time.perf_counter() - began:.1f} s")
    assert (process.returncode, process.stdout, process.stderr) == (code, "", "")
    assert (paceline_home / "config" / "settings.json").is_file()


FAILS = """
import sys
from paceline.gui import app, program
from paceline.gui.beginning import begin

class Failing(program.Program):
    def start(self):
        super().start()
        raise RuntimeError("planted")

app.Program = Failing
sys.exit(app.run(begin(["paceline"], [])))
"""


def test_a_start_that_fails_ends_the_engine_too(paceline_home: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-c", FAILS],
        capture_output=True, text=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip
    assert process.stderr.endswith("RuntimeError: planted\n")
    assert process.returncode == 1, "its thread is not destroyed while it runs"
    assert (paceline_home / "config" / "settings.json").is_file()


@pytest.mark.parametrize("how", ["load", "picture"])
def test_a_failure_ends_it_and_is_one_clear_line(
    make_program: Callable[..., Program],
    client: FakeClient,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    how: str,
) -> None:
    program = make_program()
    monkeypatch.setattr(program, "start", lambda: None)  # it has begun already
    test = smoke.SmokeTest(program, tmp_path / "missing folder" / "out.png")
    test.start()
    if how == "load":
        client.emit(LoadFailed("bad-file", "The file is broken.", "Get it again."))
    else:
        client.finish_load()
        client.reply("class Cat:")
        let_pass(test, 400)
    (line,) = test.problem.splitlines()
    assert {"load": "The file is broken.", "picture": "cannot be written"}[how] in line
    assert not program.window.isVisible()
