"""Sizes, counts and times as text, for window and command line. Pure functions.

Sizes of files and of memory are in decimal units, as on the Hub and in most file managers: one kind
of units for both, so that a file and its memory can be compared.
"""

from __future__ import annotations

import re

_UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def readable_size(n_bytes: float) -> str:
    """Return a size as text: ``4.7 GB``, ``398 MB``, ``12 kB``."""
    return _size(n_bytes, _unit(n_bytes))


_SIZE = re.compile(r"(\d{1,6}(?:\.\d{1,3})?) ?(?:(k|M|G|T)B?)", re.IGNORECASE)


def read_size(text: str) -> int | None:
    """Return the bytes of a size in text: ``4 GB``, ``500M``, ``0``; None for another text.

    A number without a unit is invalid, except 0.
    """
    if text == "0":
        return 0
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        return None
    units = {name[0].lower(): unit for unit, name in _UNITS}
    return round(float(found[1]) * units[found[2].lower()])


def part_and_whole(n_part: float, n_whole: float) -> tuple[str, str]:
    """Return two sizes in one unit, that of the larger: ``("3.1", "4.9 GB")``."""
    unit = _unit(max(n_part, n_whole))
    return _size(n_part, unit).split()[0], _size(n_whole, unit)


def _unit(n_bytes: float) -> tuple[float, str]:
    """Return the unit in which a size has one to three digits before the point."""
    for unit, name in _UNITS:
        if n_bytes >= 0.9995 * unit:
            return unit, name
    return 1, "B"


def _size(n_bytes: float, unit: tuple[float, str]) -> str:
    value = n_bytes / unit[0]
    # Tenths of a megabyte are not useful.
    digits = 1 if unit[0] >= 1e9 and value < 99.95 else 0
    return f"{value:.{digits}f} {unit[1]}"


def percent(rate: float) -> int:
    """Return a rate in per cent; 0 only for none and 100 only for all, not by rounding."""
    nearest = round(100.0 * rate)
    return min(max(nearest, 1), 99) if 0.0 < rate < 1.0 else nearest


def percent_text(rate: float) -> str:
    """Return a rate of 0..1 in per cent: ``67 %``."""
    return f"{percent(rate)} %"


def ratio_text(ratio: float) -> str:
    """Return a ratio of two speeds or times: ``1.91×``."""
    return f"{ratio:.2f}×"


def short_ratio(ratio: float) -> str:
    """Return a ratio with one decimal: ``1.9×``."""
    return f"{ratio:.1f}×"


def short_time(seconds: float) -> str:
    """Return a time with its unit: ``87 µs``, ``44.8 ms``, ``1.20 s``."""
    milliseconds = seconds * 1000
    if milliseconds < 0.095:
        return f"{seconds * 1e6:.0f} µs"
    if milliseconds >= 1000:
        n_decimals = 2 if seconds < 10 else 1 if seconds < 100 else 0
        return f"{seconds:.{n_decimals}f} s"
    return f"{milliseconds:.{1 if milliseconds < 100 else 0}f} ms"


_COUNTS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))


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


def _three_digits(value: float) -> str:
    return f"{value:.0f}" if value >= 99.95 else f"{value:.3g}"
