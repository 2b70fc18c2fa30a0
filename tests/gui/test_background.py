"""Jobs beside the main thread, of which none that fails goes unnoticed."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from shiboken6 import delete, isValid

from paceline.errors import UserError
from paceline.gui.kit.background import Background, Slices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot


def test_a_job_runs_beside_the_main_thread_and_its_bug_is_an_error_to_show(
    qtbot: QtBot, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("a job in the background failed")
    background = Background()
    threads: list[threading.Thread] = []
    failures: list[UserError] = []

    def job() -> None:
        threads.append(threading.current_thread())
        raise RuntimeError("bug")

    background.start(job, failed=failures.append)
    qtbot.waitUntil(lambda: bool(failures))
    assert (failures[0].code, failures[0].hint) == ("internal", "See the log.")
    assert threads[0] is not threading.main_thread()
    assert background.close()
    background.deleteLater()


def test_the_last_slice_may_delete_what_owns_the_work(qtbot: QtBot) -> None:
    owner = QObject()

    def steps() -> Iterator[None]:
        yield
        delete(owner)

    Slices(owner).start(steps())
    qtbot.waitUntil(lambda: not isValid(owner))
