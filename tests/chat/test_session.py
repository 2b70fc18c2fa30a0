import pytest
from msgspec import structs

from chat.chat_bench import PAIR, ChatBench, text_of
from chat.recorder import Recorder
from gui.fake_client import STATS, described, step_of, without_plain
from paceline.chat.pair import Pair
from paceline.chat.reply import Reply, TurnOptions, to_record
from paceline.engine.refusals import stopped as answer_to_stopped
from paceline.messages import (
    ChatMessage,
    DescribeEngine,
    EngineDied,
    FiguresReported,
    LoadFailed,
    LoadPair,
    ModelParams,
    PrefillProgressed,
    RawText,
    SamplingParams,
    StartTurn,
    StepCommitted,
    Tune,
    TuneApplied,
    TuneRejected,
    TurnFailed,
    TurnStarted,
    Unloaded,
)
from paceline.params import ReplySettings, Strategy
from paceline.run_record import CLOSED
from strategies import strategy


@pytest.fixture
def bench() -> ChatBench:
    return ChatBench()


def test_a_message_is_answered(bench: ChatBench) -> None:
    bench.options = TurnOptions(strategy("draft:n_max=4"))
    bench.set_settings(ReplySettings(SamplingParams(0.0), 99, 7, "Be kind."))
    assert bench.send("  Hello?\n")
    command = bench.client.last(StartTurn)
    assert command.prompt.messages == (
        ChatMessage.of_text("system", "Be kind."),
        ChatMessage.of_text("user", "Hello?"),
    )
    assert (command.strategy, command.max_tokens, command.seed) == (
        strategy("draft:n_max=4"),
        99,
        7,
    )
    assert command.sampling == SamplingParams(0.0)
    bench.client.reply("Hi there")
    assert bench.path == [("user", "Hello?"), ("assistant", "Hi there")]
    assert bench.told.names == ["started", "progressed", "grew", "grew", "ended"]
    assert bench.session.active is None


def test_the_next_message_carries_the_conversation(bench: ChatBench) -> None:
    bench.send("One")
    bench.client.reply("Two")
    bench.send("Three")
    assert [m.text for m in bench.client.last(StartTurn).prompt.messages] == ["One", "Two", "Three"]


@pytest.mark.parametrize("text", ["", "  \n\t "])
def test_blank_messages_are_not_sent(bench: ChatBench, text: str) -> None:
    assert not bench.send(text)
    assert bench.client.all(StartTurn) == []


def test_a_stray_surrogate_becomes_a_question_mark(bench: ChatBench) -> None:
    bench.send("half \ud83d emoji")
    assert bench.client.last(StartTurn).prompt.messages[0].text == "half ? emoji"


def test_one_reply_at_a_time(bench: ChatBench) -> None:
    bench.send("One")
    assert not bench.send("Two")
    assert not bench.regenerate()
    assert len(bench.client.all(StartTurn)) == 1


def test_the_reply_keeps_what_the_plot_and_the_record_need(bench: ChatBench) -> None:
    bench.send("Hello?")
    reply = bench.session.active
    assert reply is not None
    bench.client.start_turn()
    assert (reply.status, reply.n_prompt, reply.seed) == ("prefill", 10, 7)
    bench.client.emit(PrefillProgressed(5, 10))
    assert (reply.n_prefilled, reply.n_prompt) == (5, 10)
    bench.time = 0.4
    bench.client.step("H", 0)
    bench.time = 9.0
    bench.client.step("i!", 1)
    assert (reply.text, reply.status, reply.first_token_s) == ("Hi!", "decoding", 0.4)
    assert len(reply.traces) == 4
    assert [step.step for step in reply.steps] == [0, 1]
    bench.client.finish_turn("Hi")
    assert (reply.text, reply.reason, reply.stats, reply.status) == ("Hi", "eog", STATS, "finished")


def test_events_of_a_foreign_turn_are_dropped(bench: ChatBench) -> None:
    bench.send("Hello?")
    bench.client.start_turn()
    before = len(bench.told.calls)
    foreign = bench.client.request(StartTurn(RawText("another program's")))
    for event in (
        TurnStarted(3, 0, 1),
        step_of("an intruder", 1),
        TuneApplied(Strategy.of("off")),
        TurnFailed("bug", "No.", ""),
    ):
        bench.client.emit(event, foreign)
    assert len(bench.told.calls) == before
    reply = bench.session.active
    assert reply is not None
    assert reply.text == ""


