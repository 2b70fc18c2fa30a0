"""Memory that is kept instead of being given back and fetched again.

Every step of a training needs the same large arrays. glibc returns them to the system when they
are free, and the system clears every page of them anew: a fifth of the time on a processor.
"""

from __future__ import annotations

import ctypes

# Of glibc's `malloc.h`.
_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_MAX = -1, -2, -4
_NEVER = 2**31 - 1
_AT_ONCE_BYTES = 64 * 2**20


def keep_memory() -> bool:
    """Tell glibc to keep what the process has had; returns whether there is a glibc to tell."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library, or Windows
        return False
    settings = ((_M_MMAP_MAX, 0), (_M_TRIM_THRESHOLD, _NEVER), (_M_TOP_PAD, _AT_ONCE_BYTES))
    taken = [mallopt(name, value) for name, value in settings]  # each, also if another one failed
    return all(taken)
