"""Chats of Open WebUI: what “Export Chats” and a chat's own download write.

Source for the format: Open WebUI's code (`src/lib/components/chat/Chat.svelte`,
`backend/open_webui/models/chats.py`, and `utils/middleware.py` for what stands in replies).
"""

from __future__ import annotations

import html
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

_DETAILS = re.compile(
    r'^<details type="(\w+)"[^>]*>[ \t]*\n?(.*?)\n?^</details>[ \t]*\n?', re.DOTALL | re.MULTILINE
)
_SUMMARY = re.compile(r"\A\s*<summary>.*?</summary>\n?", re.DOTALL)
_QUOTED = re.compile(r"^> ?", re.MULTILINE)


def is_chat(data: dict[str, Any]) -> bool:
    """Return whether the data is such a chat."""
    chat = data.get("chat", data)
    return isinstance(chat, dict) and isinstance(chat.get("history"), dict)


def title(data: dict[str, Any]) -> object:
    """Return the title of such a chat."""
    return data.get("title") or data.get("chat", {}).get("title")


def found(data: dict[str, Any], place: str, name: str) -> ParsedChat:
    """Return what such data holds.

    Raises:
        UserError: It is damaged.
    """
    chat = data.get("chat", data)
    history, params, meta = chat["history"], chat.get("params"), data.get("meta")
    messages = history.get("messages")
    if not isinstance(messages, dict):
        raise broken(f"{place}chat.history.messages", "is not an object")
    nodes: dict[str, Node] = {}
    for key, item in messages.items():
        if not isinstance(item, dict):
            raise broken(f"{place}chat.history.messages.{key:.60}", "is not an object")
        nodes[key] = _node(item)
    tags = meta.get("tags") if isinstance(meta, dict) else None
    return ParsedChat(
        place,
        nodes,
        history.get("currentId"),
        text_in(title(data)),
        name,
        seconds(data.get("created_at")) or seconds(chat.get("timestamp"), 1000),
        seconds(data.get("updated_at")),
        pinned=data.get("pinned") is True,
        tags=tuple(filter(None, map(text_in, tags if isinstance(tags, list) else ()))),
        system_prompt=text_in(params.get("system")) if isinstance(params, dict) else "",
        left_out=Counter(kind_of_file(file.get("type")) for file in dicts(chat.get("files"))),
    )


def _node(item: dict[str, Any]) -> Node:
    role, parent = item.get("role"), item.get("parentId")
    left_out: Counter[LeftOut] = Counter()
    files: list[Attachment] = []
    for file in dicts(item.get("files")):
        text = _text_of(file)
        if text is not None and role == "user":
            files.append(file_of(file.get("name"), text))
        else:
            left_out[kind_of_file(file.get("content_type") or file.get("type"))] += 1
    text = content_in(item.get("content"), left_out)
    if role == "assistant":
        text = _shown(text, left_out)
        left_out["other"] += isinstance(item.get("merged"), dict)
    elif role == "tool":
        left_out["tools"] += 1
    return Node(
        parent if isinstance(parent, str) else None,
        role,
        text,
        text_in(item.get("reasoning_content")),
        seconds(item.get("timestamp")),
        tuple(files),
        left_out,
    )


def _text_of(file: dict[str, Any]) -> str | None:
    """Return what was read of an attached file, or None if the export does not have it."""
    inner = file.get("file")
    data = inner.get("data") if isinstance(inner, dict) else None
    text = data.get("content") if isinstance(data, dict) else None
    return text if isinstance(text, str) and text else None


def _shown(text: str, left_out: Counter[LeftOut]) -> str:
    """Return a reply with its reasoning between marks; what tools did is left out."""
    if "<details" not in text:
        return text
    reply, at = ReplyText(), 0
    for block in _DETAILS.finditer(text):
        kind, body = block[1], _SUMMARY.sub("", block[2])
        if kind not in ("reasoning", "tool_calls", "code_interpreter"):
            continue
        reply.add(text[at : block.start()])
        at = block.end()
        if kind == "reasoning":
            reply.add(_QUOTED.sub("", html.unescape(body)), is_reasoning=True)
        else:
            left_out["tools"] += 1
            reply.gap()
            reply.add(body if kind == "code_interpreter" else "")  # the code that was run
            reply.gap()
    reply.add(text[at:])
    return reply.text()
