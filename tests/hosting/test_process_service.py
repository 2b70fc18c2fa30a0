"""The service in front of a child, with children that follow a script."""

from __future__ import annotations

import logging
import time
import zlib
from collections.abc import Callable

import pytest

from hosting import children
from hosting.rig import LOAD, MakeRig, is_gone, wait_until
from message_samples import sample
from paceline.hosting import supervisor
from paceline.hosting.exit_reasons import RestartPolicy
from paceline.messages import (
    Chat,
    ChatMessage,
    Command,
    DescribeEngine,
    EngineDescribed,
    EngineDied,
    Event,
    LoadFailed,
    LoadProgressed,
    PairLoaded,
    RawText,
    Shutdown,
    StartTurn,
    StepCommitted,
    Tune,
    TuneRejected,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    Unload,
    Unloaded,
)
from paceline.params import Strategy
from paceline.workers import process
from paceline.workers.frames import MAX_FRAME

AllowWarnings = Callable[[str], None]


# ------------------------------------------------------------------------------------ commands


def test_commands_are_carried_out_in_order_and_each_is_over_when_handle_returns(
    rig: MakeRig,
) -> None:
    r = rig()
    for command, kinds in [
        (DescribeEngine(), [EngineDescribed]),
        (LOAD, [LoadProgressed, PairLoaded]),
        (StartTurn(RawText("")), [TurnStarted, TurnFinished]),
        (Tune(Strategy.of("off")), [TuneRejected]),
        (StartTurn(RawText("")), [TurnStarted, TurnFinished]),
        (Unload(), [Unloaded]),
        (DescribeEngine(), [EngineDescribed]),
    ]:
        r.submit(command)
        assert r.kinds == kinds
    r.submit(StartTurn(RawText("")), StartTurn(RawText("")))
    assert r.kinds == [TurnStarted, TurnFinished] * 2


def test_what_is_submitted_within_an_event_runs_behind_the_command(rig: MakeRig) -> None:
    r = rig()
    r.load()
    r.on_event = lambda e: r.client.request(DescribeEngine()) if isinstance(e, StepCommitted) else 0
    r.submit(StartTurn(RawText("fail code")))
    assert r.kinds == [TurnStarted, StepCommitted, TurnFailed, EngineDescribed]


def test_one_child_serves_all_commands(rig: MakeRig) -> None:
    r = rig()
    r.load()
    pid = r.service.pid
    for _ in range(500):
        assert isinstance(r.submit(StartTurn(RawText("")))[-1], TurnFinished)
    assert r.service.pid == pid


def test_thousands_of_commands_in_a_row(rig: MakeRig) -> None:
    r = rig()
    r.load()
    began = time.monotonic()
    for number in range(2000):
        (answer,) = r.submit(Tune(Strategy.of(str(number))))
        assert answer == TuneRejected(Strategy.of(str(number)), "not-running", "", "")
    assert time.monotonic() - began < 20  # a round trip, not a poll of 20 ms


def test_a_turn_without_a_child_needs_none(rig: MakeRig) -> None:
    r = rig()
    (failure,) = r.submit(StartTurn(RawText("")))
    assert isinstance(failure, TurnFailed)
    assert failure.code == "no-model"
    assert r.service.pid == 0


def test_unload_ends_the_process(rig: MakeRig) -> None:
    r = rig()
    r.load()
    pid = r.service.pid
    assert r.submit(Unload()) == [Unloaded()]
    assert r.service.pid == 0
    assert is_gone(pid)
    assert r.submit(Unload()) == [Unloaded()]  # also when there is none
    r.load()
    assert r.service.pid not in {0, pid}


def test_shutdown_ends_the_process(rig: MakeRig) -> None:
    r = rig()
    r.load()
    pid = r.service.pid
    assert r.submit(Shutdown()) == []
    assert is_gone(pid)


def test_a_child_that_ignores_a_shutdown_is_killed(
    rig: MakeRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "END_S", 0.3)
    r = rig(children.ignores_shutdown)
    r.load()
    pid = r.service.pid
    began = time.monotonic()
    assert r.submit(Shutdown()) == []
    assert time.monotonic() - began < 2
    assert is_gone(pid)


