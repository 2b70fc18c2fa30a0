"""What a child process sets up first, so that its end harms no other process.

It dies with the window; the system's out-of-memory killer takes it before the window; it leaves no
core dump of a model's size; Ctrl+C is for the window to act on; and what native code or a plug-in
prints goes into a file that is read after the process has died, never to a terminal.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import sys
from pathlib import Path

from paceline.engine.child_end import end_quietly_with_parent

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
