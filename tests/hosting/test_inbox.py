"""The queue with a cancel flag beside it."""

from __future__ import annotations

import threading

import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from paceline.hosting.client import Inbox
from paceline.messages import (
    Command,
    CountTokens,
    DescribeEngine,
    LoadPair,
    ModelParams,
    Remember,
    Shutdown,
    StartTurn,
    Tune,
    Unload,
)
from paceline.params import Strategy


def load(request_id: str) -> LoadPair:
    return LoadPair(request_id, ModelParams("m.gguf"))


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


def test_commands_come_out_in_order(inbox: Inbox) -> None:
    commands: list[Command] = [load("l"), StartTurn("t"), DescribeEngine(), Unload(), Shutdown()]
    for command in commands:
        inbox.put(command)
    assert [inbox.get() for _ in commands] == commands


def test_an_empty_queue_says_so_without_waiting(inbox: Inbox) -> None:
    assert inbox.get(timeout=0) is None


def test_get_waits_for_a_command_of_another_thread(inbox: Inbox) -> None:
    taken: list[Command | None] = []
    thread = threading.Thread(target=lambda: taken.append(inbox.get()))
    thread.start()
    inbox.put(DescribeEngine())
    thread.join(5)
    assert taken == [DescribeEngine()]


@pytest.mark.parametrize("command", [load("x"), StartTurn("x")])
def test_cancel_reaches_what_runs(inbox: Inbox, command: Command) -> None:
    inbox.put(command)
    inbox.get()
    assert not inbox.flag.is_set()
    inbox.cancel("x")
    assert inbox.flag.is_set()


def test_a_late_cancel_cannot_stop_the_next_turn(inbox: Inbox) -> None:
    inbox.put(StartTurn("old"))
    inbox.get()
    inbox.put(StartTurn("new"))
    inbox.get()
    inbox.cancel("old")
    assert not inbox.flag.is_set()


def test_a_cancel_of_the_last_turn_does_not_reach_the_next(inbox: Inbox) -> None:
    inbox.put(StartTurn("old"))
    inbox.get()
    inbox.cancel("old")
    inbox.put(StartTurn("new"))
    inbox.get()
    assert not inbox.flag.is_set()


def test_a_queued_turn_is_cancelled_when_its_time_comes(inbox: Inbox) -> None:
    for turn in ("a", "b", "c"):
        inbox.put(StartTurn(turn))
    inbox.cancel("b")
    states = []
    for _ in "abc":
        inbox.get()
        states.append(inbox.flag.is_set())
    assert states == [False, True, False]


def test_the_id_can_be_used_again_after_a_cancelled_turn(inbox: Inbox) -> None:
    inbox.put(StartTurn("t"))
    inbox.cancel("t")
    inbox.get()
    inbox.put(StartTurn("t"))
    inbox.get()
    assert not inbox.flag.is_set()


def test_an_unknown_id_is_ignored_even_if_it_comes_later(inbox: Inbox) -> None:
    inbox.cancel("t")
    inbox.put(StartTurn("t"))
    inbox.get()
    assert not inbox.flag.is_set()


def test_nothing_can_be_cancelled_between_two_commands(inbox: Inbox) -> None:
    inbox.put(StartTurn("t"))
    inbox.get()
    inbox.get(timeout=0)
    inbox.cancel("t")
    assert not inbox.flag.is_set()


def test_a_tune_is_taken_past_other_commands_oldest_first(inbox: Inbox) -> None:
    tunes = [
        Tune(turn, Strategy.of(name))
        for turn, name in (("t", "off"), ("other", "draft"), ("t", "draft"))
    ]
    inbox.put(Unload())
    for tune in tunes:
        inbox.put(tune)
    texts = Remember("chat", ("Hello",)), Remember("chat")
    for each in texts:
        inbox.put(each)
    assert inbox.take_between("t") == tunes[0]
    assert inbox.take_between("t") == tunes[2]
    assert inbox.take_between("t") == texts[0], "what was deleted must not come before it"
    assert inbox.take_between("t") == texts[1]
    assert inbox.take_between("t") is None
    assert inbox.get() == Unload()
    assert inbox.get() == tunes[1]


