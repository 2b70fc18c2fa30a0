"""A screen without a display (Xvfb), and the program's window on it: keys, pictures, chats."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from shutil import which

from package_trials.programs import Program, kill
from package_trials.report import CannotTryError, TrialError, expect

TOOLS = {"Xvfb": "xvfb", "xdotool": "xdotool", "xprop": "x11-utils", "import": "imagemagick"}
"""Programs, and the Debian packages that contain them."""
WINDOW_S = 60.0


class Screen:
    """A screen of this machine.

    Attributes:
        display: Its name for the variable DISPLAY.
    """

    def __init__(self, display: str) -> None:
        self.display = display

    def tool(self, *words: str) -> str:
        """Run a tool on it; return its output, or empty if it failed."""
        env = {**os.environ, "DISPLAY": self.display}
        done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
        return done.stdout if done.returncode == 0 else ""

    def windows(self) -> list[str]:
        """Return the windows of the program that are shown, without the frame of its start."""
        found = self.tool("xdotool", "search", "--onlyvisible", "--name", "Paceline").split()
        return [each for each in found if not self._is_splash(each)]

    def key(self, *keys: str) -> None:
        """Press keys, e.g. "Return" or "ctrl+k"."""
        self.tool("xdotool", "key", *keys)

    def write(self, text: str) -> None:
        """Type a text into the focused widget."""
        self.tool("xdotool", "type", text)

    def picture(self, out: Path) -> int:
        """Write a picture of the screen; return its number of colours."""
        self.tool("import", "-window", "root", str(out))
        told = self.tool("identify", "-format", "%k", str(out))
        expect(told.isdecimal(), "no picture")
        return int(told)

    def _is_splash(self, window: str) -> bool:
        return "SPLASH" in self.tool("xprop", "-id", window, "_NET_WM_WINDOW_TYPE")


class Window:
    """The program's window.

    Attributes:
        process: The program.
        mapped_s: Seconds from its start to the moment at which the window was shown.
    """

    def __init__(self, screen: Screen, process: subprocess.Popen[str], start: float) -> None:
        self._screen = screen
        self._start = start
        self.process = process
        self._wait(lambda: bool(screen.windows()), "no window")
        self.mapped_s = time.monotonic() - start
        self.focus()

    def focus(self) -> None:
        """Focus the window, since there is no window manager here."""
        for window in self._screen.windows()[-1:]:
            self._screen.tool("xdotool", "windowfocus", window)

    def ask(self, question: str, chats: Path) -> float:
        """Type a question, and wait until its reply is stored.

        Returns:
            Seconds from the program's start to the reply's end.

        Raises:
            TrialError: There is none.
        """
        before = n_replies(chats)
        self._screen.write(question)
        self._screen.key("Return")
        self._wait(lambda: n_replies(chats) > before, f"no reply to {question!r}")
        return time.monotonic() - self._start

    def close(self, limit_s: float = 30.0) -> int:
        """Close it as the window system would; return the program's exit code.

        Raises:
            TrialError: It does not end.
        """
        self.process.terminate()
        try:
            return self.process.wait(limit_s)
        except subprocess.TimeoutExpired:
            raise TrialError("the window does not close") from None

    def _wait(self, is_so: Callable[[], bool], instead: str) -> None:
        until = time.monotonic() + WINDOW_S
        while not is_so():
            if self.process.poll() is not None:
                assert self.process.stderr is not None
                said = self.process.stderr.read().strip()[-300:]
                raise TrialError(f"{instead}: exit code {self.process.returncode}, {said}")
            expect(time.monotonic() < until, f"{instead} within {WINDOW_S:.0f} s")
            time.sleep(0.1)


@contextmanager
def screen() -> Iterator[Screen]:
    """Start a screen.

    Raises:
        CannotTryError: A tool is missing.
    """
    if missing := [package for name, package in TOOLS.items() if which(name) is None]:
        raise CannotTryError(f"Install {' '.join(missing)} for a screen.")
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1440x900x24", "-ac"]
    with subprocess.Popen(
        command, pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        os.close(writing)
        try:
            with os.fdopen(reading) as told:
                yield Screen(f":{told.readline().strip()}")
        finally:
            server.terminate()


@contextmanager
def window(on: Screen, program: Program, *files: str) -> Iterator[Window]:
    """Open the program's window; it is killed at the end if it has not been closed.

    Args:
        on: The screen.
        program: The program, whose variables name the screen.
        files: Files to open.
    """
    start = time.monotonic()
    with program.started(*files) as process:
        try:
            yield Window(on, process, start)
        finally:
            kill(process)


def n_replies(chats: Path) -> int:
    """Return the number of finished replies in a database; 0 if there is no database."""
    return len(rows(chats, "SELECT 1 FROM runs WHERE status NOT IN ('running', 'failed')"))


def rows(chats: Path, query: str) -> list[tuple[object, ...]]:
    """Query a database of chats, which the program may be writing; no rows if there is none."""
    if not chats.exists():
        return []
    try:
        with closing(sqlite3.connect(f"file:{chats}?mode=ro", uri=True, timeout=10.0)) as database:
            return database.execute(query).fetchall()
    except sqlite3.OperationalError as error:  # its tables do not exist yet
        if "no such table" in str(error):
            return []
        raise TrialError(f"the chats cannot be read: {error}") from None
    except sqlite3.DatabaseError as error:
        raise TrialError(f"the chats are damaged: {error}") from None
