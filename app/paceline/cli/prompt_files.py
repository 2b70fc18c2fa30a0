"""Prompts that come from JSON files: conversations and token ids.

A file that cannot be read is a failure (exit code 1), one with the wrong content is wrong usage
(exit code 2). Everything in it is checked here, so that the engine only sees sound values.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from paceline.cli.usage import LARGEST_INT, UsageError, is_unicode
from paceline.errors import UserError
from paceline.messages import ChatMessage

if TYPE_CHECKING:
    from pathlib import Path

_ROLES = ("system", "user", "assistant")


def read_messages(path: Path) -> tuple[ChatMessage, ...]:
    """Return the conversation in a file: a list of {"role", "content"}, the last from the user.

    Raises:
        UsageError: The content is something else.
        UserError: The file cannot be read.
    """
    data = _read_list(path, "messages")
    messages = tuple(_message(item, f"Message {i} in {path}") for i, item in enumerate(data, 1))
    if messages[-1].role != "user":
        raise UsageError(
            "usage",
            f"The last message in {path} is from the {messages[-1].role}.",
            "The model answers the user: let the last message have the role user.",
        )
    return messages


def read_tokens(path: Path) -> tuple[int, ...]:
    """Return the token ids in a file: a list of integers.

    Raises:
        UsageError: The content is something else.
        UserError: The file cannot be read.
    """
    data = _read_list(path, "token ids")
    for i, item in enumerate(data, 1):
        if type(item) is not int or not 0 <= item <= LARGEST_INT:
            raise UsageError(
                "usage", f"Item {i} in {path} is {item!r:.40}, not a token id (0 or more)."
            )
    return tuple(data)


def _message(item: Any, where: str) -> ChatMessage:
    if not isinstance(item, dict) or item.keys() != {"role", "content"}:
        raise UsageError("usage", f"{where} is not an object with role and content alone.")
    role, content = item["role"], item["content"]
    if role not in _ROLES:
        raise UsageError("usage", f"{where} has the role {role!r:.40}, not {', '.join(_ROLES)}.")
    if not isinstance(content, str) or not is_unicode(content):
        raise UsageError("usage", f"{where} has a content that is not text.")
    if not content and role == "user":
        raise UsageError("usage", f"{where} is empty.")
    return ChatMessage(role, content)


def _read_list(path: Path, what: str) -> list[Any]:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UserError(
            "file-unreadable",
            f"{path} cannot be read ({error.strerror}).",
            f"Give a JSON file with a list of {what}.",
        ) from error
    try:
        data = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise UsageError("usage", f"{path} is not JSON ({error}).") from error
    if not isinstance(data, list) or not data:
        raise UsageError("usage", f"{path} must hold a list of {what} that is not empty.")
    return data
