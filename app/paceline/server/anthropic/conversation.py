"""The conversation of a request in Anthropic's form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from paceline.content import ChatMessage, Content, Text, ToolCall, ToolChoice, ToolUse
from paceline.server.errors import refused
from paceline.server.fields import check_messages
from paceline.server.shared.tools import new_tool, tool_use
from paceline.server.streams import as_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class ContentBlock(msgspec.Struct, kw_only=True):
    """A block of a message; which fields it has depends on its type."""

    type: str
    text: str = ""
    thinking: str = ""
    id: str = ""
    name: str = ""
    input: dict[str, Any] | None = None
    tool_use_id: str = ""
    content: str | list[ContentBlock] | None = None
    is_error: bool | None = None


class AnthropicMessage(msgspec.Struct, kw_only=True):
    """One message of a request."""

    role: Literal["user", "assistant", "system"]
    content: str | list[ContentBlock]


class AnthropicTool(msgspec.Struct, kw_only=True):
    """A tool of a request; one that Anthropic's own servers carry out has another type."""

    name: str = ""
    type: str | None = None
    description: str | None = None
    input_schema: dict[str, Any] | None = None

    def name_of(self) -> str:
        """Return the tool's name."""
        return self.name


class ToolChoiceIn(msgspec.Struct, kw_only=True):
    """The request's choice whether and which tool is called."""

    type: Literal["auto", "any", "tool", "none"]
    name: str = ""
    disable_parallel_tool_use: bool | None = None


_READ = {
    "system": ("text",),
    "user": ("text", "tool_result"),
    "assistant": ("text", "thinking", "redacted_thinking", "tool_use"),
}
"""The blocks that a message may have, by its role."""


def read_messages(
    system: str | list[ContentBlock] | None, given: list[AnthropicMessage]
) -> tuple[ChatMessage, ...]:
    """Return the conversation.

    Raises:
        ApiError: A message cannot be read; the text names it.
    """
    check_messages(given, "messages")
    messages = [] if not system else [ChatMessage("system", _text(system, "system"))]
    for i, message in enumerate(given):
        messages += _read_message(message, f"messages[{i}].content")
    return tuple(messages)


def _read_message(message: AnthropicMessage, field: str) -> Iterator[ChatMessage]:
    """Yield a message as chat messages; results of tools are separate ones, before its text."""
    content = message.content
    blocks = [ContentBlock(type="text", text=content)] if isinstance(content, str) else content
    _check(blocks, _READ[message.role], field)
    calls = []
    for i, block in enumerate(blocks):
        place = f"{field}[{i}]"
        if block.type == "tool_result":
            _need(block, "tool_use_id", place)
            yield ChatMessage("tool", _result(block, place), answers=block.tool_use_id)
        elif block.type == "tool_use":
            _need(block, "id", place)
            _need(block, "name", place)
            calls.append(ToolCall(block.id, block.name, as_json(block.input or {}).decode()))
    text = tuple(Text(block.text) for block in blocks if block.type == "text")
    if text or message.role == "assistant" or not blocks:
        reasoning = "".join(block.thinking for block in blocks)
        yield ChatMessage(message.role, text, tuple(calls), reasoning=reasoning)


def _result(block: ContentBlock, field: str) -> Content:
    """Return a tool's result; a failure is stated in its text."""
    content = _text(block.content or "", f"{field}.content")
    return (Text("Error:"), *content) if block.is_error else content


def _text(given: str | list[ContentBlock], field: str) -> Content:
    if isinstance(given, str):
        return (Text(given),)
    _check(given, ("text",), field)
    return tuple(Text(block.text) for block in given)


def _check(blocks: Sequence[ContentBlock], known: tuple[str, ...], field: str) -> None:
    for i, block in enumerate(blocks):
        if block.type not in known:
            raise refused(
                f"{field}[{i}]",
                f"{field}[{i}] is of the type “{block.type:.40}”; there, only {', '.join(known)} "
                "can be read.",
            )


def _need(block: ContentBlock, name: str, field: str) -> None:
    if not getattr(block, name):
        place = f"{field}.{name}"
        raise refused(place, f"The field {place} is missing.", "missing_field")


def read_tools(tools: list[AnthropicTool] | None, choice: ToolChoiceIn | None) -> ToolUse | None:
    """Return the tools of a request, or None if it has none.

    Raises:
        ApiError: The chosen tool is not among them.
    """
    found = tuple(new_tool(each.name, each.description, each.input_schema) for each in tools or ())
    if choice is None:
        return tool_use(found, None, "", is_parallel=None)
    name = choice.name if choice.type == "tool" else ""
    if choice.type == "tool" and not name:
        raise refused("tool_choice.name", "The field tool_choice.name is missing.", "missing_field")
    is_parallel = not choice.disable_parallel_tool_use
    return tool_use(found, _CHOICES[choice.type], name, is_parallel=is_parallel)


_CHOICES: dict[str, ToolChoice] = {
    "auto": "auto",
    "any": "required",
    "tool": "required",
    "none": "none",
}
