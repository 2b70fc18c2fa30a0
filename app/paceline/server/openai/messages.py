"""The conversation of a request in OpenAI's form."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from paceline.content import ChatMessage, Content, Text, ToolCall, ToolUse
from paceline.server.errors import refused
from paceline.server.fields import check_messages
from paceline.server.shared.tools import new_tool, tool_use


class ContentPart(msgspec.Struct, kw_only=True):
    """A part of a message; only text can be read."""

    type: str
    text: str = ""
    refusal: str = ""


class FunctionCall(msgspec.Struct, kw_only=True):
    """A function with its arguments as JSON."""

    name: str
    arguments: str = "{}"


class CallOfTool(msgspec.Struct, kw_only=True):
    """A tool that the model has called."""

    function: FunctionCall
    id: str = ""
    type: Literal["function"] = "function"


class MessageIn(msgspec.Struct, kw_only=True):
    """One message of a request."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[ContentPart] | None = None
    reasoning_content: str | None = None
    tool_calls: list[CallOfTool] | None = None
    tool_call_id: str | None = None


class Function(msgspec.Struct, kw_only=True):
    """A function that may be called."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None


class ToolIn(msgspec.Struct, kw_only=True):
    """A tool of a request; functions are the only kind."""

    type: str
    function: Function | None = None

    def name_of(self) -> str:
        """Return the function's name, or empty if there is no function."""
        return self.function.name if self.function else ""


class NamedFunction(msgspec.Struct, kw_only=True):
    """The name of a function."""

    name: str


class ChosenTool(msgspec.Struct, kw_only=True):
    """A tool that must be called."""

    function: NamedFunction
    type: Literal["function"] = "function"


ToolChoiceIn = Literal["none", "auto", "required"] | ChosenTool


def read_content(given: str | list[ContentPart] | None, field: str) -> Content:
    """Return a content's parts.

    Raises:
        ApiError: A part is no text.
    """
    if given is None:
        return ()
    if isinstance(given, str):
        return (Text(given),)
    for i, part in enumerate(given):
        if part.type not in ("text", "input_text", "output_text", "refusal"):
            raise refused(
                f"{field}[{i}]",
                f"{field}[{i}] is of the type “{part.type:.40}”; only text is read.",
            )
    return tuple(Text(part.text or part.refusal) for part in given)


def read_messages(given: list[MessageIn], field: str = "messages") -> tuple[ChatMessage, ...]:
    """Return the conversation.

    Raises:
        ApiError: A message cannot be read; the text names it.
    """
    check_messages(given, field)
    return tuple(_read_message(message, f"{field}[{i}]") for i, message in enumerate(given))


def _read_message(message: MessageIn, field: str) -> ChatMessage:
    calls = tuple(
        ToolCall(call.id or f"call_{i}", call.function.name, call.function.arguments or "{}")
        for i, call in enumerate(message.tool_calls or ())
    )
    if message.role == "tool" and not message.tool_call_id:
        name = f"{field}.tool_call_id"
        raise refused(name, f"The field {name} is missing.", "missing_field")
    return ChatMessage(
        "system" if message.role == "developer" else message.role,
        read_content(message.content, f"{field}.content"),
        calls if message.role == "assistant" else (),
        message.tool_call_id or "" if message.role == "tool" else "",
        message.reasoning_content or "" if message.role == "assistant" else "",
    )


def read_tools(
    tools: list[ToolIn] | None, choice: ToolChoiceIn | None, *, is_parallel: bool | None
) -> ToolUse | None:
    """Return the tools of a request, or None if it has none.

    Raises:
        ApiError: The chosen tool is not among them.
    """
    found = tuple(
        new_tool(function.name, function.description, function.parameters)
        for function in (tool.function for tool in tools or ())
        if function is not None
    )
    name = choice.function.name if isinstance(choice, ChosenTool) else ""
    wanted = "required" if isinstance(choice, ChosenTool) else choice
    return tool_use(found, wanted, name, is_parallel=is_parallel)
