"""The window with its engine in a process of its own: the real window, the real process.

What the process suffers here is real too: SIGKILL and SIGSTOP from outside at random tokens, while
its main thread computes in llama.cpp, and a fault of its own in a load.
"""

from __future__ import annotations

import random
import signal
import time
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from msgspec import structs
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from gui.conftest import deliver_deletes
from hosting.halted import halt_in_decode
from hosting.observed import engine_processes, is_gone
from paceline.chat import reply_runner
from paceline.gui import app
from paceline.gui.chat.messages.reply_view import ReplyView
from paceline.gui.kit.labels import without_soft_breaks
from paceline.hosting import threaded
from paceline.paths import Paths
from paceline.settings import Settings, save_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from paceline.chat.reply import Reply
    from paceline.gui.program import Program
    from paceline.messages import StartTurn, StepCommitted
    from paceline.settings import EngineHost

MAX_TOKENS = 1200
QUESTION = "Tell me everything about files, please, at length."
CLOSE_LIMIT_S = 30.0
"""Bound of what takes less than a second, on a busy machine."""

pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs POSIX signals"),
]


@pytest.fixture(autouse=True)
def _deaths_are_logged(allow_warnings: Callable[[str], None]) -> None:
    allow_warnings(r"^paceline\.hosting\.")


@pytest.fixture
def window(make_real: Callable[..., Program], qtbot: QtBot) -> Program:
    """The window with its models loaded."""
    program = make_real("process")
    program.start()
    wait_until_ready(program, qtbot)
    return program


@pytest.fixture
def _endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a reply end by its limit of tokens and in no other way."""

    make = reply_runner.start_turn

    def start_turn(*arguments: Any) -> StartTurn:
        return structs.replace(make(*arguments), ignore_eog=True)

    monkeypatch.setattr(reply_runner, "start_turn", start_turn)


endless = pytest.mark.usefixtures("_endless")


class Watch:
    """Collects a window's steps, and does something when the n-th arrives."""

    def __init__(self, program: Program) -> None:
        self.steps: list[StepCommitted] = []
        self.at = -1
        self.act: Callable[[], None] = lambda: None
        program.signals.grew.connect(self.on_grew)

    def on_grew(self, reply: Reply, step: StepCommitted) -> None:
        del reply
        self.steps.append(step)
        if step.step == self.at:
            self.at = -1
            self.act()

    @property
    def text(self) -> str:
        return "".join(step.text for step in self.steps)


def wait_until_ready(program: Program, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: program.pair.state.status == "ready", timeout=60_000)


def engine_process() -> psutil.Process:
    """The one that runs; between fork and exec it would be a copy of this process still."""
    (process,) = (p for p in engine_processes() if "paceline-engine" in p.cmdline())
    return process


def has_engine_process() -> bool:
    try:
        return bool(engine_process())
    except (ValueError, psutil.Error):
        return False


def send(program: Program, text: str = QUESTION, max_tokens: int = MAX_TOKENS) -> Reply:
    program.window.panel.sampling.max_tokens.setValue(max_tokens)
    assert program.chat.send(text)
    return active(program)


def active(program: Program) -> Reply:
    reply = program.session.active
    assert reply is not None
    return reply


def wait_for_end(reply: Reply, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: reply.has_ended, timeout=60_000)


def notice(program: Program) -> str:
    """The text of the notice, or empty if there is none."""
    errors = program.window.chat_pane.errors
    return "" if errors.isHidden() else without_soft_breaks(errors.text.text())


def last_view(program: Program) -> ReplyView:
    return program.window.chat_pane.chat.findChildren(ReplyView)[-1]


def marks(view: ReplyView) -> list[str]:
    """Return the texts of the frames below the text."""
    labels = view.findChildren(QLabel)
    return [without_soft_breaks(x.text()) for x in labels if "<b>" in x.text() and x.isVisible()]


def assert_answers(program: Program, reply: Reply, qtbot: QtBot) -> None:
    wait_for_end(reply, qtbot)
    assert reply.error is None
    assert reply.text
    assert program.pair.state.status == "ready"
    assert "look" in notice(program) or not notice(program)  # that chats are looked up, once
    assert program.window.model_bar.pill.text() == "ready"


