"""The whole window: its start and end, its panes, models from its menu, two chats at once."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QLabel, QWidget

from gui.fake_client import FakeClient
from gui.shared_window import USUAL
from paceline.gui.chat.messages.reply_view import ReplyView
from paceline.gui.kit.labels import without_soft_breaks
from paceline.gui.kit.notices import Notifications
from paceline.gui.look.current import look
from paceline.messages import (
    DropStates,
    EngineDied,
    LoadPair,
    LoadProgressed,
    PrefillProgressed,
    StartTurn,
    StateOwner,
    StateStorage,
    TurnFailed,
    TurnStarted,
)
from paceline.params import file_of
from paceline.settings import load_settings

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


def test_a_model_without_marks_may_write_of_them_while_it_writes(
    program: Program, client: FakeClient
) -> None:
    text = "Three tags:\n<think>\n<reasoning>\n</think>\nand more."
    program.chat.send("Which tags?")
    client.emit(TurnStarted(10, 0, 7, knows_marks=False))
    (view,) = replies(program)
    for go_on in (client.step, client.finish_turn):
        go_on(text)
        view.flush()
        assert not view.parts.reasoning


@pytest.mark.parametrize(
    "event", [TurnFailed("decode", "It broke.", "Load again."), EngineDied("It broke.", "Again.")]
)
def test_a_reply_that_fails_keeps_its_text_and_says_why(
    program: Program, client: FakeClient, event: TurnFailed | EngineDied
) -> None:
    program.chat.send("Hello?")
    client.start_turn()
    client.step("Half", 0)
    client.emit(event)
    (view,) = replies(program)
    assert view.plain_text == "Half"
    errors = program.window.chat_pane.errors
    if isinstance(event, TurnFailed):
        assert any("It broke." in label.text() for label in view.findChildren(QLabel))
    else:
        assert "It broke." in errors.text.text()
        assert program.pair.state.status == "dead"
        n_loads = len(client.all(LoadPair))
        errors.action.click()
        assert len(client.all(LoadPair)) == n_loads + 1
        client.finish_load()
    assert program.chat.send("Again?")


def test_another_chat_is_written_in_while_the_first_one_is_answered(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    session, shown = program.session, program.shown
    composer = program.window.chat_pane.composer
    label = composer.elsewhere.label
    program.chat.send("Long question")
    client.start_turn()
    client.step("Ha", 0)
    first = shown.id
    assert composer.elsewhere.isHidden(), "it can be seen"
    shown.new()
    client.step("lf", 1)
    assert replies(program) == []
    qtbot.keyClicks(composer.edit, "Next")
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    assert (composer.text, len(client.all(StartTurn))) == ("Next", 1)
    assert "“Long question”" in label.text()
    session.rename(first, "Another title")
    assert "“Another title”" in label.text()
    composer.elsewhere.button.click()
    assert shown.id == first
    assert composer.elsewhere.isHidden()
    client.step(" and more", 2)
    shown.new()
    assert (composer.text, composer.elsewhere.isHidden()) == ("Next", False)
    session.rename(first, "<b>" + "long" * 20)
    assert label.textFormat() is Qt.TextFormat.PlainText
    assert without_soft_breaks(label.text()) != label.text(), "it can be broken into lines"
    assert "“<b>longlong" in without_soft_breaks(label.text())
    client.finish_turn("Half and more")
    assert composer.elsewhere.isHidden()
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    assert client.last(StartTurn).prompt.messages[-1].text == "Next"
    shown.show(first)
    assert [view.plain_text for view in replies(program)] == ["Half and more"]


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


def test_a_pane_that_is_asked_for_is_shown_in_a_narrow_window_too(
    program: Program, qtbot: QtBot
) -> None:
    window, panes = program.window, program.window.panes
    window.resize(640, 700)
    for name, other in (("panel", "sidebar"), ("sidebar", "panel"), ("panel", "sidebar")):
        panes.toggle(name)
        assert panes.is_shown(name)
        assert not panes.is_shown(other)
        assert panes.splitter.minimumSizeHint().width() <= 640
    window.resize(1300, 700)
    assert panes.is_shown("sidebar"), "it was not the user who closed it"
    window.resize(900, 600)
    window.activateWindow()
    window.actions_.search.trigger()
    assert panes.is_shown("sidebar")
    qtbot.waitUntil(window.sidebar.search.hasFocus)
    window.actions_.sidebar.trigger()
    window.resize(1440, 900)
    assert not panes.is_shown("sidebar"), "the user closed it"


def test_the_window_is_remembered(
    make_program: Callable[..., Program], client: FakeClient, paceline_home: Path, qtbot: QtBot
) -> None:
    file = paceline_home / "config" / "settings.json"
    program = make_program()
    program.speculation.choose("off")
    qtbot.waitUntil(file.exists, timeout=5000)  # changes are saved soon
    assert json.loads(file.read_text(encoding="utf-8"))["strategies"] == ["off"]
    program.window.actions_.panel.trigger()
    program.window.panel.open_only(["drafters"])
    program.window.panel.show_tab("chat")
    program.window.actions_.flip_theme.trigger()
    program.window.close()
    assert client.is_closed
    loaded = load_settings(file)
    assert loaded.put_aside is None
    kept = loaded.settings.window
    assert (kept.panel_visible, kept.open_sections, kept.panel_tab) == (
        False,
        ("drafters",),
        "chat",
    )
    assert loaded.settings.theme == look.mode
    again = make_program(loaded.settings)
    assert not again.window.panes.is_shown("panel")
    assert again.window.panel.open_sections == ("drafters",)
    assert again.window.panel.tab == "chat"


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
