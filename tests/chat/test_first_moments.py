"""What a session does for somebody who has just begun: waits, asks greedily, plays a recording."""

from __future__ import annotations

import pytest

from chat.chat_bench import PAIR, ChatBench
from paceline.chat.pair import Pair
from paceline.chat.recording import Recording, read_recording
from paceline.messages import (
    EngineDied,
    LoadPair,
    ModelParams,
    SamplingParams,
    StartTurn,
    TurnFinished,
)
from paceline.paths import resources


@pytest.fixture
def bench() -> ChatBench:
    return ChatBench(loads=False)


@pytest.fixture(scope="module")
def recording() -> Recording:
    return read_recording(resources() / "examples" / "starter.jsonl")


def commands(bench: ChatBench, kind: type) -> int:
    return sum(isinstance(command, kind) for command in bench.client.commands)


def test_a_message_that_is_sent_before_the_models_are_asked_for_waits(bench: ChatBench) -> None:
    bench.loader.expect(PAIR)
    assert bench.send("Hello?")
    reply = bench.session.active
    assert reply is not None
    assert reply.status == "waiting"
    assert commands(bench, LoadPair) == commands(bench, StartTurn) == 0
    bench.load()
    assert commands(bench, StartTurn) == 1
    bench.client.reply("Hi")
    assert bench.path == [("user", "Hello?"), ("assistant", "Hi")]


def test_without_anything_that_comes_it_fails_at_once(bench: ChatBench) -> None:
    assert bench.send("Hello?")
    assert bench.session.active is None
    (error,) = (reply.error for name, reply in bench.told.calls if name == "ended")
    assert error is not None
    assert "No model is loaded" in error.message


def test_a_message_waits_for_the_pair_that_is_about_to_take_the_place_of_another(
    bench: ChatBench,
) -> None:
    bench.load()
    bench.loader.expect(Pair(ModelParams("other.gguf")))
    assert bench.send("Hello?")
    assert commands(bench, StartTurn) == 0
    bench.loader.load(Pair(ModelParams("other.gguf")))
    bench.client.finish_load()
    assert commands(bench, StartTurn) == 1


def test_a_load_that_is_only_expected_can_be_stopped(bench: ChatBench) -> None:
    bench.load()
    bench.loader.expect(Pair(ModelParams("other.gguf")))
    bench.loader.cancel()
    assert bench.loader.state.status == "ready"
    assert bench.loader.state.pair == PAIR


def test_an_engine_that_dies_does_not_end_a_recording(
    bench: ChatBench, recording: Recording
) -> None:
    bench.load()
    bench.new(private=True)
    reply = bench.begin_recorded(recording)
    assert reply is not None
    events = recording.events
    n_loads = commands(bench, LoadPair)
    for at, (_, event) in enumerate(events):
        if at in (0, 40):
            bench.client.emit(EngineDied("gone"))
        bench.session.on_recorded(event)
    assert (reply.status, reply.error) == ("finished", None)
    assert commands(bench, StartTurn) == 0
    assert commands(bench, LoadPair) == n_loads


def test_one_reply_can_be_greedy(bench: ChatBench) -> None:
    bench.load()
    assert bench.send("Hello?", greedy=True)
    assert bench.client.last(StartTurn).sampling.temperature == 0
    bench.client.reply("Hi")
    assert bench.send("And now?")
    assert bench.client.last(StartTurn).sampling == SamplingParams()


def test_it_stays_greedy_while_it_waits(bench: ChatBench) -> None:
    bench.loader.expect(PAIR)
    assert bench.send("Hello?", greedy=True)
    bench.load()
    assert bench.client.last(StartTurn).sampling.temperature == 0


def test_a_recording_is_told_as_a_reply_is_and_asks_the_engine_nothing(
    bench: ChatBench, recording: Recording
) -> None:
    bench.load()
    bench.new(private=True)
    reply = bench.begin_recorded(recording)
    assert reply is not None
    for _, event in recording.events:
        bench.session.on_recorded(event)
    last = recording.events[-1][1]
    assert isinstance(last, TurnFinished)
    assert bench.path == [("user", recording.question), ("assistant", last.text)]
    assert reply.has_ended
    assert reply.stats == last.stats
    assert reply.target is not None
    assert reply.target.name == recording.target.name
    assert commands(bench, StartTurn) == 0


def test_a_recording_is_ended_where_it_is(bench: ChatBench, recording: Recording) -> None:
    bench.load()
    bench.new(private=True)
    reply = bench.begin_recorded(recording)
    assert reply is not None
    for _, event in recording.events[:40]:
        bench.session.on_recorded(event)
    assert bench.begin_recorded(recording) is None, "one at a time"
    bench.session.stop()
    assert reply.stopping
    bench.session.end_reply()
    assert reply.has_ended
    last = recording.events[-1][1]
    assert isinstance(last, TurnFinished)
    assert 0 < len(reply.text) < len(last.text)
    assert bench.send("Hello?")
    assert commands(bench, StartTurn) == 1
