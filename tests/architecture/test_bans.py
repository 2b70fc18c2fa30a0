"""The bans hold, and every one of them bites."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from architecture import bans
from architecture.source import Module, module, modules

Ban = Callable[[Module], Iterator[bans.Finding]]


@pytest.mark.parametrize("ban", bans.BANS, ids=lambda ban: ban.__name__)
def test_the_program_keeps_to_it(ban: Ban) -> None:
    found = [f"{m.place}:{line}: {advice}" for m in modules() for line, advice in ban(m)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("ban", "place", "code"),
    [
        (bans.unsafe_slots, "gui/a.py", "b.clicked.connect(lambda: None)"),
        (bans.unsafe_slots, "gui/a.py", "b.clicked.connect(partial(f, 1))"),
        (bans.unsafe_slots, "gui/a.py", "b.clicked.connect(functools.partial(f, 1))"),
        (bans.unsafe_slots, "gui/a.py", "b.clicked.connect(slot=lambda: None)"),
        (
            bans.unsafe_slots,
            "gui/a.py",
            "class W:\n def m(self):\n  def g(): pass\n  self.b.clicked.connect(g)",
        ),
        (bans.unsafe_slots, "gui/a.py", "def m(b):\n g = lambda: 1\n b.clicked.connect(g)"),
        (bans.event_pumping, "gui/a.py", "QApplication.processEvents()"),
        (bans.event_pumping, "gui/a.py", "pump = app.processEvents"),
        (bans.thread_killing, "gui/a.py", "thread.terminate()"),
        (bans.sleeping_window, "gui/a.py", "import time\ntime.sleep(1)"),
        (bans.sleeping_window, "gui/a.py", "from time import sleep\nsleep(1)"),
        (bans.sleeping_window, "gui/a.py", "QThread.msleep(5)"),
        (bans.message_boxes, "gui/a.py", "from PySide6.QtWidgets import QMessageBox"),
        (bans.message_boxes, "gui/a.py", "QtWidgets.QMessageBox.warning(None, 'a', 'b')"),
        (bans.module_state, "settings.py", "SETTINGS = Settings()"),
        (bans.module_state, "engine/a.py", "client: EngineClient = ThreadedClient()"),
        (bans.module_state, "gui/a.py", "TIMER = QtCore.QTimer()"),
        (bans.module_state, "gui/a.py", "ICONS = {'a': QIcon('a.svg')}"),
        (bans.prints, "engine/a.py", "print('hi')"),
    ],
)
def test_it_bites(ban: Ban, place: str, code: str) -> None:
    assert list(ban(module(code, place)))


@pytest.mark.parametrize(
    ("ban", "place", "code"),
    [
        (bans.unsafe_slots, "gui/a.py", "self.b.clicked.connect(self._on_clicked)"),
        (bans.unsafe_slots, "storage/a.py", "sqlite3.connect(path)"),
        (bans.sleeping_window, "engine/a.py", "import time\ntime.sleep(1)"),
        (bans.message_boxes, "gui/kit/notices.py", "from PySide6.QtWidgets import QMessageBox"),
        (bans.module_state, "engine/a.py", "DEFAULT = SamplingParams()\nlog = getLogger('a')"),
        (bans.module_state, "gui/a.py", "def make():\n return QTimer()"),
        (bans.prints, "cli/a.py", "print('hi')"),
    ],
)
def test_it_leaves_the_better_way_alone(ban: Ban, place: str, code: str) -> None:
    assert not list(ban(module(code, place)))
