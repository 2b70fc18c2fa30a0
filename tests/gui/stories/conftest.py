"""The person of the stories, in front of the shared window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gui.stories.person import Person

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from paceline.gui.program import Program


@pytest.fixture
def person(program: Program, qtbot: QtBot) -> Person:
    qtbot.waitUntil(program.window.isActiveWindow)
    return Person(program, qtbot)
