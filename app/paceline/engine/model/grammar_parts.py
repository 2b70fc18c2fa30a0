"""Parts that grammars are made of, besides a JSON schema alone and a text in GBNF. Any thread.

A part that stands in several places is given there as the same object: it is compiled once.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class FixedText:
    """One text.

    Attributes:
        text: The text.
        is_plain: Whether the names of control tokens in it are text, too; otherwise they are read
            as these.
    """

    text: str
    is_plain: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class TextPattern:
    """Text by a regular expression of characters, classes and counts, at least one character."""

    pattern: str


@dataclass(frozen=True, slots=True)
class JsonText:
    """JSON that is valid by a schema, written as Python's `json.dumps` writes it.

    Attributes:
        schema: As JSON.
        is_compact: Whether no blanks follow commas and colons.
    """

    schema: str
    is_compact: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class TextUntil:
    """Any text up to the first place where `end` stands, and this.

    Attributes:
        end: Read like a `FixedText`.
        least: Characters that come before it at least.
        most: And at most; None: as many as there are.
    """

    end: str
    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class InOrder:
    """Parts one after the other."""

    parts: tuple[GrammarPart, ...]


@dataclass(frozen=True, slots=True, eq=False)
class AnyOf:
    """One of some parts, at least one."""

    options: tuple[GrammarPart, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Repeated:
    """A part any number of times.

    Attributes:
        part: The part.
        is_once: Whether it comes at most once.
    """

    part: GrammarPart
    is_once: bool = False


GrammarPart = FixedText | TextPattern | JsonText | TextUntil | InOrder | AnyOf | Repeated
