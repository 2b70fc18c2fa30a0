"""Many clients at once: queue, hang-ups, the user's priority, ends, and an engine that dies."""

from __future__ import annotations

import gc
import json
import os
import random
import signal
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import psutil
import pytest

from hosting.engines import make_tough_process_service
from hosting.observed import engine_processes
from paceline.content import RawText
from paceline.hosting.broker import Priority
from paceline.hosting.threaded import make_engine_service
from paceline.messages import PairLoaded, StartTurn, TurnFinished
from paceline.server import replies
from paceline.server.asking import Question
from server.rig import running
from server.wire import connect, read, request

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator

    from paceline.hosting.broker import Broker, Ticket
    from paceline.hosting.client import ServiceFactory
    from paceline.messages import LoadPair
    from paceline.server.endpoint import Endpoint

HELLO = [{"role": "user", "content": "What is a list?"}]
ENDLESS = {"ignore_eos": True, "paceline": {"strategy": "off"}}
SECONDS = 30


class Served(NamedTuple):
    """An endpoint, and the broker that queues the requests to its engine."""

    endpoint: Endpoint
    broker: Broker

    def ask(self, **fields: Any) -> socket.socket:
        """Send a request for a reply, and return the connection to read the answer from."""
        body = json.dumps({"messages": HELLO} | fields).encode()
        connection = connect(self.endpoint.url)
        kind = "Content-Type: application/json"
        connection.sendall(request(self.endpoint.url, "POST /v1/chat/completions", kind, body=body))
        return connection

    def begun(self, **fields: Any) -> tuple[socket.socket, Ticket]:
        """Send a request whose reply never ends by itself; return its connection and ticket."""
        before = self.broker.running
        connection = self.ask(**ENDLESS, **fields)
        until(lambda: self.broker.running not in (None, before))
        ticket = self.broker.running
        assert ticket is not None
        assert isinstance(ticket.command, StartTurn)
        return connection, ticket


def until(is_met: Callable[[], object]) -> None:
    """Wait until a condition is met."""
    end = time.monotonic() + SECONDS
    while not is_met():
        assert time.monotonic() < end, "the condition was not met in time"
        time.sleep(0.002)


@contextmanager
def serving(
    load: LoadPair, make: ServiceFactory = make_engine_service, **options: Any
) -> Iterator[Served]:
    """Yield an endpoint with its broker."""
    brokers: list[Broker] = []

    def noted(emit: Any, broker: Broker) -> Any:
        brokers.append(broker)
        return make(emit, broker)

    with running(load, make_service=noted, **options) as endpoint:
        yield Served(endpoint, brokers[0])


@pytest.fixture(scope="module")
def served(demo_load: LoadPair) -> Iterator[Served]:
    """An endpoint where two requests may wait."""
    with serving(demo_load, queue=2) as served:
        yield served


def lines_of(connection: socket.socket) -> Iterator[str]:
    """Yield the lines of a stream as they come."""
    with connection.makefile("rb") as file:
        for line in file:
            if line == b"0\r\n":  # the chunk that ends the body
                return
            if line.strip():
                yield line.decode().strip()


# ---------------------------------------------------------------------------------------- the queue


def test_a_waiting_stream_shows_its_place_in_the_queue(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replies, "MAX_WAIT_FOR_START_S", 0.01)
    monkeypatch.setattr(replies, "KEEP_ALIVE_EVERY_S", 0.01)
    first, ticket = served.begun()
    second = served.ask(stream=True, max_tokens=1)
    until(lambda: served.endpoint.desk.n_waiting == 1)
    third = served.ask(stream=True, max_tokens=1)
    until(lambda: served.endpoint.desk.n_waiting == 2)
    assert any(line == ": waiting, place 2 in the queue" for line in lines_of(third))
    assert ticket.state == "running"
    for each in (first, second, third):
        each.close()
    until(lambda: served.endpoint.desk.n_waiting + served.endpoint.desk.n_running == 0)


def test_a_full_queue_refuses_a_request(served: Served) -> None:
    first, _ = served.begun()
    waiting = [served.ask(), served.ask()]
    until(lambda: served.endpoint.desk.n_waiting == 2)
    with served.ask() as refused:
        answer = read(refused)
    assert (answer.status, answer.error["code"]) == (429, "queue_full")
    assert int(answer.headers["retry-after"]) > 0
    first.close()
    for each in waiting:
        each.close()
    until(lambda: served.endpoint.desk.n_waiting + served.endpoint.desk.n_running == 0)


