"""Children without an engine: each follows a script and speaks the protocol by hand.

A script is a function at the top of this module; `scripted` makes of it what `ProcessService` takes
as `main`. It has the pipe's other end as a `Line` and returns when the child is to end.
"""

from __future__ import annotations

import logging
import os
import random
import signal
import socket
import time
import zlib
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from msgspec import structs

from message_samples import sample
from paceline.hosting.wire import Done, LogLine, Upward, decode_command, encode_message
from paceline.messages import (
    Cancel,
    Command,
    DescribeEngine,
    EngineDescribed,
    FinishReason,
    LoadPair,
    LoadProgressed,
    PairLoaded,
    RawText,
    Shutdown,
    StartTurn,
    StepCommitted,
    Tune,
    TuneApplied,
    TuneRejected,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    Unload,
    Unloaded,
)
from paceline.workers.frames import READY, FrameReader, frame
from paceline.workers.process import ChildMain

C = TypeVar("C", bound=Command)


class Line:
    """The child's end of the pipe: blocking, one message at a time."""

    def __init__(self, pipe: socket.socket) -> None:
        pipe.settimeout(None)
        self.pipe = pipe
        self._reader = FrameReader()
        self._waiting: deque[Command] = deque()

    def send(self, *messages: Upward) -> None:
        """Send messages in one piece."""
        self.pipe.sendall(b"".join(frame(encode_message(message)) for message in messages))

    def ready(self) -> None:
        """Say that commands are taken."""
        self.pipe.sendall(frame(READY))

    def take(self) -> Command:
        """Wait for the next command; ends the process when the pipe ends."""
        while not self._waiting:
            data = self.pipe.recv(1 << 16)
            if not data:
                os._exit(0)
            self._waiting += map(decode_command, self._reader.feed(data))
        return self._waiting.popleft()

    def wait_for(self, kind: type[C]) -> C:
        """Wait for a command of this kind, which must be the next one."""
        command = self.take()
        assert isinstance(command, kind), command
        return command


Script = Callable[[Line], None]


def scripted(script: Script) -> ChildMain:
    """Return a `main` that follows the script."""
    return partial(_follow, script)


def _follow(script: Script, pipe: socket.socket) -> None:
    script(Line(pipe))
    os._exit(0)


# ------------------------------------------------------------------------------ one that obeys


def obedient(line: Line) -> None:
    """Do everything right; a turn does what its prompt says."""
    line.ready()
    while True:
        command = line.take()
        if isinstance(command, Cancel):
            continue  # of a turn that has ended meanwhile
        answer(line, command)
        line.send(Done())
        if isinstance(command, Shutdown):
            return


def answer(line: Line, command: Command) -> None:
    """Send what an engine would send; all but the `Done`."""
    match command:
        case LoadPair():
            line.send(LoadProgressed("target", 1.0))
            line.send(sample(PairLoaded))
        case StartTurn():
            line.send(sample(TurnStarted))
            prompt = command.prompt.text if isinstance(command.prompt, RawText) else ""
            _TURNS[prompt.partition(" ")[0] or "finish"](line, command)
        case Tune():
            line.send(TuneRejected(command.strategy, "not-running", "", ""))
        case DescribeEngine():
            line.send(sample(EngineDescribed))
        case Unload():
            line.send(Unloaded())
        case _:
            pass


def finished(reason: FinishReason = "eog") -> TurnFinished:
    return structs.replace(sample(TurnFinished), reason=reason)


def step() -> StepCommitted:
    return sample(StepCommitted)


def _finish(line: Line, turn: StartTurn) -> None:
    line.send(finished())


def _fail(line: Line, turn: StartTurn) -> None:
    assert isinstance(turn.prompt, RawText)
    line.send(step(), TurnFailed(turn.prompt.text.split()[1], "", ""))


def _until_cancelled(line: Line, turn: StartTurn) -> None:
    line.wait_for(Cancel)
    line.send(finished("cancelled"))


def _slowly_cancelled(line: Line, turn: StartTurn) -> None:
    line.wait_for(Cancel)
    time.sleep(0.2)
    line.send(finished("cancelled"))