def test_events_after_the_end_change_nothing(bench: ChatBench) -> None:
    bench.send("Hello?")
    bench.client.reply("Hi")
    bench.client.step("late", 2)
    assert bench.path[-1] == ("assistant", "Hi")


def test_stopping_cancels_the_turn_and_keeps_the_text(bench: ChatBench) -> None:
    bench.send("Hello?")
    bench.client.start_turn()
    bench.client.step("Half", 0)
    bench.session.stop()
    bench.session.stop()
    assert bench.client.cancelled == [bench.client.last(StartTurn)]
    bench.client.finish_turn("Half")
    assert bench.path[-1] == ("assistant", "Half")


def test_stopping_without_a_reply_does_nothing(bench: ChatBench) -> None:
    bench.session.stop()
    assert bench.client.cancelled == []


def test_a_reply_that_is_stopped_while_others_have_the_engine_has_not_failed(
    bench: ChatBench,
) -> None:
    bench.send("Hi")
    bench.session.stop()
    stopped = answer_to_stopped(bench.client.last(StartTurn))
    assert stopped is not None
    bench.client.emit(stopped)
    reply = bench.reply()
    assert (reply.status, reply.reason, reply.error) == ("finished", "cancelled", None)
    assert bench.path == [("user", "Hi"), ("assistant", "")]


def test_regenerating_adds_a_sibling_and_asks_the_same(bench: ChatBench) -> None:
    bench.send("Hello?")
    bench.client.reply("One")
    assert bench.regenerate()
    assert [m.text for m in bench.client.last(StartTurn).prompt.messages] == ["Hello?"]
    bench.client.reply("Two")
    assert bench.path == [("user", "Hello?"), ("assistant", "Two")]
    answer = bench.current.path()[-1]
    contents = [m.text for m in bench.current.siblings(answer.message_id)]
    assert contents == ["One", "Two"]


def test_there_is_nothing_to_regenerate_in_an_empty_chat(bench: ChatBench) -> None:
    assert not bench.regenerate()


# ------------------------------------------------------------------------------ models and engine


def test_a_message_waits_for_the_models() -> None:
    bench = ChatBench(loads=False)
    bench.loader.load(PAIR)
    bench.send("Hello?")
    assert bench.client.all(StartTurn) == []
    reply = bench.session.active
    assert reply is not None
    assert reply.status == "waiting"
    bench.client.finish_load()
    assert bench.client.last(StartTurn).prompt.messages == (ChatMessage.of_text("user", "Hello?"),)


def test_a_waiting_message_can_be_stopped_and_is_not_sent_later() -> None:
    bench = ChatBench(loads=False)
    bench.loader.load(PAIR)
    bench.send("Hello?")
    bench.session.stop()
    assert bench.session.active is None
    bench.client.finish_load()
    assert bench.client.all(StartTurn) == []


def test_another_strategy_counts_while_waiting() -> None:
    bench = ChatBench(loads=False)
    bench.loader.load(PAIR)
    bench.send("Hello?")
    reply = bench.session.active
    bench.options = TurnOptions(strategy("off"))
    assert bench.session.tune(strategy("off"))
    bench.client.finish_load()
    command = bench.client.last(StartTurn)
    assert command.strategy == strategy("off")
    assert reply is not None
    assert (reply.strategy, reply.options) == (strategy("off"), bench.options)
    assert bench.client.all(Tune) == []


def test_a_waiting_reply_keeps_the_settings_that_it_was_asked_with() -> None:
    bench = ChatBench(loads=False)
    bench.loader.load(PAIR)
    bench.set_settings(ReplySettings(seed=7))
    bench.send("Hello?")
    bench.set_settings(ReplySettings(seed=8))
    bench.new()
    bench.client.finish_load()
    assert bench.client.last(StartTurn).seed == 7


def test_a_waiting_message_fails_with_the_load() -> None:
    bench = ChatBench(loads=False)
    bench.loader.load(PAIR)
    bench.send("Hello?")
    reply = bench.session.active
    bench.client.emit(LoadFailed("broken", "It is broken.", "Take another."))
    assert reply is not None
    assert reply.error is not None
    assert (reply.error.message, reply.error.hint) == ("It is broken.", "Take another.")
    assert bench.session.active is None


