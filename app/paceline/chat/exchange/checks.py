"""Values of an untrusted JSON file, read field by field; an error says which field is wrong.

The file may be damaged or malicious: numbers out of any range, megabytes of text where a name
belongs, half an emoji, which databases refuse. What passes here can be stored and shown.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

from paceline.errors import UserError

MAX_NAME_CHARS = 1_000
MAX_TEXT_CHARS = 20_000_000
LAST_SECOND = 32_503_680_000
"""Of the year 2999: later dates are not shown on every system."""
HINT = "Export it again from where it is whole."

_T = TypeVar("_T")


def broken(place: str, why: str) -> UserError:
    """Return the error about one place of the file."""
    return UserError("broken-chat", f"The chat is damaged: {place} {why}.", HINT)


class Fields:
    """An object of the file; every method raises a `UserError` where a field does not fit."""

    def __init__(self, data: object, place: str) -> None:
        if not isinstance(data, dict):
            raise broken(place, "is not an object")
        self._data: dict[str, Any] = data
        self._place = place

    def place(self, key: str) -> str:
        """Return what a field is called in an error."""
        return f"{self._place}.{key}" if self._place else key

    def has(self, key: str) -> bool:
        """Whether a field is there, and not null."""
        return self._data.get(key) is not None

    def raw(self, key: str) -> object:
        """Return a field as it is; None if it is missing."""
        return self._data.get(key)

    def text(self, key: str, default: str | None = None, most: int = MAX_TEXT_CHARS) -> str:
        """Return a text; half an emoji in it becomes a question mark."""
        value = self._data.get(key, default)
        if not isinstance(value, str):
            raise broken(self.place(key), "is not a text" if key in self._data else "is missing")
        if len(value) > most:
            raise broken(self.place(key), f"has more than {most:,} characters")
        return clean(value)

    def name(self, key: str, default: str | None = None) -> str:
        """Return a text of at most a thousand characters."""
        return self.text(key, default, MAX_NAME_CHARS)

    def optional_name(self, key: str) -> str | None:
        """Return a text of at most a thousand characters, or None."""
        return self.name(key) if self._data.get(key) is not None else None

    def flag(self, key: str) -> bool:
        """Return a truth value; false if it is missing."""
        value = self._data.get(key, False)
        if not isinstance(value, bool):
            raise broken(self.place(key), "is neither true nor false")
        return value

    def number(self, key: str, most: float, default: float = 0.0) -> float:
        """Return a number that is not negative."""
        value = self._data.get(key, default)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= most or not math.isfinite(value):
            raise broken(self.place(key), f"is not a number from 0 to {most:,.0f}")
        return float(value)

    def items(self, key: str, most: int) -> list[Any]:
        """Return a list; empty if it is missing."""
        value = self._data.get(key, [])
        if not isinstance(value, list):
            raise broken(self.place(key), "is not a list")
        if len(value) > most:
            raise broken(self.place(key), f"has more than {most:,} entries")
        return value


def clean(text: str) -> str:
    """Return the text without unpaired surrogates, which files and databases cannot hold."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def scrubbed(value: Any) -> Any:
    """Return the JSON data with every text in it `clean`."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [scrubbed(item) if isinstance(item, (str, list, dict)) else item for item in value]
    if isinstance(value, dict):
        return {clean(key): scrubbed(item) for key, item in value.items()}
    return value
