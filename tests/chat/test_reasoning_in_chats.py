"""Reasoning in the replies of a chat, found by their origin: in prompts and exports."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chat.chat_bench import ChatBench
from gui.fake_client import STATS
from paceline.chat.exchange.words import to_markdown
from paceline.chat.reasoning import Known
from paceline.chat.reply import known_of
from paceline.messages import FinishReason, StartTurn, TurnFinished, TurnStarted
from paceline.params import SamplingParams, Strategy
from paceline.run_record import RunRecord


def answer(bench: ChatBench, text: str, reason: FinishReason, *, marks: bool) -> None:
    """Ask, and let the model write this."""
    assert bench.send("Go?")
    bench.client.emit(TurnStarted(10, 0, 7, knows_marks=marks))
    bench.client.step(text, 0)
    bench.client.emit(TurnFinished(reason, text, (1, 2), 7, Strategy.of("off"), STATS))


def asked(bench: ChatBench) -> list[str]:
    """Return the texts of the next prompt."""
    assert bench.send("And?")
    return [message.text for message in bench.client.last(StartTurn).prompt.messages]


REPLIES = [
    # text, why it ended, whether marks are known, what the next prompt has of it
    ("<think>\nThree tags.", "eog", False, "<think>\nThree tags."),
    ("<think>\nThree tags.", "stop", True, "<think>\nThree tags."),
    ("<think>\nHm, so", "length", True, None),
    ("<think>\nHm, so", "cancelled", True, None),
    ("<think>\nHm.\n</think>\n\nYes.", "eog", True, "Yes."),
    ("I see.\n</think>\n\nYes.", "eog", True, "Yes."),
    ("I see.\n</think>\n\nYes.", "eog", False, "I see.\n</think>\n\nYes."),
    ("The tag </think> ends it.", "eog", False, "The tag </think> ends it."),
]


@pytest.mark.parametrize(("text", "reason", "marks", "seen"), REPLIES)
def test_the_next_prompt_and_an_export_have_the_answer(
    bench: ChatBench, text: str, reason: FinishReason, marks: bool, seen: str | None
) -> None:
    answer(bench, text, reason, marks=marks)
    again = ChatBench(bench.store, prefix="again")
    again.show(bench.id)
    for life in (bench, again):
        assert known_of(life.reply(1)) == Known(reason in ("eog", "stop"), marks)
    written = to_markdown(*bench.session.conversations.with_records(bench.id), with_figures=False)
    assert ("**Reasoning**" in written) == (seen != text)
    assert seen is None or f"\n{seen}\n" in written
    expected = ["Go?", seen, "And?"] if seen else ["Go?\n\nAnd?"]
    assert asked(bench) == expected


def test_a_chat_that_is_not_shown_is_known_too(bench: ChatBench) -> None:
    answer(bench, "<think>\nThree tags.", "eog", marks=False)
    name, reply_id = bench.id, bench.message(1)
    bench.new()
    known = bench.session.conversations.known_in(name)
    assert known(reply_id) == Known(is_finished=True, has_marks=False)
    assert known("another") == Known()


def test_of_an_edited_or_old_reply_the_text_alone_tells(bench: ChatBench) -> None:
    answer(bench, "<think>\nHm.", "length", marks=True)
    chat = bench.current
    bench.import_copy(chat, {})
    assert bench.session.conversations.known_in(bench.id)(bench.message(1)) == Known()
    assert asked(bench) == ["Go?\n\nAnd?"]


def test_half_a_character_that_was_stored_once_is_not_gone_on_after(bench: ChatBench) -> None:
    assert bench.send("Go?")
    bench.client.start_turn()
    bench.client.step("a", 0)
    bench.client.emit(TurnFinished("length", "a\ufffd", (1, 2), 7, Strategy.of("off"), STATS))
    assert bench.continue_reply()
    assert bench.client.last(StartTurn).begun_text == "a"
    bench.client.start_turn()
    bench.client.step("€b", 0)
    assert bench.current.path()[-1].text in ("", "a")
    bench.client.finish_turn("a€b")
    assert bench.texts == ["Go?", "a€b"]


def test_an_answer_by_a_schema_is_json_unless_it_was_edited() -> None:
    record = RunRecord("a", "finished", sampling=SamplingParams(json_schema="{}"))
    assert known_of(record).is_json
    assert not known_of(replace(record, edited=True)).is_json
    assert not known_of(RunRecord("a", "finished")).is_json
