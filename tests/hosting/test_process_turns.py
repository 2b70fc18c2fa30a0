"""Turns of a child that follows a script: cancels, tunes, and events after the end."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable

import pytest

from hosting import children
from hosting.children import scripted
from hosting.rig import LOAD, MakeRig, is_gone
from paceline.hosting import process
from paceline.hosting.broker import Broker
from paceline.hosting.exit_reasons import RestartPolicy
from paceline.hosting.process import ProcessService
from paceline.hosting.supervisor import Watchdog
from paceline.messages import (
    EngineDied,
    Event,
    LoadFailed,
    LoadProgressed,
    RawText,
    StartTurn,
    StepCommitted,
    TuneApplied,
    TuneRejected,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from paceline.params import Strategy

AllowWarnings = Callable[[str], None]


# ----------------------------------------------------------------------------------- cancelling


def test_a_turn_that_ignores_its_cancel_ends_with_the_process(
    rig: MakeRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "TURN_CANCEL_S", 0.3)
    r = rig()
    r.load()
    r.on_event = lambda e: r.client.cancel()
    began = time.monotonic()
    r.submit(StartTurn(RawText("deaf")))
    assert time.monotonic() - began >= 0.3
    assert r.kinds == [TurnStarted, StepCommitted, EngineDied]
    assert "did not stop in time" in r.events[-1].reason
    assert r.service.pid == 0


def test_a_load_that_ignores_its_cancel_is_cancelled_and_counts_as_no_death(
    rig: MakeRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "LOAD_CANCEL_S", 0.05)
    r = rig(children.ignores_cancel, restarts=RestartPolicy(most=1))
    r.on_event = lambda e: r.client.cancel()
    for _ in range(2):
        assert r.submit(LOAD)[-1].code == "cancelled"
        assert r.kinds == [LoadProgressed, LoadFailed]


def test_a_load_can_be_cancelled_while_the_child_starts(rig: MakeRig) -> None:
    r = rig(children.never_ready)
    timer = threading.Timer(0.3, r.client.cancel)
    timer.start()
    assert r.submit(LOAD) == [LoadFailed("cancelled", "Stopped.", "")]
    assert r.service.pid == 0
    timer.join()


@pytest.mark.parametrize("prompt", ["slowly-cancelled", "short-keep"])
def test_time_in_which_this_program_was_stopped_counts_for_no_limit(
    rig: MakeRig, monkeypatch: pytest.MonkeyPatch, prompt: str
) -> None:
    """Stop this program as Ctrl+Z does, or as a computer that sleeps while its clock runs."""
    gap_s = 0.0
    now = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: now() + gap_s)
    monkeypatch.setattr(process, "Watchdog", lambda: Watchdog(time.monotonic))
    r = rig()
    r.load()

    def sleep_an_hour() -> None:
        nonlocal gap_s
        gap_s = 3600.0

    timer = threading.Timer(0.1, sleep_an_hour)

    def hear(event: Event) -> None:
        if isinstance(event, TurnStarted):
            timer.start()
            if prompt == "slowly-cancelled":
                r.client.cancel()

    r.on_event = hear
    r.submit(StartTurn(RawText(prompt)))
    timer.join()
    assert gap_s
    assert r.kinds == [TurnStarted, TurnFinished]


# ---------------------------------------------------------------------------------------- tunes


def test_a_tune_that_comes_too_late_is_answered_once_and_handle_returns(rig: MakeRig) -> None:
    r = rig()
    r.load()
    r.on_event = lambda e: (
        r.client.tune(Strategy.of("draft")) if isinstance(e, TurnStarted) else None
    )
    r.submit(StartTurn(RawText("miss-tune")))
    assert r.kinds == [TurnStarted, TurnFinished, TuneRejected]
    r.on_event = lambda e: None
    assert isinstance(r.submit(StartTurn(RawText("")))[-1], TurnFinished)


def test_no_tune_has_two_answers_whenever_it_comes(rig: MakeRig) -> None:
    r = rig()
    r.load()
    chance = random.Random(4)
    asked: list[Strategy] = []
    too_late: list[Strategy] = []

    def ask(event: Event) -> None:
        if isinstance(event, (StepCommitted, TurnFinished)) and chance.random() < 0.3:
            asked.append(Strategy.of(str(len(asked))))
            r.client.tune(asked[-1])
            if isinstance(event, TurnFinished):
                too_late.append(asked[-1])

    r.on_event = ask
    answers = []
    for number in range(40):
        r.submit(StartTurn(RawText("steps"), seed=number))
        assert r.kinds.count(TurnFinished) == 1
        answers += [e for e in r.events if isinstance(e, (TuneApplied, TuneRejected))]
    told = [answer.strategy for answer in answers]
    assert len(set(told)) == len(told)
    assert set(told) < set(asked)
    assert too_late
    assert not set(told) & set(too_late)
    assert {type(answer) for answer in answers} == {TuneApplied, TuneRejected}


# --------------------------------------------------------------------------------------- turns


@pytest.mark.parametrize(("code", "is_fatal"), [("compute-failed", True), ("batch-refused", False)])
def test_a_failure_costs_the_process_where_nothing_can_be_trusted_after_it(
    rig: MakeRig, code: str, *, is_fatal: bool
) -> None:
    r = rig()
    r.load()
    pid = r.service.pid
    r.submit(StartTurn(RawText(f"fail {code}")))
    assert r.kinds == [TurnStarted, StepCommitted, TurnFailed]
    assert (r.service.pid == 0) is is_gone(pid) is is_fatal
    r.load()
    assert (r.service.pid == pid) is not is_fatal


def test_what_never_ends_after_a_reply_does_not_hold_up_the_next_one_for_ever(
    rig: MakeRig, monkeypatch: pytest.MonkeyPatch, allow_warnings: AllowWarnings
) -> None:
    monkeypatch.setattr(process, "KEEP_S", 0.3)
    allow_warnings("its process is ended")
    r = rig()
    r.load()
    pid = r.service.pid
    r.submit(StartTurn(RawText("long-keep")))
    assert r.kinds == [TurnStarted, TurnFinished, EngineDied]
    assert is_gone(pid)


def test_an_error_of_who_hears_the_events_leaves_no_half_done_command_behind() -> None:
    def hear(event: Event) -> None:
        if isinstance(event, TurnStarted):
            raise ZeroDivisionError("in the listener")

    service = ProcessService(hear, Broker(), main=scripted(children.obedient))
    service.handle(LOAD)
    assert service.pid
    with pytest.raises(ZeroDivisionError):
        service.handle(StartTurn(RawText("until-cancelled")))
    assert service.pid == 0, "what it still sends would be taken for the next one's"
