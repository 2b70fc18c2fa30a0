"""Parts that grammars are composed of, besides a JSON schema alone and a text in GBNF.

A part that occurs at several places is the same object there: it is compiled once. Immutable, so
any thread may use them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class FixedText:
    """A fixed text.

    Attributes:
        text: The text.
        is_plain: Whether names of control tokens in it are ordinary text; otherwise they become
            control tokens.
    """

    text: str
    is_plain: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class TextPattern:
    """Text that matches a regular expression of characters, classes and counts; not empty."""

    pattern: str


@dataclass(frozen=True, slots=True)
class JsonText:
    """JSON that is valid by a schema, formatted like the output of Python's `json.dumps`.

    Attributes:
        schema: The schema as JSON text.
        is_compact: Whether there are no blanks after commas and colons.
    """

    schema: str
    is_compact: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class TextUntil:
    """Any text up to the first occurrence of `end`, and `end` itself.

    Attributes:
        end: Text that is parsed like a `FixedText`.
        least: Minimum number of characters before it.
        most: Maximum number of characters before it, or None for no limit.
    """

    end: str
    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class InOrder:
    """Parts in sequence."""

    parts: tuple[GrammarPart, ...]


@dataclass(frozen=True, slots=True, eq=False)
class AnyOf:
    """One of at least one alternative parts."""

    options: tuple[GrammarPart, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Repeated:
    """A part that occurs any number of times.

    Attributes:
        part: The part.
        is_once: Whether it occurs at most once.
    """

    part: GrammarPart
    is_once: bool = False


GrammarPart = FixedText | TextPattern | JsonText | TextUntil | InOrder | AnyOf | Repeated
