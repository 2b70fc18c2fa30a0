"""The benchmark in the window: on the real engine with the demo pair, and scripted odd cases."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage
from shiboken6 import isValid

from gui.fake_client import FakeClient, described
from paceline.engine.draft.strategy import strategy_named
from paceline.gui.bench.result_page import RATIO, SAME
from paceline.gui.bench.setup_page import SHIPPED
from paceline.messages import (
    Calibrate,
    Calibrated,
    DescribeEngine,
    EngineDied,
    Reset,
    StartTurn,
    TurnFailed,
    TurnStarted,
)
from paceline.params import Strategy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

    from paceline.gui.bench.controller import BenchController
    from paceline.gui.bench.dialog import BenchDialog
    from paceline.gui.program import Program

pytestmark = pytest.mark.usefixtures("quick_calibration")

LOAD_MS, BENCH_MS = 60_000, 90_000
FEW = ("off", "draft:n_max=3", "suffix")


def write_prompts(path: Path, max_tokens: int = 12) -> Path:
    """Two prompts of a few words."""
    lines = [
        {
            "name": name,
            "messages": [{"role": "user", "content": text}],
            "max_tokens": max_tokens,
            "temperature": temperature,
        }
        for name, text, temperature in (
            ("question", "What does len do?", 0.0),
            ("other", "Name the days of the week, twice.", 0.8),
        )
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


@pytest.fixture
def program(program: Program) -> Iterator[Program]:
    """The shared window, in which nothing was measured yet."""
    yield program
    program.bench.report = None


@pytest.fixture
def prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that takes the place of the shipped one."""
    file = write_prompts(tmp_path / "prompts.jsonl")
    monkeypatch.setattr("paceline.gui.bench.controller.shipped_workloads", lambda: file)
    return file


def opened(program: Program, strategies: tuple[str, ...] = FEW) -> BenchDialog:
    """The dialog with these strategies ticked, and two repeats."""
    program.window.actions_.benchmark.trigger()
    dialog = program.bench.dialog
    assert dialog is not None
    dialog.setup.prompts.source.show_value(SHIPPED)
    dialog.setup.prompts.all.click()
    for contender in dialog.setup.offered:
        dialog.setup.boxes[contender.strategy].setChecked(contender.strategy in strategies)
    dialog.setup.repeats.setValue(2)
    assert dialog.setup.strategies == strategies
    return dialog


@pytest.fixture(params=["process"])
def real(
    request: pytest.FixtureRequest,
    make_real: Callable[..., Program],
    qtbot: QtBot,
    prompts: Path,
) -> Iterator[Program]:
    """A window with a real engine, in its process or in a thread of the window's."""
    program = make_real(request.param, max_tokens=40)
    program.start()
    qtbot.waitUntil(lambda: program.pair.state.status == "ready", timeout=LOAD_MS)
    yield program
    if program.bench.dialog is not None:
        program.bench.dialog.close()


in_thread = pytest.mark.parametrize("real", ["thread"], indirect=True)


def wait_for_end(bench: BenchController, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not bench.driver.is_running, timeout=BENCH_MS)


def saved(program: Program, qtbot: QtBot, dialog: BenchDialog, kind: str, file: Path) -> bytes:
    """Return the bytes that an export writes."""
    getattr(dialog, kind).trigger()
    assert program.save_file.dialog is not None
    program.save_file.dialog.close()
    program.save_file.write(str(file))
    qtbot.waitUntil(file.is_file)
    return file.read_bytes()


# ----------------------------------------------------------------------------- the real engine


