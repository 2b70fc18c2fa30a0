"""RPC servers that die or hang while models are on them are named, and nothing else is lost."""

from __future__ import annotations

import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from hosting import hanging
from hosting.observed import Host, finished_text, only_death, text_of
from paceline.hosting import supervisor
from paceline.hosting.child import run_child
from paceline.hosting.exit_reasons import AGAIN, RestartPolicy, describe_death
from paceline.hosting.lost_servers import end_kind, with_servers
from paceline.hosting.process import LoadWatch
from paceline.messages import (
    EngineDied,
    Event,
    LoadFailed,
    LoadPair,
    LoadProgressed,
    ModelParams,
    PairLoaded,
    StepCommitted,
    TurnFinished,
    TurnStarted,
    Unload,
    Unloaded,
)
from paceline.workers.ends import End
from paceline.workers.process import ChildMain
from rpc_servers import UNUSABLE, Server, rpc_servers
from turns import turn_of

if TYPE_CHECKING:
    from trials import Trials

ABORT = End(-6, "/build/ggml-rpc.cpp:566: Remote RPC server crashed or returned malformed response")
Pair = tuple[Path, Path]
AllowWarnings = Callable[[str], None]


@pytest.fixture
def unusable() -> Iterator[tuple[str, str]]:
    """Two servers that do not answer: nothing listens, and one that is silent."""
    with UNUSABLE["refuses"]() as gone, UNUSABLE["silent"]() as silent:
        yield gone, silent


@pytest.fixture(scope="module")
def real() -> Iterator[str]:
    with rpc_servers() as (server,):
        yield server.endpoint


# ---------------------------------------------------------------------------------------- words


def test_servers_that_do_not_answer_are_named(unusable: tuple[str, str], real: str) -> None:
    gone, silent = unusable
    death = with_servers(describe_death(ABORT), (gone, real, silent), end_kind(ABORT.said))
    assert death.reason == (
        f"The engine lost a connection. No RPC server listens at {gone}. "
        f"The RPC server {silent} does not answer."
    )
    assert "leave this server out" in death.hint
    assert [problem.server for problem in death.lost] == [gone, silent]
    assert (death.by_server, death.is_native) == (True, False)


def test_of_servers_that_answer_again_the_connection_was_lost(real: str) -> None:
    death = with_servers(describe_death(ABORT), (real,), end_kind(ABORT.said))
    assert death.reason == f"The connection to the RPC server {real} was lost."
    assert (death.hint, death.by_server, death.lost) == (AGAIN, True, ())
    with rpc_servers() as (server,):
        both = real, server.endpoint
        two = with_servers(describe_death(ABORT), both, end_kind(ABORT.said))
    names = ", ".join(both)
    assert two.reason == f"The connection to one of the RPC servers {names} was lost."


@pytest.mark.parametrize("kind", ["hung", "other"])
def test_another_end_keeps_its_words(
    unusable: tuple[str, str], real: str, kind: Literal["hung", "other"]
) -> None:
    crash = describe_death(End(-11))
    death = with_servers(crash, unusable[:1], kind)
    assert death.reason == f"{crash.reason} No RPC server listens at {unusable[0]}."
    assert death.by_server
    answered = with_servers(crash, (real,), kind)
    assert answered.reason.startswith(crash.reason)
    assert (real in answered.reason) == (kind == "hung")
    assert (answered.hint, answered.by_server) == (crash.hint, False)


def test_without_servers_every_end_is_what_it_was() -> None:
    death = describe_death(ABORT)
    assert with_servers(death, (), "broken") is death
    assert death.is_native


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_load_that_loses_a_server_blames_no_file(
    unusable: tuple[str, str], real: str, *, is_gone: bool
) -> None:
    server = unusable[0] if is_gone else real
    watch = LoadWatch(LoadPair(ModelParams("/m/target.gguf"), servers=(server,)))
    watch.hear(LoadProgressed("target", 1.0))
    death = with_servers(describe_death(ABORT), (server,), end_kind(ABORT.said))
    message, hint = watch.explain(death)
    assert server in message
    assert "target.gguf" in message
    assert "download" not in hint
    assert "nstall" not in hint
    assert watch.next_try(death) is None


# ------------------------------------------------------------------------------------- processes


def host_on(pair: Pair, servers: list[Server], main: ChildMain = run_child) -> Host:
    host = Host(pair, main)
    host.servers = tuple(each.endpoint for each in servers)
    return host


class Killer:
    """Kills a server from another thread, a random while after a random event."""

    def __init__(self, server: Server, rng: random.Random, n_events: int) -> None:
        self._server = server
        self._n_left = rng.randrange(n_events)
        self._delay_s = rng.random() * 0.02
        self._now = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def hear(self, _event: Event) -> None:
        self._n_left -= 1
        if self._n_left < 0:
            self._now.set()

    def _run(self) -> None:
        self._now.wait(60)
        time.sleep(self._delay_s)
        self._server.process.kill()
        self._server.process.wait()

    def join(self) -> None:
        self._now.set()
        self._thread.join()


