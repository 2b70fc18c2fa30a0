"""How many threads a decode gets when the user does not say, and what time they could use.

Where other programs want the processor, too, a step waits for its turn now and then, and its time
says more about them than about itself: with two busy processes on two cores, steps of 15 ms took
from 15 to 50. Linux counts for each thread how long it was ready to run while another one ran
(`/proc/PID/task/TID/schedstat`, Documentation/scheduler/sched-stats.rst). Without that time they
took 15 again, and wide ones their usual multiple of it. What a thread waits for sleeping is not in
it: a helper's share of a decode, a disk, a lock. Those are costs of the step.
"""

from __future__ import annotations

import math
import os
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import psutil

from paceline.engine.model.backend import LanguageModel

T = TypeVar("T")
_UNNOTICED_S = 1e-5  # that a thread may have waited without being told
_BIG_STACK = 512 << 20  # address space; memory is taken as it is used


def default_threads() -> int:
    """Return physical cores - 1, at least 1.

    With as many threads as cores, llama.cpp's threads wait for each other whenever anything else
    runs, and the window itself is such a thing.
    """
    physical = psutil.cpu_count(logical=False) or psutil.cpu_count() or 1
    return max(physical - 1, 1)


def calm_waiting_threads() -> None:
    """On two cores or fewer, let OpenMP's threads sleep at once where they wait for each other.

    By default libgomp's spin for about a millisecond. With no core to spare, any other program
    then keeps the very thread from running that the others wait for: measured on two busy cores
    with two threads, 3 to 140 tokens/s spinning and 170 to 470 sleeping. With cores to spare
    spinning is faster and stays. Settings of the user's own are left alone.
    """
    n_cores = psutil.cpu_count(logical=False) or psutil.cpu_count() or 1
    if n_cores <= 2 and "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "0")


def on_big_stack(work: Callable[[], T]) -> T:
    """Run native code that recurses deeply on a thread with room for it, and wait."""
    with ThreadPoolExecutor(1, "big-stack") as pool:
        before = threading.stack_size(_BIG_STACK)
        try:
            result = pool.submit(work)
        finally:
            threading.stack_size(before)
        return result.result()


Clock = Callable[[], float]


class _OwnSeconds:
    """A clock of the seconds in which the thread that made it was not kept from running.

    Raises:
        OSError: The system does not tell.
    """

    def __init__(self) -> None:
        path = f"/proc/self/task/{threading.get_native_id()}/schedstat"
        self._file = os.open(path, os.O_RDONLY)  # to open it for each look takes 80 us more
        weakref.finalize(self, os.close, self._file)
        self._waited_s, self._not_run_s, self._latest = 0.0, -math.inf, -math.inf

    def read(self) -> float:
        """Return them."""
        now = time.perf_counter()
        # It waits only while it does not run, and right after a decode the clock that tells when
        # it ran takes a quarter of the time that the file does.
        not_run_s = now - time.thread_time()
        if not_run_s - self._not_run_s > _UNNOTICED_S:
            self._not_run_s = not_run_s
            try:  # noqa: SIM105  after a decode each further function costs 2 to 10 us
                self._waited_s = 1e-9 * int(os.pread(self._file, 96, 0).split()[1])
            except ProcessLookupError:
                pass  # the thread has ended, and another one goes on
        own = now - self._waited_s
        if own < self._latest:  # by a wait since then, or one that was too short to be noticed
            return self._latest
        self._latest = own
        return own


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
        own = _OwnSeconds()
        own.read()
    except (OSError, AttributeError, IndexError, ValueError):
        return None
    return own.read
