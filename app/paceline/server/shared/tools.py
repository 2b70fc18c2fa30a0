"""The tools of a request, as the engine is told of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paceline.content import Tool, ToolChoice, ToolUse
from paceline.server.errors import refused
from paceline.server.limits import MOST_TOOLS
from paceline.server.streams import as_json

if TYPE_CHECKING:
    from collections.abc import Mapping


def new_tool(name: str, description: str | None, schema: Mapping[str, Any] | None) -> Tool:
    """Return a tool; without a schema it takes no arguments."""
    return Tool(name, description or "", as_json(schema).decode() if schema else "")


def tool_use(
    tools: tuple[Tool, ...], choice: ToolChoice | None, name: str, *, is_parallel: bool | None
) -> ToolUse | None:
    """Return the tools of a request and their use; None: it has none.

    Args:
        tools: Those that it has.
        choice: Whether one is called; None: the model decides.
        name: The one that must be called; empty: any.
        is_parallel: Whether several may be called; None: they may.

    Raises:
        ApiError: There are too many, or the named one is none of them.
    """
    if not tools:
        if choice == "required":
            raise refused("tool_choice", "tool_choice asks for a tool, but there are no tools.")
        return None
    if len(tools) > MOST_TOOLS:
        raise refused("tools", f"There may be {MOST_TOOLS} tools at most.")
    if name and name not in [tool.name for tool in tools]:
        raise refused("tool_choice", f"tool_choice names “{name:.60}”, which is none of the tools.")
    return ToolUse(tools, choice or "auto", name, is_parallel is not False)
