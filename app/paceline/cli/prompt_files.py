"""Prompts that come from JSON files: conversations and token ids.

A file that cannot be read is a failure (exit code 1), one with the wrong content is wrong usage
(exit code 2). What is right is `chat.prompt_json`'s matter.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeVar

from paceline.chat.prompt_json import PromptDataError, read_conversation, read_token_ids
from paceline.cli.usage import UsageError
from paceline.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from paceline.messages import ChatMessage

_T = TypeVar("_T")


def read_messages(path: Path) -> tuple[ChatMessage, ...]:
    """Return the conversation in a file: a list of {"role", "content"}, the last from the user.

    Raises:
        UsageError: The content is something else.
        UserError: The file cannot be read.
    """
    return _read(path, "messages", read_conversation)


def read_tokens(path: Path) -> tuple[int, ...]:
    """Return the token ids in a file: a list of integers.

    Raises:
        UsageError: The content is something else.
        UserError: The file cannot be read.
    """
    return _read(path, "token ids", read_token_ids)


def _read(path: Path, what: str, check: Callable[[object, str], _T]) -> _T:
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
    try:
        return check(data, f"in {path}")
    except PromptDataError as error:
        raise UsageError("usage", error.message, error.hint) from None
