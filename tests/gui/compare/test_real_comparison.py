"""Comparing two replies in the window: the real engine in its process, with the demo pair."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from gui.test_engine_process import QUESTION, wait_until_ready
from paceline.gui.compare.outcome import speedup

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from paceline.gui.program import Program

LIMIT_MS = 60_000
N_TOKENS = 150


def test_both_texts_are_that_of_the_chat_and_the_ratio_is_that_of_the_shown_speeds(
    make_real: Callable[..., Program], qtbot: QtBot
) -> None:
    program = make_real("process", max_tokens=N_TOKENS)
    program.start()
    wait_until_ready(program, qtbot)
    program.chat.send(QUESTION)
    qtbot.waitUntil(lambda: program.session.active is None, timeout=LIMIT_MS)
    conversation = program.shown.conversation
    program.window.actions_.answer_twice.trigger()
    dialog = program.comparing.dialog
    assert dialog is not None
    dialog.start.click()
    qtbot.waitUntil(lambda: program.comparing.is_running, timeout=LIMIT_MS)
    qtbot.waitUntil(lambda: not program.comparing.is_running, timeout=LIMIT_MS)
    left, right = dialog.columns.left, dialog.columns.right
    assert left.reply.text == right.reply.text == conversation.path()[-1].text
    assert dialog.columns.outcome.endswith("the same text")
    assert [c.reply.stats.n_reused for c in (left, right) if c.reply.stats] == [0, 0]
    ratio = re.match(r"([\d.]+)× as fast", dialog.columns.outcome)
    speed = speedup(left.reply, right.reply)
    assert speed is not None
    assert (ratio is None) == (speed.verdict == "even")
    if ratio is not None:
        speeds = [float(column.words["speed"].split()[0]) for column in (left, right)]
        assert float(ratio[1]) == pytest.approx(speeds[1] / speeds[0], rel=0.02)
    assert program.shown.conversation == conversation
    dialog.keeps[1].click()
    kept = program.shown.full_reply(program.shown.conversation.path()[-1].message_id)
    assert kept is not None
    assert kept.stats == right.reply.stats
    assert (kept.options.strategy.drafters[0][0], len(kept.traces)) == ("auto", N_TOKENS)
    dialog.close()