def test_without_a_queue_one_client_is_served_at_a_time(demo_load: LoadPair) -> None:
    with serving(demo_load, queue=0) as served:
        first, _ = served.begun()
        with served.ask() as refused:
            assert read(refused).status == 429
        first.close()
        until(lambda: served.broker.running is None)
        with served.ask(max_tokens=1) as later:
            assert read(later).status == 200


def test_the_users_request_precedes_those_of_clients(served: Served) -> None:
    first, _ = served.begun()
    second = served.ask(max_tokens=1)
    until(lambda: served.endpoint.desk.n_waiting == 1)
    states: list[int] = []
    ticket = served.broker.request(
        StartTurn(RawText("Once"), max_tokens=1),
        Priority.PERSON,
        lambda _: states.append(served.endpoint.desk.n_waiting),
    )
    first.close()
    assert isinstance(ticket.wait(SECONDS), TurnFinished)
    assert set(states) == {1}, "the client was still waiting"
    with second:
        assert read(second).status == 200


def test_a_waiting_request_is_refused_if_the_user_loads_another_model(
    served: Served, demo_load: LoadPair
) -> None:
    first, _ = served.begun()
    waiting = [served.ask(max_tokens=1), served.ask(max_tokens=1, stream=True)]
    until(lambda: served.endpoint.desk.n_waiting == 2)
    load = served.broker.request(demo_load, Priority.PERSON)
    first.close()
    assert isinstance(load.wait(SECONDS), PairLoaded)
    for each in waiting:
        with each:
            answer = read(each)
            assert (answer.status, answer.error["code"]) == (503, "model_changed")
    with served.ask(max_tokens=1) as again:
        assert read(again).status == 200


def test_a_waiting_request_is_refused_when_the_server_ends(demo_load: LoadPair) -> None:
    with serving(demo_load) as served:
        first, _ = served.begun()
        with served.ask() as waiting:
            until(lambda: served.endpoint.desk.n_waiting == 1)
            served.endpoint.stop()
            answer = read(waiting)
        assert (answer.status, answer.error["code"]) == (503, "server_ending")
        first.close()


# ----------------------------------------------------------------------------------------- hang-ups


def test_a_hang_up_ends_a_prefill(served: Served) -> None:
    long = [{"role": "user", "content": "one two three four " * 270}]
    connection, ticket = served.begun(messages=long)
    connection.close()
    answer = ticket.wait(SECONDS)
    assert isinstance(answer, TurnFinished)
    assert answer.reason == "cancelled"


@pytest.mark.parametrize("fields", [{"stream": True}, {}, {"reasoning_effort": "low"}])
def test_a_hang_up_leaves_the_queue(served: Served, fields: dict[str, Any]) -> None:
    first, ticket = served.begun()
    waiting = served.ask(**fields)
    until(lambda: served.endpoint.desk.n_waiting == 1)
    waiting.close()
    until(lambda: served.endpoint.desk.n_waiting == 0)
    assert ticket.state == "running", "the other one goes on"
    first.close()
    assert ticket.wait(SECONDS)


