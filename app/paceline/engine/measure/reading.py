"""The rate at which this machine reads weights: measured once, stored by processor and threads.

Writing one token reads all weights once, so the rate predicts roughly how fast a model will be
before it is downloaded (`catalog.judge.speed`). The matrix product of decoding is timed and not
memory alone: with few threads the arithmetic is the limit (35 GB/s read and 25 GB/s multiplied on
one core of a Zen 5).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable

from paceline.engine.cancel import CancelFlag
from paceline.engine.facts import Facts
from paceline.engine.measure.thread_choice import MAX_FOREIGN_CORES, ForeignLoad
from paceline.engine.model.backend import Backend
from paceline.engine.model.own_kernels import processor
from paceline.engine.model.threads import default_threads
from paceline.figures import Reading

_MIN_TRIES = 3


def machine_reading(
    backend: Backend,
    facts: Facts,
    cancel: CancelFlag,
    foreign_cores: Callable[[], float] | None = None,
) -> Reading | None:
    """Return how fast the default threads read weights; takes half a second the first time.

    Args:
        backend: Backend that times it.
        facts: Facts that store it.
        cancel: Flag that ends it; then nothing is stored.
        foreign_cores: Returns how many cores other programs have used since the last call.

    Returns:
        None where it cannot be measured now or at all, for example on a busy machine.
    """
    n_threads = default_threads()
    key = f"reading|{processor()}|{n_threads}"
    known = _parse(facts.newest(key), n_threads)
    if known is not None:
        return known
    foreign_cores = foreign_cores or ForeignLoad()
    rates = sorted(backend.reading_rates(n_threads, cancel))
    is_disturbed = n_threads > 1 and foreign_cores() > MAX_FOREIGN_CORES
    if cancel.is_set() or len(rates) < _MIN_TRIES or is_disturbed:
        return None
    reading = Reading(n_threads, rates[len(rates) // 4], rates[len(rates) // 2], rates[-1])
    facts.put(key, json.dumps([reading.low, reading.typical, reading.high]))
    return reading


def _parse(fact: object, n_threads: int) -> Reading | None:
    try:
        low, typical, high = (float(part) for part in json.loads(str(fact)))
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None
    return Reading(n_threads, low, typical, high) if 0 < low <= typical <= high < math.inf else None
