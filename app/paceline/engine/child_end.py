"""How a child process ends: with its parent, and without a core dump of a model's size.

For the main thread of a child, before anything else. `hosting/guard` does more for those that
carry out commands.
"""

from __future__ import annotations

import contextlib
import ctypes
import signal
import sys

if sys.platform != "win32":
    import resource

_PR_SET_PDEATHSIG = 1


def end_quietly_with_parent() -> None:
    """Leave no core dump, and on Linux die with the thread that started this process."""
    if sys.platform != "win32":
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