# --------------------------------------------------------------------------------- large things


@pytest.mark.parametrize("n", [5_000_000, 12_000_000])
def test_a_conversation_larger_than_every_buffer_comes_through(rig: MakeRig, n: int) -> None:
    r = rig()
    r.load()
    text = "äb\n" * (n // 4)
    r.submit(StartTurn(RawText(f"measure {text}")))
    data = text.encode()
    assert r.events[-1].message == f"{len(data)} {zlib.crc32(data)}"


def test_what_no_frame_holds_is_refused_and_the_child_lives(rig: MakeRig) -> None:
    r = rig()
    r.load()
    pid = r.service.pid
    (failure,) = r.submit(StartTurn(Chat((ChatMessage.of_text("user", "x" * MAX_FRAME),))))
    assert isinstance(failure, TurnFailed)
    assert failure.code == "prompt-too-long"
    assert failure.hint
    assert isinstance(r.submit(StartTurn(RawText("")))[-1], TurnFinished)
    assert r.service.pid == pid


@pytest.mark.parametrize(
    ("n", "words"), [(5_000_000, "takes no commands any more"), (10, "has not answered")]
)
def test_a_child_that_does_not_read_is_replaced(
    rig: MakeRig, monkeypatch: pytest.MonkeyPatch, allow_warnings: AllowWarnings, n: int, words: str
) -> None:
    monkeypatch.setattr(process, "WRITE_S", 0.3)
    monkeypatch.setattr(supervisor, "SILENT_S", 0.5)
    allow_warnings("its process is ended")
    r = rig(children.never_reads)
    assert r.service._keeper.start(lambda: False) is None
    pid = r.service.pid
    began = time.monotonic()
    (death,) = r.submit(StartTurn(Chat((ChatMessage.of_text("user", "x" * n),))))
    assert isinstance(death, EngineDied)
    assert words in death.reason
    assert time.monotonic() - began < 3
    assert is_gone(pid)


def test_a_child_that_reads_slowly_is_waited_for(
    rig: MakeRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "WRITE_S", 0.3)
    r = rig(children.reads_slowly)
    assert r.service._keeper.start(lambda: False) is None
    began = time.monotonic()
    last = r.submit(StartTurn(RawText(f"finish {'x' * 4_000_000}")))[-1]
    assert isinstance(last, TurnFinished)
    assert time.monotonic() - began > 2 * process.WRITE_S


# ----------------------------------------------------------------------- what the child reports


def test_log_records_come_under_their_own_names_and_levels(
    rig: MakeRig, caplog: pytest.LogCaptureFixture, allow_warnings: AllowWarnings
) -> None:
    allow_warnings("at 30|at 40|another's name")
    caplog.set_level(logging.DEBUG, logger="paceline")
    r = rig(children.talks)
    assert r.submit(DescribeEngine()) == [sample(EngineDescribed)]
    lines = [record for record in caplog.record_tuples if record[0].startswith("paceline")]
    assert lines == [
        ("paceline.engine.turn", logging.INFO, "before ready"),
        *(("paceline.engine.llama", n, f"at {n} 100 %s") for n in (10, 20, 30, 40)),
        ("paceline", logging.WARNING, "in another's name"),
        ("paceline", logging.INFO, "in almost its own"),
    ]


def test_look_tells_once_of_a_death_between_two_commands(
    rig: MakeRig, allow_warnings: AllowWarnings, caplog: pytest.LogCaptureFixture
) -> None:
    allow_warnings("crashed")
    caplog.set_level(logging.INFO, logger="paceline")
    r = rig(children.dies_when_idle)
    r.service.look()  # nothing there yet
    r.load()
    r.events.clear()

    def look() -> bool:
        r.service.look()
        return bool(r.events)

    wait_until(look)
    r.service.look()
    (death,) = r.events
    assert isinstance(death, EngineDied)
    assert "SIGSEGV" in death.reason
    assert r.service.pid == 0
    assert "the last line" in caplog.text
    assert r.submit(StartTurn(RawText("")))[-1].code == "no-model"


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        (StartTurn(RawText("")), TurnFailed),
        (Tune(Strategy.of("off")), TuneRejected),
        (Unload(), Unloaded),
    ],
)
def test_a_death_that_nobody_looked_for_is_told_first_and_costs_no_other_process(
    rig: MakeRig,
    allow_warnings: AllowWarnings,
    monkeypatch: pytest.MonkeyPatch,
    command: Command,
    answer: type[Event],
) -> None:
    allow_warnings("crashed")
    r = rig(children.dies_when_idle)
    r.load()
    pid = r.service.pid
    wait_until(lambda: is_gone(pid))
    monkeypatch.setattr("paceline.hosting.supervisor.ChildProcess", None)
    r.submit(command)
    assert r.kinds == [EngineDied, answer]
    assert r.service.pid == 0


