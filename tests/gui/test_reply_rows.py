"""The replies of a chat beside each other: which of them have a ratio, and what is heard of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt

from gui.fake_client import STATS, at_speed, perhaps, undrafted, without_plain
from paceline.chat.reply import Reply, ReplyStatus, RunError, TurnOptions
from paceline.conversation import Conversation, Message
from paceline.engine.draft import registry
from paceline.gui.run.chat_page import ReplyList, ReplyRow, reply_rows
from paceline.gui.state.sources import Sources
from paceline.messages import TurnStats
from paceline.params import Strategy


def row_of(stats: TurnStats | None, status: ReplyStatus = "finished", error: str = "") -> ReplyRow:
    conversation = Conversation("c").add(Message("q", None, "user", "How  many?"))
    conversation = conversation.add(Message("a", "q", "assistant", "Two."))
    reply = Reply(
        "t", "a", "c", TurnOptions(strategy=Strategy.of("draft")), status, "draft", stats=stats
    )
    reply.error = RunError("x", error, "") if error else None
    (row,) = reply_rows(conversation, lambda _: reply, Sources(registry.available()))
    assert (row.number, row.question, row.strategy) == (1, "How many?", "draft")
    return row


def heard(row: ReplyRow) -> str:
    shown = ReplyList()
    shown.set_rows([row])
    return str(shown.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole))


@pytest.mark.parametrize(
    ("stats", "verdict", "ratio"),
    [
        (STATS, "gain", "1.91× of plain"),
        (perhaps(), "even", "1.91× of plain"),
        (at_speed(10.0), "loss", "0.46× of plain"),
    ],
)
def test_a_row_has_the_ratio_of_its_reply(
    qapp: object, stats: TurnStats, verdict: str, ratio: str
) -> None:
    row = row_of(stats)
    assert row.speedup == stats.speedup
    assert row.speedup is not None
    assert row.speedup.verdict == verdict
    assert (row.tokens_per_s, row.plain_tokens_per_s) == (stats.tokens_per_s, 21.6)
    assert ratio in heard(row)


@pytest.mark.parametrize("stats", [undrafted(), without_plain(), replace(STATS, plain_low=None)])
def test_without_drafts_or_an_interval_there_is_none(qapp: object, stats: TurnStats) -> None:
    row = row_of(stats)
    assert (row.tokens_per_s, row.plain_tokens_per_s, row.speedup) == (41.2, None, None)
    assert "41.2 tokens per second" in heard(row)
    assert "plain" not in heard(row)


def test_what_runs_or_failed_has_no_figures(qapp: object) -> None:
    for row in (row_of(STATS, "decoding"), row_of(None, "failed", error="It broke.")):
        assert (row.tokens_per_s, row.speedup) == (None, None)
    assert "no figures" in heard(row_of(STATS, "decoding"))
    assert "It broke." in heard(row_of(None, "failed", error="It broke."))
