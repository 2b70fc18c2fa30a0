"""Child processes: how those of the engine start, and what every one sets up and how it ends.

A child ends with its parent and leaves no core dump of the size of a model. One that carries out
commands does more (`guard_process`), so that its end harms no other process: the out-of-memory
killer takes it before the window; Ctrl+C is for the window to act on; and what native code or a
plug-in prints goes into a file that is read after the process has died, never to a terminal.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import signal
import subprocess
import sys
from pathlib import Path

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


_OOM_SCORE = "800"  # of 1000; an ordinary program has about 0
_SECRETS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACEHUB_API_TOKEN")


def guard_process(parent_pid: int, output: str) -> None:
    """Set up the calling process as a child of `parent_pid`.

    Args:
        parent_pid: The process that started it. If that is gone already, this one ends at once.
        output: File that takes what is printed; empty: it is thrown away.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    for name in _SECRETS:
        os.environ.pop(name, None)
    _redirect(output)
    end_quietly_with_parent()
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE, encoding="ascii")
        if os.getppid() != parent_pid:  # it died before this one was told to end with it
            os._exit(1)


def _redirect(output: str) -> None:
    """Send stdout and stderr into a file, and read stdin from nowhere."""
    null = os.open(os.devnull, os.O_RDWR)
    target = null
    if output:
        with contextlib.suppress(OSError):
            target = os.open(output, os.O_WRONLY | os.O_APPEND)
            Path(output).unlink()  # fails on Windows: there the window's process deletes it
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()
    os.dup2(null, 0)
    os.dup2(target, 1)
    os.dup2(target, 2)
    # New objects: those of a program without a console are None, and a test's may be captured.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="replace", buffering=1, closefd=False)  # noqa: SIM115
    faulthandler.enable(2)