def test_a_load_behind_a_death_starts_another_child(
    rig: MakeRig, allow_warnings: AllowWarnings
) -> None:
    allow_warnings("crashed")
    r = rig(children.dies_when_idle)
    for _ in range(3):
        r.submit(LOAD)
        assert isinstance(r.events[-1], PairLoaded)
        assert r.kinds.count(EngineDied) <= 1
        pid = r.service.pid
        wait_until(lambda pid=pid: is_gone(pid))


def test_a_done_too_many_is_nonsense(rig: MakeRig, allow_warnings: AllowWarnings) -> None:
    allow_warnings("its process is ended")
    r = rig(children.chatters_when_idle)
    r.submit(LOAD)

    def look() -> bool:
        r.service.look()
        return EngineDied in r.kinds

    wait_until(look)
    assert "done with what it was not asked for" in r.events[-1].reason
    assert r.kinds.count(EngineDied) == 1


def test_a_kill_by_this_program_is_not_told_as_one_from_outside(
    rig: MakeRig, monkeypatch: pytest.MonkeyPatch, allow_warnings: AllowWarnings
) -> None:
    monkeypatch.setattr(process, "END_S", 0.2)
    allow_warnings("process ended")
    r = rig(children.hangs_up)
    (death,) = r.submit(DescribeEngine())
    assert isinstance(death, EngineDied)
    assert death.reason == "The engine's process ended."


# -------------------------------------------------------------------------------- loads that die


def test_a_load_that_crashes_in_the_self_test_is_tried_once_more(
    rig: MakeRig, allow_warnings: AllowWarnings
) -> None:
    allow_warnings("instruction|without extra buffers")
    r = rig(children.dies_in_a_load)
    r.submit(LOAD)
    assert r.kinds == [LoadProgressed, LoadProgressed, PairLoaded]
    (note,) = r.events[-1].notes
    assert "SIGILL" in note
    assert "without the special instructions" in note


def test_a_start_that_is_refused_says_nothing_of_the_file(
    rig: MakeRig, allow_warnings: AllowWarnings
) -> None:
    allow_warnings("crashed")
    r = rig(children.dies_when_idle, restarts=RestartPolicy(most=1))
    r.submit(LOAD)
    wait_until(lambda: r.service.look() is None and r.service.pid == 0)
    (failure,) = r.submit(LOAD)
    assert isinstance(failure, LoadFailed)
    assert failure.code == "engine-stopped"
    assert "not started again yet" in failure.message
    assert "target.gguf" not in failure.message
    assert failure.hint.startswith("Wait ")
    (death,) = r.submit(DescribeEngine())
    assert isinstance(death, EngineDied)


def test_a_child_that_cannot_be_started_is_told_as_that(
    rig: MakeRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr("paceline.hosting.supervisor.ChildProcess", refuse)
    r = rig()
    (failure,) = r.submit(LOAD)
    assert isinstance(failure, LoadFailed)
    assert "cannot be started (Resource temporarily unavailable)" in failure.message
    assert "target.gguf" not in failure.message
    assert "Close other programs" in failure.hint
