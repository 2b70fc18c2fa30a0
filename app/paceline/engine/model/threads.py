"""The default number of threads for decodes, and a clock of the time that a thread could use.

Where other programs use the processor, too, a step sometimes waits for its turn, and its duration
shows more about them than about itself: with two busy processes on two cores, steps of 15 ms took
from 15 to 50. Linux counts for each thread how long it was ready to run while another one ran
(`/proc/PID/task/TID/schedstat`, Documentation/scheduler/sched-stats.rst). Without that time they
took 15 again, and wide ones their usual multiple of it. The time in which a thread sleeps is not
part of it: waiting for a helper's share of a decode, a disk, a lock. Those are costs of the step.
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
_UNNOTICED_S = 1e-5  # waiting that the clock need not detect
_BIG_STACK = 512 << 20  # address space; memory is allocated as it is used


def default_threads() -> int:
    """Return the number of physical cores - 1, at least 1.

    With as many threads as cores, llama.cpp's threads wait for each other whenever another program
    runs, and the window itself is one.
    """
    physical = psutil.cpu_count(logical=False) or psutil.cpu_count() or 1
    return max(physical - 1, 1)


def calm_waiting_threads() -> None:
    """Let OpenMP's waiting threads sleep at once on machines with at most two cores.

    By default libgomp's threads spin for about a millisecond. Without a spare core, any other
    program then blocks the very thread that the others wait for: measured on two busy cores with
    two threads, 3 to 140 tokens/s spinning and 170 to 470 sleeping. With spare cores spinning is
    faster, and stays. Settings of the user are left alone.
    """
    n_cores = psutil.cpu_count(logical=False) or psutil.cpu_count() or 1
    if n_cores <= 2 and "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "0")


def on_big_stack(work: Callable[[], T]) -> T:
    """Run deeply recursive native code on a thread with a large stack, and wait for it."""
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
        OSError: The system does not count them.
    """

    def __init__(self) -> None:
        path = f"/proc/self/task/{threading.get_native_id()}/schedstat"
        self._file = os.open(path, os.O_RDONLY)  # opening it for each look would take 80 us more
        weakref.finalize(self, os.close, self._file)
        self._waited_s, self._not_run_s, self._latest = 0.0, -math.inf, -math.inf

    def read(self) -> float:
        """Return the seconds."""
        now = time.perf_counter()
        # It waits only while it does not run, and right after a decode the clock of its running
        # time takes a quarter of the time for reading the file.
        not_run_s = now - time.thread_time()
        if not_run_s - self._not_run_s > _UNNOTICED_S:
            self._not_run_s = not_run_s
            try:  # noqa: SIM105  after a decode each further function costs 2 to 10 us
                self._waited_s = 1e-9 * int(os.pread(self._file, 96, 0).split()[1])
            except ProcessLookupError:
                pass  # the thread has ended, and another one continues the work
        own = now - self._waited_s
        if own < self._latest:  # a wait since then, or one that was too short to be noticed
            return self._latest
        self._latest = own
        return own


def own_clock(*models: LanguageModel | None) -> Clock | None:
    """Return a clock of the calling thread's own seconds, or None if they are no measure.

    They are none if the system does not count them, or if a device computes meanwhile: a thread
    that only waits for it loses nothing when it is kept from running.

    Args:
        models: All models that decode; None is ignored.
    """
    if not all(model.computes_here for model in models if model is not None):
        return None
    try:
        own = _OwnSeconds()
        own.read()
    except (OSError, AttributeError, IndexError, ValueError):
        return None
    return own.read
