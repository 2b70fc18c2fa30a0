"""Chats of llama.cpp's web page: JSON of one or several chats, and lines of JSON.

Source for the format: llama.cpp's code (`tools/ui/src/lib`: `types/database.d.ts`,
`services/conversation-transfer.service.ts`, and `constants/agentic.ts` for the marks that its
earlier versions wrote into a reply's text).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from paceline.chat.exchange.chat_json import broken
from paceline.chat.exchange.imported import (
    LeftOut,
    Node,
    ParsedChat,
    content_in,
    dicts,
    file_of,
    kind_of_file,
    seconds,
    text_in,
)
from paceline.chat.exchange.reply_text import ReplyText
from paceline.conversation import Attachment

_MARKED = re.compile(
    r"<<<reasoning_content_start>>>(.*?)(?:<<<reasoning_content_end>>>|\Z)"
    r"|<<<AGENTIC_TOOL_CALL_START>>>.*?(?:<<<AGENTIC_TOOL_CALL_END>>>|\Z)",
    re.DOTALL,
)


def is_chat(data: dict[str, Any]) -> bool:
    """Return whether the data is such a chat."""
    return isinstance(data.get("conv"), dict) and isinstance(data.get("messages"), list)


def title(data: dict[str, Any]) -> object:
    """Return the title of such a chat."""
    return data["conv"].get("name")


def found(data: dict[str, Any], place: str, name: str) -> ParsedChat:
    """Return what such data holds.

    Raises:
        UserError: It is damaged.
    """
    nodes: dict[str, Node] = {}
    for number, item in enumerate(data["messages"]):
        key = _id(item.get("id")) if isinstance(item, dict) else None
        if not key:
            raise broken(f"{place}messages[{number}]", "has no id")
        if key in nodes:
            raise broken(f"{place}messages[{number}].id", "stands for another message already")
        nodes[key] = _node(item)
    conv = data["conv"]
    return ParsedChat(
        place,
        nodes,
        _id(conv.get("currNode")),
        text_in(conv.get("name")),
        name,
        changed_s=seconds(conv.get("lastModified"), 1000),
        pinned=conv.get("pinned") is True,
    )


def _id(value: object) -> str | None:
    """Return an id; earlier versions had numbers, with -1 and "" for none."""
    if type(value) is int:
        value = str(value)
    return value if isinstance(value, str) and value not in ("", "-1") else None


def _node(item: dict[str, Any]) -> Node:
    role = item.get("role") if item.get("type") != "root" else None
    left_out: Counter[LeftOut] = Counter()
    text = content_in(item.get("content"), left_out)
    if role == "tool":
        left_out["tools"] += 1
    elif role == "assistant":
        text = _unmarked(text, left_out)
        left_out["tools"] += _n_calls(item.get("toolCalls"))
    files: list[Attachment] = []
    for extra in dicts(item.get("extra")):
        content = extra.get("content")
        if isinstance(content, str) and role == "user":
            files.append(file_of(extra.get("name"), content))
        else:
            left_out[kind_of_file(extra.get("type"))] += 1
    return Node(
        _id(item.get("parent")),
        role,
        text,
        text_in(item.get("reasoningContent")) or text_in(item.get("thinking")),
        seconds(item.get("timestamp"), 1000),
        tuple(files),
        left_out,
    )


def _n_calls(calls: object) -> int:
    """Return how many tools were called; a chat's file has them as a list or as its JSON."""
    if isinstance(calls, str):
        try:
            calls = json.loads(calls or "[]")
        except (ValueError, RecursionError):
            return 1
    return len(calls) if isinstance(calls, list) else 0


def _unmarked(text: str, left_out: Counter[LeftOut]) -> str:
    if "<<<" not in text:
        return text
    reply, at = ReplyText(), 0
    for mark in _MARKED.finditer(text):
        reply.add(text[at : mark.start()])
        if mark[1] is None:
            left_out["tools"] += 1
            reply.gap()
        else:
            reply.add(mark[1], is_reasoning=True)
        at = mark.end()
    reply.add(text[at:])
    return reply.text()
