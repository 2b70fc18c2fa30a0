"""Sentences for the user: an English template and what is put into its places.

A sentence is its English text, so that the command line, logs and JSON take it as any other text.
The window translates the template and puts the same arguments into that (`gui/kit/sentences.py`).
Anything done to the text, such as joining it to another one by ``+``, gives a plain text, which is
shown as it is. Pure, any thread.
"""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any

from paceline.sizes import percent_text, ratio_text, readable_size, short_time

Argument = str | int | float | Path | Exception
"""The kinds of values for a place; sentences, and those that errors have, are translated, too."""


FORMATS: Mapping[str, Callable[[Any], str]] = {
    "size": readable_size,
    "percent": percent_text,
    "ratio": ratio_text,
    "time": short_time,
    "capital": lambda text: text[:1].upper() + text[1:],
    "lower": lambda text: text[:1].lower() + text[1:],
    "bare": lambda text: text.removesuffix("."),
}
"""Further formats: of a number of bytes, a rate of 0..1, a ratio, and seconds; how a text begins,
and a text without its full stop."""


class Sentence(str):
    """An English text that knows how it was put together.

    Attributes:
        template: The text with named places as `str.format` has them: ``"“{name}” is empty."``.
            Beside Python's formats there are those of `FORMATS`. Without arguments it is the text
            itself, and braces are braces.
        arguments: What stands at the places: numbers, texts and other sentences.
    """

    __slots__ = ("arguments", "template")
    template: str
    arguments: Mapping[str, str | int | float]

    def __new__(cls, template: str, arguments: Mapping[str, Argument] | None = None) -> Sentence:
        """Make a sentence of a template and its arguments.

        Raises:
            ValueError: There are arguments, and the template's braces make no places.
        """
        plain = {name: _plain(value) for name, value in (arguments or {}).items()}
        self = super().__new__(cls, _ENGLISH.put(template, plain))
        self.template, self.arguments = str(template), plain
        return self

    def __reduce__(self) -> tuple[type[Sentence], tuple[str, Mapping[str, str | int | float]]]:
        return type(self), (self.template, self.arguments)


if TYPE_CHECKING:
    UserText = str
else:

    class UserText(ABC):  # noqa: B024
        """A field's type: a text for the user, plain or a `Sentence`, which `codec` keeps."""

    UserText.register(str)


def sentence(template: str, /, **arguments: Argument) -> Sentence:
    """Return a sentence; the template is a literal, which the translations are collected from."""
    return Sentence(template, arguments)


def made(text: str, arguments: Mapping[str, Argument]) -> Sentence:
    """Return a template with its arguments; a sentence that is complete stays as it is."""
    return text if isinstance(text, Sentence) else Sentence(text, arguments)


def joined(parts: Sequence[str], by: str = " ") -> Sentence:
    """Return texts one after the other as one sentence, in which each is translated by itself.

    Args:
        parts: Sentences, or plain texts; empty ones are left out.
        by: What stands between them, and in any language: no word.
    """
    parts = [part for part in parts if part]
    if len(parts) == 1:
        return made(parts[0], {})
    names = [f"part{i}" for i in range(len(parts))]
    between = by.replace("{", "{{").replace("}", "}}")
    return Sentence(
        between.join(f"{{{name}}}" for name in names), dict(zip(names, parts, strict=True))
    )


class Wording(Formatter):
    """Puts arguments at the places of a template; what cannot be formatted stands as it is."""

    def put(self, template: str, arguments: Mapping[str, str | int | float]) -> str:
        """Return the text of a template with its arguments.

        Raises:
            ValueError: There are arguments, and the template's braces make no places.
        """
        return self.vformat(template, (), arguments) if arguments else str(template)

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> tuple[Any, str]:
        """Return the argument of a name, and of no attribute of it."""
        del args
        return kwargs.get(field_name, f"{{{field_name}}}"), field_name

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return an argument in its format."""
        try:
            own = FORMATS.get(format_spec)
            if own is None and _TOO_WIDE.search(format_spec):
                return str(value)
            return own(value) if own is not None else format(value, format_spec)
        except (ValueError, TypeError, AttributeError):
            return str(value)


_TOO_WIDE = re.compile(r"\d{4}")
"""A width that would fill the memory; no template has one, but data from elsewhere may."""
_ENGLISH = Wording()


def _plain(value: Argument) -> str | int | float:
    is_plain = isinstance(value, (str, int, float)) and not isinstance(value, bool)
    # What `str` makes of an error can be a sentence.
    return value if is_plain else str(value)  # type: ignore[return-value]
