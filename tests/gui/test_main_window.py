"""The whole window: its start and end, its panes, models from its menu, two chats at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QWidget

from gui.fake_client import FakeClient
from gui.shared_window import USUAL
from paceline.gui.chat.messages.reply_view import ReplyView
from paceline.gui.kit.notices import Notifications
from paceline.messages import (
    DropStates,
    LoadPair,
    LoadProgressed,
    PrefillProgressed,
    StartTurn,
    StateOwner,
    StateStorage,
    TurnStarted,
)
from paceline.params import file_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from paceline.gui.program import Program


def replies(program: Program) -> list[ReplyView]:
    """Return the replies of the shown path."""
    path = program.shown.conversation.path()
    views = (program.window.chat_pane.chat.reply_view(m.message_id) for m in path)
    return [view for view in views if view is not None]


# ------------------------------------------------------------------------------------------- chat


def test_a_long_wait_for_the_first_token_is_shown_and_runs_down(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    program.chat.send("Hello?")
    (view,) = replies(program)
    client.emit(TurnStarted(4100, 2048, 7, ("ChatML is used.",), expected_s=900.0))
    assert view.status_text == "", "a short wait is not worth a word"
    qtbot.waitUntil(lambda: "15 min" in view.status_text)
    assert "2,048 of 4,100" in view.status_text
    client.emit(PrefillProgressed(4100, 4100))
    assert "4,100 of 4,100" in view.status_text
    client.step("H", 0)
    assert view.status_text == ""
    client.finish_turn("Hi")
    view.flush()
    tips = [widget.toolTip() for widget in view.findChildren(QWidget)]
    assert any("ChatML is used." in tip for tip in tips), "a note stands with the figures"


# ------------------------------------------------------------------------------------------ models

DEMO = ("paceline-demo-target-q8_0", "paceline-demo-draft-q8_0")


def test_a_message_that_is_sent_before_the_demo_pair_is_loaded_waits_for_it(
    program: Program, client: FakeClient
) -> None:
    program.models.reload()
    command, bar = client.last(LoadPair), program.window.model_bar
    assert (Path(command.target.path).stem, Path(file_of(command.drafting)).stem) == DEMO
    program.chat.send("Hello?")
    assert client.all(StartTurn) == []
    client.emit(LoadProgressed("target", 0.42))
    assert "42" in bar.pill.text()
    client.finish_load("A note.")
    read = QAccessible.queryAccessibleInterface(bar).text(QAccessible.Text.Name)
    assert all(name in read for name in DEMO)
    assert bar.toolTip() == "A note."
    assert client.last(StartTurn).prompt.messages[-1].text == "Hello?"


# ------------------------------------------------------------------------------------- panes, keys


def test_panes_give_way_in_a_narrow_window_and_come_back(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    window, panes, pane = program.window, program.window.panes, program.window.chat_pane
    program.chat.send("Hello?")
    client.reply("Hi")

    def edges(widget: QWidget) -> tuple[int, int]:
        left = widget.mapTo(pane, QPoint()).x()
        return left, left + widget.width()

    for width, shown in (
        (1601, (True, True)), (1440, (True, True)), (1366, (True, True)), (1000, (False, True)),
        (760, (False, False)), (640, (False, False)), (1440, (True, True)),
    ):  # fmt: skip
        window.resize(width, 700)
        assert (panes.is_shown("sidebar"), panes.is_shown("panel")) == shown, width
        assert window.width() == width
        assert pane.width() >= 320
        qtbot.waitUntil(lambda: edges(replies(program)[-1]) == edges(pane.composer))
    assert window.panel.width() < 420


# ----------------------------------------------------------------------------- settings, closing


def test_what_cannot_be_read_used_or_written_costs_only_itself(
    make_program: Callable[..., Program],
    client: FakeClient,
    qtbot: QtBot,
    paceline_home: Path,
    monkeypatch: pytest.MonkeyPatch,
    allow_warnings: Callable[[str], None],
) -> None:
    """Settings, a strategy of another version, and states that the engine did not drop."""
    allow_warnings("the settings are not saved")
    warned: list[str] = []
    monkeypatch.setattr(Notifications, "warn", lambda _, *words: warned.extend(words))
    program = make_program(
        replace(USUAL, strategies=("eagle:n_max=4",)),
        put_aside=paceline_home / "settings.unusable-1.json",
    )
    assert all(word in " ".join(warned) for word in ("eagle:n_max=4", "settings.unusable-1.json"))
    client.finish_load()
    assert program.speculation.text == "auto"
    folder = paceline_home / "cache" / "states"
    program.chat.send("Hello?")
    chat = program.shown.id
    assert client.last(LoadPair).states == StateStorage(folder=str(folder))
    assert client.last(StartTurn).owner == StateOwner(chat)
    kept = folder / "a model" / chat.encode().hex() / "a block"
    kept.parent.mkdir(parents=True)
    kept.touch()
    client.drops_states = False
    program.session.remove(chat)
    assert client.last(DropStates) == DropStates((chat,), str(folder))
    assert kept.exists()
    (paceline_home / "config").write_text("a file in the way")
    with qtbot.waitSignal(program.ended) as ended:
        program.window.actions_.quit.trigger()
    assert ended.args == [True], "everything is put away"
    assert client.is_closed
    assert not kept.exists()
    (paceline_home / "config").unlink()
