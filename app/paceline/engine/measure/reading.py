"""The rate at which this machine reads weights: measured once, kept by processor and threads.

Writing one token reads all weights once, so that tells about how fast a model will be before it is
here (`catalog.judge.speed`). It is the product of decoding that is timed and not memory alone: with
few threads the arithmetic is the limit (35 GB/s read and 25 GB/s multiplied on one core of a
Zen 5).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable

from paceline.engine.cancel import CancelFlag
from paceline.engine.facts import Facts
from paceline.engine.measure.thread_choice import MOST_FOREIGN, ForeignLoad
from paceline.engine.model.backend import Backend
from paceline.engine.model.own_kernels import processor
from paceline.engine.model.threads import default_threads
from paceline.figures import Reading

_LEAST_TRIES = 3


def machine_reading(
    backend: Backend,
    facts: Facts,
    cancel: CancelFlag,
    foreign_cores: Callable[[], float] | None = None,
) -> Reading | None:
    """Return how fast the usual threads read weights; takes half a second the first time.

    Args:
        backend: Times it.
        facts: Keep it.
        cancel: Ends it; nothing is kept then.
        foreign_cores: Returns how many cores others have used since the last call.

    Returns:
        None where it cannot be told, now or at all: others keep the machine busy, say.
    """
    n_threads = default_threads()
    key = f"reading|{processor()}|{n_threads}"
    known = _parse(facts.newest(key), n_threads)
    if known is not None:
        return known
    foreign_cores = foreign_cores or ForeignLoad()
    rates = sorted(backend.reading_rates(n_threads, cancel))
    is_disturbed = n_threads > 1 and foreign_cores() > MOST_FOREIGN
    if cancel.is_set() or len(rates) < _LEAST_TRIES or is_disturbed:
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
