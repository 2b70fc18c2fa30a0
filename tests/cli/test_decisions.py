"""The last line, which says in few words what Auto did."""

from __future__ import annotations

from paceline.chat.decisions import mix_of
from paceline.cli.chat_run import decisions_in_words
from paceline.figures import Decision
from paceline.messages import StepCommitted


def words(*decisions: Decision | None) -> str:
    return decisions_in_words(
        mix_of(
            StepCommitted(i, (), "", (), 0, 0, 0, 0, decision=decision)
            for i, decision in enumerate(decisions)
        )
    )


def test_shares_of_all_that_was_decided() -> None:
    drafted = [Decision("draft", 3, "pays")] * 5 + [Decision("suffix", 9, "trial")] * 2
    plain = [Decision("", 0, "expensive")] * 2 + [Decision("", 0, "first")]
    assert words(None, *drafted, *plain) == (
        " (draft 50%, suffix 20%, plain 30%, mostly: drafts cost too much)"
    )
    assert words(*drafted[:5]) == " (draft 100%)"
    assert words() == words(None, None) == ""
