"""One turn with a scripted engine: the odd cases that a healthy one does not show."""

from __future__ import annotations

import json
import math
import os
import signal
import sys
from itertools import count
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from cli.scripted import ScriptedEngine
from hosting.rig import wait_until
from paceline.cli import output
from paceline.cli.chat_run import ChatRun, RequestedChat
from paceline.cli.loading import USAGE_CODES, TurnError
from paceline.cli.output import Interrupts
from paceline.figures import Sameness
from paceline.messages import (
    Command,
    DescribeEngine,
    DraftCount,
    DrafterStats,
    EngineDied,
    Event,
    FiguresReported,
    LoadFailed,
    LoadPair,
    LoadProgressed,
    ModelInfo,
    ModelParams,
    PairLoaded,
    PrefillProgressed,
    RawText,
    StartTurn,
    StepCommitted,
    TokenTrace,
    TuneRejected,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    TurnStats,
)
from paceline.params import Strategy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

INFO = ModelInfo("m", "m", "llama", "", 1, 1, 64, 64, 8, 1, 1, 1, 0, True, True)
LOADED = PairLoaded(INFO, None, 0.1)
STARTED = TurnStarted(3, 0, 7)
STATS = TurnStats(
    None, 3, 0, 2, 0.1, 0.2, 0.3, 10.0, None, 1, 0, 0, 0, None, 1.0, 0.0, ()
)  # fmt: skip
SPECULATED = structs.replace(
    STATS, plain_tokens_per_s=5.0, plain_low=4.0, plain_high=6.25, n_drafted=10, n_accepted=6,
    n_discarded=2, acceptance_rate=0.75,
)  # fmt: skip
DRAFTER = DrafterStats("draft", 1, 1, 1, 0.0, 0.1, 0.0, 1, 1, 2, 1, (1, 0))


def step(index: int, text: str, *, drafted: tuple[DraftCount, ...] = ()) -> StepCommitted:
    trace = TokenTrace(index, "target", -1, None, len(text))
    return StepCommitted(index, (trace,), text, drafted, 0.0, 0.1, 0.0, 0.1)


def finished(text: str, stats: TurnStats = STATS, reason: str = "eog") -> TurnFinished:
    return TurnFinished(reason, text, (0, 1), 7, Strategy.of("off"), stats)  # type: ignore[arg-type]


REQUEST = RequestedChat(LoadPair(ModelParams("m.gguf")), StartTurn(RawText("p")), ("A note.",))


def run(
    turn: Iterable[Event],
    load: list[Event] | None = None,
    *,
    as_json: bool = False,
    clock: Callable[[], float] = lambda: 0.0,
) -> int:
    def answer(command: Command) -> Iterable[Event]:
        if isinstance(command, LoadPair):
            return [LOADED] if load is None else load
        return turn

    with Interrupts() as interrupts:
        engine = ScriptedEngine(answer)
        try:
            return ChatRun(engine.client, REQUEST, interrupts, as_json=as_json, clock=clock).run()
        finally:
            refused = engine.client.request(DescribeEngine()).wait(0)
            assert isinstance(refused, EngineDied), "the client is closed"


Capture = pytest.CaptureFixture[str]


def test_the_text_that_lags_behind_is_printed_at_the_end(capsys: Capture) -> None:
    code = run([STARTED, step(0, "a"), step(1, ""), finished("ab é")])
    assert code == 0
    assert capsys.readouterr().out == "ab é\n"


def test_json_leaves_out_a_mark_that_no_token_has(capsys: Capture) -> None:
    """The prompt ends with it. A stop text may hold a part of it back."""
    turn = [structs.replace(STARTED, opening="<think>\n"), step(0, "<think>"), step(1, "\nHm")]
    turn.append(finished("<think>\nHm."))
    run(turn, as_json=True)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["text"] for line in lines] == ["", "Hm", "Hm."]
    run(turn)
    assert capsys.readouterr().out == "<think>\nHm.\n"


