"""First messages: they wait for models, and one reply may be greedy."""

from __future__ import annotations

import pytest

from chat.chat_bench import PAIR, ChatBench
from paceline.chat.pair import Pair
from paceline.messages import LoadPair, ModelParams, SamplingParams, StartTurn


@pytest.fixture
def bench() -> ChatBench:
    return ChatBench(loads=False)


def commands(bench: ChatBench, kind: type) -> int:
    return sum(isinstance(command, kind) for command in bench.client.commands)


def test_a_message_that_is_sent_before_the_models_are_asked_for_waits(bench: ChatBench) -> None:
    bench.loader.expect(PAIR)
    assert bench.send("Hello?")
    reply = bench.active
    assert reply.status == "waiting"
    assert commands(bench, LoadPair) == commands(bench, StartTurn) == 0
    bench.load()
    assert commands(bench, StartTurn) == 1
    bench.client.reply("Hi")
    assert bench.path == [("user", "Hello?"), ("assistant", "Hi")]


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


def test_one_reply_can_be_greedy(bench: ChatBench) -> None:
    bench.load()
    assert bench.send("Hello?", greedy=True)
    assert bench.client.last(StartTurn).sampling.temperature == 0
    bench.client.reply("Hi")
    assert bench.send("And now?")
    assert bench.client.last(StartTurn).sampling == SamplingParams()