def _miss_tune(line: Line, turn: StartTurn) -> None:
    """End before the `Tune` that is there already is taken: it is answered as a command."""
    tune = line.wait_for(Tune)
    line.send(finished(), Done())
    line.send(TuneRejected(tune.strategy, "not-running", "", ""))


def _steps(line: Line, turn: StartTurn) -> None:
    """Twenty steps, with a `Tune` taken between two of them or not, as chance will have it."""
    chance = random.Random(turn.seed)
    line.pipe.settimeout(0)
    for _ in range(20):
        line.send(step())
        if chance.random() < 0.5:
            try:
                tune = line.wait_for(Tune)
            except BlockingIOError:
                time.sleep(0.001)
                continue
            line.send(Done(), TuneApplied(tune.strategy))
    line.pipe.settimeout(None)
    line.send(finished())


def _measure(line: Line, turn: StartTurn) -> None:
    assert isinstance(turn.prompt, RawText)
    content = turn.prompt.text.removeprefix("measure ").encode()
    line.send(TurnFailed("measured", f"{len(content)} {zlib.crc32(content)}", ""))


def _deaf(line: Line, turn: StartTurn) -> None:
    """Begin and never end, whatever comes."""
    line.send(step())
    time.sleep(3600)


def _short_keep(line: Line, turn: StartTurn) -> None:
    line.send(finished())
    time.sleep(0.2)


def _long_keep(line: Line, turn: StartTurn) -> None:
    """Tell the end and never come back, as a drafter that stores what it learned might."""
    line.send(finished())
    time.sleep(3600)


_TURNS: dict[str, Callable[[Line, StartTurn], None]] = {
    "finish": _finish,
    "fail": _fail,
    "until-cancelled": _until_cancelled,
    "slowly-cancelled": _slowly_cancelled,
    "miss-tune": _miss_tune,
    "steps": _steps,
    "measure": _measure,
    "deaf": _deaf,
    "short-keep": _short_keep,
    "long-keep": _long_keep,
}


# --------------------------------------------------------------------------- ones that do not


def talks(line: Line) -> None:
    """Log records with every answer: its own, at every level, and one in another's name."""
    line.send(LogLine(logging.INFO, "paceline.engine.turn", "before ready"))
    line.ready()
    line.take()
    for level in (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR):
        line.send(LogLine(level, "paceline.engine.llama", f"at {level} 100 %s"))
    line.send(LogLine(logging.WARNING, "urllib3", "in another's name"))
    line.send(LogLine(logging.INFO, "paceline_other", "in almost its own"))
    line.send(sample(EngineDescribed), Done())
    line.take()


def never_reads(line: Line) -> None:
    """Be ready and deaf."""
    line.ready()
    time.sleep(3600)


def reads_slowly(line: Line) -> None:
    """Take a command in small pieces, which lasts a second, and answer it."""
    line.ready()
    reader = FrameReader()
    while True:
        for payload in reader.feed(line.pipe.recv(1 << 16)):
            answer(line, decode_command(payload))
            line.send(Done())
            return
        time.sleep(0.015)


def hangs_up(line: Line) -> None:
    """Leave the conversation and live on."""
    line.ready()
    line.take()
    line.pipe.close()
    time.sleep(3600)


def never_ready(line: Line) -> None:
    """Start and say nothing."""
    time.sleep(3600)


def ignores_shutdown(line: Line) -> None:
    """Do the first command and nothing from then on."""
    line.ready()
    answer(line, line.take())
    line.send(Done())
    time.sleep(3600)


def dies_when_idle(line: Line) -> None:
    """Do the first command, say something into the log, and crash."""
    line.ready()
    answer(line, line.take())
    line.send(Done(), LogLine(logging.INFO, "paceline.engine", "the last line"))
    os.kill(os.getpid(), signal.SIGSEGV)


def chatters_when_idle(line: Line) -> None:
    """Send a `Done` too many."""
    line.ready()
    answer(line, line.take())
    line.send(Done(), Done())
    line.take()


def leaves_unanswered(line: Line) -> None:
    """Be done with the first command without an answer to it."""
    line.ready()
    line.take()
    line.send(Done())
    line.take()


def ignores_cancel(line: Line) -> None:
    """Begin a load and never end it."""
    line.ready()
    line.wait_for(LoadPair)
    line.send(LoadProgressed("target", 0.5))
    time.sleep(3600)
