"""How many threads a decode gets when the user does not say, and how they wait for each other."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TypeVar

import psutil

T = TypeVar("T")
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

    By default libgomp's spin for about a millisecond. With no core to spare, whatever else runs
    then keeps the very thread from running that the others wait for: measured on two busy cores
    with two threads, 3 to 140 tokens/s spinning and 170 to 470 sleeping. With cores to spare
    spinning is faster and stays. Settings of the user's own are left alone.
    """
    n_cores = psutil.cpu_count(logical=False) or psutil.cpu_count() or 1
    if n_cores <= 2 and "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "0")


def on_big_stack(work: Callable[[], T]) -> T:
    """Run native code that recurses deeply on a thread with room for it, and wait."""
    results: list[T] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001  raised again by the caller
            failures.append(error)

    before = threading.stack_size(_BIG_STACK)
    try:
        thread = threading.Thread(target=run, name="big-stack", daemon=True)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    if failures:
        raise failures[0]
    return results[0]
