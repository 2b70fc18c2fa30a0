"""The description of how a family writes calls: from it follow its grammar, reader and writer.

A reply's calls are a mark, a text before the first call, the calls with a text between two of them,
and a text after the last. A call is a row of texts and holes. Where blanks stand in a text, a
grammar and a writer write these, and a reader takes any.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class Hole(Enum):
    """A place between the texts of a call: for the tool's name, an id, its arguments as JSON."""

    NAME = "name"
    ID = "id"
    ARGUMENTS = "arguments"


NAME, ID, ARGUMENTS = Hole.NAME, Hole.ID, Hole.ARGUMENTS


@dataclass(frozen=True, slots=True)
class OneText:
    """One of several texts; a grammar writes any of them."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Perhaps:
    """A part of a call that may be left out."""

    parts: tuple[str | Hole, ...]


@dataclass(frozen=True, slots=True)
class TaggedArguments:
    """Arguments between tags of their own: strings as they are, all else as JSON.

    A line break next to a value belongs to the tags if they have one there.

    Attributes:
        before: Stands before each argument's name.
        after_name: Between the name and a value; where `after_json_name` is given, only strings.
        after_value: After the value.
        after_json_name: Between the name and a value that is JSON; empty: the same as strings.
    """

    before: str
    after_name: str
    after_value: str
    after_json_name: str = ""


@dataclass(frozen=True, slots=True)
class PythonArguments:
    """Arguments as those of a call in Python: ``name="text", other=3``."""


Element = str | Hole | OneText | Perhaps | TaggedArguments | PythonArguments


class CallForm(NamedTuple):
    """A family's way to write calls.

    Attributes:
        id: Names it.
        tells: Texts that a chat template of the family holds, all of them.
        marks: On one of these calls begin; a grammar that forces a call writes the first.
        call: A call.
        begin: Between the mark and the first call.
        between: Between two calls; empty: a reply holds one call.
        end: After the last call.
        is_first: Whether a mark counts only where the answer begins.
        is_framed: Whether the marks say that they are no part of an answer or a reasoning, so that
            they count anywhere.
        is_compact: Whether JSON has no blanks after commas and colons.
        reasoning: The marks of a reasoning before calls, where the template shows those before an
            answer alone.
        id_of: Makes the id of a call from its name and the id that it was written with.
    """

    id: str
    tells: tuple[str, ...]
    marks: tuple[str, ...]
    call: tuple[Element, ...]
    begin: str = ""
    between: str = ""
    end: str = ""
    is_first: bool = False
    is_framed: bool = False
    is_compact: bool = False
    reasoning: tuple[str, str] | None = None
    id_of: str = "{id}"

    def texts(self) -> Iterator[str]:
        """Tell all of its texts, in which control tokens may stand."""
        yield from (*self.marks, self.begin, self.between, self.end)
        for element in self.call:
            match element:
                case str():
                    yield element
                case OneText(texts):
                    yield from texts
                case Perhaps(parts):
                    yield from (part for part in parts if isinstance(part, str))
                case TaggedArguments(before, after_name, after_value, after_json_name):
                    yield from (before, after_name, after_value, after_json_name)