def test_a_long_prefill_keeps_its_stream_alive(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MAX_WAIT_FOR_START_S", "KEEP_ALIVE_EVERY_S"):
        monkeypatch.setattr(replies, name, 0.001)
    long = [{"role": "user", "content": "red green blue black " * 270}]
    with served.ask(stream=True, messages=long, max_tokens=1) as connection:
        found = list(lines_of(connection))
    comments = [line for line in found if line.startswith(":")]
    assert any("reading the prompt" in line for line in comments)
    assert "data: [DONE]" in found


# -------------------------------------------------------------------------------------------- ends


def test_when_the_server_ends_the_running_reply_is_completed(demo_load: LoadPair) -> None:
    with serving(demo_load) as served:
        first, _ = served.begun(stream=True, max_tokens=60)
        second = served.ask()
        until(lambda: served.endpoint.desk.n_waiting == 1)
        served.endpoint.stop()
        with second:
            assert read(second).status == 503
        with first:
            assert "data: [DONE]" in list(lines_of(first))
        assert served.endpoint.wait(SECONDS)


def test_a_second_stop_cuts_the_running_reply_off(demo_load: LoadPair) -> None:
    with serving(demo_load) as served:
        first, ticket = served.begun(stream=True)
        served.endpoint.stop()
        assert ticket.state == "running"
        served.endpoint.stop(at_once=True)
        assert served.endpoint.wait(SECONDS)
        assert ticket.wait(SECONDS)
        with first:
            assert "data: [DONE]" not in list(lines_of(first)), "it is not complete"


# ------------------------------------------------------------------------------------------- deaths


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_an_engine_that_dies_fails_its_replies_and_is_started_again(
    demo_load: LoadPair, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings(".*")
    with serving(demo_load, make_tough_process_service) as served:
        for stream in (True, False):
            running_, _ = served.begun(stream=stream)
            lines = lines_of(running_)
            if stream:
                next(line for line in lines if '"content":"' in line)
            waiting = served.ask(max_tokens=1)
            until(lambda: served.endpoint.desk.n_waiting == 1)
            for process in engine_processes():
                os.kill(process.pid, signal.SIGKILL)
            with running_:
                if stream:
                    told = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
                    assert told[-1]["error"]["code"] == "engine_died"
                else:
                    assert read(running_).error["code"] == "engine_died"
            with waiting:
                assert read(waiting).status in (200, 500)
            again = [served.ask(max_tokens=1) for _ in range(2)]
            for each in again:
                with each:
                    answer = read(each)
                    assert answer.status == 200, answer.body


# ---------------------------------------------------------------------------------------- very many


def test_64_programs_with_random_hang_ups(demo_load: LoadPair, is_long: bool) -> None:
    seconds = 300.0 if is_long else 1.0
    outcomes: Counter[str] = Counter()
    faults: list[str] = []
    with serving(demo_load, queue=32) as served:
        end = time.monotonic() + seconds

        def live(number: int) -> None:
            chance = random.Random(number)
            while (time.monotonic() < end or len(outcomes) < 4) and not faults:
                try:
                    outcomes[one_request(served, chance)] += 1
                except Exception as error:  # noqa: BLE001 - reported below
                    faults.append(f"{type(error).__name__}: {error}")

        threads = [threading.Thread(target=live, args=(i,)) for i in range(64)]
        for thread in threads:
            thread.start()
        memory = psutil.Process().memory_info
        until(lambda: len(outcomes) == 4 or faults)  # one-time allocations are done
        before = memory().rss
        for thread in threads:
            thread.join()
        assert not faults, faults
        assert outcomes.keys() == {"whole", "stream", "full", "hung up"}, outcomes
        desk = served.endpoint.desk
        until(lambda: desk.n_waiting + desk.n_running == 0 and served.broker.running is None)
        port = urlsplit(served.endpoint.url).port
        until(lambda: not open_connections(port))
        assert memory().rss - before < 24 << 20, "memory does not grow"
        with served.ask(max_tokens=1) as connection:
            assert read(connection).status == 200
        assert questions() <= 2, "at most the last request of each engine is still referenced"


def one_request(served: Served, chance: random.Random) -> str:
    """Send a random request as a client does, and return its outcome."""
    stream = chance.random() < 0.6
    n_tokens = chance.choice((1, 5, 20, 60))
    with served.ask(stream=stream, max_tokens=n_tokens, seed=chance.randrange(9)) as connection:
        if chance.random() < 0.4:
            with suppress(TimeoutError):
                connection.settimeout(chance.random() / 4)
                connection.recv(chance.choice((1, 5_000)))
            return "hung up"
        answer = read(connection)
    if answer.status == 429:
        return "full"
    assert answer.status == 200, answer.body
    if not stream:
        told = json.loads(answer.body)
        assert told["usage"]["completion_tokens"] <= n_tokens
        return "whole"
    events = [line[6:] for line in answer.body.decode().split("\n") if line.startswith("data: ")]
    assert events.count("[DONE]") == 1
    assert events[-1] == "[DONE]"
    ends = [e for e in events[:-1] if json.loads(e)["choices"][0]["finish_reason"]]
    assert len(ends) == 1
    return "stream"


def open_connections(port: int | None) -> int:
    found = psutil.Process().net_connections("tcp")
    return sum(each.status == "ESTABLISHED" and port in each.laddr for each in found)


def questions() -> int:
    gc.collect()
    return sum(type(each) is Question for each in gc.get_objects())


# -------------------------------------------------------------------------------------------- UTF-8


@pytest.mark.parametrize(
    "text", ["👍🏽👨‍👩‍👧‍👦 日本語, naïve é ﷽ 𝔘𝔫𝔦", "\U0010ffff\ufffdä" * 5, "🇩🇪" * 9]
)
def test_characters_never_break_between_events(served: Served, text: str) -> None:
    fields = {"grammar": f'root ::= "{text}"', "temperature": 2.0, "max_tokens": 300}
    with served.ask(**fields) as connection:
        whole = json.loads(read(connection).body)["choices"][0]["message"]["content"]
    with served.ask(stream=True, **fields) as connection:
        events = [json.loads(x[6:]) for x in lines_of(connection) if x.startswith("data: {")]
    pieces = [each["choices"][0]["delta"].get("content", "") for each in events]
    assert "".join(pieces) == whole == text
    assert len([piece for piece in pieces if piece]) > 1
