"""The description of a family's form of calls, from which grammar, reader and writer are made.

A reply's calls consist of a mark, a text before the first call, the calls with a text between two
of them, and a text after the last. A call is a sequence of texts and holes. Where a text has
blanks, grammar and writer write these, and a reader accepts any.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class Hole(Enum):
    """A variable place in a call: for the tool's name, an id, or its arguments as JSON."""

    NAME = "name"
    ID = "id"
    ARGUMENTS = "arguments"


NAME, ID, ARGUMENTS = Hole.NAME, Hole.ID, Hole.ARGUMENTS


@dataclass(frozen=True, slots=True)
class OneText:
    """One of several texts; a grammar allows each of them."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Perhaps:
    """A part of a call that may be omitted."""

    parts: tuple[str | Hole, ...]


@dataclass(frozen=True, slots=True)
class TaggedArguments:
    """Arguments between tags of their own: strings unquoted, everything else as JSON.

    A line break next to a value belongs to the tags if they contain one there.

    Attributes:
        before: Text before each argument's name.
        after_name: Text between the name and a value; if `after_json_name` is given, only for
            strings.
        after_value: Text after the value.
        after_json_name: Text between the name and a JSON value; empty if the same as for strings.
    """

    before: str
    after_name: str
    after_value: str
    after_json_name: str = ""


@dataclass(frozen=True, slots=True)
class PythonArguments:
    """Arguments in the notation of a call in Python: ``name="text", other=3``."""


Element = str | Hole | OneText | Perhaps | TaggedArguments | PythonArguments


class CallForm(NamedTuple):
    """A family's form of calls.

    Attributes:
        id: Name of the form.
        template_patterns: Regular expressions that all match in the family's chat templates.
        marks: Marks of which one begins the calls; a grammar that forces a call writes the first.
        call: Elements of a call.
        begin: Text between the mark and the first call.
        between: Text between two calls; empty if a reply has only one call.
        end: Text after the last call.
        is_first: Whether a mark counts only at the begin of the answer.
        is_framed: Whether the marks show that they are not part of an answer or a reasoning, so
            that they count anywhere.
        is_compact: Whether JSON has no blanks after commas and colons.
        reasoning: Marks of a reasoning before calls, if the template shows only those before an
            answer.
        id_of: Template of a call's id, from its name and the id that the model wrote.
    """

    id: str
    template_patterns: tuple[str, ...]
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
        """Yield all of its texts, which may contain control tokens."""
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
