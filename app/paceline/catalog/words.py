"""Figures and texts of models as window and command line show them. Pure functions.

Files are counted in decimal units, as disk makers, the Hub and most file managers do; memory is
counted in binary ones (`engine.model.memory_hints.readable_size`).
"""

from __future__ import annotations

_SIZES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_COUNTS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))


def file_size(n_bytes: float) -> str:
    """Return the size of a file: ``4.7 GB``, ``398 MB``, ``12 kB``."""
    return _size(n_bytes, _size_unit(n_bytes))


def size_text(n_bytes: int) -> str:
    """Return the size of a file as `file_size`; empty for 0, which is not known."""
    return file_size(n_bytes) if n_bytes else ""


def done_and_total(n_done: float, n_total: float) -> tuple[str, str]:
    """Return how much of a file is there, in one unit: ``("3.1", "4.9 GB")``."""
    unit = _size_unit(n_total)
    return _size(n_done, unit).split()[0], _size(n_total, unit)


def weights(n_params: int) -> str:
    """Return a number of weights: ``7.62B``, ``494M``; empty for 0, which is not known."""
    for unit, name in _COUNTS:
        if n_params >= unit:
            return f"{_three_digits(n_params / unit)}{name}"
    return str(n_params) if n_params else ""


def tokens(n_ctx: int) -> str:
    """Return a length of context: ``32k``, ``2000``; empty for 0, which is not known."""
    if n_ctx >= 1024 and n_ctx % 1024 == 0:
        return f"{n_ctx // 1024}k"
    return str(n_ctx) if n_ctx else ""


def duration(seconds: float) -> str:
    """Return a rounded time: ``45 s``, ``12 min``, ``3 h 20 min``."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours >= 24:
        return f"{round(hours / 24)} d"
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def one_line(text: str, most: int = 200) -> str:
    """Return an untrusted text for display on one line: no control characters, not long."""
    line = "".join(c if c.isprintable() else " " for c in text[: 2 * most])
    return " ".join(line.split())[:most]


def _size_unit(n_bytes: float) -> tuple[float, str]:
    """Return the unit in which a size has one to three digits before the point."""
    for unit, name in _SIZES:
        if n_bytes >= 0.9995 * unit:
            return unit, name
    return 1, "bytes"


def _size(n_bytes: float, unit: tuple[float, str]) -> str:
    value = n_bytes / unit[0]
    # Tenths of a megabyte do not help.
    digits = 1 if unit[0] >= 1e9 and value < 99.95 else 0
    return f"{value:.{digits}f} {unit[1]}"


def _three_digits(value: float) -> str:
    return f"{value:.0f}" if value >= 99.95 else f"{value:.3g}"
