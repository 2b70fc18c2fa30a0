"""The first moments of the window: the starter, a small screen, a change of theme."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QApplication

from gui.fake_client import described
from paceline import starter
from paceline.catalog.models import Models
from paceline.gui.look.current import look
from paceline.gui.models.picker.dialog import PickerDialog
from paceline.gui.welcome.starters import starters
from paceline.messages import LoadPair, StartTurn
from paceline.params import OWN_HEAD
from paceline.paths import Paths, demo_pair
from paceline.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program

pytestmark = [
    pytest.mark.qt_log_ignore("This plugin does not support"),
    pytest.mark.usefixtures("one_reader_for_all"),
]


@pytest.fixture
def started(
    make_program: Callable[..., Program], client: FakeClient, paceline_home: Path, tmp_path: Path
) -> Iterator[Program]:
    """A window at its first start, where the starter was brought before."""
    paths = Paths.below(paceline_home)
    file = paths.models_dir / starter.FOLDER / f"{starter.STEM}-Q4_1.gguf"
    file.parent.mkdir(parents=True)
    shutil.copy(demo_pair()[1], file)
    models = Models(paths, environ={}, home=tmp_path, offline=True)
    program = make_program(Settings(hub_offline=True), models=models)
    client.emit(described())
    yield program
    models.close()


def test_the_starter_is_the_first_model_and_auto_drafts_for_it(
    started: Program, client: FakeClient, qtbot: QtBot
) -> None:
    qtbot.waitUntil(lambda: bool(client.all(LoadPair)))
    loaded = client.last(LoadPair)
    assert Path(loaded.target.path).name == "SmolLM2-135M-Instruct-Q4_1.gguf"
    assert loaded.drafting == OWN_HEAD
    assert started.speculation.text == "auto"


def test_a_question_of_the_first_page_goes_to_it_greedily(
    started: Program, client: FakeClient, qtbot: QtBot
) -> None:
    question = started.welcome.page.questions[0]
    assert question.starter == starters(starter.NAME, is_demo=False)[0]
    question.click()  # before any model is there
    qtbot.waitUntil(lambda: bool(client.all(LoadPair)))
    client.finish_load()
    turn = client.last(StartTurn)
    assert turn.sampling.temperature == 0
    assert turn.prompt.messages[-1].text == question.starter.text
    assert len(client.all(LoadPair)) == 1


def test_without_it_the_page_asks_the_built_in_pair(program: Program) -> None:
    assert program.welcome.page.questions[0].starter == starters("", is_demo=True)[0]


def test_the_window_is_no_larger_than_the_screen(program: Program) -> None:
    window, room = program.window, program.window.screen().availableGeometry()
    window.resize(3000, 3000)
    window.fit_screen()
    assert window.width() <= room.width()
    assert window.height() < room.height()
    window.resize(700, 500)
    window.fit_screen()
    assert (window.width(), window.height()) == (700, 500)


def test_a_dialog_that_waits_is_gone_before_the_window_is_dressed_anew(
    started: Program, client: FakeClient, qtbot: QtBot
) -> None:
    def n_built() -> int:
        return sum(isinstance(widget, PickerDialog) for widget in QApplication.allWidgets())

    del client
    qtbot.waitUntil(lambda: n_built() == 1, timeout=10_000)
    seen: list[int] = []
    look.changed.connect(lambda _theme: seen.append(n_built()))
    started.window.actions_.flip_theme.trigger()
    assert seen == [0]
    qtbot.waitUntil(lambda: n_built() == 1, timeout=10_000)
