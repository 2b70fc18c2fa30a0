"""How many threads a decode gets when the user does not say."""

from __future__ import annotations

import psutil


def default_threads() -> int:
    """Return physical cores - 1, at least 1.

    With as many threads as cores, llama.cpp's threads wait for each other whenever anything else
    runs, and the window itself is such a thing.
    """
    physical = psutil.cpu_count(logical=False) or psutil.cpu_count() or 1
    return max(physical - 1, 1)