def test_the_demo_pair_is_measured_shown_exported_and_taken(
    real: Program, qtbot: QtBot, tmp_path: Path
) -> None:
    bench, before = real.bench, real.shown.conversation
    dialog = opened(real)
    results = dialog.results
    assert "12 replies" in dialog.estimate.text()
    qtbot.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    assert results.isVisible()
    assert results.strip.isVisible()
    wait_for_end(bench, qtbot)
    report = bench.report
    assert report is not None
    assert report.is_complete
    assert len(report.runs) == 12
    assert not report.failures
    assert not results.strip.isVisible()
    assert results.remark.text().startswith(report.conditions.target.file)
    model = results.table.figures
    texts = [model.index(0, RATIO).data(), *(model.index(n, SAME).data() for n in range(3))]
    assert texts == ["1.00×", "yes", "yes", "yes"]
    drafted = results.chart.rows[1]
    assert drafted.acceptance is not None
    assert drafted.per_step is not None
    assert drafted.per_step > 1
    assert real.shown.conversation == before
    # Exports.
    data = json.loads(saved(real, qtbot, dialog, "json", tmp_path / "r.json"))
    assert data["geomean"].keys() == set(FEW)
    dialog.copy.trigger()
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text().startswith("{"))
    assert json.loads(QGuiApplication.clipboard().text()) == data
    table = saved(real, qtbot, dialog, "csv", tmp_path / "r.csv").decode()
    assert len(list(csv.DictReader(io.StringIO(table)))) == 6
    saved(real, qtbot, dialog, "png", tmp_path / "r.png")
    qtbot.waitUntil(lambda: QImage(str(tmp_path / "r.png")).width() == 2240)
    # One of the strategies is taken.
    qtbot.mouseClick(results.table.buttons["suffix"], Qt.MouseButton.LeftButton)
    assert real.speculation.text == "suffix"
    assert not results.table.buttons["suffix"].isEnabled()
    real.speculation.use(strategy_named("draft:n_max=3"))
    assert results.table.buttons["suffix"].isEnabled()
    assert not results.table.buttons["draft:n_max=3"].isEnabled()
    # It is still there when the dialog comes back.
    dialog.close()
    real.window.actions_.benchmark.trigger()
    again = bench.dialog
    assert again is not None
    assert not again.isVisible()  # both pages at once would hold the window up
    qtbot.waitUntil(again.isVisible)
    assert again.results.isVisible()
    again.again.click()
    assert again.setup.isVisible()


@in_thread
def test_a_reply_goes_first_and_a_cancel_keeps_what_was_measured(
    real: Program, qtbot: QtBot, prompts: Path
) -> None:
    write_prompts(prompts, max_tokens=40)
    bench = real.bench
    dialog = opened(real, ("off", "suffix"))

    def run_until(n_done: int) -> None:
        dialog.start.click()
        qtbot.waitUntil(
            lambda: bench.driver.progress is not None and bench.driver.progress.n_done >= n_done,
            timeout=BENCH_MS,
        )

    run_until(2)
    assert real.chat.send("Hello?")
    assert bench.driver.is_paused
    qtbot.waitUntil(lambda: "Paused" in dialog.results.strip.state.text())
    qtbot.waitUntil(lambda: real.session.active is None, timeout=BENCH_MS)
    reply = real.shown.reply(real.shown.conversation.path()[-1].message_id)
    assert reply is not None
    assert reply.error is None
    wait_for_end(bench, qtbot)
    assert bench.report is not None
    assert len(bench.report.runs) == 8
    assert all(result.same_text for w in bench.report.workloads for result in w.results)
    dialog.again.click()
    run_until(2)
    qtbot.mouseClick(dialog.results.strip.stop, Qt.MouseButton.LeftButton)
    wait_for_end(bench, qtbot)
    assert not bench.report.is_complete
    n_runs = len(bench.report.runs)
    assert 2 <= n_runs < 8
    assert f"{n_runs} replies" in dialog.results.details.text()
    dialog.again.click()
    dialog.start.click()
    qtbot.waitUntil(lambda: bool(dialog.results.strip.now.text()), timeout=BENCH_MS)
    real.window.close()  # in the middle of a run; nothing may be left behind
    assert bench.dialog is None


# ------------------------------------------------------------------------ a scripted engine


def next_turn(client: FakeClient) -> StartTurn:
    """The run that was asked for last; it follows a reset."""
    assert isinstance(client.commands[-1], StartTurn)
    assert isinstance(client.commands[-2], Reset)
    return client.commands[-1]


def begin(program: Program, client: FakeClient) -> BenchDialog:
    """A benchmark whose first run is under way."""
    dialog = opened(program, ("off", "suffix"))
    dialog.start.click()
    assert isinstance(client.commands[-1], DescribeEngine)
    client.emit(described())
    client.emit(Calibrated())
    assert next_turn(client).strategy == Strategy.of("off")
    return dialog


