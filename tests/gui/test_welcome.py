"""The page of an empty chat: the example, questions, offers; what they show and do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QScrollArea, QWidget

from gui.compare.test_columns import check_clocks
from gui.fake_client import described
from gui.picker_world import BIG, HUGE, Q8_0, SMALL, write_model
from paceline.catalog.judge.first_choice import recommended
from paceline.catalog.models import Models
from paceline.chat.recording import RecordedTurn, Recording, read_recording
from paceline.engine.draft import registry
from paceline.gui.look.current import look
from paceline.gui.state.sources import Sources
from paceline.gui.welcome.example import Example
from paceline.gui.welcome.starters import starters
from paceline.messages import (
    DeviceInfo,
    EngineDescribed,
    LoadPair,
    Reading,
    StartTurn,
    StepCommitted,
    TurnFinished,
)
from paceline.params import params_of
from paceline.paths import Paths, resources
from paceline.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program
    from paceline.gui.welcome.page import WelcomePage

GB = 10**9
CPU = DeviceInfo("CPU", "A processor", "cpu", 32 * GB, 20 * GB)
LIMIT_MS = 30_000


@pytest.fixture
def first(make_program: Callable[..., Program], client: FakeClient) -> Program:
    """A window at its first start, without a catalogue."""
    program = make_program(Settings())
    client.finish_load()
    return program


def page_of(program: Program) -> WelcomePage:
    return program.welcome.page


def words_on(page: WelcomePage) -> list[str]:
    return [label.text() for label in page.findChildren(QLabel) if label.isVisible()]


def test_the_first_page_has_an_example_that_the_first_reply_leaves_for_good_but_for_the_menu(
    make_program: Callable[..., Program], client: FakeClient
) -> None:
    """Open a window at its first start, without a catalogue."""
    program = make_program(Settings())
    client.finish_load()
    client.emit(described())
    page, actions = page_of(program), program.window.actions_
    assert page.example.isVisible()
    assert page.get.isHidden()
    assert page.own.isHidden()
    page.example.play()
    assert not client.all(StartTurn), "it asks nothing"
    assert not program.session.summaries
    actions.new_private.trigger()
    assert any("Nothing of it is stored" in text for text in words_on(page))
    assert not page.example.isVisible()
    actions.new_private.trigger()
    question = page.questions[0]
    question.setFocus()
    QTest.keyClick(question, Qt.Key.Key_Space)
    turn = client.last(StartTurn)
    assert turn.prompt.messages[-1].text == starters("", is_demo=True)[0].text
    assert turn.sampling.temperature == 0
    assert keyboard_of(program) is program.window.chat_pane.composer.edit
    client.reply("Hi.")
    assert not page.isVisible()
    actions.new_chat.trigger()
    assert page.isVisible()
    assert not page.example.isVisible()
    assert len(page.questions) == 4
    assert program.settings.value("was_welcomed")
    look.set_motion("reduced")
    program.chat.send("Hello")
    client.reply("Hi.")
    actions.example.trigger()
    assert not program.shown.conversation.path()
    assert page.example.isVisible()
    assert page.example.is_over
    assert keyboard_of(program) is program.window.chat_pane.composer.edit


def test_the_second_start_shows_questions_alone_and_keeps_what_was_written(
    program: Program, client: FakeClient
) -> None:
    page, composer = page_of(program), program.window.chat_pane.composer
    assert not page.example.isVisible()
    assert not page.example.is_over, "nothing was played or read"
    of_demo = [button.starter for button in page.questions]
    assert of_demo == list(starters("", is_demo=True))
    composer.set_text("Dear model,")
    page.questions[0].click()
    assert composer.text == f"Dear model,\n{of_demo[0].text}"
    assert not client.all(StartTurn)
    composer.set_text("")
    program.models.open_target(__file__)  # refused: no model
    assert [button.starter for button in page.questions] == of_demo


def keyboard_of(program: Program) -> QWidget | None:
    return program.window.focusWidget()


def test_after_a_click_what_is_typed_goes_to_the_field(first: Program) -> None:
    page, composer = page_of(first), first.window.chat_pane.composer
    left = page.example.columns.left.findChild(QScrollArea)
    assert left is not None
    for clicked in (page.example.again, left.viewport(), page.questions[0]):
        first.window.models_menu.setFocus()
        composer.set_text("Dear model,")  # else a question would be asked
        QTest.mouseClick(clicked, Qt.MouseButton.LeftButton)
        before = composer.text
        QTest.keyClicks(keyboard_of(first), "hello there")
        assert composer.text == f"{before}hello there"


def test_questions_suit_the_target() -> None:
    of_demo = starters("", is_demo=True)
    coder = starters("Qwen2.5 Coder 7B", is_demo=False)
    general = starters("Llama 3.1 8B", is_demo=False)
    # Code without comments and lines as JSON are for both.
    assert len({*of_demo, *coder, *general}) == 4 + 4 + 2
    for title, text in (*coder, *general):
        assert len(title) < 30 < 200 < len(text), "what is to be copied stands in the question"


# --------------------------------------------------------------------------------- the example


@pytest.fixture
def recording() -> Recording:
    return read_recording(resources() / "examples" / "starter.jsonl")


@pytest.fixture
def example(qtbot: QtBot) -> Example:
    file = resources() / "examples" / "starter.jsonl"
    made = Example(Sources(registry.available()), file)
    qtbot.addWidget(made)
    made.resize(700, 400)
    return made


def test_each_column_shows_what_was_there_at_that_time(
    example: Example, recording: Recording
) -> None:
    look.set_motion("full")
    example.play()
    columns = example.columns
    written = [
        (column, [(at, e) for at, e in turn if isinstance(e, StepCommitted)])
        for column, turn in ((columns.left, recording.alone), (columns.right, recording.drafted))
    ]
    for seconds in sorted(at - steps[0][0] for _, steps in written for at, _ in steps)[::7]:
        example.show_at(seconds)
        for column, steps in written:
            begin = steps[0][0]
            assert column.reply.text == "".join(e.text for at, e in steps if at <= begin + seconds)
            assert column.reply.text, "both begin to write at once"
            if not column.reply.has_ended:
                assert column.words["clock"] == f"{seconds:.1f} s"
    assert not example.is_over
    example.show_at(recording.alone[-1][0])
    assert example.is_over
    assert "the same text" in columns.outcome
    check_clocks(columns)
    for column, turn in ((columns.left, recording.alone), (columns.right, recording.drafted)):
        end = turn[-1][1]
        assert isinstance(end, TurnFinished)
        assert f"Read the prompt in {end.stats.prefill_s:.1f}\u00a0s" in column.words["end"]


def writing_s(turn: RecordedTurn) -> float:
    """Seconds from the first token to the end."""
    return turn[-1][0] - next(at for at, event in turn if isinstance(event, StepCommitted))


def test_it_continues_by_its_clock(qtbot: QtBot, recording: Recording) -> None:
    look.set_motion("full")
    now = [100.0]
    file = resources() / "examples" / "starter.jsonl"
    example = Example(Sources(registry.available()), file, clock=lambda: now[0])
    qtbot.addWidget(example)
    example.play()
    left, right = example.columns.left.reply, example.columns.right.reply
    now[0] += writing_s(recording.drafted) + 1e-6  # the clock adds floats
    qtbot.waitUntil(lambda: right.has_ended)
    assert not left.has_ended
    now[0] += writing_s(recording.alone)
    qtbot.waitUntil(lambda: example.is_over)
    example.again.click()
    assert not example.is_over
    assert not example.columns.left.reply.text


def test_it_plays_by_itself_and_with_reduced_motion_it_stands_finished(
    example: Example, qtbot: QtBot, recording: Recording
) -> None:
    look.set_motion("reduced")
    example.show()
    qtbot.waitUntil(lambda: example.is_over)
    assert example.columns.left.reply.text == example.columns.right.reply.text
    for word in (recording.machine, recording.target.name, recording.date):
        assert word in example.origin.text()
    assert example.question.text() == "Asked: Remove the comments from this code"


def test_a_hidden_example_stands_still(example: Example, qtbot: QtBot) -> None:
    look.set_motion("full")
    example.show()
    example.play()
    example.hide()
    n_steps = len(example.columns.left.reply.steps)
    qtbot.wait(60)
    assert len(example.columns.left.reply.steps) == n_steps
    assert not example.is_over


def test_a_damaged_example_says_so(qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "starter.jsonl").write_text("no", "utf-8")
    example = Example(Sources(), tmp_path / "starter.jsonl")
    qtbot.addWidget(example)
    example.show()
    assert "cannot be read" in example.origin.text()
    assert example.again.isHidden()


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
    client.emit(EngineDescribed("", "", (CPU,)))
    yield program
    models.close()


def test_after_the_first_load_own_models_and_one_pair_are_offered(
    catalogued: Program, client: FakeClient, qtbot: QtBot
) -> None:
    assert catalogued.catalogue is not None
    library, page = catalogued.catalogue.library, page_of(catalogued)
    edit = catalogued.window.chat_pane.composer.edit
    assert not library.is_busy
    client.finish_load()
    assert library.is_busy
    qtbot.waitUntil(lambda: not library.is_busy, timeout=LIMIT_MS)
    # 72B does not fit into 20 GB; 7B does, and 0.5B has its vocabulary.
    assert page.own.title.text() == "Qwen2.5-7B"
    assert "Qwen2.5-0.5B" in page.own.facts.text()

    offer, getting = page.get, catalogued.catalogue.getting
    catalogued.devices.show_reading(Reading(1, 24e9, 25e9, 26e9))
    found = recommended(
        catalogued.catalogue.curated, catalogued.devices.room.devices, catalogued.devices.reading
    )
    assert found is not None
    assert offer.isVisible()
    assert offer.title.text() == f"Recommended for this machine: {found.pair.title}"
    assert re.fullmatch(
        r"(about )?[\d.]+ GB · here about [\d.]+ tokens/s, [\d.]+ with drafts \(estimate\)",
        offer.facts.text(),
    )
    assert not catalogued.catalogue.downloads.model.downloads, "nothing is fetched unasked"
    offer.button.click()
    assert getting.wanted is not None
    assert getting.wanted.target.path == found.pair.target_reference
    assert offer.button.text() == "Cancel"
    assert keyboard_of(catalogued) is edit
    offer.button.click()
    assert getting.wanted is None
    assert offer.button.text() == "Get it"

    page.own.button.click()
    assert keyboard_of(catalogued) is edit
    asked = client.last(LoadPair)
    assert Path(asked.target.path).name == "Qwen2.5-7B.gguf"
    draft = params_of(asked.drafting)
    assert draft is not None
    assert Path(draft.path).name == "Qwen2.5-0.5B.gguf"
    client.finish_load()
    assert "JSON" in page.questions[1].starter.text  # a general one
