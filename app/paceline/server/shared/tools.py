"""The tools of a request, in the engine's form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from paceline.content import Tool, ToolChoice, ToolUse
from paceline.server.errors import refused
from paceline.server.limits import MAX_TOOLS
from paceline.server.streams import as_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Offered(Protocol):
    """A tool of a request; its type says whether the program or a server executes it."""

    @property
    def type(self) -> str | None:
        """Its kind."""


_T = TypeVar("_T", bound=Offered)


def functions_of(
    tools: Sequence[_T], name_of: Callable[[_T], str], *kinds: str | None
) -> tuple[list[_T], tuple[str, ...]]:
    """Return the tools that the program executes, and the positions of all others.

    Agents offer tools of several kinds at once, and a model need not call any of them. A request
    that offers only others is refused, since the answer depends on them.

    Args:
        tools: All tools of the request.
        name_of: Returns a function's name.
        kinds: The types of functions.

    Raises:
        ApiError: There are too many, or no function among them; one has no name, or two have the
            same.
    """
    if len(tools) > MAX_TOOLS:
        raise refused("tools", f"There may be {MAX_TOOLS} tools at most.")
    functions = [(i, tool) for i, tool in enumerate(tools) if tool.type in kinds]
    others = [i for i, tool in enumerate(tools) if tool.type not in kinds]
    if others and not functions:
        first = others[0]
        raise refused(
            f"tools[{first}]",
            f"tools[{first}] is of the type “{tools[first].type or '':.40}”; only functions can "
            "be called.",
        )
    names = set[str]()
    for i, tool in functions:
        name = name_of(tool)
        if not name:
            raise refused(f"tools[{i}]", f"tools[{i}] is a function without a name.")
        if name in names:
            raise refused(f"tools[{i}]", f"tools[{i}] is called “{name:.60}”, as another one is.")
        names.add(name)
    return [tool for _, tool in functions], tuple(f"tools[{i}]" for i in others)


def new_tool(name: str, description: str | None, schema: Mapping[str, Any] | None) -> Tool:
    """Return a tool; without a schema it takes no arguments."""
    return Tool(name, description or "", as_json(schema).decode() if schema else "")


def tool_use(
    tools: tuple[Tool, ...], choice: ToolChoice | None, name: str, *, is_parallel: bool | None
) -> ToolUse | None:
    """Return the tools of a request and their use, or None if it has none.

    Args:
        tools: The tools.
        choice: Whether one must be called, or None if the model decides.
        name: The one that must be called; empty means any.
        is_parallel: Whether several may be called; None means that they may.

    Raises:
        ApiError: The named tool is not among them.
    """
    if not tools:
        if choice == "required":
            raise refused("tool_choice", "tool_choice asks for a tool, but there are no tools.")
        return None
    if name and name not in [tool.name for tool in tools]:
        raise refused("tool_choice", f"tool_choice names “{name:.60}”, which is none of the tools.")
    return ToolUse(tools, choice or "auto", name, is_parallel is not False)