def test_a_waiting_message_survives_a_wrong_file(bench: ChatBench) -> None:
    bench.loader.load(Pair(ModelParams("wrong.gguf")))
    bench.send("Hello?")
    bench.client.emit(LoadFailed("broken", "It is broken.", ""))
    assert bench.session.active is not None
    bench.client.finish_load()
    assert bench.client.last(StartTurn).prompt.messages == (ChatMessage.of_text("user", "Hello?"),)


def test_without_any_model_the_reply_says_so() -> None:
    bench = ChatBench(loads=False)
    bench.send("Hello?")
    ended = [reply for name, reply in bench.told.calls if name == "ended"]
    assert ended[0].error.code == "no-model"


def test_a_failed_turn_keeps_its_text_and_its_reason(bench: ChatBench) -> None:
    bench.send("Hello?")
    bench.client.start_turn()
    bench.client.step("Half", 0)
    reply = bench.session.active
    bench.client.emit(TurnFailed("decode", "The decode failed.", "Load again."))
    assert reply is not None
    assert reply.error is not None
    assert (reply.status, reply.text, reply.error.code) == ("failed", "Half", "decode")
    assert bench.path[-1] == ("assistant", "Half")


def test_after_the_engines_death_the_text_stays_and_the_next_message_revives_it(
    bench: ChatBench,
) -> None:
    bench.send("Hello?")
    bench.client.start_turn()
    bench.client.step("Half", 0)
    bench.client.emit(EngineDied("Killed.", "Send again."))
    assert bench.path[-1] == ("assistant", "Half")
    assert bench.told.names[-2:] == ["ended", "died"]
    n_loads = len(bench.client.all(LoadPair))
    bench.send("Again?")
    assert len(bench.client.all(LoadPair)) == n_loads + 1
    bench.client.finish_load()
    assert bench.client.last(StartTurn).prompt.messages[-1] == ChatMessage.of_text("user", "Again?")


def test_a_reply_that_had_not_begun_when_the_engine_died_is_handed_to_the_next_one(
    bench: ChatBench,
) -> None:
    bench.send("Hello?")
    first = bench.client.tickets[-1]
    bench.client.emit(EngineDied("Killed while it had nothing to do.", ""))
    reply = bench.session.active
    assert reply is not None
    assert (reply.error, reply.submitted_s) == (None, None)
    bench.client.emit(TurnFailed("no-model", "No model is loaded.", ""), first)
    assert bench.session.active is reply, "the engine that died cannot answer any more"
    bench.client.finish_load()
    assert len(bench.client.all(StartTurn)) == 2
    bench.client.start_turn()
    bench.client.step("There.", 0)
    assert reply.text == "There."


def test_it_is_handed_on_once_and_not_for_ever(bench: ChatBench) -> None:
    bench.send("Hello?")
    for _ in range(2):
        bench.client.emit(EngineDied("Killed.", "Wait."))
        if bench.session.active is not None:
            bench.client.finish_load()
    assert bench.session.active is None
    assert len(bench.client.all(StartTurn)) == 2
    reply = bench.reply_of(bench.current.leaf_id or "")
    assert reply is not None
    assert reply.error is not None
    assert reply.error.message == "Killed."


def test_a_model_file_that_was_written_to_is_loaded_again_once_for_the_reply(
    bench: ChatBench,
) -> None:
    bench.send("Hello?")
    reply = bench.session.active
    assert reply is not None
    for is_again in (False, True):
        bench.client.emit(Unloaded())
        bench.client.emit(TurnFailed("model-overwritten", "It was written to.", ""))
        assert (bench.session.active is None) == is_again
        if not is_again:
            bench.client.finish_load()
    assert len(bench.client.all(StartTurn)) == 2
    assert reply.error is not None
    assert reply.error.code == "model-overwritten"
    assert [m.text for m in bench.current.path()] == ["Hello?", ""]


def test_a_reply_that_was_stopped_does_not_wait_for_another_engine(bench: ChatBench) -> None:
    bench.send("Hello?")
    bench.session.stop()
    n_loads = len(bench.client.all(LoadPair))
    bench.client.emit(EngineDied("Killed.", ""))
    assert bench.session.active is None
    assert len(bench.client.all(LoadPair)) == n_loads


