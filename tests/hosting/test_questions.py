"""Questions about sizes and forgetting, with the engine in a process of its own."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hosting import children
from hosting.engines import HOSTS, Host
from hosting.rig import LOAD, MakeRig
from paceline.engine.drafters import suffix
from paceline.engine.drafters.chat_log import FOLDER
from paceline.hosting.deaths import RestartPolicy
from paceline.hosting.frames import MAX_FRAME
from paceline.messages import (
    ChatMessage,
    CountTokens,
    EngineDied,
    Forget,
    Forgotten,
    SamplingParams,
    TokensCounted,
    TurnStarted,
)

AllowWarnings = Callable[[str], None]
QUESTION = CountTokens("q", (ChatMessage("user", "How long is this?"),))


def test_no_process_is_started_to_count(rig: MakeRig) -> None:
    r = rig()
    assert r.submit(QUESTION) == [TokensCounted("q", -1, 0)]
    assert r.service.pid == 0


def test_a_dead_process_is_told_and_not_started_again(
    rig: MakeRig, allow_warnings: AllowWarnings
) -> None:
    allow_warnings("paceline.hosting")
    r = rig()
    r.load()
    os.kill(r.service.pid, signal.SIGTERM)
    events = r.submit(QUESTION)
    while not isinstance(events[-1], TokensCounted) or len(events) < 2:
        events = [*events, *r.submit(QUESTION)]
        assert len(events) < 10_000
    assert any(isinstance(event, EngineDied) for event in events)
    assert r.service.pid == 0


def test_a_conversation_beyond_a_frame_is_not_counted(rig: MakeRig) -> None:
    r = rig()
    r.load()
    huge = CountTokens("q", (ChatMessage("user", "x" * MAX_FRAME),))
    assert r.submit(huge) == [TokensCounted("q", -1, 0)]
    assert r.service.pid


def test_a_process_that_dies_while_it_forgets_still_has_an_answer(
    rig: MakeRig, allow_warnings: AllowWarnings
) -> None:
    allow_warnings("paceline.hosting")
    r = rig(children.dies_of_anything)
    events = r.submit(Forget("/nowhere", "chat"))
    assert [type(event) for event in events] == [EngineDied, Forgotten]
    assert isinstance(events[-1], Forgotten)
    assert events[-1].chat == "chat"
    assert events[-1].problem


def test_an_engine_that_is_not_started_any_more_does_not_forget(
    rig: MakeRig, allow_warnings: AllowWarnings
) -> None:
    allow_warnings("paceline.hosting")
    r = rig(children.dies_of_anything, restarts=RestartPolicy(most=1))
    for _ in range(3):
        last = r.submit(LOAD, Forget("/nowhere", "chat"))[-1]
        assert isinstance(last, Forgotten)
        assert last.problem


@pytest.mark.parametrize("kind", HOSTS)
def test_the_real_engine_counts_and_forgets(
    kind: str, demo_pair: tuple[Path, Path], tmp_path: Path
) -> None:
    with Host(kind, demo_pair) as host:
        host.pair = replace(host.pair, memory_dir=str(tmp_path))
        host.must_load()
        messages = (
            ChatMessage("system", "Be brief."),
            ChatMessage("user", "What does os.path.join do?"),
        )
        counted = host.submit(CountTokens("q", messages, 64, cuts=True))
        assert isinstance(counted, TokensCounted)
        host.reply(
            messages=messages,
            max_tokens=64,
            strategy="suffix",
            remember=True,
            chat="a",
            seed=1,
            sampling=SamplingParams(temperature=0),
            ignore_eog=True,
        )
        started = next(event for event in host.events if isinstance(event, TurnStarted))
        assert counted.n_tokens == started.n_prompt
        assert len(counted.per_message) == 2
        assert sum(counted.per_message) <= counted.n_tokens
        (vocabulary,) = tmp_path.iterdir()
        assert list((vocabulary / suffix.FOLDER).iterdir())
        assert host.submit(Forget(str(tmp_path), "a")) == Forgotten("a")
        for folder in (suffix.FOLDER, FOLDER):
            assert not list((vocabulary / folder).iterdir())
