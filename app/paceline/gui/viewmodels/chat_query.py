"""What is written into the search field: words, and tags behind a hash sign. Pure; any thread."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

TAG_CHARS = 32
"""Longer tags are cut: they would not fit into a row."""

_TAG = re.compile(r"(?:^|(?<=\s))#(\S*)")


@dataclass(frozen=True, slots=True)
class ChatQuery:
    """A search.

    Attributes:
        text: What to search for, without the tags.
        tags: What chats must be marked with, without hash signs; beginnings count, too.
    """

    text: str = ""
    tags: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the text."""
        return tuple(self.text.split())

    def fits(self, tags: Iterable[str], known: frozenset[str]) -> bool:
        """Whether a chat with these tags is meant.

        Args:
            tags: The chat's.
            known: All tags there are, in lower case; a whole one is no beginning of others.
        """
        has = [tag.casefold() for tag in tags]
        return all(
            wanted in has if wanted in known else any(tag.startswith(wanted) for tag in has)
            for wanted in (tag.casefold() for tag in self.tags)
        )


def parse(text: str) -> ChatQuery:
    """Take apart what was typed; a lone hash sign asks for nothing yet."""
    tags = tuple(dict.fromkeys(tag for tag in _TAG.findall(text) if tag))
    return ChatQuery(" ".join(_TAG.sub(" ", text).split()), tags)


def with_tag(text: str, tag: str, *, on: bool) -> str:
    """The same search with a tag more or less."""
    query = parse(text)
    others = [name for name in query.tags if name.casefold() != tag.casefold()]
    tags = [*others, tag] if on else others
    return " ".join((*(f"#{name}" for name in tags), query.text)).strip()


def clean_tag(text: str) -> str:
    """A tag from what was typed: one word, since a search takes it as one; may be empty."""
    return "-".join(text.strip().lstrip("#").split())[:TAG_CHARS].rstrip("-")
