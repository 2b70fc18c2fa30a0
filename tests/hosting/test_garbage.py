"""Malformed output of a broken process: it is refused, and the process is replaced."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from hosting import garbage
from paceline.hosting.supervisor import MAX_LOG_CHARS, Watchdog, take_report
from paceline.hosting.wire import Beat, LogLine, decode_upward, encode_message
from paceline.workers.frames import FrameError, FrameReader, WireError, frame

if TYPE_CHECKING:
    from trials import Trials


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
    assert record.getMessage() == ("%s %d" * 10_000)[:MAX_LOG_CHARS]
    assert logging.DEBUG <= record.levelno <= logging.CRITICAL
