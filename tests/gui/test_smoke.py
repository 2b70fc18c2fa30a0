"""The smoke test as a user runs it: a process of its own, real engine, no display."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

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


@dataclass
class Finished:
    """A run that has ended."""

    out: Path
    run: subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """Run it as a user does, where no display is named."""
    out = tmp_path_factory.mktemp("smoke") / "out.png"
    displays = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    run = subprocess.run(
        [sys.executable, "-m", "paceline", "--smoke-test", str(out)],
        capture_output=True, text=True, encoding="utf-8", check=False,
        timeout=smoke.TIME_LIMIT_S + 60,
        env={name: value for name, value in os.environ.items() if name not in displays},
    )  # fmt: skip
    return Finished(out, run)


def test_it_ends_well_and_its_last_line_has_the_figures(
    finished: Finished,
) -> None:
    assert finished.run.returncode == 0, finished.run.stderr
    assert finished.run.stderr == ""
    result = json.loads(finished.run.stdout.splitlines()[-1])
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
