"""Names and constants of schemas that can be written as they are."""

from __future__ import annotations

from paceline.engine.schema.document import Scope

_LARGEST = 1 << 53
"""Beyond it a number that is written may be read as another one."""
_NAMED = frozenset("\b\t\n\f\r")
"""Control characters that JSON writes without a code."""


def check_value(value: object, word: str, scope: Scope) -> None:
    """Refuse a constant that the library would write as another one, or not at all.

    Raises:
        SchemaError: Names the keyword.
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
            if not is_held or abs(value) > _LARGEST:
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
    """Refuse a text with a character that cannot be written without its code.

    Raises:
        SchemaError: Names the keyword.
    """
    for char in text:
        code = ord(char)
        if 0xD800 <= code <= 0xDFFF or code == 0x7F or (code < 0x20 and char not in _NAMED):
            scope.reject(word, "has a character that cannot be written: {code:#06x}", code=code)
