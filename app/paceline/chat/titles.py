"""What a conversation is called until its user gives it a name; no model is asked for it.

The first line of the first question says it best, where it says anything. A greeting, a fence of
code or a file without a word say nothing; then a later question, the code's first line or the
file's name does. Pure functions, any thread.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paceline.conversation import title_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from paceline.conversation import Conversation, Message

_GREETING = re.compile(
    r"(hi|hello|hey|yo|hallo|moin|servus|hola|salut|bonjour|ciao|test|ping|thanks|danke|ok|okay|"
    r"good|morning|evening|afternoon|day|guten|morgen|tag|abend|there|you|again)"
)
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_WORD = re.compile(r"[^\W_]+")
_MARKS = "#>*-+ \t"


def automatic_title(conversation: Conversation) -> str:
    """The title that the questions on the way to the shown leaf give; empty: they give none."""
    questions = [message for message in conversation.path() if message.role == "user"]
    return next((title for title in _candidates(questions) if title), "")


def with_title(old: Conversation, new: Conversation) -> Conversation:
    """Bring an automatic title up to date; one that the user gave stays.

    Args:
        old: The conversation before it changed.
        new: The same with another message.
    """
    if old.title and old.title != automatic_title(old):
        return new.renamed(old.title)
    return new.renamed(automatic_title(new))


def numbered(title: str, taken: Iterable[str]) -> str:
    """The title with the first number behind it that makes it another one: "Title (2)"."""
    others = set(taken)
    stem = re.sub(r" \(\d+\)$", "", title)
    number = 2
    while f"{stem} ({number})" in others:
        number += 1
    return f"{stem} ({number})"


def _candidates(questions: list[Message]) -> Iterator[str]:
    """Titles, the best first; some are empty."""
    prose = [_prose(question.content) for question in questions]
    for line in prose:
        if not _is_greeting(line):
            yield title_of(line)
    for question in questions:
        yield title_of(_code(question.content))
        for attachment in question.attachments:
            yield title_of(attachment.name)
    for line in prose:
        yield title_of(line)
    for question in questions:
        yield title_of(question.content)


def _prose(content: str) -> str:
    """The first line outside of fences, without the marks of headings, lists and quotes."""
    fence = ""
    for line in content.splitlines():
        mark = _FENCE.match(line)
        if mark:
            sign = mark[1]
            if not fence:
                fence = sign
            elif sign.startswith(fence):
                fence = ""
        elif not fence and _WORD.search(line):
            return line.lstrip(_MARKS)
    return ""


def _code(content: str) -> str:
    """The first line that is no fence."""
    for line in content.splitlines():
        if not _FENCE.match(line) and _WORD.search(line):
            return line
    return ""


def _is_greeting(line: str) -> bool:
    words = _WORD.findall(line.casefold())
    return not words or (len(words) <= 3 and all(map(_GREETING.fullmatch, words)))
