"""Chats of ChatGPT: the `conversations.json` of its export.

Sources for the format: published descriptions of it, as there is no specification.
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
    dicts,
    kind_of_file,
    seconds,
    text_in,
)

_MARK = re.compile(r"( ?)\ue200([^\ue200\ue201]*)\ue201(?=(\s|[.,;:!?)\ue200]|\Z)?)")
"""Content that only the web page can show, between two private characters; parts end at a third."""
_OPEN_MARK = re.compile(r" ?\ue200\w*(?:(?:\ue202[\w-]*)+|\Z)")
"""The beginning of one in a text that was cut."""
_EMPHASIS = re.compile("[\ue203-\ue206]")
"""Marks around text that a source supports."""


def is_chat(data: dict[str, Any]) -> bool:
    """Return whether the data is such a chat."""
    return isinstance(data.get("mapping"), dict)


def title(data: dict[str, Any]) -> object:
    """Return the title of such a chat."""
    return data.get("title")


def found(data: dict[str, Any], place: str, name: str) -> ParsedChat:
    """Return what such data holds.

    Raises:
        UserError: It is damaged.
    """
    nodes: dict[str, Node] = {}
    for key, item in data["mapping"].items():
        if not isinstance(item, dict):
            raise broken(f"{place}mapping.{key:.60}", "is not an object")
        parent, message = item.get("parent"), item.get("message")
        parent = parent if isinstance(parent, str) else None
        nodes[key] = _node(parent, message) if isinstance(message, dict) else Node(parent)
    return ParsedChat(
        place,
        nodes,
        data.get("current_node"),
        text_in(data.get("title")),
        name,
        seconds(data.get("create_time")),
        seconds(data.get("update_time")),
    )


def _node(parent: str | None, message: dict[str, Any]) -> Node:
    author, content = message.get("author"), message.get("content")
    metadata = message.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    content = content if isinstance(content, dict) else {}
    kind = content.get("content_type")
    role = author.get("role") if isinstance(author, dict) else None
    created_s = seconds(message.get("create_time"))
    if kind == "reasoning_recap":  # how long it thought
        return Node(parent)
    if kind == "user_editable_context":
        return Node(parent, "system", _instructions(content), created_s=created_s)
    if kind == "thoughts":
        return Node(parent, reasoning=_thoughts(content), created_s=created_s)
    left_out: Counter[LeftOut] = Counter()
    text = _text(content, left_out)
    if kind == "model_editable_context" or metadata.get("is_visually_hidden_from_conversation"):
        left_out["system"] += bool(text or text_in(content.get("model_set_context")))
        return Node(parent, left_out=left_out)
    if role == "tool" or message.get("recipient") not in (None, "all"):
        left_out["tools"] += 1
        return Node(parent, left_out=left_out)
    left_out["other"] += bool(content) and not content.keys() & {"parts", "text"}
    for file in dicts(metadata.get("attachments")):
        what = kind_of_file(file.get("mimeType") or file.get("mime_type"))
        left_out[what] += what != "images"  # pictures are parts of the text, too
    if kind == "code" and text:
        language = text_in(content.get("language"))
        fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
        info = language if language.isalnum() and language != "unknown" else ""
        text = f"{fence}{info}\n{text}\n{fence}"
    elif role == "assistant":
        text = _unmarked(text)
    return Node(parent, role, text, created_s=created_s, left_out=left_out)


def _text(content: dict[str, Any], left_out: Counter[LeftOut]) -> str:
    parts = content.get("parts", content.get("text"))
    texts: list[str] = []
    for part in parts if isinstance(parts, list) else [parts]:
        if isinstance(part, dict):
            kind = text_in(part.get("content_type"))
            if isinstance(part.get("text"), str):  # of what was spoken, too
                texts.append(text_in(part["text"]))
            elif kind.endswith("asset_pointer") or part.get("asset_pointer"):
                left_out[kind_of_file(kind or "image")] += 1
            else:
                left_out["other"] += 1
        else:
            texts.append(text_in(part))
    return "\n".join(filter(None, texts))


def _instructions(content: dict[str, Any]) -> str:
    names = ("user_profile", "user_instructions")
    return "\n\n".join(filter(None, (text_in(content.get(name)) for name in names)))


def _thoughts(content: dict[str, Any]) -> str:
    found = (
        "\n".join(filter(None, (text_in(thought.get("summary")), text_in(thought.get("content")))))
        for thought in dicts(content.get("thoughts"))
    )
    return "\n\n".join(filter(None, found))


def _unmarked(text: str) -> str:
    """Return a reply without the marks of sources; names and titles in marks stay."""
    if not any("\ue200" <= char <= "\ue206" for char in text):
        return text
    text = _MARK.sub(_shown, text)
    return _EMPHASIS.sub("", _OPEN_MARK.sub("", text))


def _shown(mark: re.Match[str]) -> str:
    kind, _, rest = mark[2].partition("\ue202")
    words = ""
    if kind == "entity":
        words = _second(rest)
    elif kind in ("url", "link_title"):
        words = rest.partition("\ue202")[0]
    if words:
        return mark[1] + words
    return "" if mark[3] is not None else mark[1]


def _second(rest: str) -> str:
    """Return the name in a mark of something known: a list of its kind, its name, and more."""
    try:
        items = json.loads(rest)
    except (ValueError, RecursionError):
        return ""
    return text_in(items[1]) if isinstance(items, list) and len(items) > 1 else ""