def test_tuning_reaches_the_running_turn_and_its_answer_is_told(bench: ChatBench) -> None:
    assert not bench.session.tune(strategy("off"))
    bench.send("Hello?")
    bench.client.start_turn()
    assert bench.session.tune(strategy("off"))
    assert bench.client.last(Tune) == Tune(strategy("off"))
    bench.client.emit(TuneApplied(Strategy.of("off")))
    reply = bench.session.active
    assert reply is not None
    assert reply.strategy == Strategy.of("off")
    bench.client.emit(TuneRejected(Strategy.of("draft"), "no-draft-model", "None.", "Load one."))
    assert reply.strategy == Strategy.of("off")
    assert len(bench.told.answers) == 2


def test_the_engine_is_not_told_twice_of_the_same_strategy(bench: ChatBench) -> None:
    bench.options = TurnOptions(strategy("draft"))
    bench.send("Hello?")
    for text in ("draft", "off", "off", "draft"):
        assert bench.session.tune(strategy(text))
    told = [command.strategy for command in bench.client.all(Tune)]
    assert told == [strategy("off"), strategy("draft")]


def test_figures_grow_with_the_reply_and_end_with_the_engines_last_word(bench: ChatBench) -> None:
    other = bench.client.request(StartTurn(RawText("another program's")))
    bench.send("Hello?")
    reply = bench.session.active
    assert reply is not None
    bench.client.start_turn()
    assert reply.stats is None
    for n in (1, 20):
        so_far = structs.replace(STATS, n_generated=n)
        bench.client.step("H", n)
        bench.client.figures(so_far)
        bench.client.emit(FiguresReported(STATS), other)
        assert reply.stats == so_far
        assert to_record(reply).stats is None  # a record tells what is final
    bench.client.finish_turn("Hi", stats=STATS)
    bench.client.emit(FiguresReported(without_plain()))
    assert reply.stats == to_record(reply).stats == STATS


def test_what_plain_decoding_takes_is_no_other_replys_business(bench: ChatBench) -> None:
    ratios = []
    for stats in (STATS, without_plain(), STATS):
        bench.send("Hello?")
        reply = bench.session.active
        assert reply is not None
        bench.client.reply("Hi", stats=stats)
        assert reply.stats is not None
        ratios.append(reply.stats.speedup and round(reply.stats.speedup.ratio, 2))
    assert ratios == [1.91, None, 1.91]


@pytest.mark.parametrize("death", [False, True])
def test_a_reply_that_breaks_off_keeps_the_figures_so_far(bench: ChatBench, *, death: bool) -> None:
    bench.send("Hello?")
    reply = bench.session.active
    assert reply is not None
    bench.client.start_turn()
    bench.client.step("H", 0)
    bench.client.figures()
    bench.client.step("i", 1)  # the figures know nothing of this one
    event = EngineDied("SIGSEGV") if death else TurnFailed("broken", "It broke.", "")
    bench.client.emit(event)
    assert reply.status == "failed"
    stats = to_record(reply).stats
    assert stats == reply.stats
    assert stats is not None
    assert stats.n_generated == sum(len(step.tokens) for step in reply.steps)
    assert stats.tokens_per_s == pytest.approx(
        stats.n_generated / sum(step.total_s for step in reply.steps)
    )
    assert stats.plain_tokens_per_s == STATS.plain_tokens_per_s


def test_a_reply_that_the_programs_end_cuts_off_keeps_the_figures_so_far(bench: ChatBench) -> None:
    bench.send("Hello?")
    reply = bench.session.active
    assert reply is not None
    bench.client.start_turn()
    bench.client.figures()
    bench.client.step("Hi", 1)
    bench.session.end_reply()
    assert reply.reason is None
    assert reply.stats is not None
    assert (reply.stats.n_generated, reply.stats.n_steps) == (len(reply.traces), 1)
    assert reply.error is not None
    assert reply.error.code == CLOSED.code, "a stop by the user is something else"


def test_what_may_be_remembered_is_asked_for_each_reply(bench: ChatBench) -> None:
    for remember in (False, True, False):
        bench.options = TurnOptions(remember=remember)
        bench.send("Hello?")
        assert bench.client.last(StartTurn).remember == remember
        bench.client.reply("Hi")


