import pytest
from msgspec import structs

from chat.chat_bench import PAIR, ChatBench
from chat.recorder import Recorder
from gui.fake_client import STATS, step_of, without_plain
from paceline.chat.reply import TurnOptions, to_record
from paceline.messages import (
    ChatMessage,
    EngineDied,
    FiguresReported,
    LoadFailed,
    LoadPair,
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
from strategies import strategy


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


def test_a_stray_surrogate_becomes_a_question_mark(bench: ChatBench) -> None:
    bench.send("half \ud83d emoji")
    assert bench.client.last(StartTurn).prompt.messages[0].text == "half ? emoji"


def test_the_reply_keeps_what_the_plot_and_the_record_need(bench: ChatBench) -> None:
    bench.send("Hello?")
    reply = bench.active
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
    reply = bench.active
    assert reply.text == ""


# ------------------------------------------------------------------------------ models and engine


def test_a_strategy_chosen_while_the_models_load_is_used_for_the_reply() -> None:
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


def test_a_reply_that_waits_for_the_models_fails_if_they_cannot_be_loaded() -> None:
    bench = ChatBench(loads=False)
    bench.loader.load(PAIR)
    bench.send("Hello?")
    reply = bench.session.active
    bench.client.emit(LoadFailed("broken", "It is broken.", "Take another."))
    assert reply is not None
    assert reply.error is not None
    assert (reply.error.message, reply.error.hint) == ("It is broken.", "Take another.")
    assert bench.session.active is None


def test_without_any_model_the_reply_fails_with_that_reason() -> None:
    bench = ChatBench(loads=False)
    bench.send("Hello?")
    ended = [reply for name, reply in bench.told.calls if name == "ended"]
    assert ended[0].error.code == "no-model"


def test_a_reply_that_had_not_begun_when_the_engine_died_is_handed_to_the_next_one(
    bench: ChatBench,
) -> None:
    bench.send("Hello?")
    first = bench.client.tickets[-1]
    bench.client.emit(EngineDied("Killed while it had nothing to do.", ""))
    reply = bench.active
    assert (reply.error, reply.submitted_s) == (None, None)
    bench.client.emit(TurnFailed("no-model", "No model is loaded.", ""), first)
    assert bench.session.active is reply, "the engine that died cannot answer any more"
    bench.client.finish_load()
    assert len(bench.client.all(StartTurn)) == 2
    bench.client.start_turn()
    bench.client.step("There.", 0)
    assert reply.text == "There."


def test_a_reply_that_was_stopped_waits_for_no_other_engine(bench: ChatBench) -> None:
    bench.send("Hello?")
    bench.session.stop()
    n_loads = len(bench.client.all(LoadPair))
    bench.client.emit(EngineDied("Killed.", ""))
    assert bench.session.active is None
    assert len(bench.client.all(LoadPair)) == n_loads


def test_a_model_file_that_was_written_to_is_loaded_again_once_for_the_reply(
    bench: ChatBench,
) -> None:
    bench.send("Hello?")
    reply = bench.active
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


def test_tuning_reaches_the_running_turn_and_the_listener_gets_its_answer(bench: ChatBench) -> None:
    assert not bench.session.tune(strategy("off"))
    bench.send("Hello?")
    bench.client.start_turn()
    assert bench.session.tune(strategy("off"))
    assert bench.client.last(Tune) == Tune(strategy("off"))
    bench.client.emit(TuneApplied(Strategy.of("off")))
    reply = bench.active
    assert reply.strategy == Strategy.of("off")
    bench.client.emit(TuneRejected(Strategy.of("draft"), "no-draft-model", "None.", "Load one."))
    assert reply.strategy == Strategy.of("off")
    assert len(bench.told.answers) == 2


def test_figures_grow_with_the_reply_and_end_with_those_of_the_finished_turn(
    bench: ChatBench,
) -> None:
    other = bench.client.request(StartTurn(RawText("another program's")))
    bench.send("Hello?")
    reply = bench.active
    bench.client.start_turn()
    assert reply.stats is None
    for n in (1, 20):
        so_far = structs.replace(STATS, n_generated=n)
        bench.client.step("H", n)
        bench.client.figures(so_far)
        bench.client.emit(FiguresReported(STATS), other)
        assert reply.stats == so_far
        assert to_record(reply).stats is None  # a record has only final figures
    bench.client.finish_turn("Hi", stats=STATS)
    bench.client.emit(FiguresReported(without_plain()))
    assert reply.stats == to_record(reply).stats == STATS


def test_a_reply_without_a_figure_of_plain_decoding_takes_none_from_others(
    bench: ChatBench,
) -> None:
    ratios = []
    for stats in (STATS, without_plain(), STATS):
        bench.send("Hello?")
        reply = bench.session.active
        assert reply is not None
        bench.client.reply("Hi", stats=stats)
        assert reply.stats is not None
        ratios.append(reply.stats.speedup and round(reply.stats.speedup.ratio, 2))
    assert ratios == [1.91, None, 1.91]


@pytest.mark.parametrize("end", ["death", "failure", "close"])
def test_a_reply_that_breaks_off_keeps_the_figures_so_far(bench: ChatBench, end: str) -> None:
    bench.send("Hello?")
    reply = bench.active
    bench.client.start_turn()
    bench.client.step("H", 0)
    bench.client.figures()
    bench.client.step("i", 1)  # after the last report of figures
    if end == "close":
        bench.session.end_reply()
    else:
        died, failed = EngineDied("SIGSEGV"), TurnFailed("broken", "It broke.", "")
        bench.client.emit(died if end == "death" else failed)
    assert (reply.status, reply.reason) == ("failed", None)
    stats = to_record(reply).stats
    assert stats == reply.stats
    assert stats is not None
    assert stats.n_generated == sum(len(step.tokens) for step in reply.steps)
    assert stats.tokens_per_s == pytest.approx(
        stats.n_generated / sum(step.total_s for step in reply.steps)
    )
    assert stats.plain_tokens_per_s == STATS.plain_tokens_per_s


# ---------------------------------------------------------------------------------- conversations


def test_the_listener_gets_a_step_after_the_reply_contains_it(bench: ChatBench) -> None:
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
