r"""Stop strings as people type and see them: ``\n``, ``\t``, ``\r`` and ``\\`` stand for one sign.

A reply ends before the first of its stop strings. Line ends and tabs are common in them and cannot
be typed into a field of one line, hence the escapes. Pure functions, any thread.
"""

from __future__ import annotations

import re

from paceline.errors import ValueOutOfRangeError

MAX_STOPS = 16
MAX_STOP_CHARS = 200
_SIGNS = {"\\": "\\", "n": "\n", "t": "\t", "r": "\r"}
_ESCAPE = re.compile(r"\\([\\ntr])")
_TO_ESCAPE = re.compile(r"[\\\n\t\r]")
_NAMES = {sign: f"\\{name}" for name, sign in _SIGNS.items()}


def read_stop(typed: str) -> str:
    r"""Return the stop string for what was typed; a backslash before other signs stays one."""
    return _ESCAPE.sub(lambda found: _SIGNS[found[1]], typed)


def shown_stop(stop: str) -> str:
    """Return what `read_stop` reads as this."""
    return _TO_ESCAPE.sub(lambda found: _NAMES[found[0]], stop)


def check_stops(stops: tuple[str, ...]) -> None:
    """Refuse stop strings that cannot be.

    Raises:
        ValueOutOfRangeError: There are too many, or one is empty, too long or given twice.
    """
    if len(stops) > MAX_STOPS:
        _refuse(f"There are {len(stops)} stop strings.", f"Give at most {MAX_STOPS}.")
    for stop in stops:
        if not stop:
            _refuse("A stop string is empty.", "Leave it out.")
        if len(stop) > MAX_STOP_CHARS:
            _refuse(f"A stop string has {len(stop)} characters.", f"Give at most {MAX_STOP_CHARS}.")
        if stops.count(stop) > 1:
            _refuse(f"“{shown_stop(stop)}” is given twice.", "Give each stop string once.")


def _refuse(message: str, hint: str) -> None:
    raise ValueOutOfRangeError("value-out-of-range", message, hint)
