"""Sentences for the user: an English template with arguments.

A sentence is its English text, so that the command line, logs and JSON use it like any other text.
The window translates the template and inserts the same arguments (`gui/kit/sentences.py`). Any
operation on the text, such as ``+``, gives a plain text, which is shown unchanged. Pure, any
thread.
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
"""The kinds of arguments; sentences, and those in errors, are translated, too."""


FORMATS: Mapping[str, Callable[[Any], str]] = {
    "size": readable_size,
    "percent": percent_text,
    "ratio": ratio_text,
    "time": short_time,
    "capital": lambda text: text[:1].upper() + text[1:],
    "lower": lambda text: text[:1].lower() + text[1:],
    "bare": lambda text: text.removesuffix("."),
}
"""Further formats: of a number of bytes, a rate of 0..1, a ratio, and seconds; of a text's
beginning, and of a text without its full stop."""


class Sentence(str):
    """An English text with its template and arguments.

    Attributes:
        template: The text with named places, as in `str.format`: ``"“{name}” is empty."``. Besides
            Python's formats there are those of `FORMATS`. Without arguments it is the text itself,
            and braces are braces.
        arguments: Values for the places: numbers, texts and other sentences.
    """

    __slots__ = ("arguments", "template")
    template: str
    arguments: Mapping[str, str | int | float]

    def __new__(cls, template: str, arguments: Mapping[str, Argument] | None = None) -> Sentence:
        """Make a sentence from a template and its arguments.

        Raises:
            ValueError: There are arguments, but the template's braces are invalid.
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
        """The type of a field with a text for users: plain, or a `Sentence` that `codec` keeps."""

    UserText.register(str)


def sentence(template: str, /, **arguments: Argument) -> Sentence:
    """Return a sentence; the template is a literal, from which the translations are collected."""
    return Sentence(template, arguments)


def made(text: str, arguments: Mapping[str, Argument]) -> Sentence:
    """Return a template with its arguments; a complete sentence is returned unchanged."""
    return text if isinstance(text, Sentence) else Sentence(text, arguments)


def joined(parts: Sequence[str], by: str = " ") -> Sentence:
    """Return texts concatenated as one sentence, in which each is translated separately.

    Args:
        parts: Sentences, or plain texts; empty ones are omitted.
        by: Separator in any language; not a word.
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
    """Inserts arguments into a template; one that cannot be formatted is inserted as it is."""

    def put(self, template: str, arguments: Mapping[str, str | int | float]) -> str:
        """Return the text of a template with its arguments.

        Raises:
            ValueError: There are arguments, but the template's braces are invalid.
        """
        return self.vformat(template, (), arguments) if arguments else str(template)

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> tuple[Any, str]:
        """Return the argument of a name; attributes are not supported."""
        del args
        return kwargs.get(field_name, f"{{{field_name}}}"), field_name

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return an argument in a format."""
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
    # `str` of an error can be a sentence.
    return value if is_plain else str(value)  # type: ignore[return-value]
