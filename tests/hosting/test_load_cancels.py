"""A load that is stopped: what is loaded afterwards, and that the next wish is granted."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from hosting.engines import Canceller, Host
from paceline.chat.pair import Pair, PairLoader
from paceline.messages import (
    Event,
    LoadFailed,
    ModelParams,
    PairLoaded,
    TurnFailed,
    TurnFinished,
)
from turns import turn_of

SHORT = {"prompt": "What is a list?", "seed": 1, "max_tokens": 8, "strategy": "off"}


@pytest.fixture(params=("thread", "process"))
def host(request: pytest.FixtureRequest, demo_pair: tuple[Path, Path]) -> Iterator[Host]:
    with Host(request.param, demo_pair) as host:
        yield host


def test_what_a_cancelled_load_leaves_is_nothing_or_what_was_asked_for(
    host: Host, is_long: bool
) -> None:
    """The engine's side: after "cancelled" in mid-load there is no model, and it says so."""
    seen = set()
    load_s = max(host.must_load().load_s, host.must_load().load_s)
    chance = random.Random(3)
    for _ in range(12 if is_long else 4):
        with Canceller(host, chance.uniform(0, 1.5 * load_s)):
            last = host.load()
        seen.add(type(last))
        after = host.turn(**SHORT)
        if isinstance(last, LoadFailed):
            assert last.code == "cancelled"
            assert isinstance(after, TurnFailed)
            assert after.code == "no-model"
        else:
            assert isinstance(last, PairLoaded)
            assert isinstance(after, TurnFinished)
    assert LoadFailed in seen
    host.must_load()
    assert isinstance(host.turn(**SHORT), TurnFinished)


@pytest.mark.grid(short=1)
def test_the_pair_that_worked_last_comes_back(host: Host) -> None:
    """The session's side, with the same engine behind it: its state says what is true."""
    loader = PairLoader(host.client)
    failures: list[bool] = []

    class Listener:
        def pair_changed(self, state: object) -> None:
            pass

        def load_failed(self, failure: LoadFailed, *, falls_back: bool) -> None:
            failures.append(falls_back)

    loader.set_listener(Listener())
    good = Pair(host.pair.target, host.pair.drafting)
    other = Pair(ModelParams(host.pair.target.path, n_threads=1, n_ctx=256))

    stopped = 0
    for number in range(3):
        loader.load(good)
        assert loader.state.status == "ready"
        cancel_at = number / 3

        def stop(event: Event, cancel_at: float = cancel_at) -> None:
            state = loader.state
            if state.pair == other and state.has_begun and state.fraction >= cancel_at:
                assert host.client.running is not None
                host.client.running.cancel()

        host.on_event = stop
        loader.load(other)
        assert loader.state.status == "ready"
        assert loader.state.target is not None
        stopped += loader.state.pair == good
        n_ctx = 256 if loader.state.pair == other else good.target.n_ctx or 2048
        assert loader.state.target.n_ctx == n_ctx
        host.on_event = lambda event: None
        last = host.submit(turn_of(**SHORT | {"prompt": "a " * 300}))  # type: ignore[arg-type]
        if n_ctx == 256:  # and it is this pair that the engine has
            assert isinstance(last, TurnFailed)
            assert last.code == "prompt-too-long"
        else:
            assert isinstance(last, TurnFinished)
    assert stopped
    assert not failures  # to stop is no failure
