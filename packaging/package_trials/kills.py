"""Kills at random moments of window, engine and `chat`: nothing is lost, no lock is left."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from dataclasses import replace
from pathlib import Path

import psutil

from package_trials.programs import PROMPT, Program, left_over
from package_trials.report import Report, TrialError, expect
from package_trials.screen import Screen, n_replies, rows, screen, window

WHAT = ("window", "engine", "chat")
ENDS_S = 5.0
"""Seconds within which children follow a program that was killed."""


def run(report: Report, program: Program, n_kills: int, seed: int = 1) -> None:
    """Kill the program again and again, and start it each time.

    Args:
        report: Receives the cases.
        program: The program with its home.
        n_kills: Number of kills.
        seed: Seed of the random moments.
    """
    drawn = random.Random(seed)
    home = Path(program.env["PACELINE_HOME"])
    chats = home / "data" / "chats.db"
    with screen() as shown:
        on_screen = replace(program, env={**program.env, "DISPLAY": shown.display})
        for i in range(n_kills):
            what = WHAT[i % len(WHAT)]
            before = set(rows(chats, "SELECT id, role FROM messages"))
            n_before = n_replies(chats)
            with report.case(f"kill {i + 1}: {what}") as case:
                if what == "chat":
                    case.figure = _kill_chat(program, drawn.uniform(0.05, 2.5))
                elif what == "window":
                    case.figure = _kill_window(shown, on_screen, drawn.uniform(0.0, 4.0))
                else:
                    case.figure = _kill_engine(shown, on_screen, chats, drawn.uniform(0.0, 1.5))
                _check_left(home)
                now = set(rows(chats, "SELECT id, role FROM messages"))
                expect(before <= now, f"{len(before - now)} messages are gone")
                expect(n_replies(chats) >= n_before, "a reply is gone")
        with report.case("after all kills: the window opens, replies and closes") as case:
            with window(shown, on_screen) as opened:
                case.figure = f"shown after {opened.mapped_s:.1f} s"
                opened.ask("What does the function sum do?", chats)
                opened.close()
            expect(rows(chats, "PRAGMA integrity_check") == [("ok",)], "a damaged database")
            case.figure += f", {n_replies(chats)} replies"
        with report.case("after all kills: `chat`"):
            program.chat()


def _kill_chat(program: Program, after_s: float) -> str:
    words = ("chat", "--remember", "--prompt", PROMPT, "--max-tokens", "400")
    with program.started(*words) as process:
        time.sleep(after_s)
        process.kill()
    return f"after {after_s:.2f} s"


def _kill_window(shown: Screen, program: Program, after_s: float) -> str:
    """Kill the window after its start, in the midst of a question or a reply."""
    until = time.monotonic() + after_s
    with program.started() as process:
        while time.monotonic() < until:
            if shown.windows():
                shown.tool("xdotool", "windowfocus", shown.windows()[-1])
                shown.write("What is a list?")
                shown.key("Return")
                time.sleep(max(0.0, until - time.monotonic()))
            time.sleep(0.05)
        process.kill()
    return f"after {after_s:.2f} s"


def _kill_engine(shown: Screen, program: Program, chats: Path, after_s: float) -> str:
    """Kill the engine's process while the window asks it; the next question has a reply."""
    with window(shown, program) as opened:
        shown.write("What is a tuple?")
        shown.key("Return")
        time.sleep(after_s)
        found = _engine_of(opened.process.pid)
        for each in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        opened.ask("What does the function sorted do?", chats)
        opened.close()
    return f"{len(found)} processes after {after_s:.2f} s"


def _engine_of(pid: int) -> list[int]:
    """Return the engine's processes below a window's."""
    with contextlib.suppress(psutil.NoSuchProcess):
        children = psutil.Process(pid).children(recursive=True)
        return [each.pid for each in children if any("engine" in w for w in _words(each))]
    return []


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def _check_left(home: Path) -> None:
    """Check that what was killed has left no process.

    Raises:
        TrialError: It has.
    """
    until = time.monotonic() + ENDS_S
    while found := left_over(home):
        if time.monotonic() > until:
            raise TrialError(f"processes that go on: {found}")
        time.sleep(0.1)
