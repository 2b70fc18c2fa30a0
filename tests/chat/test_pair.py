from dataclasses import replace

import pytest

from chat.recorder import Recorder
from gui.fake_client import FakeClient
from paceline.chat.pair import Pair, PairLoader
from paceline.hosting.broker import Broker
from paceline.messages import (
    EngineDied,
    LoadFailed,
    LoadPair,
    LoadProgressed,
    ModelParams,
    Unloaded,
)
from paceline.params import DraftModel

A = Pair(ModelParams("a.gguf"), DraftModel(ModelParams("small.gguf")))
B = Pair(ModelParams("b.gguf"))


class Bench:
    def __init__(self) -> None:
        self.client = FakeClient()
        self.told = Recorder()
        self.loader = PairLoader(self.client, cache_dir="/cache")
        self.loader.set_listener(self.told)

    def ready(self, pair: Pair = A, then: Pair | None = None) -> None:
        """Load a pair, and perhaps begin to load another one."""
        self.loader.load(pair)
        self.client.finish_load()
        if then is not None:
            self.loader.load(then)

    def fail(self, code: str = "broken") -> None:
        self.client.emit(LoadFailed(code, "It is broken.", "Take another."))

    @property
    def loaded(self) -> list[str]:
        return [command.target.path for command in self.client.all(LoadPair)]


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_load_asks_the_engine_and_ends_ready(bench: Bench) -> None:
    bench.loader.load(A)
    command = bench.client.last(LoadPair)
    assert (command.target, command.drafting, command.cache_dir) == (
        A.target, A.drafting, "/cache",
    )  # fmt: skip
    assert bench.loader.state.status == "loading"
    bench.client.emit(LoadProgressed("draft", 0.5))
    assert (bench.loader.state.stage, bench.loader.state.fraction) == ("draft", 0.5)
    bench.client.finish_load("A note.")
    state = bench.loader.state
    assert (state.status, state.pair, state.notes) == ("ready", A, ("A note.",))
    assert bench.told.states == ["loading", "loading", "ready"]


def test_the_memory_the_lookup_cache_and_exact_go_with_every_load(bench: Bench) -> None:
    bench.loader.load(A)
    command = bench.client.last(LoadPair)
    assert (command.lookup_cache, command.exact) == ("", False)
    bench.client.finish_load()
    bench.loader.load(Pair(A.target, A.drafting, lookup_cache="mine.bin", exact=True))
    bench.fail()  # the one from before comes back as it was
    assert not bench.client.last(LoadPair).exact
    bench.client.finish_load()
    bench.ready(Pair(A.target, None, "mine.bin", exact=True))
    bench.loader.reload()
    command = bench.client.last(LoadPair)
    assert (command.lookup_cache, command.exact) == ("mine.bin", True)


def test_events_of_an_older_load_are_dropped(bench: Bench) -> None:
    bench.loader.load(A)
    old = bench.client.tickets[-1]
    bench.loader.load(B)
    assert bench.client.cancelled == [old.command]
    bench.client.emit(LoadProgressed("target", 0.9), old)
    bench.client.emit(LoadFailed("cancelled", "Stopped.", ""), old)
    assert bench.loader.state.fraction == 0
    bench.client.finish_load()
    assert bench.loader.state.pair == B


def test_a_load_that_waits_is_replaced_by_another_and_fails_nothing() -> None:
    """A queue answers what is cancelled while it waits before `cancel` returns."""
    queue, told = Broker(), Recorder()
    loader = PairLoader(queue)  # type: ignore[arg-type]  # a client that has no engine
    loader.set_listener(told)
    loader.load(A)
    loader.load(B)
    assert told.states == ["loading", "loading"]
    assert loader.state.pair == B
    ticket = queue.take(0)
    assert ticket is not None
    assert isinstance(ticket.command, LoadPair)
    assert ticket.command.target == B.target
    assert queue.take(0) is None


