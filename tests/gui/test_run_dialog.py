"""The run of a reply: its dialog, its exports, and the proof that its text is the same."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec import structs
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage

from gui.fake_client import FakeClient
from paceline.catalog.local.fingerprint import fingerprint_of
from paceline.chat.sameness import CannotCompare, Differs, Same
from paceline.gui.kit.background import Slices
from paceline.gui.kit.notices import Notice
from paceline.gui.plot.speed_plot import SpeedPlot
from paceline.messages import TurnStarted
from paceline.run_record import RunRecord, record_from_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from paceline.gui.program import Program
    from paceline.gui.run.dialog import RunDialog
    from paceline.hosting.broker import Priority, Ticket
    from paceline.messages import Command, Event

LOAD_MS, REPLY_MS = 60_000, 60_000


def reply_to(program: Program, qtbot: QtBot, text: str) -> str:
    """Send a message and wait for the reply's end; returns the reply's id."""
    assert program.chat.send(text)
    qtbot.waitUntil(lambda: program.session.active is None, timeout=REPLY_MS)
    return program.shown.conversation.path()[-1].message_id


def is_filled(dialog: RunDialog) -> bool:
    """Return whether the dialog shows everything that is known."""
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


def shows_what_the_engine_measured(
    program: Program, qtbot: QtBot, dialog: RunDialog, target_path: Path, draft_path: Path
) -> None:
    stats = record_of(program).stats
    assert stats is not None
    page = dialog.reply_page
    values = [label.text() for label in page.figures.values]
    assert values[5] == f"{stats.n_generated:,}"
    assert values[3] == f"{stats.acceptance_rate * 100:.0f}\u202f%"  # type: ignore[operator]
    assert page.metrics.whole.tokens == stats.n_drafted
    assert page.metrics.whole.tokens_accepted == stats.n_accepted
    assert len(page.plot.by_model.opts["x"]) == stats.n_steps
    asked = {s.drafter for s in stats.by_drafter if s.n_draft}
    assert len(page.drafters.cells) == len(asked)
    judged = sum(sum(places) for places in page.drafters.judged.values())
    assert judged == stats.n_drafted - stats.n_discarded
    rows = page.settings.rows
    assert (rows["Strategy"], rows["Seed"]) == ("suffix+draft:draft.n_max=6", "7")
    models = page.models["target"].rows
    assert models["File"] == target_path.name
    assert models["Fingerprint"] == fingerprint_of(target_path)
    assert not page.problem.isVisible()
    card = page.models["draft"]
    assert not card.value.isVisible()
    card.button.click()  # its hash is computed on demand
    expected = hashlib.sha256(draft_path.read_bytes()).hexdigest()
    qtbot.waitUntil(
        lambda: record_of(program).draft.sha256 == expected,  # type: ignore[union-attr]
        timeout=REPLY_MS,
    )
    assert card.button.isHidden()
    assert card.value.text().replace("\u200b", "") == expected


def is_exported(program: Program, qtbot: QtBot, dialog: RunDialog, folder: Path) -> None:
    """See that the exported steps sum up to the figures, and that the plot is a picture."""
    stats = record_of(program).stats
    assert stats is not None
    table = exported(program, qtbot, dialog.reply_page.plot, folder / "steps.csv")
    sums = [sum(int(row[name]) for row in table) for name in ("tokens", "drafted", "accepted")]
    assert sums == [stats.n_generated, stats.n_drafted, stats.n_accepted]
    assert len(table) == stats.n_steps + 1
    for drafter in stats.by_drafter:
        name = f"{drafter.drafter} accepted"
        assert sum(int(row.get(name, 0)) for row in table) == drafter.tokens_accepted
    dialog.reply_page.plot.tools.png.trigger()
    qtbot.waitUntil(lambda: program.save_file.dialog is not None)
    program.save_file.dialog.close()  # type: ignore[union-attr]
    program.save_file.write(str(folder / "plot.png"))
    qtbot.waitUntil(lambda: not QImage(str(folder / "plot.png")).isNull())


def exported(program: Program, qtbot: QtBot, plot: SpeedPlot, file: Path) -> list[dict[str, str]]:
    """Export the steps of a plot, and read the table."""
    plot.tools.csv.trigger()
    assert program.save_file.dialog is not None
    program.save_file.dialog.close()
    program.save_file.write(str(file))
    qtbot.waitUntil(file.is_file)
    return list(csv.DictReader(io.StringIO(file.read_text())))


def is_the_same_without_drafts(
    program: Program, qtbot: QtBot, dialog: RunDialog, monkeypatch: pytest.MonkeyPatch
) -> None:
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

    with monkeypatch.context() as patched:
        patched.setattr(program.context.client, "request", heard)
        assert press_verify(program, qtbot, dialog) == Same(n_tokens)
    assert begun[-1].n_reused == 0, "as for the reply, whose prompt is in the context by now"
    assert str(n_tokens) in dialog.strip.verdict.text()
    assert dialog.verify.isEnabled()
    assert program.shown.conversation == before  # the chat knows nothing of it


def a_forged_token_is_found(program: Program, qtbot: QtBot, dialog: RunDialog) -> None:
    message_id = record_of(program).message_id
    reply = program.shown.reply(message_id)
    assert reply is not None
    index, seen, steps = 11, 0, []
    for step in reply.steps:
        at = index - seen
        seen += len(step.tokens)
        if 0 <= at < len(step.tokens):
            traces = list(step.tokens)
            traces[at] = structs.replace(traces[at], token=traces[at].token + 1)
            step = structs.replace(step, tokens=tuple(traces))  # noqa: PLW2901
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


# -------------------------------------------------------------------------- without an engine


def test_the_live_plot_exports_what_is_shown_or_reports_a_failure(
    program: Program, client: FakeClient, qtbot: QtBot, tmp_path: Path
) -> None:
    plot = program.window.panel.plot
    program.chat.send("Hello?")
    client.start_turn()
    client.step("H", 0)
    client.step("ello", 1)
    program.window.panel.refresh()
    table = exported(program, qtbot, plot, tmp_path / "live.csv")
    assert [row["step"] for row in table] == ["0", "1"]
    plot.tools.csv.trigger()
    program.save_file.dialog.close()  # type: ignore[union-attr]
    told: list[Notice] = []
    program.notices.posted.connect(told.append)
    program.save_file.write(str(tmp_path / "live.csv" / "steps.csv"))
    qtbot.waitUntil(lambda: any(notice.hint for notice in told))
    assert "steps.csv" in next(notice.message for notice in told if notice.hint)


def test_the_run_of_a_real_reply_is_shown_exported_and_checked(
    real: Program,
    qtbot: QtBot,
    tmp_path: Path,
    target_path: Path,
    draft_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reply_to(real, qtbot, "Name the days of the week, twice.")
    real.window.actions_.run.trigger()
    dialog = filled(real, qtbot)
    shows_what_the_engine_measured(real, qtbot, dialog, target_path, draft_path)
    is_exported(real, qtbot, dialog, tmp_path)
    is_the_same_without_drafts(real, qtbot, dialog, monkeypatch)
    a_forged_token_is_found(real, qtbot, dialog)
    # A check can be stopped, and ends with the dialog.
    message_id = record_of(real).message_id
    for end in (dialog.strip.stop.click, dialog.close):
        dialog.verify.click()
        assert real.runs.check.is_running
        assert not dialog.verify.isEnabled()
        end()
        qtbot.waitUntil(lambda: not real.runs.check.is_running, timeout=REPLY_MS)
        assert isinstance(real.runs.results.get(message_id), (CannotCompare, Same, Differs))
    assert real.runs.dialog is None