def test_on_the_way_out_everything_is_cancelled(inbox: Inbox) -> None:
    inbox.put(StartTurn("a"))
    inbox.get()
    inbox.put(load("b"))
    inbox.put(DescribeEngine())
    inbox.cancel_current()
    assert inbox.flag.is_set()
    inbox.get()
    assert inbox.flag.is_set()
    inbox.get()
    assert not inbox.flag.is_set()


class InboxMachine(RuleBasedStateMachine):
    """Against a model: a list, the running id, and the set of cancelled ids."""

    def __init__(self) -> None:
        super().__init__()
        self.inbox = Inbox()
        self.queue: list[str] = []
        self.running: str | None = None
        self.cancelled: set[str] = set()
        self.flag = False
        self.n = 0

    @rule()
    def put(self) -> None:
        self.n += 1
        self.inbox.put(StartTurn(str(self.n)))
        self.queue.append(str(self.n))

    @precondition(lambda self: self.queue)
    @rule()
    def get(self) -> None:
        command = self.inbox.get()
        assert isinstance(command, StartTurn)
        assert command.turn_id == self.queue[0]
        self.running = self.queue.pop(0)
        self.flag = self.running in self.cancelled

    @rule()
    def finish(self) -> None:
        if not self.queue:
            assert self.inbox.get(timeout=0) is None
            self.running = None

    @precondition(lambda self: self.n)
    @rule()
    def cancel_the_last(self) -> None:
        self._cancel(str(self.n))

    @precondition(lambda self: self.n)
    @rule()
    def cancel_the_first(self) -> None:
        self._cancel("1")

    def _cancel(self, turn_id: str) -> None:
        self.inbox.cancel(turn_id)
        if turn_id == self.running:
            self.flag = True
        elif turn_id in self.queue:
            self.cancelled.add(turn_id)

    @invariant()
    def flag_is_as_expected(self) -> None:
        if self.running is not None:
            assert self.inbox.flag.is_set() == self.flag


TestInboxMachine = InboxMachine.TestCase
TestInboxMachine.settings = settings(max_examples=100, stateful_step_count=30)


def test_no_command_is_lost_between_threads(inbox: Inbox) -> None:
    n_threads, n_each = 4, 250
    taken: list[Command] = []

    def take() -> None:
        while not isinstance(command := inbox.get(), Shutdown):
            assert command is not None
            taken.append(command)

    def put(thread: int) -> None:
        for i in range(n_each):
            inbox.put(StartTurn(f"{thread}-{i}"))
            inbox.cancel(f"{thread}-{i}")

    consumer = threading.Thread(target=take)
    producers = [threading.Thread(target=put, args=(i,)) for i in range(n_threads)]
    for thread in [consumer, *producers]:
        thread.start()
    for producer in producers:
        producer.join()
    inbox.put(Shutdown())
    consumer.join(10)
    assert len(taken) == n_threads * n_each
    assert len(set(taken)) == len(taken)


def test_of_several_questions_the_last_one_is_asked(inbox: Inbox) -> None:
    for i in range(3):
        inbox.put(CountTokens(str(i), ()))
    inbox.put(Unload())
    inbox.put(CountTokens("last", ()))
    assert inbox.get() == Unload()
    assert inbox.get() == CountTokens("last", ())
    assert inbox.get(timeout=0) is None


def test_what_is_urgent_overtakes_what_can_wait_and_nothing_else(inbox: Inbox) -> None:
    question, forget = CountTokens("q", ()), Remember("chat")
    commands = [
        forget, load("l"), question, forget, StartTurn("t"), DescribeEngine(), forget,
        StartTurn("u"), Unload(), forget, Shutdown(),
    ]  # fmt: skip
    for command in commands:
        inbox.put(command)
    assert [inbox.get() for _ in commands] == [
        load("l"), StartTurn("t"), forget, question, forget, DescribeEngine(), StartTurn("u"),
        forget, Unload(), Shutdown(), forget,
    ]  # fmt: skip