def finish(client: FakeClient, n_runs: int) -> None:
    """Carry out so many runs."""
    for _ in range(n_runs):
        next_turn(client)
        client.emit(TurnStarted(10, 0, 1))
        client.finish_turn("text")


def test_a_scripted_benchmark_runs_to_its_end_and_the_next_begins_with_the_same_choice(
    program: Program, client: FakeClient, prompts: Path, qtbot: QtBot
) -> None:
    dialog = begin(program, client)
    assert "Getting ready" in dialog.results.strip.state.text()
    assert dialog.results.strip.bar.maximum() == 0, "it moves, though nothing is counted yet"
    finish(client, 3)  # warm up: two prompts by plain decoding, one by the other
    finish(client, 7)
    assert program.bench.driver.is_running
    finish(client, 1)
    assert not program.bench.driver.is_running
    report = program.bench.report
    assert report is not None
    assert len(report.runs) == 8
    assert dialog.results.table.figures.rowCount() == 2
    assert isinstance(client.commands[-1], Reset)  # nothing of its prompts stays in memory
    dialog.setup.repeats.setValue(5)
    dialog.setup.prompts.none.click()
    first = next(iter(dialog.setup.prompts.boxes))
    dialog.setup.prompts.boxes[first].setChecked(True)
    chosen = dialog.setup.choice
    dialog.close()
    program.bench.open()
    closed = program.bench.dialog
    assert closed is not None
    closed.reject()  # before it is seen
    qtbot.waitUntil(lambda: not isValid(closed))
    program.bench.open()
    again = program.bench.dialog
    assert again is not None
    again.again.click()
    assert again.setup.choice == chosen
    assert again.setup.prompts.names == (first,)
    again.close()


def test_a_calibration_gives_way_to_a_reply_and_is_made_again(
    program: Program, client: FakeClient, prompts: Path
) -> None:
    dialog = opened(program, ("off", "auto"))
    dialog.start.click()
    client.emit(described())
    first, ticket = client.last(Calibrate), client.tickets[-1]
    program.chat.send("Hello?")
    assert ticket.gave_way
    client.emit(Calibrated(problem="Stopped."))
    assert client.all(Calibrate) == [first]
    client.reply("Hello")
    assert client.all(Calibrate) == [first, first]
    # Where it cannot be done at all that is taken, not asked for without end.
    client.emit(Calibrated(problem="This model cannot."))
    finish(client, 11)  # three to warm up, two prompts, two strategies, twice
    assert not program.bench.driver.is_running
    assert "This model cannot." in dialog.results.details.text()
    dialog.close()


def test_other_models_end_it(program: Program, client: FakeClient, prompts: Path) -> None:
    dialog = begin(program, client)
    finish(client, 5)
    turn = next_turn(client)
    program.loader.reload()
    assert turn in client.cancelled
    assert not program.bench.driver.is_running
    assert "unloaded or replaced" in dialog.results.details.text()
    report = program.bench.report
    assert report is not None
    assert len(report.runs) == 2
    client.finish_load()
    client.finish_turn("late")
    assert program.bench.report is report
    dialog.again.click()
    assert dialog.start.isEnabled()
    dialog.close()


def test_a_failing_strategy_costs_itself_alone(
    program: Program, client: FakeClient, prompts: Path
) -> None:
    dialog = begin(program, client)
    for _ in range(20):
        if not program.bench.driver.is_running:
            break
        turn = next_turn(client)
        if turn.strategy == Strategy.of("suffix"):
            client.emit(TurnFailed("broken", "It broke.", "Try again."))
        else:
            client.finish_turn("text")
    assert not program.bench.driver.is_running
    rows = dialog.results.chart.rows
    assert rows[0].n_runs == 4
    assert rows[1].speedup is None
    assert rows[1].problem == "It broke. Try again."
    assert "It broke." in dialog.results.details.text()
    dialog.close()


