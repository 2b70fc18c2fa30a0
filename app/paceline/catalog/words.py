"""Figures and texts of models as window and command line show them. Pure functions."""

from __future__ import annotations

from paceline.sizes import readable_size

_COUNTS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))


def size_text(n_bytes: int) -> str:
    """Return a size in words; empty for 0, which is not known."""
    return readable_size(n_bytes) if n_bytes else ""


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
