"""A listener that takes its time: the engine does not wait for it, and nothing is lost."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from hosting.observed import Host, deaths_of, finished_text, text_of
from hosting.rig import wait_until
from hosting.sabotage import with_little_room
from paceline.hosting.child import run_child
from paceline.messages import EngineDied, Event, StepCommitted, TurnFinished
from paceline.workers.process import ChildMain
from trials import Trials

CASES = pytest.mark.parametrize(
    "main",
    [
        pytest.param(with_little_room, id="little room"),
        pytest.param(run_child, id="room", marks=pytest.mark.long),
    ],
)
N_TOKENS = 200


def steps_of(events: list[Event]) -> list[StepCommitted]:
    return [event for event in events if isinstance(event, StepCommitted)]


def comes_to_rest(process: psutil.Process) -> None:
    """Wait until a process computes no more."""
    used = -1.0
    while (now := sum(process.cpu_times()[:2])) > used:
        used = now
        time.sleep(0.3)


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="sending waits there")
@CASES
def test_a_reply_is_generated_while_its_listener_does_not_read(
    demo_pair: tuple[Path, Path], main: ChildMain
) -> None:
    with Host(demo_pair, main) as host:
        host.ready()
        expected = finished_text(host.reply(max_tokens=N_TOKENS))
        engine = psutil.Process(host.service.pid)
        stopped_s = 0.0

        def hear(event: Event) -> None:
            nonlocal stopped_s
            if isinstance(event, StepCommitted) and event.step == 3:
                began = time.monotonic()
                comes_to_rest(engine)
                time.sleep(3)
                stopped_s = time.monotonic() - began

        host.hear = hear
        steps = whole_steps(host.reply(max_tokens=N_TOKENS), expected)
        assert max(step.total_s for step in steps) < stopped_s / 2


def whole_steps(events: list[Event], expected: str) -> list[StepCommitted]:
    """Return the steps of a reply, of which none may be lost."""
    assert finished_text(events) == expected
    steps = steps_of(events)
    assert [step.step for step in steps] == list(range(len(steps)))
    return steps


@CASES
def test_a_slow_listener_gets_the_same_reply_and_its_cancel_passes_what_waits(
    demo_pair: tuple[Path, Path], main: ChildMain
) -> None:
    with Host(demo_pair, main) as host:
        host.ready()
        expected = finished_text(host.reply(max_tokens=N_TOKENS))
        for seconds, every in ((0.001, 1), (0.01, 10), (0.1, 100)):

            def slow(event: Event, seconds: float = seconds, every: int = every) -> None:
                if isinstance(event, StepCommitted) and event.step % every == 0:
                    time.sleep(seconds)

            host.hear = slow
            whole_steps(host.reply(max_tokens=N_TOKENS), expected)

        def cancel(event: Event) -> None:
            if isinstance(event, StepCommitted) and event.step == 3:
                time.sleep(0.2)
                host.client.cancel()

        host.hear = cancel
        pid = host.service.pid
        events = host.reply(max_tokens=1500)
        last = events[-1]
        assert isinstance(last, TurnFinished)
        assert last.reason == "cancelled"
        assert last.text.startswith(text_of(events))
        steps = steps_of(events)
        assert [step.step for step in steps] == list(range(len(steps)))
        assert len(steps) < 1500
        assert host.service.pid == pid


@CASES
def test_what_a_killed_engine_had_sent_is_the_beginning_of_its_reply(
    demo_pair: tuple[Path, Path],
    main: ChildMain,
    trials: Trials,
    allow_warnings: Callable[[str], None],
) -> None:
    allow_warnings("was ended from outside")
    chance = random.Random(57)
    with Host(demo_pair, main) as host:
        host.ready()
        expected = finished_text(host.reply(max_tokens=N_TOKENS))
        for _ in trials(1, 8):
            at, nap_s = chance.randrange(1, N_TOKENS // 2), chance.uniform(0, 0.05)

            def hear(event: Event, at: int = at, nap_s: float = nap_s) -> None:
                if isinstance(event, StepCommitted) and event.step == at:
                    time.sleep(nap_s)
                    engine = psutil.Process(host.service.pid)
                    engine.kill()
                    wait_until(lambda: engine.status() == psutil.STATUS_ZOMBIE)

            host.hear = hear
            events = host.reply(max_tokens=N_TOKENS)
            assert isinstance(events[-1], EngineDied)
            assert len(deaths_of(events)) == 1
            steps = steps_of(events)
            assert len(steps) > at
            assert [step.step for step in steps] == list(range(len(steps)))
            assert expected.startswith(text_of(events))
            host.hear = lambda _event: None
            host.ready()
