"""What a broken process sends does no harm: it is refused, and the process replaced."""

from __future__ import annotations

import logging
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hosting import garbage
from hosting.observed import Host, finished_text, only_death, text_of
from hosting.sabotage import broken
from paceline.hosting import supervisor
from paceline.hosting.supervisor import MOST_LOGGED, Watchdog, take_report
from paceline.hosting.wire import Beat, LogLine, decode_upward, encode_message
from paceline.messages import StepCommitted, TokenTrace
from paceline.workers.frames import MAX_FRAME, FrameError, FrameReader, WireError, frame

if TYPE_CHECKING:
    from conftest import Trials

Pair = tuple[Path, Path]


@pytest.fixture(autouse=True)
def _quiet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("engine|llama.cpp")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


# ------------------------------------------------------------------------------------ frames


def test_ten_thousand_frames_of_garbage(
    trials: Trials, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("^paceline")  # of log lines that are mutated and still are some
    rng = random.Random(5)
    watch = Watchdog()
    n_taken = 0
    frames = garbage.frames_of_all_kinds(rng, 100_000)
    for (name, payload), _ in zip(frames, trials(10_000, 100_000), strict=False):
        stream = frame(payload)
        cut = rng.randrange(len(stream))
        reader = FrameReader()
        payloads = [*reader.feed(stream[:cut]), *reader.feed(stream[cut:])]
        assert payloads == [payload]
        message = refused = None
        try:
            message = decode_upward(payload)
        except WireError as error:
            refused = str(error)
        if message is None:
            assert refused
            assert len(refused) <= 300
            continue
        assert name == "mutated"  # by chance a message again, and taken as one
        n_taken += 1
        if isinstance(message, Beat):
            watch.beat(message)
            watch.trouble()
        take_report(message)
    assert n_taken > 0 or trials.n < 10_000


@pytest.mark.parametrize("payload", garbage.SOUND, ids=lambda p: p[7:22].decode(errors="replace"))
def test_the_same_frames_unharmed_are_taken(payload: bytes) -> None:
    (back,) = FrameReader().feed(frame(payload))
    assert encode_message(decode_upward(back)) == payload


@pytest.mark.parametrize("kind", garbage.STREAMS)
def test_bytes_that_are_no_frames(kind: str) -> None:
    rng = random.Random(6)
    for _ in range(100):
        with pytest.raises(FrameError):
            list(FrameReader().feed(garbage.STREAMS[kind](rng)))


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf"), 1e308, -1.0])
def test_a_beat_of_any_number_does_not_break_the_watchdog(number: float) -> None:
    watch = Watchdog()
    watch.beat(Beat(-5, number, -(10**30), number, number))
    assert isinstance(watch.trouble(), str)


@pytest.mark.parametrize("level", [-(10**30), -1, 0, 10**1000], ids=lambda n: f"level {str(n)[:3]}")
@pytest.mark.parametrize("logger", ["root", "paceline.x\ny", "", "paceline..x", "paceline" * 9])
def test_a_log_line_of_a_broken_process_stays_one(
    level: int, logger: str, allow_warnings: Callable[[str], None],
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    allow_warnings("^paceline: %s")
    caplog.set_level(logging.DEBUG, "paceline")
    assert take_report(LogLine(level, logger, "%s %d" * 10_000)) is None
    (record,) = caplog.records
    assert record.name == "paceline"
    assert record.getMessage() == ("%s %d" * 10_000)[:MOST_LOGGED]
    assert logging.DEBUG <= record.levelno <= logging.CRITICAL


# ------------------------------------------------------------------------------ real processes


def test_garbage_in_place_of_an_answer(demo_pair: Pair, tmp_path: Path, is_long: bool) -> None:
    kinds = garbage.HARMFUL_IN_A_TURN
    names = list(kinds) if is_long else list(kinds)[::6]
    rng = random.Random(8)
    order = tmp_path / "order"
    with Host(demo_pair, broken("send and hang", order)) as host:
        host.ready()
        whole = finished_text(host.reply())  # nothing is ordered yet
        host.ready()
        for i in range(200 if is_long else len(names)):
            name = names[i % len(names)]
            order.write_bytes(kinds[name](rng))
            began = time.monotonic()
            events = host.reply()
            assert not order.exists()
            death = only_death(events)
            assert "The engine" in death.reason, name
            assert len(death.reason) < 500
            assert death.hint
            assert time.monotonic() - began < 5
            assert whole.startswith(text_of(events))
            assert host.service.pid == 0
            host.ready()
        assert finished_text(host.reply()) == whole


STEP = StepCommitted(9, (TokenTrace(1, "target", -1, None, 3),), "abc", (), 0, 0, 0, 0)


def _half_a_step() -> bytes:
    data = frame(encode_message(STEP))
    return data[: len(data) // 2]


def test_half_a_frame_and_then_the_end(demo_pair: Pair, tmp_path: Path) -> None:
    order = tmp_path / "order"
    order.write_bytes(_half_a_step())
    with Host(demo_pair, broken("send and die", order)) as host:
        host.ready()
        events = host.reply()
        assert "exit code 0" in only_death(events).reason
        assert "abc" not in text_of(events)[-3:]
        host.ready()
        assert text_of(events) in finished_text(host.reply())


def test_half_a_frame_and_then_nothing(
    demo_pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "SILENT_S", 1.0)
    order = tmp_path / "order"
    order.write_bytes(_half_a_step())
    with Host(demo_pair, broken("send and freeze", order)) as host:
        host.ready()
        began = time.monotonic()
        death = only_death(host.reply())
        assert "has not answered" in death.reason
        assert time.monotonic() - began < 4
        host.ready()
        finished_text(host.reply())


def test_a_frame_of_16_mb_is_taken_as_what_it_is(demo_pair: Pair, tmp_path: Path) -> None:
    """It is a sound message, so the reply goes on, and the log gets no more than its start."""
    most = "x" * MAX_FRAME
    beside = len(encode_message(LogLine(20, "paceline", most))) - MAX_FRAME
    data = frame(encode_message(LogLine(20, "paceline", most[beside:])))
    assert len(data) == MAX_FRAME + 4
    order = tmp_path / "order"
    order.write_bytes(data)
    with Host(demo_pair, broken("send and go on", order)) as host:
        host.ready()
        finished_text(host.reply())
        assert not order.exists()


def test_byte_by_byte_is_slow_and_works(demo_pair: Pair, tmp_path: Path) -> None:
    order = tmp_path / "order"
    order.touch()
    with Host(demo_pair, broken("trickle", order, at=5)) as host:
        host.ready()
        trickled = host.reply()
        assert not order.exists()
        host.service.look()
        host.client.close()
    with Host(demo_pair) as host:
        host.ready()
        assert finished_text(host.reply()) == finished_text(trickled)
