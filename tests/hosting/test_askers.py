"""Three askers at once on one real engine in a process: a person, a program, a counting loop."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hosting.engines import make_tough_process_service
from hosting.observed import engine_processes
from hosting.rig import wait_until
from paceline.hosting.broker import Priority
from paceline.hosting.threaded import ThreadedClient
from paceline.messages import (
    Chat,
    ChatMessage,
    Command,
    CountTokens,
    DraftModel,
    EngineDied,
    Event,
    LoadPair,
    ModelParams,
    PairLoaded,
    StepCommitted,
    TokensCounted,
    TurnFinished,
    TurnStarted,
)
from trials import Trials
from turns import turn_of

AllowWarnings = Callable[[str], None]

LIMIT_S = 60.0
"""Nothing waits longer, on a busy machine either."""
N_TOKENS = 12
QUESTION = (ChatMessage.of_text("user", "What is a list?"),)
COUNT = CountTokens(Chat(QUESTION))
PERSON, PROGRAM, COUNTING = Priority.PERSON, Priority.PROGRAM, Priority.COUNTING
NAMES = {PERSON: "window", PROGRAM: "script", COUNTING: "counting"}


def reply(max_tokens: int = N_TOKENS, seed: int = 1) -> Command:
    return turn_of(messages=QUESTION, max_tokens=max_tokens, seed=seed, ignore_eog=True)


@dataclass(eq=False)
class Request:
    """One request, and the events that its asker receives, with their times in seconds.

    Attributes:
        told: Time and event of each report.
        askers: Askers of the command that ran at each of these times.
        asked_s: Time of the request.
    """

    client: ThreadedClient
    command: Command
    priority: Priority
    told: list[tuple[float, Event]] = field(default_factory=list)
    askers: set[str] = field(default_factory=set)
    asked_s: float = 0.0

    def __post_init__(self) -> None:
        self.ticket = self.client.request(
            self.command, self.priority, self._hear, NAMES[self.priority]
        )
        self.asked_s = time.perf_counter()

    def _hear(self, event: Event) -> None:
        running = self.client.running
        self.askers.add(running.asker if running is not None else "")
        self.told.append((time.perf_counter(), event))

    def answered(self) -> Event:
        """Wait for the answer, which comes once and last."""
        answer = self.ticket.wait(LIMIT_S)
        assert answer is not None
        assert [event for _, event in self.told if event is answer] == [answer]
        assert self.told[-1][1] is answer
        return answer

    def wait_for(self, kind: type[Event]) -> None:
        wait_until(lambda: any(isinstance(event, kind) for _, event in self.told), LIMIT_S)


@pytest.fixture
def client(demo_pair: tuple[Path, Path]) -> Iterator[ThreadedClient]:
    made = ThreadedClient(make_tough_process_service)
    load(made, demo_pair)
    yield made
    assert made.close()


def load(client: ThreadedClient, pair: tuple[Path, Path]) -> None:
    target, draft = (ModelParams(str(path), n_threads=1) for path in pair)
    ticket = client.request(LoadPair(target, DraftModel(draft)), PERSON, asker="window")
    assert isinstance(ticket.wait(LIMIT_S), PairLoaded)


class Askers:
    """Asks on three threads until the person has had so many replies; then all are answered."""

    def __init__(self, client: ThreadedClient, n_replies: int) -> None:
        self._client = client
        self._n_replies = n_replies
        self._is_over = threading.Event()
        self._lock = threading.Lock()
        self.requests: list[Request] = []

    def run(self) -> None:
        threads = [
            threading.Thread(target=work) for work in (self._person, self._program, self._count)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(self._n_replies * LIMIT_S)
        assert not any(thread.is_alive() for thread in threads)

    def _ask(self, command: Command, priority: Priority) -> Request:
        request = Request(self._client, command, priority)
        with self._lock:
            self.requests.append(request)
        return request

    def _person(self) -> None:
        try:
            for number in range(self._n_replies):
                self._ask(reply(seed=number), PERSON).ticket.wait(LIMIT_S)
        finally:
            self._is_over.set()

    def _program(self) -> None:
        while not self._is_over.is_set():
            both = [self._ask(reply(seed=seed), PROGRAM) for seed in (1, 2)]
            for request in both:
                request.ticket.wait(LIMIT_S)

    def _count(self) -> None:
        while not self._is_over.is_set():
            self._ask(COUNT, COUNTING).ticket.wait(LIMIT_S)


def test_the_most_urgent_one_goes_first_and_no_reply_is_ended_for_another(
    client: ThreadedClient,
) -> None:
    askers = Askers(client, 3)
    askers.run()
    for request in askers.requests:
        answer = request.answered()
        assert request.askers == {NAMES[request.priority]}
        if request.priority is COUNTING:
            assert isinstance(answer, TokensCounted)
            assert answer.n_tokens > 0
        else:
            assert isinstance(answer, TurnFinished)
            assert (answer.reason, len(answer.tokens)) == ("length", N_TOKENS)
    carried_out = sorted(askers.requests, key=lambda request: request.told[0][0])
    for i, (before, chosen) in enumerate(itertools.pairwise(carried_out), 1):
        # The engine became free after this, and took what was the most urgent then.
        free_s = before.told[-1][0]
        assert free_s <= chosen.told[0][0], "one at a time"
        for other in carried_out[i + 1 :]:
            if other.asked_s < free_s:
                ranks = [(each.priority, each.asked_s) for each in (chosen, other)]
                assert ranks == sorted(ranks)
    assert {request.priority for request in askers.requests} == {PERSON, PROGRAM, COUNTING}
    texts: dict[Command, set[str]] = {}
    for request in askers.requests:
        if isinstance(request.ticket.answer, TurnFinished):
            texts.setdefault(request.command, set()).add(request.ticket.answer.text)
    assert {len(each) for each in texts.values()} == {1}, "whoever asks, it is the same reply"


def test_the_death_of_the_process_answers_everyone_once(
    client: ThreadedClient,
    demo_pair: tuple[Path, Path],
    trials: Trials,
    allow_warnings: AllowWarnings,
) -> None:
    allow_warnings("was killed|ended by|ended from outside")
    deaths: list[Event] = []
    client.watch(lambda event: deaths.append(event) if isinstance(event, EngineDied) else None)
    for number in trials(1, 20):
        deaths.clear()
        runs = Request(client, reply(1000), PERSON)
        runs.wait_for(StepCommitted if number % 2 else TurnStarted)
        waiting = [
            Request(client, COUNT, COUNTING),
            Request(client, reply(), PROGRAM),
            Request(client, reply(), PERSON),
        ]
        (engine,) = engine_processes()
        engine.kill()
        for request in (runs, *waiting):
            death = request.answered()
            assert isinstance(death, EngineDied)
            assert [death] == deaths
        load(client, demo_pair)
        again = Request(client, reply(), PERSON).answered()
        assert isinstance(again, TurnFinished)
        assert len(again.tokens) == N_TOKENS
