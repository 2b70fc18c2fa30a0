"""Chats of LM Studio: its `*.conversation.json`.

Sources for the format: published readers and writers of it, as there is no specification.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from paceline.chat.exchange.chat_json import broken
from paceline.chat.exchange.imported import (
    LeftOut,
    Node,
    ParsedChat,
    dicts,
    kind_of_file,
    seconds,
    text_in,
)
from paceline.chat.exchange.reply_text import ReplyText
from paceline.engine.prompt.reasoning_marks import PAIRS

_PROMPT = "llm.prediction.systemPrompt"
_CLOSINGS = frozenset(PAIRS.values())
_TOOLS = ("toolCallRequest", "toolCallResult")


def is_chat(data: dict[str, Any]) -> bool:
    """Return whether the data is such a chat."""
    messages = data.get("messages")
    return isinstance(messages, list) and (
        any(isinstance(item, dict) and "versions" in item for item in messages)
        or (not messages and "conv" not in data)
    )


def title(data: dict[str, Any]) -> object:
    """Return the title of such a chat."""
    return data.get("name")


def found(data: dict[str, Any], place: str, name: str) -> ParsedChat:
    """Return what such data holds.

    Raises:
        UserError: It is damaged.
    """
    nodes: dict[str, Node] = {}
    parent: str | None = None
    for number, item in enumerate(data["messages"]):
        versions = item.get("versions") if isinstance(item, dict) else None
        if not isinstance(versions, list) or not all(isinstance(v, dict) for v in versions):
            raise broken(f"{place}messages[{number}]", "has no versions")
        chosen = item.get("currentlySelected", 0)
        for version_number, version in enumerate(versions):
            nodes[f"{number}-{version_number}"] = _node(parent, version)
        if versions:
            is_index = type(chosen) is int and 0 <= chosen < len(versions)
            parent = f"{number}-{chosen if is_index else 0}"
    created_s = seconds(data.get("createdAt"), 1000)
    spoken = (data.get("userLastMessagedAt"), data.get("assistantLastMessagedAt"))
    return ParsedChat(
        place,
        nodes,
        parent,
        text_in(data.get("name")),
        name,
        created_s,
        max(created_s, *(seconds(time, 1000) for time in spoken)),
        pinned=data.get("pinned") is True,
        system_prompt=_system_prompt(data),
        left_out=_beside(data),
    )


def _system_prompt(data: dict[str, Any]) -> str:
    """Return the chat's own prompt, and the one of older versions where there is none."""
    config = data.get("perChatPredictionConfig")
    fields = dicts(config.get("fields")) if isinstance(config, dict) else []
    own = (text_in(field.get("value")) for field in fields if field.get("key") == _PROMPT)
    return next(filter(str.strip, own), "") or text_in(data.get("systemPrompt"))


def _beside(data: dict[str, Any]) -> Counter[LeftOut]:
    """Return the content beside the messages that cannot be kept, counted by kind."""
    lost: Counter[LeftOut] = Counter()
    lost["drafts"] += bool(text_in(data.get("clientInput")).strip())
    notes = data.get("notes")
    lost["notes"] += len(notes) if isinstance(notes, list) else bool(text_in(notes).strip())
    for key in ("clientInputFiles", "looseFiles"):
        for file in dicts(data.get(key)):
            lost[kind_of_file(file.get("fileType") or file.get("type"))] += 1
    return lost


def _node(parent: str | None, version: dict[str, Any]) -> Node:
    reply, left_out = ReplyText(), Counter[LeftOut]()
    role, steps = version.get("role"), version.get("steps")
    if not isinstance(steps, list):
        _add_contents(reply, left_out, version.get("content"))
    for step in dicts(steps):
        kind = step.get("type")
        if kind == "debugInfoBlock":
            continue
        if kind == "contentBlock":
            writer = step.get("roleOverride")
            if writer in (None, role):
                style = step.get("style")
                is_thinking = isinstance(style, dict) and style.get("type") == "thinking"
                _add_contents(reply, left_out, step.get("content"), is_reasoning=is_thinking)
                continue
            contents = dicts(step.get("content"))
            left_out["tools" if writer == "tool" else "system"] += max(1, len(contents))
        elif kind != "toolStatus":
            left_out["other"] += 1
        reply.gap()
    return Node(parent, role, reply.text(), left_out=left_out)


def _add_contents(
    reply: ReplyText, left_out: Counter[LeftOut], contents: object, *, is_reasoning: bool = False
) -> None:
    if isinstance(contents, str):
        contents = [{"type": "text", "text": contents}]
    for content in dicts(contents):
        text, kind = content.get("text"), content.get("type")
        if isinstance(text, str):
            if content.get("isStructural") is not True:
                reply.add(text_in(text), is_reasoning=is_reasoning)
            elif text.strip() in PAIRS:
                is_reasoning = True
            elif text.strip() in _CLOSINGS:
                is_reasoning = False
        elif kind in _TOOLS:
            left_out["tools"] += 1
            reply.gap()
        elif kind == "file":
            left_out[kind_of_file(content.get("fileType"))] += 1
        else:
            left_out["other"] += 1
