"""Child processes: how those of the engine start, and what every one sets up and how it ends.

A child ends with its parent and leaves no core dump of the size of a model. One that carries out
commands does more (`guard_process`), so that its end harms no other process: the out-of-memory
killer takes it before the window; Ctrl+C is for the window to act on; and what native code or a
plug-in prints goes into a file that is read after the process has died, never to a terminal.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys

from paceline.sentence import sentence

if sys.platform != "win32":
    import resource

_PR_SET_PDEATHSIG = 1


def start_own(*arguments: str, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """Start this program with arguments that `__main__` knows; the caller reads what it prints.

    Not by `multiprocessing`, which allows a child of its own no children, and would run a script
    that uses the engine once more.

    Raises:
        OSError: The system does not start another process.
    """
    program = [sys.executable]
    if not getattr(sys, "frozen", False):
        program += ["-P", "-m", "paceline"]
    return subprocess.Popen(
        [*program, *arguments],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl+C is for this process to act on
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # Windows' way for the same
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


def end_of(child: subprocess.Popen[bytes]) -> str:
    """Say how a child ended that says nothing more, as part of a sentence."""
    try:
        code = child.wait(1.0)
    except subprocess.TimeoutExpired:
        return "hung"
    if code < 0:
        return sentence("crashed, {signal}", signal=signal_name(-code))
    return sentence("ended with exit code {code}", code=code)


def signal_name(number: int) -> str:
    """Return a signal's name, such as ``SIGSEGV``."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return sentence("signal {number}", number=number)


def end_quietly_with_parent() -> None:
    """Leave no core dump, and on Linux die with the thread that started this process.

    For the main thread of a child, before anything else.
    """
    if sys.platform != "win32":
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