def test_an_engine_that_dies_and_a_cancel_end_it_with_what_was_measured(
    program: Program, client: FakeClient, prompts: Path
) -> None:
    dialog = begin(program, client)
    results = dialog.results
    finish(client, 5)
    client.emit(EngineDied("It crashed.", "Try again."))
    assert program.bench.report is not None
    assert len(program.bench.report.runs) == 2
    assert "It crashed." in results.details.text()
    assert dialog.json.isEnabled()
    dialog.again.click()
    assert "No model is loaded" in dialog.estimate.text()
    program.loader.reload()
    client.finish_load()
    dialog.start.click()
    client.emit(described())
    calibrate = client.last(Calibrate)
    results.strip.stop.click()
    assert client.cancelled[-1] == calibrate
    client.emit(Calibrated(problem="Stopped."))
    assert not program.bench.driver.is_running
    assert results.sentence.text() == "Cancelled.", "nothing was measured"
    assert not results.chart.isVisible()
    assert not dialog.json.isEnabled()
    dialog.close()


def test_closing_the_dialog_stops_it_and_the_next_begins_after_a_reply(
    program: Program, client: FakeClient, prompts: Path
) -> None:
    dialog = begin(program, client)
    turn = next_turn(client)
    dialog.close()
    assert turn in client.cancelled
    assert program.bench.dialog is None
    client.emit(TurnFailed("cancelled", "It was stopped.", ""))
    assert not program.bench.driver.is_running
    program.chat.send("Hello?")
    dialog = opened(program, ("off", "suffix"))
    dialog.start.click()
    assert "Paused" in dialog.results.strip.state.text()
    client.reply("Hello")
    assert isinstance(client.commands[-1], DescribeEngine)
    dialog.results.strip.stop.click()
    assert not program.bench.driver.is_running
    dialog.close()


# ------------------------------------------------------------------------------- the choices


def test_questions_of_the_chat_are_used_with_their_context(
    program: Program, client: FakeClient, qtbot: QtBot, prompts: Path
) -> None:
    dialog = opened(program, ("off", "suffix"))
    source = dialog.setup.prompts.source
    source.buttons["chat"].click()
    assert not dialog.start.isEnabled()
    assert "no questions" in dialog.estimate.text()
    for question in ("First?", "Second?", "Third?"):
        program.chat.send(question)
        client.reply("Answer")
    assert dialog.start.isEnabled()
    dialog.setup.prompts.questions.setValue(2)
    dialog.start.click()
    client.emit(described())
    client.emit(Calibrated())
    contents = [message.text for message in next_turn(client).prompt.messages]
    assert contents == ["First?", "Answer", "Second?"]
    finish(client, 1)
    contents = [message.text for message in next_turn(client).prompt.messages]
    assert contents == ["First?", "Answer", "Second?", "Answer", "Third?"]
    shown = dialog.results.strip.now
    qtbot.waitUntil(lambda: "“3. Third?”" in shown.text())
    dialog.close()


def test_what_is_missing_is_said_before_the_start(
    program: Program, client: FakeClient, prompts: Path
) -> None:
    dialog = opened(program, ("off",))
    assert "Tick a strategy" in dialog.estimate.text()
    dialog.setup.boxes["suffix"].setChecked(True)
    assert dialog.start.isEnabled()
    dialog.setup.prompts.none.click()
    assert "at least one prompt" in dialog.estimate.text()
    dialog.setup.prompts.all.click()
    assert dialog.start.isEnabled()
    program.loader.reload()
    assert "still being loaded" in dialog.estimate.text()
    assert not dialog.start.isEnabled()
    dialog.close()
    prompts.write_text("nothing\n")
    program.window.actions_.benchmark.trigger()
    dialog = program.bench.dialog  # type: ignore[assignment]
    assert "Line 1" in dialog.setup.prompts.problem.text()
    assert not dialog.start.isEnabled()
    dialog.close()


def test_without_a_draft_model_its_strategies_are_off_with_the_reason(
    program: Program, client: FakeClient, prompts: Path
) -> None:
    dialog = opened(program)
    pair = program.loader.state.pair
    assert pair is not None
    for drafting, strategies in ((None, ("off", "suffix")), (pair.drafting, FEW)):
        program.loader.load(replace(pair, drafting=drafting))
        client.finish_load()
        box = dialog.setup.boxes["draft:n_max=3"]
        assert box.isEnabled() == box.isChecked() == (drafting is not None)
        assert ("No draft model" in dialog.setup.obstacles.text()) == (drafting is None)
        assert dialog.setup.strategies == strategies
    dialog.close()
