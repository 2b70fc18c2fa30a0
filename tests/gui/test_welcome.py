"""The first-run page and the questions of an empty chat: what they find, offer and do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton

from gui.fake_client import described, model_info
from gui.picker_world import BIG, HUGE, Q8_0, SMALL, write_model
from paceline.catalog.models import Models
from paceline.gui.welcome.pages import machine_facts, models_fact, starters
from paceline.messages import DeviceInfo, EngineDescribed, LoadPair, PairLoaded, StartTurn
from paceline.params import params_of
from paceline.paths import Paths
from paceline.settings import Settings, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program
    from paceline.gui.welcome.controller import WelcomeController

GB = 10**9
CPU = DeviceInfo("CPU", "A processor", "cpu", 32 * GB, 20 * GB)
GPU = DeviceInfo("CUDA0", "A graphics card", "gpu", 24 * GB, 22 * GB)
LIMIT_MS = 30_000

pytestmark = [
    pytest.mark.qt_log_ignore("This plugin does not support"),
    pytest.mark.usefixtures("plain_windows"),
]


@pytest.fixture
def first(make_program: Callable[..., Program], client: FakeClient) -> Program:
    """A window at its first start, without a catalogue."""
    program = make_program(Settings())
    client.finish_load()
    return program


def welcome_of(program: Program) -> WelcomeController:
    return program.welcome


def test_the_first_start_shows_the_page_and_the_first_message_leaves_it_for_good(
    first: Program, client: FakeClient, paceline_home: Path
) -> None:
    welcome = welcome_of(first)
    assert welcome.page.isVisible()
    assert not welcome.start.isVisible()
    first.chat.send("Hello")
    client.reply("Hi.")
    assert not welcome.page.isVisible()
    first.window.actions_.new_chat.trigger()
    assert welcome.start.isVisible()
    first.settings.save()
    assert load_settings(paceline_home / "config" / "settings.json").settings.was_welcomed


def test_the_second_start_shows_questions(program: Program) -> None:
    welcome = welcome_of(program)
    assert not welcome.page.isVisible()
    assert len(welcome.start.questions) == 4


def test_skipping_leaves_for_good_and_the_menu_brings_it_back(first: Program) -> None:
    welcome = welcome_of(first)
    welcome.page.skip.setFocus()
    QTest.keyClick(welcome.page.skip, Qt.Key.Key_Space)
    assert welcome.start.isVisible()
    assert first.settings.settings.was_welcomed
    assert first.window.focusWidget() is first.window.chat_pane.composer.edit
    first.window.actions_.welcome.trigger()
    assert welcome.page.isVisible()
    assert first.window.focusWidget() is welcome.page.first.options[0]


def test_the_menu_shows_it_in_a_new_chat(program: Program, client: FakeClient) -> None:
    program.chat.send("Hello")
    client.reply("Hi.")
    program.window.actions_.welcome.trigger()
    assert not program.shown.conversation.path()
    assert welcome_of(program).page.isVisible()


def test_one_key_asks_the_built_in_pair(first: Program, client: FakeClient) -> None:
    option = welcome_of(first).page.first.options[0]
    option.setFocus()
    QTest.keyClick(option, Qt.Key.Key_Space)
    assert client.last(StartTurn).prompt.messages[-1].text == starters("", is_demo=True)[0].text
    assert not welcome_of(first).page.isVisible()


def test_one_key_sends_a_question_of_an_empty_chat(program: Program, client: FakeClient) -> None:
    question = welcome_of(program).start.questions[2]
    question.setFocus()
    QTest.keyClick(question, Qt.Key.Key_Space)
    assert client.last(StartTurn).prompt.messages[-1].text == question.words
    assert program.window.focusWidget() is program.window.chat_pane.composer.edit


def test_what_was_written_is_not_thrown_away(program: Program, client: FakeClient) -> None:
    composer = program.window.chat_pane.composer
    composer.set_text("Dear model,")
    question = welcome_of(program).start.questions[0]
    question.click()
    assert composer.text == f"Dear model,\n{question.words}"
    assert not client.all(StartTurn)


def test_questions_suit_the_target(program: Program, client: FakeClient) -> None:
    of_demo = [button.words for button in welcome_of(program).start.questions]
    program.models.open_target(__file__)  # refused: no model
    assert [button.words for button in welcome_of(program).start.questions] == of_demo
    coder = starters("Qwen2.5 Coder 7B", is_demo=False)
    general = starters("Llama 3.1 8B", is_demo=False)
    assert len({*of_demo, *coder, *general}) == 12


def test_a_private_chat_says_so(program: Program) -> None:
    program.window.actions_.new_private.trigger()
    words = [label.text() for label in welcome_of(program).start.findChildren(QLabel)]
    assert any("Nothing of it is stored" in text for text in words)


@pytest.mark.grid(short=2)
@pytest.mark.parametrize("width", [640, 1100, 1600])
@pytest.mark.usefixtures("dressed")
def test_nothing_is_cut_at_any_width(first: Program, qtbot: QtBot, width: int) -> None:
    first.window.resize(width, 1000)
    qtbot.wait(30)
    page = welcome_of(first).page
    assert page.widget().minimumSizeHint().width() <= page.viewport().width()
    buttons = [each for each in page.findChildren(QPushButton) if each.isVisible()]
    assert len(buttons) >= 5
    for button in buttons:
        assert button.width() <= page.viewport().width()
        assert button.height() >= button.sizeHint().height()
        for label in button.findChildren(QLabel):
            assert label.isHidden() or label.height() >= label.heightForWidth(label.width())


def test_facts_of_the_machine() -> None:
    assert {fact.value for fact in machine_facts(())} == {"looking…"}
    plain = machine_facts((CPU,))
    assert [fact.value for fact in plain] == ["A processor", "32.0 GB", "processor only"]
    assert machine_facts((CPU, GPU))[-1].value == "A graphics card"
    assert models_fact((), is_looking=False).value == "none yet"


# ------------------------------------------------------------------------- with a real library


@pytest.fixture
def own_models(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    for name, shape, kind in (("7B", BIG, 12), ("0.5B", SMALL, Q8_0), ("72B", HUGE, 12)):
        write_model(folder / f"Qwen2.5-{name}.gguf", f"Qwen2.5 {name}", shape, kind)
    return folder


@pytest.fixture
def catalogued(
    make_program: Callable[..., Program],
    client: FakeClient,
    paceline_home: Path,
    tmp_path: Path,
    own_models: Path,
) -> Iterator[Program]:
    models = Models(
        Paths.below(paceline_home),
        environ={},
        home=tmp_path / "home",
        own_folders=[own_models],
        offline=True,
    )
    program = make_program(Settings(hub_offline=True), models=models)
    client.emit(EngineDescribed("", "", False, (CPU,)))
    yield program
    models.close()


def test_models_are_looked_for_behind_the_first_load(
    catalogued: Program, client: FakeClient, qtbot: QtBot
) -> None:
    assert catalogued.catalogue is not None
    library, welcome = catalogued.catalogue.library, welcome_of(catalogued)
    assert not library.is_busy
    client.finish_load()
    assert library.is_busy
    qtbot.waitUntil(lambda: not library.is_busy, timeout=LIMIT_MS)
    names = [each.accessibleName() for each in welcome.page.machine.children()[-4:]]
    assert any(name.startswith("Your models: 3 models") for name in names), names
    # 72B does not fit into 20 GB; 7B does, and 0.5B has its vocabulary.
    (option,) = welcome.page.own.options
    assert option.words == "Qwen2.5-7B"
    assert "Qwen2.5-0.5B" in option.accessibleName()
    option.click()
    asked = client.last(LoadPair)
    assert Path(asked.target.path).name == "Qwen2.5-7B.gguf"
    draft = params_of(asked.drafting)
    assert draft is not None
    assert Path(draft.path).name == "Qwen2.5-0.5B.gguf"
    assert not welcome.page.isVisible()
    client.emit(
        PairLoaded(
            model_info(asked.target.path),
            model_info(draft.path),
            0.1,
            (),
        )
    )
    assert "Python" in welcome.start.questions[-1].words  # a general one


def test_a_recommended_pair_is_picked_by_one_click_and_nothing_is_fetched(
    catalogued: Program, client: FakeClient
) -> None:
    assert catalogued.catalogue is not None
    client.finish_load()
    page, picker = welcome_of(catalogued).page, catalogued.catalogue.picker
    assert 2 <= len(page.get.options) <= 3
    titles = [option.words for option in page.get.options]
    page.get.options[titles.index("Qwen2.5 Coder 7B")].click()
    assert picker.dialog is not None
    assert picker.picks.target is not None
    assert picker.picks.target.repo == "ggml-org/Qwen2.5-Coder-7B-Q8_0-GGUF"
    assert picker.picks.draft is not None
    assert not catalogued.catalogue.downloads.model.downloads
    picker.dialog.reject()
    assert page.isVisible()  # nothing was chosen yet


def test_without_a_description_nothing_is_recommended(first: Program, client: FakeClient) -> None:
    client.emit(described())
    assert welcome_of(first).page.get.isHidden()
