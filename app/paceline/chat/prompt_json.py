"""Conversations and token ids that come from JSON, checked so that the engine sees sound ones.

The prompts of `paceline chat` and the workloads of the benchmark are read with it.
"""

from __future__ import annotations

from typing import Any

from paceline.messages import ChatMessage

_ROLES = ("system", "user", "assistant")
_LARGEST_ID = 2**31 - 1  # what fits into the native library's integers


class PromptDataError(ValueError):
    """The data is no prompt.

    Attributes:
        message: One sentence: what is wrong.
        hint: What to do about it; may be empty.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def is_unicode(text: str) -> bool:
    """Whether the text has no stray surrogates, which come from broken UTF-8 or broken JSON."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_conversation(data: object, where: str) -> tuple[ChatMessage, ...]:
    """Return a list of {"role", "content"} as messages; the last one is the user's.

    Args:
        data: Parsed JSON.
        where: Where it stands, for the error, such as ``in FILE``.

    Raises:
        PromptDataError: It is something else.
    """
    items = _list(data, "messages", where)
    messages = tuple(_message(item, f"Message {i} {where}") for i, item in enumerate(items, 1))
    if messages[-1].role != "user":
        raise PromptDataError(
            f"The last message {where} is from the {messages[-1].role}.",
            "The model answers the user: let the last message have the role user.",
        )
    return messages


def read_token_ids(data: object, where: str) -> tuple[int, ...]:
    """Return a list of integers as token ids.

    Args:
        data: Parsed JSON.
        where: Where it stands, for the error, such as ``in FILE``.

    Raises:
        PromptDataError: It is something else.
    """
    items = _list(data, "token ids", where)
    for i, item in enumerate(items, 1):
        if type(item) is not int or not 0 <= item <= _LARGEST_ID:
            raise PromptDataError(f"Item {i} {where} is {item!r:.40}, not a token id (0 or more).")
    return tuple(items)


def _list(data: object, what: str, where: str) -> list[Any]:
    if not isinstance(data, list) or not data:
        raise PromptDataError(f"There must be a list of {what} {where} that is not empty.")
    return data


def _message(item: Any, where: str) -> ChatMessage:
    if not isinstance(item, dict) or item.keys() != {"role", "content"}:
        raise PromptDataError(f"{where} is not an object with role and content alone.")
    role, content = item["role"], item["content"]
    if role not in _ROLES:
        raise PromptDataError(f"{where} has the role {role!r:.40}, not {', '.join(_ROLES)}.")
    if not isinstance(content, str) or not is_unicode(content):
        raise PromptDataError(f"{where} has a content that is not text.")
    if not content and role == "user":
        raise PromptDataError(f"{where} is empty.")
    return ChatMessage(role, content)