def test_a_wrong_file_brings_the_pair_from_before_back_if_that_loads(bench: Bench) -> None:
    bench.ready(A, then=B)
    bench.fail()
    assert [(f.code, falls_back) for f, falls_back in bench.told.failures] == [("broken", True)]
    assert bench.loaded == ["a.gguf", "b.gguf", "a.gguf"]
    bench.client.finish_load()
    assert (bench.loader.state.status, bench.loader.state.pair) == ("ready", A)
    bench.loader.load(B)
    bench.fail()
    bench.fail()
    assert [falls_back for _, falls_back in bench.told.failures] == [True, True, False]
    assert (bench.loader.state.status, bench.loader.state.problem) == ("failed", "It is broken.")
    assert len(bench.loaded) == 5, "nothing loops"
    bench.loader.load(B)
    bench.fail()
    assert not bench.told.failures[-1][1], "what has failed is no pair to come back to"


def test_the_pair_from_before_does_not_come_back_on_devices_that_have_other_names(
    bench: Bench,
) -> None:
    bench.loader.use_servers(("one:1", "two:2"))
    placed = ModelParams("a.gguf", device="RPC1", n_gpu_layers=9)
    bench.ready(replace(A, target=placed))
    bench.loader.use_servers(("two:2",))
    bench.loader.load(B)
    bench.fail()
    assert bench.client.last(LoadPair).target == A.target


def test_a_first_load_that_fails_says_so_and_can_be_tried_again(bench: Bench) -> None:
    bench.loader.load(A)
    bench.fail()
    assert bench.loader.state.status == "failed"
    assert bench.loader.reload()
    assert bench.loaded == ["a.gguf", "a.gguf"]


def test_a_stopped_load_is_no_failure(bench: Bench) -> None:
    bench.ready(A, then=B)
    bench.loader.cancel()
    bench.fail("cancelled")
    assert bench.told.failures == []
    assert bench.loaded[-1] == "a.gguf"


def test_a_load_that_was_waiting_when_the_engine_died_counts_when_it_is_answered(
    bench: Bench,
) -> None:
    bench.ready(A, then=B)
    bench.client.emit(EngineDied("Killed."))
    assert (bench.loader.state.status, bench.loader.state.pair) == ("dead", B)
    bench.client.finish_load()  # by the process that came next
    assert (bench.loader.state.status, bench.loader.state.pair) == ("ready", B)


def test_reloading_after_a_death_takes_the_pair_that_was_wished_for_last(bench: Bench) -> None:
    bench.ready(A, then=B)
    bench.client.emit(EngineDied("Killed."))
    assert bench.loader.reload()
    assert bench.loaded[-1] == "b.gguf"
    bench.client.finish_load()
    bench.client.emit(EngineDied("Killed."))
    assert bench.loader.reload()
    assert bench.loaded[-1] == "b.gguf"


def test_without_any_pair_there_is_nothing_to_reload(bench: Bench) -> None:
    assert not bench.loader.reload()
    bench.loader.cancel()
    assert bench.client.commands == []


def test_unloading_leaves_it_empty(bench: Bench) -> None:
    bench.ready()
    bench.client.emit(Unloaded())
    assert (bench.loader.state.status, bench.loader.state.pair) == ("empty", A)


def test_automatic_values_are_decided_for_the_engine_and_stay_automatic_for_people(
    bench: Bench,
) -> None:
    decided = replace(A, target=replace(A.target, n_gpu_layers=9))
    bench.loader.load(A, decided)
    assert bench.client.last(LoadPair).target.n_gpu_layers == 9
    bench.client.finish_load()
    assert bench.loader.state.pair == A
    bench.loader.load(B)
    assert bench.client.last(LoadPair).target == B.target
    bench.fail()  # the pair from before comes back as it was
    assert bench.client.last(LoadPair).target.n_gpu_layers == 9
    bench.client.finish_load()
    assert bench.loader.state.pair == A
    bench.loader.reload()
    assert bench.client.last(LoadPair).target.n_gpu_layers == 9


def test_what_is_held_follows_what_the_engine_does(bench: Bench) -> None:
    decided = replace(A, target=replace(A.target, n_gpu_layers=7))
    bench.loader.load(A, decided)
    assert bench.loader.held is None
    bench.client.finish_load()
    assert bench.loader.held == decided
    bench.loader.load(B)
    assert bench.loader.held == decided  # a reply may still be written with it
    bench.client.emit(LoadProgressed("target", 0.0))
    assert bench.loader.held is None
    bench.fail()
    assert bench.loader.held is None
    bench.client.finish_load()
    assert bench.loader.held == decided
    bench.client.emit(EngineDied("It crashed."))
    assert bench.loader.held is None
