"""Comparing two replies in the window: the real engine in its process, with the demo pair."""

from __future__ import annotations

import os
import re
import signal
from typing import TYPE_CHECKING

import pytest

from gui.test_engine_process import QUESTION, engine_process, wait_until_ready
from paceline.gui.compare.outcome import speedup

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from paceline.gui.compare.dialog import CompareDialog
    from paceline.gui.program import Program

LIMIT_MS = 60_000
N_TOKENS = 150
pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs POSIX signals"),
]


@pytest.fixture
def asked(make_real: Callable[..., Program], qtbot: QtBot) -> Program:
    """A window whose chat has a question and its reply."""
    program = make_real("process", max_tokens=N_TOKENS)
    program.start()
    wait_until_ready(program, qtbot)
    program.chat.send(QUESTION)
    qtbot.waitUntil(lambda: program.session.active is None, timeout=LIMIT_MS)
    return program


def opened(program: Program) -> CompareDialog:
    program.window.actions_.answer_twice.trigger()
    dialog = program.comparing.dialog
    assert dialog is not None
    return dialog


def run(program: Program, dialog: CompareDialog, qtbot: QtBot) -> None:
    dialog.start.click()
    qtbot.waitUntil(lambda: program.comparing.is_running, timeout=LIMIT_MS)
    wait_until_over(program, qtbot)


def wait_until_over(program: Program, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not program.comparing.is_running, timeout=LIMIT_MS)


def test_both_texts_are_that_of_the_chat_and_the_ratio_is_that_of_the_shown_speeds(
    asked: Program, qtbot: QtBot
) -> None:
    conversation = asked.shown.conversation
    dialog = opened(asked)
    run(asked, dialog, qtbot)
    left, right = dialog.columns.left, dialog.columns.right
    assert left.reply.text == right.reply.text == conversation.path()[-1].text
    assert dialog.columns.outcome.endswith("the same text")
    assert [c.reply.stats.n_reused for c in (left, right) if c.reply.stats] == [0, 0]
    for column in (left, right):
        clock, *_ = map(float, re.findall(r"[\d.]+", column.words["clock"]))
        _, n, wrote = map(float, re.findall(r"[\d.]+\d", column.words["end"]))
        assert n == N_TOKENS
        assert abs(clock - wrote) < 0.06
        shown = float(column.words["speed"].split()[0])
        assert n / (wrote + 0.06) < shown < n / (wrote - 0.06)
    ratio = re.match(r"([\d.]+)× as fast", dialog.columns.outcome)
    speed = speedup(left.reply, right.reply)
    assert speed is not None
    assert (ratio is None) == (speed.verdict == "even")
    if ratio is not None:
        speeds = [float(column.words["speed"].split()[0]) for column in (left, right)]
        assert float(ratio[1]) == pytest.approx(speeds[1] / speeds[0], rel=0.02)
    assert asked.shown.conversation == conversation
    dialog.keeps[1].click()
    kept = asked.shown.full_reply(asked.shown.conversation.path()[-1].message_id)
    assert kept is not None
    assert kept.stats == right.reply.stats
    assert (kept.options.strategy.drafters[0][0], len(kept.traces)) == ("auto", N_TOKENS)
    dialog.close()


def test_stop_begins_nothing_more_and_after_the_engines_death_the_other_side_still_runs(
    asked: Program, qtbot: QtBot, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings(r"^paceline\.hosting\.")
    dialog = opened(asked)
    dialog.start.click()
    left = dialog.columns.left.reply
    qtbot.waitUntil(lambda: len(left.steps) > 3, timeout=LIMIT_MS)
    dialog.start.click()
    wait_until_over(asked, qtbot)
    assert left.reason in ("cancelled", "length", "eog")
    assert dialog.columns.right.words["end"] == "The comparison was stopped."
    left, right = dialog.columns.left, dialog.columns.right
    dialog.start.click()
    qtbot.waitUntil(lambda: len(left.reply.steps) > 1, timeout=LIMIT_MS)
    os.kill(engine_process().pid, signal.SIGKILL)
    wait_until_over(asked, qtbot)
    if left.reply.status == "failed":  # otherwise it was over when the signal came
        assert left.words["end"]
    assert len(right.reply.traces) == N_TOKENS
    wait_until_ready(asked, qtbot)
    dialog.close()
