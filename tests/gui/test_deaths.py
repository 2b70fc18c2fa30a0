"""What the window says when the engine dies; the engine is scripted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLabel

from gui.conftest import deliver_deletes
from paceline.engine.model.model_file import OVERWRITTEN
from paceline.gui.chat.messages.reply_view import ReplyView
from paceline.gui.kit.labels import without_soft_breaks
from paceline.hosting.exit_reasons import NOT_STARTED
from paceline.messages import (
    EngineDied,
    LoadFailed,
    LoadProgressed,
    TurnFailed,
    Unloaded,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program

DEATH = EngineDied("The engine was killed.", "It starts again with the next message.")


def notice(program: Program) -> str:
    """The text of the notice; empty: there is none."""
    errors = program.window.chat_pane.errors
    return "" if errors.isHidden() else without_soft_breaks(errors.text.text())


def last_view(program: Program) -> ReplyView:
    deliver_deletes()
    return program.window.chat_pane.chat.findChildren(ReplyView)[-1]


def words(view: ReplyView) -> str:
    """Everything that is written in and around a reply."""
    return " ".join(without_soft_breaks(label.text()) for label in view.findChildren(QLabel))


def test_an_engine_that_starts_again_by_itself_asks_for_no_click(
    program: Program, client: FakeClient
) -> None:
    program.chat.send("Hello?")
    client.emit(DEATH)
    assert program.window.model_bar.pill.text() == "restarting 0 %"
    assert "The engine was killed." in notice(program)
    assert "next message" not in notice(program)
    assert not program.window.chat_pane.errors.action.isVisibleTo(program.window)
    client.emit(LoadProgressed("target", 0.1))
    assert "The engine was killed." in notice(program)
    client.finish_load()
    assert notice(program) == ""


def test_models_whose_file_was_written_to_load_again_by_themselves(
    program: Program, client: FakeClient
) -> None:
    program.chat.send("Hello?")
    client.emit(Unloaded())
    client.emit(TurnFailed(OVERWRITTEN, "It was written to.", "Send it again."))
    assert program.window.model_bar.pill.text() == "loading 0 %"
    assert notice(program) == ""
    assert "written to" not in words(last_view(program))
    client.finish_load()
    assert program.window.actions_.stop.isEnabled()
    client.reply("There.")
    assert not program.window.actions_.stop.isEnabled()
    assert program.window.model_bar.pill.text() == "ready"
    assert program.shown.conversation.path()[-1].text == "There."


def test_what_offers_to_start_it_goes_when_it_is_started_otherwise(
    program: Program, client: FakeClient
) -> None:
    name = program.pair.target_name
    client.emit(DEATH)
    assert program.pair.target_name == name != ""
    assert program.window.chat_pane.errors.action.text() == "Start it again"
    program.chat.send("Hello?")
    assert notice(program) == ""


def test_nor_is_it_offered_while_the_models_load_that_were_waiting(
    program: Program, client: FakeClient
) -> None:
    program.chat.send("Hello?")
    client.start_turn()
    program.window.actions_.demo_pair.trigger()  # waits for the reply
    client.emit(DEATH)
    assert notice(program) != ""
    client.emit(LoadProgressed("target", 0.1))
    assert notice(program) == ""


def test_while_a_reply_is_written_it_can_be_stopped_whatever_came_before(
    make_program: Callable[..., Program], client: FakeClient
) -> None:
    program = make_program()
    program.chat.send("Hello?")  # waits for the first load
    client.finish_load()
    assert program.window.actions_.stop.isEnabled()
    client.emit(DEATH)
    client.finish_load()
    assert program.window.actions_.stop.isEnabled()
    client.reply("There.")
    assert not program.window.actions_.stop.isEnabled()
    assert program.window.model_bar.pill.text() == "ready"


def test_a_refused_start_leaves_no_seconds_in_the_chat_that_nobody_counts_down(
    program: Program, client: FakeClient
) -> None:
    client.emit(DEATH)
    program.chat.send("Hello?")
    client.emit(LoadFailed(NOT_STARTED, "Not started yet.", "Wait 50 seconds."))
    assert "Wait 50 seconds." in notice(program)
    assert "Not started yet." in words(last_view(program))
    assert "50 seconds" not in words(last_view(program))


def test_text_that_is_shown_late_does_not_hide_that_the_reply_is_stopping(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    program.chat.send("Hello?")
    client.start_turn()
    client.step("A", 0)
    qtbot.waitUntil(lambda: last_view(program).plain_text == "A")
    client.step("B", 1)
    program.session.stop()
    qtbot.waitUntil(lambda: last_view(program).plain_text == "AB")
    assert last_view(program).status_text == "Stopping…"
    client.emit(DEATH)
    assert last_view(program).status_text == ""


def test_the_window_is_gone_before_the_engine_is_waited_for(
    make_program: Callable[..., Program], client: FakeClient
) -> None:
    program = make_program()
    was_visible: list[bool] = []
    close = client.close

    def wait_long() -> bool:
        was_visible.append(program.window.isVisible())
        return close()

    client.close = wait_long  # type: ignore[method-assign]
    program.window.close()
    assert was_visible == [False]
