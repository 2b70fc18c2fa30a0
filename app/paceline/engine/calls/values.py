"""Search of the end of a value in a growing text, and its conversion to JSON."""

from __future__ import annotations

import ast
import json
from typing import Any

_CLOSING = {"{": "}", "[": "]", "(": ")"}


class ValueEnd:
    """Follows a value in JSON or Python from its first character on.

    Args:
        closings: Characters that end a value other than an object, array or string, and follow it.
    """

    def __init__(self, closings: str = "") -> None:
        self._closings = closings
        self._open: list[str] = []
        self._quote = ""
        self._is_escaped = False
        self._has_begun = False

    def find(self, text: str, start: int) -> int:
        """Return the index after the value, or -1 if it continues beyond this text.

        Args:
            text: The text, continued by what comes next.
            start: Index at which the new text begins.
        """
        for at in range(start, len(text)):
            char = text[at]
            if self._quote:
                if self._is_escaped or char == "\\":
                    self._is_escaped = not self._is_escaped
                elif char == self._quote:
                    self._quote = ""
                continue
            if not self._open and char in self._closings:
                return at
            if char == '"' or (char == "'" and self._closings):
                self._quote = char
            elif char in _CLOSING:
                self._open.append(_CLOSING[char])
                self._has_begun = True
            elif self._open and char == self._open[-1]:
                self._open.pop()
            if self._has_begun and not self._open and not self._closings:
                return at + 1
        return -1


def is_object(text: str) -> bool:
    """Return whether a text is a JSON object."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


class NoValueError(Exception):
    """The text is not a value."""


def value_of(text: str) -> Any:
    """Return the value of a text in JSON, or of a Python literal.

    Raises:
        NoValueError: It is neither, or a value that JSON cannot express.
    """
    text = text.strip()
    for read in (json.loads, ast.literal_eval):
        try:
            value = read(text)
            json.dumps(value, allow_nan=False)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
        return value
    raise NoValueError


def as_json(value: Any) -> str:
    """Return a value as JSON."""
    return json.dumps(value, ensure_ascii=False)


def inside_quotes(text: str) -> str:
    """Return the part of a JSON string for a text, without the quotes."""
    return as_json(text)[1:-1]
