"""Finds where values end in a text that grows, and writes them as JSON."""

from __future__ import annotations

import ast
import json
from typing import Any

_CLOSING = {"{": "}", "[": "]", "(": ")"}


class ValueEnd:
    """Follows a value in JSON or Python from its first character on.

    Args:
        closings: Characters that end a value that is no object, array or string, and lie after it.
    """

    def __init__(self, closings: str = "") -> None:
        self._closings = closings
        self._open: list[str] = []
        self._quote = ""
        self._is_escaped = False
        self._has_begun = False

    def find(self, text: str, start: int) -> int:
        """Return where the value ends; -1: beyond this text.

        Args:
            text: Goes on with what comes next.
            start: Where it does.
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
    """A text is no value."""


def value_of(text: str) -> Any:
    """Return the value that a text is in JSON, or as a literal in Python.

    Raises:
        NoValueError: It is neither, or one that JSON cannot write.
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
    """Return a part of a text as it stands in a JSON string."""
    return as_json(text)[1:-1]
