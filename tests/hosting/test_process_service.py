"""The service in front of a child, with children that follow a script."""

from __future__ import annotations

import logging
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from hosting import children
from hosting.rig import LOAD, MakeRig, is_gone, wait_until
from message_samples import sample
from paceline.engine.refusals import (
    no_model,
    no_prompt,
    not_calibrated,
    not_encoded,
    not_running,
)
from paceline.hosting import supervisor
from paceline.hosting.exit_reasons import RestartPolicy
from paceline.messages import (
    AsideAnswered,
    Calibrate,
    Chat,
    ChatMessage,
    Command,
    CountTokens,
    DescribeEngine,
    DropStates,
    Encode,
    EngineDescribed,
    EngineDied,
    Event,
    LoadFailed,
    LoadPair,
    MeasureReading,
    ModelParams,
    PairLoaded,
    RawText,
    ReadAhead,
    ReadAheadEnded,
    ReadingMeasured,
    Remember,
    RenderPrompt,
    Reset,
    SayAside,
    Shutdown,
    StartTurn,
    StatesDropped,
    TokensCounted,
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
COUNT = CountTokens(Chat((ChatMessage.of_text("user", "How long is this?"),)))


# ------------------------------------------------------------------------------------ commands


def test_one_child_serves_all_commands_and_each_is_over_when_handle_returns(rig: MakeRig) -> None:
    r = rig()
    r.load()
    pid = r.service.pid
    for number in range(200):
        strategy = Strategy.of(str(number))
        assert r.submit(Tune(strategy)) == [TuneRejected(strategy, "not-running", "", "")]
        r.submit(StartTurn(RawText("")))
        assert r.kinds == [TurnStarted, TurnFinished]
        assert r.submit(DescribeEngine()) == [sample(EngineDescribed)]
    assert r.service.pid == pid


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        (StartTurn(RawText("")), no_model()),
        (Tune(Strategy.of("draft")), not_running(Strategy.of("draft"))),
        (COUNT, TokensCounted(-1, 0)),
        (Encode(RawText("a")), not_encoded()),
        (RenderPrompt(Chat(())), no_prompt()),
        (Calibrate(), not_calibrated()),
        (MeasureReading(), ReadingMeasured()),
        (SayAside(StartTurn(RawText("")), ""), AsideAnswered()),
        (ReadAhead(StartTurn(RawText(""))), ReadAheadEnded()),
        (Remember("chat", ("Hello",)), None),
        (Reset(), None),
        (Unload(), Unloaded()),
    ],
)
def test_no_process_is_started_for_what_needs_a_model(
    rig: MakeRig, command: Command, answer: Event | None
) -> None:
    r = rig()
    assert r.submit(command) == ([] if answer is None else [answer])
    assert r.service.pid == 0


def test_no_process_is_started_to_delete_stored_states(rig: MakeRig, tmp_path: Path) -> None:
    for owner in "ab":
        (tmp_path / "a model" / owner.encode().hex()).mkdir(parents=True)
    r = rig()
    assert r.submit(DropStates(("a",), str(tmp_path))) == [StatesDropped()]
    assert [folder.name for folder in tmp_path.glob("*/*")] == [b"b".hex()]
    assert r.service.pid == 0


@pytest.mark.parametrize(("command", "events"), [(Unload(), [Unloaded()]), (Shutdown(), [])])
def test_the_process_ends_with_its_models(
    rig: MakeRig, command: Command, events: list[Event]
) -> None:
    r = rig()
    r.load()
    pid = r.service.pid
    assert r.submit(command) == events
    assert r.service.pid == 0
    assert is_gone(pid)
    r.load()
    assert r.service.pid not in {0, pid}


def test_a_child_that_ignores_a_shutdown_is_killed(
    rig: MakeRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "END_S", 0.3)
    r = rig(children.ignores_shutdown)
    r.load()
    pid = r.service.pid
    assert r.submit(Shutdown()) == []
    assert is_gone(pid)


# --------------------------------------------------------------------------------- large things


def test_a_conversation_larger_than_every_buffer_comes_through(rig: MakeRig) -> None:
    r = rig()
    r.load()
    text = "äb\n" * 3_000_000
    r.submit(StartTurn(RawText(f"measure {text}")))
    data = text.encode()
    assert r.events[-1].message == f"{len(data)} {zlib.crc32(data)}"


def test_what_no_frame_holds_is_refused_and_the_child_lives(rig: MakeRig) -> None:
    r = rig()
    r.load()
    pid = r.service.pid
    most = "x" * MAX_FRAME
    (failure,) = r.submit(StartTurn(RawText(most)))
    assert isinstance(failure, TurnFailed)
    assert (failure.code, bool(failure.hint)) == ("prompt-too-long", True)
    (encoded,) = r.submit(Encode(RawText(most)))
    assert (encoded.tokens, encoded.code) == ((), "prompt-too-long")
    chat = Chat((ChatMessage.of_text("user", most),))
    assert r.submit(CountTokens(chat)) == [TokensCounted(-1, 0)]
    assert r.submit(Remember("chat", (most,))) == []
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
    (failure,) = r.submit(LoadPair(ModelParams("x" * n)))
    assert isinstance(failure, LoadFailed)
    assert words in failure.message
    assert r.service.pid == 0


def test_a_child_that_reads_slowly_is_waited_for(
    rig: MakeRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "WRITE_S", 0.3)
    r = rig(children.reads_slowly)
    began = time.monotonic()
    last = r.submit(LoadPair(ModelParams("x" * 4_000_000)))[-1]
    assert isinstance(last, PairLoaded)
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


def test_look_reports_a_death_between_two_commands_once(
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


def test_a_death_that_no_look_has_found_is_reported_first_and_costs_no_other_process(
    rig: MakeRig, allow_warnings: AllowWarnings, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow_warnings("crashed")
    r = rig(children.dies_when_idle)
    r.load()
    pid = r.service.pid
    wait_until(lambda: is_gone(pid))
    with monkeypatch.context() as patch:
        patch.setattr("paceline.hosting.supervisor.ChildProcess", None)
        r.submit(StartTurn(RawText("")))
    assert r.kinds == [EngineDied, TurnFailed]
    assert r.service.pid == 0
    r.load()
    assert r.service.pid not in {0, pid}, "a load starts another one"


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


def test_a_kill_by_this_program_is_not_reported_as_one_from_outside(
    rig: MakeRig, monkeypatch: pytest.MonkeyPatch, allow_warnings: AllowWarnings
) -> None:
    monkeypatch.setattr(process, "END_S", 0.2)
    allow_warnings("process ended")
    r = rig(children.hangs_up)
    (death,) = r.submit(DescribeEngine())
    assert isinstance(death, EngineDied)
    assert death.reason == "The engine's process ended."


# ------------------------------------------------------------------------------ loads that fail


def test_a_load_that_is_done_without_an_answer_is_answered(
    rig: MakeRig, allow_warnings: AllowWarnings
) -> None:
    allow_warnings("its process is ended")
    r = rig(children.leaves_unanswered)
    (failure,) = r.submit(LOAD)
    assert isinstance(failure, LoadFailed)
    assert "without an answer" in failure.message
    assert "target.gguf" in failure.message
    assert r.service.pid == 0


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


def test_a_child_that_cannot_be_started_is_reported_as_such(
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
