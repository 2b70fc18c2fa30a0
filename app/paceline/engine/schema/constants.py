"""Names and constants of schemas that can be written unchanged."""

from __future__ import annotations

from paceline.engine.schema.document import Scope

_MAX_EXACT = 1 << 53
"""Largest integer that readers of JSON certainly read as the same number."""
_NAMED = frozenset("\b\t\n\f\r")
"""Control characters for which JSON has short escapes."""


def check_value(value: object, word: str, scope: Scope) -> None:
    """Refuse a constant that the library would write as another one, or not at all.

    Raises:
        SchemaError: The constant cannot be used; names the keyword.
    """
    match value:
        case str():
            check_text(value, word, scope)
        case bool() | None:
            pass
        case int() | float():
            try:
                is_held = float(value) == value
            except OverflowError:
                is_held = False
            if not is_held or abs(value) > _MAX_EXACT:
                scope.reject(
                    word, "has a number that cannot be written: {value}", value=str(value)[:40]
                )
        case list():
            for item in value:
                check_value(item, word, scope)
        case dict():
            for name, item in value.items():
                check_text(name, word, scope)
                check_value(item, word, scope)


def check_text(text: str, word: str, scope: Scope) -> None:
    """Refuse a text with a character that can be written only as a numeric escape.

    Raises:
        SchemaError: The text cannot be used; names the keyword.
    """
    for char in text:
        code = ord(char)
        if 0xD800 <= code <= 0xDFFF or code == 0x7F or (code < 0x20 and char not in _NAMED):
            scope.reject(word, "has a character that cannot be written: {code:#06x}", code=code)