def test_notes_and_rejected_tunes_are_reported(capsys: Capture) -> None:
    loaded = structs.replace(LOADED, notes=("From the load.",))
    started = structs.replace(STARTED, notes=("From the turn.",))
    rejected = TuneRejected(Strategy.of("draft"), "broken", "The drafter failed.", "Try another.")
    run([started, rejected, finished("")], [loaded])
    err = capsys.readouterr().err.splitlines()
    assert err[:4] == [
        "paceline: A note.",
        "paceline: From the load.",
        "paceline: From the turn.",
        "paceline: The drafter failed. Try another.",
    ]


@pytest.mark.parametrize(
    ("holds", "is_exact", "is_told"),
    [(False, False, True), (False, True, False), (None, False, False), (True, False, False)],
)
def test_a_text_that_depends_on_drafts_is_reported(
    capsys: Capture, holds: bool | None, is_exact: bool, is_told: bool
) -> None:
    sameness = Sameness(holds, 4, 0.5, is_exact, "Near-ties can turn.")
    run([STARTED, finished("")], [structs.replace(LOADED, sameness=sameness)])
    assert ("paceline: Near-ties can turn.\n" in capsys.readouterr().err) == is_told


def test_progress_is_for_terminals(capsys: Capture) -> None:
    load = [LoadProgressed("target", 0.5), LOADED]
    run([STARTED, PrefillProgressed(1, 3), finished("")], load)
    err = capsys.readouterr().err
    assert "Loading" not in err
    assert "Reading" not in err


