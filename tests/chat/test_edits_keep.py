"""An edit keeps what need not change: the seed, and the old reply as a draft of the new one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from chat.chat_bench import ChatBench
from gui.fake_client import STATS
from paceline.chat.pair import Pair
from paceline.conversation import later_turns
from paceline.hosting.wire import encode_message
from paceline.messages import EarlierReply, StartTurn, Strategy, TurnFailed, TurnFinished, Unloaded
from paceline.params import ModelParams, Prompting, ReplySettings, SamplingParams
from paceline.workers.frames import frame

if TYPE_CHECKING:
    from paceline.storage.archive import ConversationStore

QUESTIONS = ("One?", "Two?", "Three?")


@pytest.fixture
def bench(store: ConversationStore) -> ChatBench:
    bench = ChatBench(store)
    for question in QUESTIONS:
        bench.send(question)
        assert bench.client.last(StartTurn).earlier == (), "a new question replaces nothing"
        bench.client.reply(f"{question[:-1]}.")
    return bench


def asked(bench: ChatBench) -> StartTurn:
    return bench.client.last(StartTurn)


@pytest.mark.parametrize("keeps", [True, False])
def test_an_edit_is_drawn_with_the_old_seed_where_it_keeps(bench: ChatBench, keeps: bool) -> None:
    assert bench.edit(bench.message(2), "Too?", keeps=keeps)
    assert asked(bench).seed == (7 if keeps else None)
    (earlier,) = asked(bench).earlier
    assert earlier.text == "Two."
    assert earlier.tokens
    assert not earlier.same_prompt
    bench.client.reply("Too.")
    bench.set_settings(ReplySettings(seed=5))
    bench.edit(bench.message(2), "Two!", keeps=keeps)
    assert asked(bench).seed == 5, "one of the chat's own goes first"


def test_other_versions_are_told_by_whether_they_answered_the_same_prompt(bench: ChatBench) -> None:
    bench.set_settings(ReplySettings(SamplingParams(temperature=0.1)))
    bench.regenerate(keeps=True)
    assert asked(bench).earlier[0].same_prompt
    bench.client.reply("Third.")
    bench.set_settings(ReplySettings(system_prompt="Rhyme."))
    bench.regenerate(keeps=True)
    assert [reply.same_prompt for reply in asked(bench).earlier] == [False, False]
    bench.set_settings(ReplySettings())
    bench.client.reply("Thrice.")
    bench.regenerate(keeps=True)
    told = [reply.same_prompt for reply in asked(bench).earlier]
    assert told == [False, True, True], "all but that with a system prompt"
    bench.client.reply("Again.")
    bench.options = replace(bench.options, prompting=Prompting(think="high"))
    bench.regenerate(keeps=True)
    assert not any(reply.same_prompt for reply in asked(bench).earlier), "it thinks otherwise"
    bench.client.reply("Thoughtfully.")
    bench.loader.load(Pair(ModelParams("/models/other.gguf")))
    bench.client.finish_load()
    bench.regenerate(keeps=True)
    assert not any(reply.same_prompt for reply in asked(bench).earlier), "another model's"


def test_regenerating_draws_a_new_seed_unless_asked_to_keep(bench: ChatBench) -> None:
    bench.regenerate()
    assert asked(bench).seed is None
    bench.client.reply("Third.")
    assert [reply.text for reply in asked(bench).earlier] == ["Three."]
    assert not asked(bench).earlier[0].repeats, "with another seed little comes again"
    bench.regenerate(keeps=True)
    assert asked(bench).seed == 7
    assert asked(bench).earlier[0].repeats
    assert [reply.text for reply in asked(bench).earlier] == ["Third.", "Three."]


def test_a_repeated_reply_is_asked_for_as_it_was_but_for_the_strategy(bench: ChatBench) -> None:
    before = bench.client.last(StartTurn)
    changed = ReplySettings(SamplingParams(temperature=0.1), system_prompt="Rhyme.", seed=5)
    bench.set_settings(changed)
    assert bench.repeat(bench.message(5), Strategy.of("off"))
    again = asked(bench)
    assert again == structs.replace(before, seed=7, strategy=Strategy.of("off"))
    assert not bench.repeat(bench.message(3), Strategy.of("off")), "one is under way"
    bench.client.reply("Three.")
    bench.edit_reply(bench.message(3), "Mine.")
    assert not bench.repeat(bench.message(3), Strategy.of("off")), "it was not drawn"
    assert not bench.repeat(bench.message(2), Strategy.of("off")), "it is a question"


def test_a_stopped_reply_is_repeated_as_far_as_it_goes_and_a_continued_one_is_not(
    bench: ChatBench,
) -> None:
    bench.regenerate()
    bench.client.start_turn()
    bench.client.step("Thr", 0)
    bench.client.step("ee", 1)
    bench.client.emit(
        TurnFinished("cancelled", "Three", (1, 2, 3, 4), 7, Strategy.of("off"), STATS)
    )
    stopped = bench.message(5)
    assert bench.repeat(stopped, Strategy.of("off"))
    assert asked(bench).max_tokens == 4
    bench.client.reply("Three")
    bench.continue_reply(stopped)
    bench.client.reply("Three more.")
    assert not bench.repeat(bench.message(5), Strategy.of("off"))


def test_a_repeated_reply_that_waits_for_the_models_keeps_its_strategy(bench: ChatBench) -> None:
    bench.options = replace(bench.options, strategy=Strategy.of("suffix"))
    bench.client.emit(Unloaded())
    bench.repeat(bench.message(5), Strategy.of("off"))
    bench.client.finish_load()
    assert asked(bench).strategy == Strategy.of("off")
    bench.client.reply("Three.")
    bench.client.emit(Unloaded())
    bench.regenerate()
    bench.client.finish_load()
    assert asked(bench).strategy == Strategy.of("suffix"), "only that reply was asked for so"


def test_a_question_beside_a_reply_is_no_version_of_it(store: ConversationStore) -> None:
    bench = ChatBench(store)
    bench.ask("One?", "One.")
    bench.delete_message(bench.message(1))
    bench.ask("Two?", "Two.")
    bench.regenerate(bench.message(0))
    assert asked(bench).earlier == ()
    bench.client.reply("Uno.")
    assert later(bench) == [], "what answers the other question is no later question"
    chat = bench.current
    two = next(m for m in chat.messages.values() if m.text == "Two?")
    assert chat.versions(two.message_id) == (two,)
    assert not bench.bring_up_to_date()


def test_a_reply_without_tokens_drafts_by_its_text(bench: ChatBench) -> None:
    """Replies that were imported, or written by hand, have no tokens."""
    bench.edit_reply(bench.message(5), "My own.")
    bench.edit(bench.message(4), "And three?", keeps=True)
    earlier = asked(bench).earlier[0]
    assert earlier == EarlierReply((), "My own.", asked(bench).seed == 7, same_prompt=False)


def test_pasted_replies_of_any_length_leave_room_for_the_next_turn() -> None:
    bench = ChatBench()
    bench.ask("One?", "One.")
    for n in range(4):
        assert bench.edit_reply(bench.message(1), f"{n} " + "x" * 5_000_000)
    bench.regenerate()
    assert len(asked(bench).earlier) == 4
    assert frame(encode_message(asked(bench)))


# ------------------------------------------------------------------------------------ later turns


def edited(bench: ChatBench) -> None:
    """The first question is edited and answered."""
    bench.edit(bench.message(0), "Won?", keeps=True)
    bench.client.reply("Won.")


def later(bench: ChatBench) -> list[str]:
    return [message.text for message in later_turns(bench.current)]


def test_what_only_the_older_branch_has_comes_later(bench: ChatBench) -> None:
    assert later(bench) == []
    edited(bench)
    assert later(bench) == ["Two?", "Two.", "Three?", "Three."]
    bench.show_sibling(bench.message(0), -1)
    assert later(bench) == [], "the older branch lacks nothing"


def test_other_questions_are_another_branch(bench: ChatBench) -> None:
    edited(bench)
    bench.send("Something else?")
    bench.client.reply("Yes.")
    assert later(bench) == []


def test_later_turns_are_asked_one_after_the_other(bench: ChatBench) -> None:
    edited(bench)
    assert bench.bring_up_to_date()
    assert not bench.bring_up_to_date(), "one is under way"
    for n, (question, old) in enumerate((("Two?", "Two."), ("Three?", "Three.")), 1):
        state = bench.session.later
        assert state is not None
        assert (state.n_asked, state.n_questions, state.is_last) == (n, 2, n == 2)
        assert asked(bench).prompt.messages[-1].text == question
        assert asked(bench).seed == 7
        assert asked(bench).earlier[0].text == old
        bench.client.reply(f"New {old}")
    assert bench.session.later is None
    assert bench.session.active is None
    assert bench.texts == ["Won?", "Won.", "Two?", "New Two.", "Three?", "New Three."]
    bench.show_sibling(bench.message(0), -1)
    assert bench.texts == ["One?", "One.", "Two?", "Two.", "Three?", "Three."]


def test_turns_of_a_second_branch_are_counted_when_they_come(store: ConversationStore) -> None:
    bench = ChatBench(store)
    for question in ("One?", "Two?", "Three?", "Four?"):
        bench.ask(question, "Yes.")
    edited(bench)
    bench.ask("Too?", "Yes.")
    bench.ask("Three?", "Yes.")
    bench.edit(bench.message(2), "Two?")
    bench.client.reply("Yes.")
    assert later(bench) == ["Three?", "Yes."]
    bench.bring_up_to_date()
    counts = []
    while (state := bench.session.later) is not None:
        counts.append((state.n_asked, state.n_questions))
        bench.client.reply("Yes.")
    assert counts == [(1, 1), (2, 2)]
    assert bench.texts[::2] == ["Won?", "Two?", "Three?", "Four?"]


@pytest.mark.parametrize("end", ["stop", "failure"])
def test_a_stop_or_a_failure_ends_it_and_the_rest_can_be_asked_afterwards(
    bench: ChatBench, end: str
) -> None:
    edited(bench)
    bench.bring_up_to_date()
    bench.client.start_turn()
    if end == "stop":
        bench.session.stop()
        bench.client.emit(TurnFinished("cancelled", "New", (1,), 7, Strategy.of("off"), STATS))
    else:
        bench.client.emit(TurnFailed("compute-failed", "It failed.", ""))
    assert bench.session.later is None
    assert bench.session.active is None
    assert later(bench) == ["Three?", "Three."]


def test_another_branch_ends_it_and_is_asked_nothing(bench: ChatBench) -> None:
    edited(bench)
    bench.edit(bench.message(0), "Wonne?")
    bench.client.reply("Wonne.")
    bench.bring_up_to_date()
    bench.show_sibling(bench.message(0), -1)
    assert later(bench), "that one could be brought up to date, too"
    bench.client.reply("New Two.")
    assert bench.session.later is None
    assert bench.session.active is None
    assert bench.texts == ["Won?", "Won."]


def test_a_question_that_is_taken_back_is_not_asked_again(
    bench: ChatBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The window takes a question back that does not fit into the context."""
    edited(bench)
    monkeypatch.setattr(bench.told, "reply_ended", bench.session.take_back)
    bench.bring_up_to_date()
    n_turns = len(bench.client.all(StartTurn))
    bench.client.start_turn()
    bench.client.emit(TurnFailed("prompt-too-long", "Too many tokens.", "Shorten it."))
    assert bench.texts == ["Won?", "Won."]
    assert bench.session.later is None
    assert len(bench.client.all(StartTurn)) == n_turns
