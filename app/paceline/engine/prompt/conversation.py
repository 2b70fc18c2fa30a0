"""Checks of a conversation, before a template sees it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from paceline.content import ROLES, Tool
from paceline.errors import UserError, ValueOutOfRangeError
from paceline.messages import Chat, ChatMessage

_MAX_DEPTH = 100
"""Maximum depth of JSON in arguments and parameters, in levels."""
_ROLE_NAMES = ", ".join(sorted(ROLES))


def tools_of(chat: Chat) -> tuple[Tool, ...]:
    """Return the tools that the model is given."""
    return chat.tools.tools if chat.tools else ()


def is_about_tools(messages: Sequence[ChatMessage], tools: Sequence[Tool]) -> bool:
    """Return whether a prompt has tools, calls or results."""
    return bool(tools) or any(message.calls or message.role == "tool" for message in messages)


def check_chat(chat: Chat) -> None:
    """Refuse a conversation that no template should see.

    Raises:
        ValueOutOfRangeError: It is empty, or has an unknown role, a result without a call, or
        arguments or parameters that are not a JSON object.
    """
    messages = chat.messages
    if not any(m.text.strip() for m in messages):
        raise empty_prompt()
    for role in {m.role for m in messages}.difference(ROLES):  # could contain control tokens
        raise ValueOutOfRangeError(
            "no-such-role",
            "A message has the role “{role}”.",
            "Roles are {role_names}.",
            role=role,
            role_names=_ROLE_NAMES,
        )
    check_calls(chat)


def check_calls(chat: Chat) -> None:
    """Refuse results without a call, and arguments or parameters that are not a JSON object.

    Raises:
        ValueOutOfRangeError: There is one of these.
    """
    called = set[str]()
    for message in chat.messages:
        for call in message.calls:
            if not _is_json_object(call.arguments):
                raise ValueOutOfRangeError(
                    "bad-call",
                    "The arguments of a call of the tool “{tool}” are not a JSON object.",
                    "Write them as a JSON object of at most {deepest} levels.",
                    tool=call.name,
                    deepest=_MAX_DEPTH,
                )
        called.update(call.id for call in message.calls)
        if message.role == "tool" and message.answers not in called:
            raise ValueOutOfRangeError(
                "bad-call",
                "A tool's result answers the call “{call}”, but no message before it has made "
                "such a call.",
                "Put the assistant's message with the call before it.",
                call=message.answers,
            )
    for tool in tools_of(chat):
        if tool.parameters and not _is_json_object(tool.parameters):
            raise ValueOutOfRangeError(
                "bad-tool",
                "The parameters of the tool “{tool}” are not a JSON object.",
                "Write them as a JSON object of at most {deepest} levels.",
                tool=tool.name,
                deepest=_MAX_DEPTH,
            )


def _is_json_object(text: str) -> bool:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    level = [value]
    for _ in range(_MAX_DEPTH):
        level = [each for part in level for each in _within(part)]
    return isinstance(value, dict) and not any(map(_within, level))


def _within(part: Any) -> Iterable[Any]:
    match part:
        case dict():
            return part.values()
        case list():
            return part
        case _:
            return ()


def empty_prompt() -> UserError:
    """Return the error of a prompt without a text."""
    return ValueOutOfRangeError("empty-prompt", "The prompt is empty.", "Write something first.")
