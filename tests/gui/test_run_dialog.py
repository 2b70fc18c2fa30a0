"""The run of a real reply: its dialog, its exports, and the proof that its text is the same."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import pytest
from msgspec import structs
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QApplication

from gui.fake_client import FakeClient, step_of
from paceline.catalog.local.fingerprint import fingerprint_of
from paceline.chat.sameness import CannotCompare, Differs, Same
from paceline.gui.kit.background import Slices
from paceline.gui.look.colours import DARK, LIGHT
from paceline.gui.look.current import look
from paceline.messages import StartTurn, TurnStarted
from paceline.run_record import RunRecord, record_from_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

    from paceline.gui.program import Program
    from paceline.gui.run.dialog import RunDialog
    from paceline.hosting.broker import Priority, Ticket
    from paceline.messages import Command, Event

pytestmark = [
    pytest.mark.qt_log_ignore("This plugin does not support"),
]

LOAD_MS, REPLY_MS = 60_000, 60_000


def reply_to(program: Program, qtbot: QtBot, text: str) -> str:
    """Send a message and wait for the reply's end; returns the reply's id."""
    assert program.chat.send(text)
    qtbot.waitUntil(lambda: program.session.active is None, timeout=REPLY_MS)
    return program.shown.conversation.path()[-1].message_id


def is_filled(dialog: RunDialog) -> bool:
    """Whether it shows everything that is known."""
    return not any(each.is_busy for each in dialog.findChildren(Slices))


def filled(program: Program, qtbot: QtBot) -> RunDialog:
    """The dialog when it shows everything."""
    dialog = program.runs.dialog
    assert dialog is not None
    qtbot.waitUntil(lambda: is_filled(dialog))
    return dialog


@pytest.fixture
def real(make_real: Callable[..., Program], qtbot: QtBot) -> Program:
    """A window with a real engine, which waits for a message."""
    # The dialog is the same with either host; its own thread is started in no time.
    program = make_real("thread", strategies=("suffix+draft:draft.n_max=6",), max_tokens=48)
    program.start()
    qtbot.waitUntil(lambda: program.pair.state.status == "ready", timeout=LOAD_MS)
    return program


@pytest.fixture
def opened(real: Program, qtbot: QtBot) -> Iterator[tuple[Program, RunDialog]]:
    """The run of a reply of 48 tokens."""
    reply_to(real, qtbot, "Name the days of the week, twice.")
    real.window.actions_.run.trigger()
    dialog = filled(real, qtbot)
    yield real, dialog
    if real.runs.dialog is not None:
        real.runs.dialog.close()


def record_of(program: Program) -> RunRecord:
    """The record as it can be copied."""
    program.runs.dialog.copy.click()  # type: ignore[union-attr]
    return record_from_json(json.loads(QGuiApplication.clipboard().text()))


def press_verify(program: Program, qtbot: QtBot, dialog: RunDialog) -> object:
    message_id = record_of(program).message_id
    assert dialog.verify.isEnabled()
    qtbot.mouseClick(dialog.verify, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not program.runs.check.is_running, timeout=REPLY_MS)
    return program.runs.results.get(message_id)


def test_the_dialog_shows_what_the_engine_measured_and_hashes_on_demand(
    opened: tuple[Program, RunDialog], qtbot: QtBot, target_path: Path, draft_path: Path
) -> None:
    program, dialog = opened
    record = record_of(program)
    stats = record.stats
    assert stats is not None
    page = dialog.reply_page
    values = [label.text() for label in page.figures.values]
    assert values[5] == f"{stats.n_generated:,}"
    assert values[3] == f"{stats.acceptance_rate * 100:.0f}\u202f%"  # type: ignore[operator]
    assert page.metrics.whole.tokens == stats.n_drafted
    assert page.metrics.whole.tokens_accepted == stats.n_accepted
    assert len(page.plot.by_model.opts["x"]) == stats.n_steps
    assert "prefill" in page.times.legend.text()
    asked = {s.drafter for s in stats.by_drafter if s.n_draft}
    assert len(page.drafters.cells) == len(asked)
    judged = sum(sum(places) for places in page.drafters.judged.values())
    assert judged == stats.n_drafted - stats.n_discarded
    rows = page.settings.rows
    assert rows["Strategy"] == "suffix+draft:draft.n_max=6"
    assert rows["Seed"] == "7"
    assert page.models["target"].rows["File"] == target_path.name
    assert page.models["target"].rows["Fingerprint"] == fingerprint_of(target_path)
    assert not page.problem.isVisible()
    card = page.models["draft"]
    assert not card.value.isVisible()
    card.button.click()
    expected = hashlib.sha256(draft_path.read_bytes()).hexdigest()
    qtbot.waitUntil(lambda: record_of(program).draft.sha256 == expected)  # type: ignore[union-attr]
    assert card.button.isHidden()
    assert card.value.text().replace("\u200b", "") == expected


def test_the_exported_steps_sum_up_to_the_figures_and_the_plot_is_a_picture(
    opened: tuple[Program, RunDialog], qtbot: QtBot, tmp_path: Path
) -> None:
    program, dialog = opened
    dialog.reply_page.plot.tools.csv.trigger()
    file = tmp_path / "steps.csv"
    assert program.save_file.dialog is not None
    program.save_file.dialog.close()
    program.save_file.write(str(file))
    qtbot.waitUntil(file.is_file)
    table = list(csv.DictReader(io.StringIO(file.read_text())))
    stats = record_of(program).stats
    assert stats is not None
    sums = {
        name: sum(int(row[name]) for row in table)
        for name in ("tokens", "drafted", "accepted", "discarded")
    }
    assert sums == {
        "tokens": stats.n_generated,
        "drafted": stats.n_drafted,
        "accepted": stats.n_accepted,
        "discarded": stats.n_discarded,
    }
    assert len(table) == stats.n_steps + 1
    for drafter in stats.by_drafter:
        name = f"{drafter.drafter} accepted"
        assert sum(int(row.get(name, 0)) for row in table) == drafter.tokens_accepted
    dialog.reply_page.plot.tools.png.trigger()
    qtbot.waitUntil(lambda: program.save_file.dialog is not None)
    program.save_file.dialog.close()
    program.save_file.write(str(tmp_path / "plot.png"))
    qtbot.waitUntil(lambda: not QImage(str(tmp_path / "plot.png")).isNull())


def test_plain_decoding_gives_the_same_text(
    opened: tuple[Program, RunDialog], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, dialog = opened
    before = program.shown.conversation
    n_tokens = record_of(program).stats.n_generated  # type: ignore[union-attr]
    begun: list[TurnStarted] = []
    request = program.context.client.request

    def heard(command: Command, priority: Priority, on_event: Callable[[Event], None]) -> Ticket:
        def hear(event: Event) -> None:
            if isinstance(event, TurnStarted):
                begun.append(event)
            on_event(event)

        return request(command, priority, hear)

    monkeypatch.setattr(program.context.client, "request", heard)
    result = press_verify(program, qtbot, dialog)
    assert result == Same(n_tokens)
    assert begun[-1].n_reused == 0, "as for the reply, whose prompt is in the context by now"
    assert str(n_tokens) in dialog.strip.verdict.text()
    assert dialog.verify.isEnabled()
    assert program.shown.conversation == before  # the chat knows nothing of it
    dialog.close()
    program.runs.open_last()
    assert program.runs.dialog is not None
    assert str(n_tokens) in program.runs.dialog.strip.verdict.text()


def test_a_forged_token_is_found_at_its_place(
    opened: tuple[Program, RunDialog], qtbot: QtBot
) -> None:
    program, dialog = opened
    message_id = record_of(program).message_id
    reply = program.shown.reply(message_id)
    assert reply is not None
    index = 11
    steps, seen = [], 0
    for step in reply.steps:
        at = index - seen
        seen += len(step.tokens)
        if 0 <= at < len(step.tokens):
            traces = list(step.tokens)
            traces[at] = structs.replace(traces[at], token=traces[at].token + 1)
            steps.append(structs.replace(step, tokens=tuple(traces)))
        else:
            steps.append(step)
    reply.steps[:] = steps
    program.runs.open(message_id)
    filled(program, qtbot)
    result = press_verify(program, qtbot, dialog)
    assert isinstance(result, Differs)
    assert result.index == index
    assert reply.text[: reply.traces[index - 1].text_end].endswith(result.before)
    assert result.found == result.expected  # the text was not forged
    assert dialog.strip.details.isVisible()
    assert "12" in dialog.strip.verdict.text()
    both = dialog.strip.difference.toPlainText()
    assert both.count(result.expected.strip()) == 2, "in the reply and in plain decoding"


def test_a_check_can_be_stopped_and_ends_with_the_dialog(real: Program, qtbot: QtBot) -> None:
    real.window.panel.sampling.use(replace(real.window.panel.sampling.settings, max_tokens=120))
    reply_to(real, qtbot, "Count from one to two hundred, in words.")
    real.runs.open_last()
    dialog = real.runs.dialog
    assert dialog is not None
    message_id = record_of(real).message_id
    dialog.verify.click()
    assert real.runs.check.is_running
    assert not dialog.verify.isEnabled()
    dialog.strip.stop.click()
    qtbot.waitUntil(lambda: not real.runs.check.is_running, timeout=REPLY_MS)
    assert isinstance(real.runs.results.get(message_id), (CannotCompare, Same))
    dialog.verify.click()
    dialog.close()
    qtbot.waitUntil(lambda: not real.runs.check.is_running, timeout=REPLY_MS)
    assert real.runs.dialog is None


# -------------------------------------------------------------------------- without an engine


def test_a_long_reply_opens_without_a_gap(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    program.chat.send("Hello?")
    client.start_turn()
    for number in range(1500):
        client.emit(step_of("a b c", number))
    client.finish_turn("a b c" * 1500)
    began = perf_counter()
    program.runs.open_last()
    gaps = [perf_counter() - began]
    dialog = program.runs.dialog
    assert dialog is not None
    while not is_filled(dialog):
        began = perf_counter()
        QApplication.processEvents()
        gaps.append(perf_counter() - began)
    print(f"longest gap {max(gaps) * 1000:.0f} ms of {len(gaps)}")
    assert max(gaps) < 0.5
    assert len(gaps) > 8
    dialog.close()


def test_a_reply_that_failed_shows_what_is_known(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    from paceline.messages import TurnFailed

    program.chat.send("Hello?")
    client.start_turn()
    client.step("He", 0)
    client.step("llo", 1)
    client.emit(TurnFailed("decode-failed", "It broke.", "Try again."))
    program.runs.open_last()
    dialog = filled(program, qtbot)
    page = dialog.reply_page
    assert page.problem.isVisible()
    assert "It broke. Try again." in page.problem_text.text()
    assert page.figures.values[5].text() == "4"
    assert page.metrics.whole.tokens_accepted == 2
    assert not page.figures.plain.isVisible()
    dialog.close()


def test_a_reply_that_is_sent_meanwhile_ends_the_check(
    program: Program, client: FakeClient
) -> None:
    program.chat.send("Hello?")
    client.reply("Hello")
    program.runs.open_last()
    dialog = program.runs.dialog
    assert dialog is not None
    dialog.verify.click()
    check = client.last(StartTurn)
    program.chat.send("And now?")
    assert client.cancelled == [check]
    assert not dialog.verify.isEnabled()
    dialog.close()


def test_another_theme_reaches_the_open_dialog(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    program.chat.send("Hello?")
    client.reply("Hello")
    program.runs.open_last()
    dialog = filled(program, qtbot)
    before = look.theme
    look.set_mode("light" if before is DARK else "dark")
    after = DARK if before is LIGHT else LIGHT
    assert dialog.reply_page.plot.by_model.opts["brush"] == after.accent
    dialog.close()


def test_the_live_plot_exports_the_shown_reply(
    program: Program, client: FakeClient, qtbot: QtBot, tmp_path: Path
) -> None:
    program.chat.send("Hello?")
    client.start_turn()
    client.step("H", 0)
    client.step("ello", 1)
    program.window.panel.refresh()
    program.window.panel.plot.tools.csv.trigger()
    client.step(" there", 2)
    program.save_file.dialog.close()  # type: ignore[union-attr]
    file = tmp_path / "live.csv"
    program.save_file.write(str(file))
    qtbot.waitUntil(file.is_file)
    table = csv.DictReader(io.StringIO(file.read_text()))
    assert [row["step"] for row in table] == ["0", "1"]
    client.finish_turn("Hello there")


def test_a_file_that_cannot_be_written_is_told(
    program: Program, client: FakeClient, qtbot: QtBot, tmp_path: Path
) -> None:
    program.chat.send("Hello?")
    client.reply("Hello")
    program.window.panel.refresh()
    (tmp_path / "file").write_text("x")
    program.window.panel.plot.tools.csv.trigger()
    program.save_file.dialog.close()  # type: ignore[union-attr]
    told: list[object] = []
    program.notices.posted.connect(told.append)
    program.save_file.write(str(tmp_path / "file" / "steps.csv"))
    qtbot.waitUntil(lambda: bool(told))
    assert "steps.csv" in told[0].message  # type: ignore[attr-defined]
    assert told[0].hint  # type: ignore[attr-defined]
