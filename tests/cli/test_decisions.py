"""What Auto did, in the few words of the last line."""

from __future__ import annotations

from typing import get_args

import pytest

from paceline.chat.decisions import mix_of
from paceline.cli.chat_run import decisions_in_words
from paceline.figures import Decision, Reason
from paceline.messages import StepCommitted


def words(*decisions: Decision | None) -> str:
    return decisions_in_words(
        mix_of(
            StepCommitted("t", i, (), "", (), 0, 0, 0, 0, decision=decision)
            for i, decision in enumerate(decisions)
        )
    )


def test_another_strategy_has_decided_nothing() -> None:
    assert words() == words(None, None) == ""


def test_shares_of_all_that_was_decided() -> None:
    drafted = [Decision("draft", 3, "pays")] * 5 + [Decision("suffix", 9, "trial")] * 2
    plain = [Decision("", 0, "expensive")] * 2 + [Decision("", 0, "first")]
    assert words(None, *drafted, *plain) == (
        " (draft 50%, suffix 20%, plain 30%, mostly as the drafts were not worth their time)"
    )


def test_without_a_plain_step_nothing_has_to_be_explained() -> None:
    assert words(Decision("suffix", 1, "pays")) == " (suffix 100%)"


@pytest.mark.parametrize("reason", get_args(Reason))
def test_every_reason_has_words_of_its_own(reason: Reason) -> None:
    text = words(Decision("", 0, reason))
    assert text.startswith(" (plain 100%, mostly ")
    assert len(text.split()) >= 5