def refuse(bench: ChatBench) -> Reply:
    reply = bench.session.active
    assert reply is not None
    bench.client.emit(TurnFailed("bad-grammar", "It is wrong.", "Correct it."))
    return reply


def test_a_refused_first_message_leaves_nothing(bench: ChatBench) -> None:
    bench.send("Hello?")
    reply = refuse(bench)
    assert text_of(bench.session.take_back(reply)) == "Hello?"
    assert (bench.path, bench.session.summaries) == ([], ())
    assert bench.reply_of(reply.message_id) is None
    assert bench.session.take_back(reply) is None


def test_a_refused_later_message_leaves_what_was_before(bench: ChatBench) -> None:
    bench.send("One")
    bench.client.reply("Two")
    bench.send("Three")
    assert text_of(bench.session.take_back(refuse(bench))) == "Three"
    assert bench.path == [("user", "One"), ("assistant", "Two")]
    bench.send("Four")
    assert [m.text for m in bench.client.last(StartTurn).prompt.messages] == ["One", "Two", "Four"]


def test_a_refused_regeneration_shows_the_old_reply_and_keeps_the_question(
    bench: ChatBench,
) -> None:
    bench.send("One")
    bench.client.reply("Two")
    bench.regenerate()
    assert bench.session.take_back(refuse(bench)) is None
    assert bench.path == [("user", "One"), ("assistant", "Two")]


def test_a_reply_that_has_begun_is_not_taken_back(bench: ChatBench) -> None:
    bench.send("One")
    reply = bench.session.active
    assert reply is not None
    assert bench.session.take_back(reply) is None
    bench.client.start_turn()
    bench.client.step("Half", 0)
    bench.client.emit(TurnFailed("decode", "It failed.", ""))
    assert bench.session.take_back(reply) is None
    assert bench.path == [("user", "One"), ("assistant", "Half")]


def test_the_engine_describes_itself(bench: ChatBench) -> None:
    bench.session.describe_engine()
    assert bench.client.last(DescribeEngine) == DescribeEngine()
    bench.client.emit(described())
    assert bench.told.calls[-1] == ("described", described())


# ---------------------------------------------------------------------------------- conversations


def test_a_new_chat_is_kept_only_once_it_has_a_message(bench: ChatBench) -> None:
    bench.new()
    assert bench.session.summaries == ()
    bench.send("One")
    bench.client.reply("Hi")
    bench.new()
    bench.new()
    assert [s.title for s in bench.session.summaries] == ["One"]
    assert bench.path == []


def test_a_reply_goes_on_in_its_own_conversation(bench: ChatBench) -> None:
    bench.send("One")
    first = bench.id
    bench.new()
    bench.client.reply("Hi")
    assert bench.path == []
    bench.show(first)
    assert bench.path == [("user", "One"), ("assistant", "Hi")]


def test_a_conversation_is_renamed(bench: ChatBench) -> None:
    bench.send("One")
    bench.session.rename(bench.id, "Better")
    assert bench.current.title == "Better"


def test_a_removed_conversation_comes_back_with_everything(bench: ChatBench) -> None:
    bench.send("One")
    bench.client.reply("Hi")
    removed = bench.id
    bench.session.remove(removed)
    assert (bench.path, bench.session.summaries) == ([], ())
    bench.restore(removed)
    assert bench.path == [("user", "One"), ("assistant", "Hi")]


def test_removing_a_conversation_stops_its_reply_and_undo_has_what_came(bench: ChatBench) -> None:
    bench.send("One")
    bench.client.start_turn()
    bench.client.step("Half", 0)
    removed = bench.id
    bench.session.remove(removed)
    assert bench.client.cancelled == [bench.client.last(StartTurn)]
    bench.client.finish_turn("Half")
    assert bench.session.active is None
    bench.restore(removed)
    assert bench.path == [("user", "One"), ("assistant", "Half")]


def test_a_step_is_told_after_the_reply_has_it(bench: ChatBench) -> None:
    lengths = []

    class Listener(Recorder):
        def reply_grew(self, reply: object, step: StepCommitted) -> None:
            lengths.append(len(reply.text))  # type: ignore[attr-defined]

    bench.session.set_listener(Listener())
    bench.send("One")
    bench.client.start_turn()
    bench.client.step("ab", 0)
    bench.client.step("cd", 1)
    assert lengths == [2, 4]