def test_progress_on_a_terminal_is_wiped_away(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    load = [LoadProgressed("draft", 0.5), LOADED]
    run([STARTED, PrefillProgressed(1, 3), step(0, "a"), finished("a")], load)
    err = capsys.readouterr().err
    assert "\r\x1b[KLoading the draft model … 50%\r\x1b[K" in err
    assert "Reading" not in err, "that took no time"


@pytest.mark.parametrize("as_json", [False, True])
def test_a_long_wait_for_the_first_token_is_shown_on_a_terminal(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, *, as_json: bool
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(output, "POLL_S", 0.001)
    looks = count(step=2)
    line, err = "\r\x1b[KReading 2,048 of 4,100 tokens · 2,048 were warm", ""

    def events() -> Iterator[Event]:
        nonlocal err
        yield TurnStarted(4100, 2048, 7)
        while line not in err:
            err += capsys.readouterr().err
        yield step(0, "a")
        yield finished("a")

    run(events(), as_json=as_json, clock=lambda: float(next(looks)))
    assert capsys.readouterr().err.startswith("\r\x1b[K"), "the line is wiped away"


def test_control_characters_do_not_reach_a_terminal(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "a\x1b]0;title\x07b\u009bc\td\n"
    run([STARTED, finished(text)])
    assert capsys.readouterr().out == text + "\n", "a file gets what the model wrote"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    run([STARTED, finished(text)])
    assert capsys.readouterr().out == "a�]0;title�b�c\td\n\n"


def test_a_failed_load_starts_no_turn() -> None:
    failed = LoadFailed("does-not-fit", "It does not fit.", "Take another.")
    with pytest.raises(TurnError, match="does not fit") as caught:
        run([], [failed])
    assert caught.value.exit_code == 1


def test_a_turn_that_fails_on_the_way_ends_its_line(capsys: Capture) -> None:
    failed = TurnFailed("decode-failed", "The decode failed.", "")
    with pytest.raises(TurnError) as caught:
        run([STARTED, step(0, "so far"), failed])
    assert caught.value.exit_code == 1
    assert capsys.readouterr().out == "so far\n"


@pytest.mark.parametrize("code", sorted(USAGE_CODES))
def test_a_value_that_the_engine_refuses_is_wrong_usage(code: str) -> None:
    with pytest.raises(TurnError) as caught:
        run([TurnFailed(code, "No.", "")])
    assert caught.value.exit_code == 2


def test_a_dead_engine_is_a_failure() -> None:
    with pytest.raises(TurnError, match="It was killed") as caught:
        run([STARTED, EngineDied("It was killed.", "Start again.")])
    assert caught.value.code == "engine-died"


@pytest.mark.parametrize(
    ("load", "turn"),
    [
        ([LoadFailed("cancelled", "Stopped.", "")], []),
        ([], []),
        ([LOADED], [TurnFailed("cancelled", "Stopped.", "")]),
    ],
)
def test_an_interrupted_start_is_not_a_failure(load: list[Event], turn: list[Event]) -> None:
    with pytest.raises(TurnError) as caught:
        run(turn, load)
    assert caught.value.exit_code == 130


def test_a_cancelled_reply_is_printed(capsys: Capture) -> None:
    code = run([STARTED, finished("so far", reason="cancelled")], as_json=True)
    assert code == 130
    assert json.loads(capsys.readouterr().out)["reason"] == "cancelled"


def test_numbers_that_json_lacks_become_null(capsys: Capture) -> None:
    stats = structs.replace(STATS, tokens_per_s=math.inf, decode_s=math.nan, by_drafter=(DRAFTER,))
    run([STARTED, finished("", stats)], as_json=True)
    written = json.loads(capsys.readouterr().out)["stats"]
    assert written["tokens_per_s"] is None
    assert written["decode_s"] is None
    assert written["by_drafter"]["draft"]["accepted_per_position"] == [1, 0]


def test_the_figures_of_a_speculated_reply(capsys: Capture) -> None:
    run([STARTED, finished("", SPECULATED)])
    line = capsys.readouterr().err.splitlines()[-1]
    assert "2.00× (1.60–2.50) the plain 5.0 tokens/s" in line
    assert "6 of 10 drafted tokens accepted (75%)" in line


@pytest.mark.parametrize(
    "stats",
    [
        structs.replace(SPECULATED, n_drafted=0, n_accepted=0, n_discarded=0, acceptance_rate=None),
        structs.replace(SPECULATED, plain_low=None, plain_high=None),
        structs.replace(SPECULATED, plain_tokens_per_s=None),
    ],
)
def test_a_reply_that_nothing_is_known_of_has_no_ratio(capsys: Capture, stats: TurnStats) -> None:
    run([STARTED, finished("", stats)])
    line = capsys.readouterr().err.splitlines()[-1]
    assert "10.0 tokens/s" in line
    assert "×" not in line
    assert "plain" not in line


def test_the_figures_on_the_way_are_not_printed(capsys: Capture) -> None:
    on_the_way = FiguresReported(SPECULATED)
    run([STARTED, step(0, "a"), on_the_way, step(1, "b"), finished("ab")], as_json=True)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["event"] for line in lines] == ["step", "step", "finished"]
    assert lines[-1]["stats"]["n_drafted"] == 0


def test_the_turn_is_cancelled_when_its_reader_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_text: str) -> int:
        raise BrokenPipeError

    def answer(command: Command) -> Iterator[Event]:
        if isinstance(command, LoadPair):
            yield LOADED
            return
        yield from (STARTED, step(0, "a"))
        engine.wait_for_cancel()
        yield from (step(1, "b"), finished("ab", reason="cancelled"))

    monkeypatch.setattr("paceline.cli.output.discard_stdout", lambda: None)
    monkeypatch.setattr("sys.stdout.write", broken)
    engine = ScriptedEngine(answer)
    with Interrupts() as interrupts:
        assert ChatRun(engine.client, REQUEST, interrupts, as_json=False).run() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill would end the process there")
def test_ctrl_c_before_anything_began_loads_nothing() -> None:
    engine = ScriptedEngine(lambda _command: [LOADED])
    with Interrupts() as interrupts:
        press_ctrl_c(interrupts)
        with pytest.raises(TurnError) as caught:
            ChatRun(engine.client, REQUEST, interrupts, as_json=False).run()
    assert caught.value.exit_code == 130
    assert engine.commands == []


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill would end the process there")
def test_ctrl_c_between_load_and_turn_reaches_the_turn() -> None:
    def answer(command: Command) -> Iterator[Event]:
        if isinstance(command, LoadPair):
            yield LOADED
            return
        press_ctrl_c(interrupts)
        engine.wait_for_cancel()
        yield from (STARTED, finished("", reason="cancelled"))

    engine = ScriptedEngine(answer)
    with Interrupts() as interrupts:
        assert ChatRun(engine.client, REQUEST, interrupts, as_json=False).run() == 130


def press_ctrl_c(interrupts: Interrupts) -> None:
    os.kill(os.getpid(), signal.SIGINT)
    wait_until(lambda: interrupts.hit)
