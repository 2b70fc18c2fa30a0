"""The smoke test as a user runs it: a process of its own, real engine, no display."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QColor, QImage

from paceline.gui import smoke
from paceline.gui.theme import LIGHT

if TYPE_CHECKING:
    from pathlib import Path


def run(out: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    }
    return subprocess.run(
        [sys.executable, "-m", "paceline", "--smoke-test", str(out)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=smoke.TIME_LIMIT_S + 60,
        env=environment,
        check=False,
    )


@pytest.fixture(scope="module")
def finished(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    out = tmp_path_factory.mktemp("smoke") / "out.png"
    return out, run(out)


def test_it_ends_well_and_its_last_line_tells_the_figures(
    finished: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    _, process = finished
    assert process.returncode == 0, process.stderr
    assert process.stderr == ""
    result = json.loads(process.stdout.splitlines()[-1])
    assert set(result) == {"n_drafted", "n_accepted", "text", "tokens_per_s"}
    assert 0 < result["n_accepted"] <= result["n_drafted"]
    assert result["tokens_per_s"] > 0
    assert result["text"].strip()


def test_the_picture_shows_the_window_with_a_filled_plot(
    finished: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    out, _ = finished
    picture = QImage(str(out))
    assert (picture.width(), picture.height()) == smoke.SIZE
    # The draft model's bars stand at the right, below the headline and above the time bar.
    accent = QColor(LIGHT.accent).rgb()
    inside = [
        (x, y) for x in range(1110, 1420) for y in range(295, 390) if picture.pixel(x, y) == accent
    ]
    assert len(inside) > 100


DRIVE = """
import signal, sys
from PySide6.QtCore import QTimer
from paceline.gui import app, program

class Driven(program.Program):
    def start(self):
        super().start()
        self.signals.grew.connect(self.on_grew)
        self.session.send("Tell me everything about files, please, at length.")
    def on_grew(self, reply, step):
        if step.step == 5:
            QTimer.singleShot(0, self.leave)
    def leave(self):
        if sys.argv[1] == "close":
            self.window.close()
        else:
            signal.raise_signal(signal.SIGINT)

app.Program = Driven
sys.exit(app.run(["paceline"]))
"""


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


def test_a_failure_is_one_clear_line(tmp_path: Path) -> None:
    process = run(tmp_path / "missing folder" / "out.png")
    assert process.returncode == 1
    (line,) = process.stderr.splitlines()
    assert "cannot be written" in line
    assert process.stdout == ""