def test_servers_killed_at_random_moments_cost_the_rest_of_a_reply(
    demo_pair: Pair, whole: str, trials: Trials, allow_warnings: AllowWarnings
) -> None:
    """Kill one of two servers during a load or a reply; the other one must not be blamed."""
    allow_warnings("lost a connection|RPC server")
    rng = random.Random(8)
    for i in trials(2, 50):
        with rpc_servers(2) as servers, host_on(demo_pair, servers) as host:
            victim, other = servers if i % 2 else servers[::-1]
            in_load = i % 3 == 1
            killer = Killer(victim, rng, 6 if in_load else 20)
            if not in_load:
                host.ready()
            host.hear = killer.hear
            events = host.load() if in_load else host.reply(max_tokens=30)
            killer.join()
            last = events[-1]
            if isinstance(last, (EngineDied, LoadFailed)):
                words = last.reason if isinstance(last, EngineDied) else last.message
                assert victim.endpoint in words
                assert other.endpoint not in words
                assert [each.server for each in last.lost] == [victim.endpoint]
                assert "download" not in last.hint
                assert host.service.pid == 0
            else:  # it was over before
                assert isinstance(last, (TurnFinished, PairLoaded))
            assert whole.startswith(text_of(events))
            again = host.load()[-1]
            assert isinstance(again, LoadFailed), again
            assert (again.code, victim.endpoint in again.message) == ("rpc-server", True)
            assert [each.server for each in again.lost] == [victim.endpoint]
            host.servers = (other.endpoint,)
            host.ready()
            assert whole.startswith(finished_text(host.reply(max_tokens=30)))


def kills_at(kind: type[Event], server: Server, number: int) -> Callable[[Event], None]:
    """Return what sends a server's process a signal at each event of a kind."""

    def hear(event: Event) -> None:
        if isinstance(event, kind):
            server.process.send_signal(number)

    return hear


def test_deaths_by_a_server_forbid_no_load_without_it(
    demo_pair: Pair, allow_warnings: AllowWarnings
) -> None:
    allow_warnings("lost a connection|RPC server")
    with Host(demo_pair, restarts=RestartPolicy(most=1)) as host:
        with rpc_servers() as (server,):
            host.servers = (server.endpoint,)
            host.ready()
            host.hear = kills_at(TurnStarted, server, signal.SIGTERM)
            only_death(host.reply(max_tokens=200))
        host.servers = ()
        host.ready()


def test_a_load_that_fails_leaves_no_process_that_knows_the_server(demo_pair: Pair) -> None:
    """A server that is started again may have other devices; llama.cpp would not ask again."""
    target, _ = demo_pair
    with rpc_servers() as servers, host_on((target, target / "missing"), servers) as host:
        last = host.load()[-1]
        assert isinstance(last, LoadFailed)
        assert not last.lost
        assert host.service.pid == 0
        host.pair = demo_pair
        host.ready()


# ----------------------------------------------------------------------------------------- hangs

needs_stops = pytest.mark.skipif(sys.platform == "win32", reason="stops processes by signals")


@needs_stops
def test_a_server_that_stops_in_a_reply_is_found_by_the_limit_of_a_decode(
    demo_pair: Pair, allow_warnings: AllowWarnings
) -> None:
    allow_warnings("its process is ended")
    impatient = hanging.hanging(hanging.decode, "dawdle", -1)  # it has a short limit, and no more
    with rpc_servers() as servers, host_on(demo_pair, servers, impatient) as host:
        (server,) = servers
        host.ready()

        def stop_later(event: Event) -> None:
            # A first decode of its width has no such limit: so it is one of many plain steps.
            if isinstance(event, StepCommitted) and event.step == 5:
                server.process.send_signal(signal.SIGSTOP)

        host.hear = stop_later
        plain = turn_of(prompt="hello", strategy="off", max_tokens=400, ignore_eog=True)
        events = host.submit(plain)
        death = only_death(events)
        assert "computation of the engine hangs" in death.reason
        assert f"The RPC server {server.endpoint} does not answer." in death.reason
        assert [each.server for each in death.lost] == [server.endpoint]
        assert text_of(events)
        host.servers = ()
        host.ready()


@needs_stops
def test_a_server_that_stops_in_a_load_is_found_since_nothing_moves(
    demo_pair: Pair, allow_warnings: AllowWarnings, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow_warnings("its process is ended")
    monkeypatch.setattr(supervisor, "REMOTE_STUCK_S", 3.0)
    with rpc_servers() as servers, host_on(demo_pair, servers) as host:
        (server,) = servers
        host.hear = kills_at(LoadProgressed, server, signal.SIGSTOP)
        last = host.load()[-1]
        assert isinstance(last, LoadFailed)
        assert f"The RPC server {server.endpoint} does not answer." in last.message
        assert [each.server for each in last.lost] == [server.endpoint]


@needs_stops
@pytest.mark.grid(short=1)
@pytest.mark.parametrize("how", ["load", "unload", "close"])
def test_a_server_that_stops_at_rest_holds_nothing_up(
    demo_pair: Pair, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with rpc_servers() as servers, host_on(demo_pair, servers) as host:
        host.ready()
        servers[0].process.send_signal(signal.SIGSTOP)
        monkeypatch.setattr(supervisor, "REMOTE_STUCK_S", 3600.0)  # who waits for it hangs here
        if how == "load":
            host.servers = ()
            host.ready()
        elif how == "unload":
            assert host.submit(Unload()) == [Unloaded()]
        else:
            assert host.client.close()
