"""The input of ``/v1/responses``: a text, or items of a conversation."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import structs

from paceline.content import ChatMessage, ToolCall, ToolUse
from paceline.server.errors import refused
from paceline.server.fields import check_messages
from paceline.server.openai.messages import ContentPart, read_content
from paceline.server.shared.tools import new_tool, tool_use


class Item(msgspec.Struct, kw_only=True):
    """An item of the input; which fields it has depends on its type."""

    type: str = "message"
    role: Literal["system", "developer", "user", "assistant"] = "user"
    content: str | list[ContentPart] | None = None
    summary: list[ContentPart] | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    output: str | list[ContentPart] | None = None


class ResponsesTool(msgspec.Struct, kw_only=True):
    """A tool of a request; only functions are offered to the model."""

    type: str
    name: str = ""
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None

    def name_of(self) -> str:
        """Return the tool's name."""
        return self.name


class ResponsesToolChoice(msgspec.Struct, kw_only=True):
    """A tool that must be called."""

    name: str
    type: Literal["function"] = "function"


ToolChoiceIn = Literal["none", "auto", "required"] | ResponsesToolChoice


def read_input(given: str | list[Item], instructions: str | None) -> tuple[ChatMessage, ...]:
    """Return the conversation.

    Raises:
        ApiError: An item cannot be read; the text names it.
    """
    check_messages(given if isinstance(given, list) else [given] * bool(given), "input")
    messages = [ChatMessage.of_text("system", instructions)] if instructions else []
    if isinstance(given, str):
        return (*messages, ChatMessage.of_text("user", given))
    for i, item in enumerate(given):
        _add(item, f"input[{i}]", messages)
    return tuple(messages)


def _add(item: Item, field: str, messages: list[ChatMessage]) -> None:
    """Add an item to the conversation; consecutive items of the model make one message."""
    last = messages[-1] if messages and messages[-1].role == "assistant" else None
    match item.type:
        case "message":
            role = "system" if item.role == "developer" else item.role
            content = read_content(item.content, f"{field}.content")
            if role == "assistant" and last and not (last.content or last.calls):
                messages[-1] = structs.replace(last, content=content)
            else:
                messages.append(ChatMessage(role, content))
        case "reasoning":
            told = item.content if isinstance(item.content, list) else item.summary or ()
            reasoning = "\n\n".join(part.text for part in told)
            messages.append(ChatMessage("assistant", (), reasoning=reasoning))
        case "function_call":
            call = ToolCall(
                _needed(item.call_id, f"{field}.call_id"),
                _needed(item.name, f"{field}.name"),
                item.arguments or "{}",
            )
            if last is None:
                messages.append(ChatMessage("assistant", (), (call,)))
            else:
                messages[-1] = structs.replace(last, calls=(*last.calls, call))
        case "function_call_output":
            answers = _needed(item.call_id, f"{field}.call_id")
            content = read_content(item.output, f"{field}.output")
            messages.append(ChatMessage("tool", content, answers=answers))
        case _:
            raise refused(
                field,
                f"{field} is of the type “{item.type:.40}”; only messages, reasoning, calls of "
                "functions and their outputs can be read.",
            )


def _needed(value: str | None, field: str) -> str:
    if not value:
        raise refused(field, f"The field {field} is missing.", "missing_field")
    return value


def read_tools(
    tools: list[ResponsesTool], choice: ToolChoiceIn | None, *, is_parallel: bool | None
) -> ToolUse | None:
    """Return the tools of a request, or None if it has none.

    Raises:
        ApiError: The chosen tool is not among them.
    """
    found = tuple(new_tool(each.name, each.description, each.parameters) for each in tools)
    if isinstance(choice, ResponsesToolChoice):
        return tool_use(found, "required", choice.name, is_parallel=is_parallel)
    return tool_use(found, choice, "", is_parallel=is_parallel)
