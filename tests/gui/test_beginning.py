"""The frame that is on the screen while the window is imported and built."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import PySide6
import pytest
import shiboken6
from PySide6.QtCore import QRect
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from paceline.gui.beginning import DEFAULT_SIZE, FirstFrame
from paceline.gui.look.current import look

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot


def test_stands_where_the_window_was_left(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.setGeometry(QRect(40, 60, 700, 500))
    window.show()
    frame = FirstFrame(window.saveGeometry().toBase64().toStdString())
    qtbot.addWidget(frame)
    assert frame.geometry() == window.geometry()


@pytest.mark.parametrize("geometry", ["", "!!! no base64 !!!", "aGFsbG8="])
def test_is_on_the_screen_where_nothing_is_remembered(qtbot: QtBot, geometry: str) -> None:
    frame = FirstFrame(geometry)
    qtbot.addWidget(frame)
    screen = frame.screen().availableGeometry()
    assert screen.contains(frame.geometry())
    assert frame.width() == min(DEFAULT_SIZE[0], screen.width())


def test_closes_when_the_window_has_been_painted(qtbot: QtBot) -> None:
    look.set_mode("dark")
    frame, window = FirstFrame(""), QWidget()
    qtbot.addWidget(frame)
    qtbot.addWidget(window)
    frame.show()
    image = frame.grab().toImage()
    assert image.pixelColor(image.rect().center()) == QColor(look.theme.window)
    frame.give_way(window)
    qtbot.wait_exposed(frame)
    assert frame.isVisible()
    window.show()
    qtbot.wait_until(lambda: not frame.isVisible())
    assert window.isVisible()


def test_is_shown_before_what_the_window_is_made_of_is_imported() -> None:
    seen = """
import sys
from paceline.gui.beginning import begin
begun = begin(["paceline"], [])
assert begun is not None and begun.frame.isVisible()
print(sorted({"pyqtgraph", "numpy", "paceline.gui.program"} & set(sys.modules)))
begun.one.close()
"""
    found = subprocess.run(
        [sys.executable, "-c", seen], capture_output=True, text=True, check=True, timeout=60
    )
    assert found.stdout.strip() == "[]"


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
@pytest.mark.parametrize("name", ["models, old", "a; b"])
def test_qt_finds_its_plugins_in_any_folder(tmp_path: Path, name: str) -> None:
    place = tmp_path / name
    place.mkdir()
    for package in (PySide6, shiboken6):
        folder = Path(package.__file__).parent
        (place / folder.name).symlink_to(folder)
    code = (
        f"import sys; sys.path.insert(0, {str(place)!r}); "
        "from paceline.gui.beginning import make_application; "
        "app = make_application(['paceline']); import PySide6; print(PySide6.__file__)"
    )
    env = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(place))
