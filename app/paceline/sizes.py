"""Sizes of files and of memory in words, in decimal units as the Hub and most file managers do.

One unit for both, so that a file and the memory that it takes can be compared. Pure functions.
"""

from __future__ import annotations

_UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def readable_size(n_bytes: float) -> str:
    """Return a size in words: ``4.7 GB``, ``398 MB``, ``12 kB``."""
    return _size(n_bytes, _unit(n_bytes))


def part_and_whole(n_part: float, n_whole: float) -> tuple[str, str]:
    """Return two sizes in one unit, that of the larger: ``("3.1", "4.9 GB")``."""
    unit = _unit(max(n_part, n_whole))
    return _size(n_part, unit).split()[0], _size(n_whole, unit)


def _unit(n_bytes: float) -> tuple[float, str]:
    """Return the unit in which a size has one to three digits before the point."""
    for unit, name in _UNITS:
        if n_bytes >= 0.9995 * unit:
            return unit, name
    return 1, "bytes"


def _size(n_bytes: float, unit: tuple[float, str]) -> str:
    value = n_bytes / unit[0]
    # Tenths of a megabyte do not help.
    digits = 1 if unit[0] >= 1e9 and value < 99.95 else 0
    return f"{value:.{digits}f} {unit[1]}"
