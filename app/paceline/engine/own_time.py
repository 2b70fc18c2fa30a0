"""The seconds that a thread could use, which on a shared machine are fewer than those that pass.

Where others want the processor, too, a step waits for its turn now and then, and its time says more
about them than about itself: with two busy processes on two cores, steps of 15 ms took from 15 to
50. Linux counts for each thread how long it was ready to run while another one ran
(`/proc/PID/task/TID/schedstat`, Documentation/scheduler/sched-stats.rst). Without that time they
took 15 again, and wide ones their usual multiple of it. What a thread waits for sleeping is not in
it: a helper's share of a decode, a disk, a lock. Those are prices of the step.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

from paceline.engine.backend import LanguageModel

Clock = Callable[[], float]


class _Waited:
    """Seconds in which one thread was kept waiting since it began.

    Raises:
        OSError: The system does not tell.
    """

    def __init__(self) -> None:
        path = f"/proc/self/task/{threading.get_native_id()}/schedstat"
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def __call__(self) -> float:
        return 1e-9 * int(os.pread(self._file, 96, 0).split()[1])

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            os.close(self._file)


_of_thread = threading.local()


def _own() -> float:
    """Return seconds that pass only while the calling thread runs or waits of its own accord."""
    waited: _Waited | None = getattr(_of_thread, "waited", None)
    if waited is None:
        waited = _of_thread.waited = _Waited()
    return time.perf_counter() - waited()


def own_clock(*models: LanguageModel | None) -> Clock | None:
    """Return a clock of the calling thread's own seconds; None where they do not tell.

    That is where the system does not count them, and where a device computes meanwhile: a thread
    that is kept from waiting for it loses nothing.

    Args:
        models: All that decode; None is left out.
    """
    if not all(model.computes_here for model in models if model is not None):
        return None
    try:
        _own()
    except (OSError, AttributeError, IndexError, ValueError):
        return None
    return _own