def test_the_host_changes_at_once_is_remembered_and_changes_no_reply(
    window: Program, qtbot: QtBot
) -> None:
    before = engine_process()
    replies = []
    for host in ("process", "thread", "process"):
        window.settings.set("engine_host", host)
        wait_until_ready(window, qtbot)
        assert has_engine_process() == (host == "process")
        window.shown.new()
        reply = send(window, "How do I open a file?", 60)
        assert_answers(window, reply, qtbot)
        replies.append(([trace.token for trace in reply.traces], reply.text, reply.reason))
    assert is_gone(before.pid, 2)
    assert engine_process().pid != before.pid
    assert window.settings.settings.engine_host == "process"
    assert len(replies[0][0]) > 5
    assert replies == replies[:1] * 3


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("host", ["thread", "process"])
def test_the_program_starts_with_the_host_of_the_settings(
    paceline_home: Path, qtbot: QtBot, host: EngineHost
) -> None:
    places = Paths.from_environment()
    save_settings(places.config_dir / app.SETTINGS_FILE, Settings(engine_host=host))
    program = app.make_program(places)
    try:
        program.start()
        wait_until_ready(program, qtbot)
        assert has_engine_process() == (host == "process")
        assert program.settings.settings.engine_host == host
    finally:
        close(program, qtbot)  # waits for the engine, which the next test would find
        program.window.deleteLater()
        program.deleteLater()
        deliver_deletes()


# ------------------------------------------------------------------------------- death in a reply


@endless
@pytest.mark.grid(short=1)
@pytest.mark.parametrize("again", ["regenerate", "send", "start it again"])
def test_a_kill_in_mid_reply_keeps_the_text_and_the_next_reply_works(
    window: Program, qtbot: QtBot, again: str
) -> None:
    window.window.show()
    process = engine_process()
    watch = Watch(window)
    at = watch.at = random.Random(again).randrange(1, 60)
    was_in_decode: list[bool] = []

    def kill() -> None:
        was_in_decode.append(halt_in_decode(process.pid))
        process.kill()

    watch.act = kill
    reply = send(window)
    wait_for_end(reply, qtbot)
    print(f"killed at step {at}; {len(watch.steps)} steps arrived")
    assert was_in_decode == [True]
    assert is_gone(process.pid, 1)
    # Everything that had been committed, and nothing else.
    assert [step.step for step in watch.steps] == list(range(len(watch.steps)))
    assert at < len(watch.steps) < MAX_TOKENS
    text = watch.text
    assert reply.text == window.shown.conversation.path()[-1].text == text != ""
    # Marked, and said.
    assert reply.error is not None
    assert (reply.error.code, reply.reason, reply.stats) == ("engine-died", None, None)
    view = last_view(window)
    assert view.text == text
    qtbot.waitUntil(lambda: len(marks(view)) == 1)
    assert "What was written before is kept." in marks(view)[0]
    assert "ended from outside" in notice(window)
    assert window.window.model_bar.pill.text() == "engine ended"
    # And on.
    if again == "start it again":
        qtbot.mouseClick(window.window.chat_pane.errors.action, Qt.MouseButton.LeftButton)
        wait_until_ready(window, qtbot)
        assert window.window.model_bar.pill.text() == "ready"
    if again == "regenerate":
        window.window.panel.sampling.max_tokens.setValue(20)
        assert window.chat.regenerate()
        next_reply = active(window)
    else:
        next_reply = send(window, "And now?", 20)
    assert_answers(window, next_reply, qtbot)
    assert engine_process().pid != process.pid
    assert reply.text == text


# --------------------------------------------------------------------------------------- closing


def close(program: Program, qtbot: QtBot) -> float:
    began = time.perf_counter()
    with qtbot.waitSignal(program.ended) as ended:
        program.window.close()
    seconds = time.perf_counter() - began
    assert ended.args == [True]
    return seconds


@endless
@pytest.mark.grid(short=2)
@pytest.mark.parametrize("is_hanging", [False, True])
@pytest.mark.parametrize("moment", ["start", "load", "idle", "reply"])
def test_closing_leaves_no_process(
    make_real: Callable[..., Program],
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    allow_warnings: Callable[[str], None],
    *,
    moment: str,
    is_hanging: bool,
) -> None:
    allow_warnings("does not end by itself and is killed")
    monkeypatch.setattr(threaded, "KILL_AFTER_S", 0.5 if is_hanging else threaded.KILL_AFTER_S)
    program = make_real("process")
    begun: list[bool] = []
    program.pair.changed.connect(lambda state: begun.append(state.has_begun))
    program.start()
    if moment == "start":
        qtbot.waitUntil(has_engine_process)
    elif moment == "load":
        qtbot.waitUntil(lambda: any(begun), timeout=60_000)
    else:
        wait_until_ready(program, qtbot)
    if moment == "reply":
        watch = Watch(program)
        send(program)
        qtbot.waitUntil(lambda: len(watch.steps) > 5, timeout=60_000)
    process = engine_process()
    if is_hanging:
        process.suspend()
    seconds = close(program, qtbot)
    print(f"closed in {moment} within {seconds * 1000:.0f} ms")
    assert seconds < CLOSE_LIMIT_S
    assert not psutil.pid_exists(process.pid)
