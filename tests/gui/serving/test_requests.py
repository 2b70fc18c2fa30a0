"""The list of requests, their runs, and the live figures, which follow what is generated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs
from PySide6.QtCore import Qt

from gui.fake_client import STATS, step_of
from gui.serving.test_serving import until_asked
from paceline.figures import Reread, TurnStats
from paceline.gui.serving.rows import END, GAIN, PROGRAM, READ, REUSED, ROUTE, SPEED, WRITTEN
from paceline.messages import StartTurn, TurnFailed, TurnFinished
from paceline.params import DEFAULT_STRATEGY
from paceline.sentence import sentence

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from gui.serving.conftest import Asker
    from paceline.gui.program import Program
    from paceline.gui.serving.requests import RequestsDialog

    Serve = Callable[[Program], None]


def opened(program: Program) -> RequestsDialog:
    """The list, as the light opens it."""
    program.light.click()
    dialog = program.requests.dialog
    assert dialog is not None
    return dialog


def answered(
    program: Program,
    client: FakeClient,
    asker: Asker,
    qtbot: QtBot,
    text: str = "Yes",
    stats: TurnStats = STATS,
) -> None:
    """A whole request, of which the window knows."""
    n_before = program.programs.n_answered
    asked = asker.begin()
    until_asked(qtbot, client, len(client.all(StartTurn)) + 1)
    client.reply(text, stats=stats)
    asker.end(asked)
    qtbot.waitUntil(lambda: program.programs.n_answered > n_before)


def texts(dialog: RequestsDialog, row: int) -> dict[int, str]:
    model = dialog.rows
    return {column: model.index(row, column).data() for column in range(model.columnCount())}


def test_each_request_has_a_row_with_its_figures_and_its_end(
    program: Program, client: FakeClient, asker: Asker, serve: Serve, qtbot: QtBot
) -> None:
    serve(program)
    dialog = opened(program)
    assert dialog.empty.isVisible()
    assert not dialog.forget.isEnabled()
    asked = asker.begin()
    until_asked(qtbot, client)
    client.start_turn()
    qtbot.waitUntil(lambda: dialog.rows.rowCount() == 1)
    assert texts(dialog, 0)[END] == "is being answered"
    assert not dialog.run.isEnabled()
    client.step("Yes", 0)
    client.finish_turn("Yes")
    asker.end(asked)
    qtbot.waitUntil(lambda: texts(dialog, 0)[END] == "complete")
    row = texts(dialog, 0)
    assert (row[PROGRAM], row[ROUTE]) == ("Zed", "chat/completions")
    assert (row[READ], row[REUSED], row[WRITTEN]) == ("10", "0", "100")
    assert (row[SPEED], row[GAIN]) == ("41.2", "1.9×")
    assert dialog.table.isVisible()
    asked = asker.begin()
    until_asked(qtbot, client, 2)
    client.start_turn()
    client.emit(TurnFailed("out-of-memory", "There is no memory left.", ""))
    assert asker.end(asked).status_code == 500
    qtbot.waitUntil(lambda: texts(dialog, 0)[END] == "failed")
    assert "no memory left" in dialog.rows.index(0, END).data(Qt.ItemDataRole.ToolTipRole)


def test_a_row_opens_the_run_of_its_reply(
    program: Program, client: FakeClient, asker: Asker, serve: Serve, qtbot: QtBot
) -> None:
    serve(program)
    answered(program, client, asker, qtbot, "First")
    answered(program, client, asker, qtbot, "Second")
    dialog = opened(program)
    qtbot.waitUntil(lambda: dialog.rows.rowCount() == 2)
    dialog.table.setCurrentIndex(dialog.rows.index(1, PROGRAM))
    answered(program, client, asker, qtbot, "Third")
    qtbot.waitUntil(lambda: dialog.rows.rowCount() == 3)
    assert dialog.table.currentIndex().row() == 2, "the same request stays chosen"
    dialog.run.click()
    run = program.runs.dialog
    assert run is not None
    assert dialog.rows.entries[2].reply.text == "First"
    assert "shown chat" in run.verify.toolTip()
    run.accept()
    dialog.forget.click()
    assert dialog.rows.rowCount() == 0
    assert program.programs.journal.entries == ()


def test_a_request_says_why_it_was_read_again_and_the_line_can_be_ignored(
    program: Program, client: FakeClient, asker: Asker, serve: Serve, qtbot: QtBot
) -> None:
    serve(program)
    words = sentence("9 tokens were read again, since {why}.", why="<b>")
    reasons = (Reread("line", 9, words, "^date: .*$"), Reread("loaded", 9, words), None)
    for reread in reasons:
        stats = structs.replace(STATS, reread=reread)
        answered(program, client, asker, qtbot, stats=stats)
    dialog = opened(program)
    qtbot.waitUntil(lambda: dialog.rows.rowCount() == 3)
    shown = []
    for row in range(3):
        dialog.table.setCurrentIndex(dialog.rows.index(row, PROGRAM))
        shown.append((dialog.details.text(), not dialog.ignore.isHidden()))
    assert shown == [("", False), (words, False), (words, True)]
    dialog.ignore.click()
    assert program.settings.value("serving_ignored") == ("^date: .*$",)
    assert not dialog.ignore.isEnabled()
    program.settings.set("serving_ignored", ())
    assert dialog.ignore.isEnabled()


def test_the_list_is_in_the_menu_and_leads_to_the_settings(program: Program) -> None:
    program.window.actions_.requests.trigger()
    dialog = program.requests.dialog
    assert dialog is not None
    assert dialog.state.pill.text() == "off"
    dialog.settings.click()
    settings = program.settings_controller.dialog
    assert settings is not None
    assert settings.list.currentItem().text() == "Other programs"


def test_the_plot_follows_a_program_and_says_for_whom(
    program: Program, client: FakeClient, asker: Asker, serve: Serve, qtbot: QtBot
) -> None:
    program.chat.send("Hello?")
    client.reply("Hi")
    live, panel = program.live, program.window.panel
    assert live.metrics.n_steps == 1
    serve(program)
    asked = asker.begin()
    until_asked(qtbot, client, 2)
    client.start_turn()
    for number in range(4):
        client.step(f"{number}", number)
    qtbot.waitUntil(lambda: live.metrics.n_steps == 3)
    assert live.asker == "Zed"
    qtbot.waitUntil(lambda: panel.plot.remark.text() == "for Zed")
    assert not panel.plot.remark.isHidden()
    program.shown.new()
    assert live.asker == "Zed", "what another chat shows waits"
    client.finish_turn("0123")
    asker.end(asked)
    qtbot.waitUntil(lambda: live.asker == "")
    assert live.reply is None, "the new chat has no reply"
    assert panel.plot.remark.isHidden()


def test_figures_of_a_program_stay_until_the_chat_has_others(
    program: Program, client: FakeClient, asker: Asker, serve: Serve, qtbot: QtBot
) -> None:
    serve(program)
    answered(program, client, asker, qtbot)
    live = program.live
    assert live.asker == "Zed"
    assert live.headline.speed == "41.2"
    assert live.headline.asker == "Zed"
    assert program.window.panel.advice.isHidden(), "advice is for the user's own replies"
    assert program.chat.send("Hello?")
    assert live.asker == ""
    assert live.metrics.n_steps == 0
    client.reply("Hi")
    assert live.metrics.n_steps == 1


def test_a_message_that_waits_for_a_program_says_so(
    program: Program, client: FakeClient, asker: Asker, serve: Serve, qtbot: QtBot
) -> None:
    serve(program)
    asked = asker.begin()
    until_asked(qtbot, client)
    client.start_turn()
    first = client.tickets[-1]
    qtbot.waitUntil(lambda: program.programs.asker == "Zed")
    assert program.light.words()[0] == "Zed is being answered"
    assert program.chat.send("Hello?")
    reply = program.session.active
    assert reply is not None
    view = program.window.chat_pane.chat.reply_view(reply.message_id)
    assert view is not None
    assert view.status_text == "Zed is being answered; this message is next…"
    client.emit(step_of("Yes", 0), first)
    assert program.live.asker == "Zed"
    client.emit(TurnFinished("eog", "Yes", (1,), 7, DEFAULT_STRATEGY, STATS), first)
    asker.end(asked)
    qtbot.waitUntil(lambda: program.live.reply is reply)
    assert view.status_text == "Waiting for the engine…"
    client.reply("Hi")
    assert program.live.metrics.n_steps == 1
    qtbot.waitUntil(lambda: not program.programs.asker)
