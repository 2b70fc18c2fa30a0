"""Chats that other programs exported, as trees of ours.

What is known of the formats comes from llama.cpp's sources (`tools/ui/src/lib`: `database.d.ts`,
`conversation-transfer.service.ts`), from published descriptions of ChatGPT's `conversations.json`,
and from published converters of LM Studio's `*.conversation.json`. Only what the user and the
model wrote is taken, with text files; system prompts, tools and pictures are counted as left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from paceline.chat.exchange.checks import LAST_SECOND, MAX_NAME_CHARS, MAX_TEXT_CHARS, broken, clean
from paceline.conversation import Attachment, Conversation, Message, Role, title_of

_MAX_MESSAGES = 200_000
_THINKING = "<think>\n{}\n</think>\n\n{}"

Reader = Callable[[Any, str, str], tuple[Conversation, int]]
"""Takes the data, its place in the file and the file's name; gives a chat and what it leaves out"""


class _Node(NamedTuple):
    """A message of another program; one without text or files only links others."""

    parent: str | None
    role: object
    text: str = ""
    created_s: float = 0.0
    files: tuple[Attachment, ...] = ()


def reader_of(data: object) -> Reader | None:
    """What reads this data; None: it is no chat that is known."""
    if not isinstance(data, dict):
        return None
    messages = data.get("messages")
    if isinstance(data.get("mapping"), dict):
        return _from_mapping
    if isinstance(data.get("conv"), dict) and isinstance(messages, list):
        return _from_llama
    if isinstance(messages, list) and all(
        isinstance(m, dict) and isinstance(m.get("versions"), list) for m in messages
    ):
        return _from_lm_studio
    return None


def sessions(lines: Iterable[object]) -> list[dict[str, Any]]:
    """Gather llama.cpp's lines, a session and then its messages, as its older exports have them.

    Raises:
        ValueError: They are something else.
    """
    found: list[dict[str, Any]] = []
    for line in lines:
        kind = line.get("type") if isinstance(line, dict) else None
        if isinstance(line, dict) and kind == "session":
            found.append({"conv": line, "messages": []})
        elif isinstance(line, dict) and kind == "message" and found:
            found[-1]["messages"].append(line.get("message"))
        elif not found:
            raise ValueError("no session")
    if not found:
        raise ValueError("no session")
    return found


# -------------------------------------------------------------------------------- llama.cpp


def _from_llama(data: Any, place: str, name: str) -> tuple[Conversation, int]:
    nodes: dict[str, _Node] = {}
    for number, item in enumerate(data["messages"]):
        at = f"{place}messages[{number}]"
        if not isinstance(item, dict) or not isinstance(item.get("id"), str):
            raise broken(at, "has no id")
        text = _text(item.get("content"))
        thoughts = _text(item.get("reasoningContent")) or _text(item.get("thinking"))
        if thoughts:
            text = _THINKING.format(thoughts.strip(), text)
        parent = item.get("parent")
        nodes[item["id"]] = _Node(
            parent if isinstance(parent, str) and parent not in ("", "-1") else None,
            item.get("role") if item.get("type") != "root" else None,
            text,
            _seconds(item.get("timestamp"), 1000),
            tuple(_llama_files(item.get("extra"))),
        )
    conv = data["conv"]
    made = _Tree(nodes, place).conversation(conv.get("currNode"))
    changed = _seconds(conv.get("lastModified"), 1000)
    title = _text(conv.get("name"))
    return _finished(made, title, name, changed, pinned=conv.get("pinned") is True)


def _llama_files(extra: object) -> Iterable[Attachment]:
    for item in extra if isinstance(extra, list) else ():
        if isinstance(item, dict) and isinstance(item.get("content"), str):
            yield _file(_text(item.get("name")), clean(item["content"]))


# ---------------------------------------------------------------------------------- ChatGPT


def _from_mapping(data: Any, place: str, name: str) -> tuple[Conversation, int]:
    nodes: dict[str, _Node] = {}
    for key, item in data["mapping"].items():
        if not isinstance(item, dict):
            raise broken(f"{place}mapping.{key:.60}", "is not an object")
        parent = item.get("parent")
        message = item.get("message")
        nodes[key] = _Node(parent if isinstance(parent, str) else None, None)
        if isinstance(message, dict):
            nodes[key] = _mapped(message, nodes[key])
    made = _Tree(nodes, place).conversation(data.get("current_node"))
    created = _seconds(data.get("create_time"))
    changed = _seconds(data.get("update_time"))
    return _finished(made, _text(data.get("title")), name, changed, created)


def _mapped(message: dict[str, Any], node: _Node) -> _Node:
    author, content = message.get("author"), message.get("content")
    metadata = message.get("metadata")
    if isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation"):
        return node
    role = author.get("role") if isinstance(author, dict) else None
    if message.get("recipient") not in (None, "all"):  # what it told a tool
        role = "tool"
    text = ""
    if isinstance(content, dict):
        parts = content.get("parts")
        parts = parts if isinstance(parts, list) else [content.get("text")]
        text = "\n".join(clean(part) for part in parts if isinstance(part, str) and part)
        if content.get("content_type") == "code" and text:
            text = f"```\n{text}\n```"
    return node._replace(role=role, text=text, created_s=_seconds(message.get("create_time")))


# -------------------------------------------------------------------------------- LM Studio


def _from_lm_studio(data: Any, place: str, name: str) -> tuple[Conversation, int]:
    nodes: dict[str, _Node] = {}
    parent: str | None = None
    for number, item in enumerate(data["messages"]):
        versions = [version for version in item["versions"] if isinstance(version, dict)]
        chosen = item.get("currentlySelected", 0)
        for version_number, version in enumerate(versions):
            key = f"{number}-{version_number}"
            nodes[key] = _Node(parent, version.get("role"), _lm_text(version))
        if versions:
            is_index = type(chosen) is int and 0 <= chosen < len(versions)
            parent = f"{number}-{chosen if is_index else 0}"
    made = _Tree(nodes, place).conversation(parent)
    created = _seconds(data.get("createdAt"), 1000)
    title = _text(data.get("name"))
    return _finished(made, title, name, created, created, pinned=data.get("pinned") is True)


def _lm_text(version: dict[str, Any]) -> str:
    steps = version.get("steps")
    if not isinstance(steps, list):
        return _joined(version.get("content"))
    text = thoughts = ""
    for step in steps:
        if isinstance(step, dict) and step.get("type") == "contentBlock":
            style = step.get("style")
            part = _joined(step.get("content"))
            if isinstance(style, dict) and style.get("type") == "thinking":
                thoughts += part
            else:
                text += part
    return _THINKING.format(thoughts.strip(), text) if thoughts.strip() else text


def _joined(content: object) -> str:
    if isinstance(content, str):
        return clean(content)
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n".join(clean(text) for text in texts if isinstance(text, str))


# ------------------------------------------------------------------------------------- trees


class _Tree:
    """Messages in any order, some of which only link others, as a tree of those that count."""

    def __init__(self, nodes: Mapping[str, _Node], place: str) -> None:
        if len(nodes) > _MAX_MESSAGES:
            raise broken(f"{place}messages", f"has more than {_MAX_MESSAGES:,} entries")
        self._nodes = nodes
        self._place = place
        self._following: dict[str | None, list[str]] = {}
        for key, node in nodes.items():
            if node.parent is not None and node.parent not in nodes:
                raise broken(f"{place}messages", f"follow {node.parent!r:.60}, which is not there")
            if len(node.text) > MAX_TEXT_CHARS:
                raise broken(f"{place}messages", f"have more than {MAX_TEXT_CHARS:,} characters")
            self._following.setdefault(node.parent, []).append(key)

    def conversation(self, end: object) -> tuple[Conversation, int]:
        """The chat that is shown up to this message, or to the newest, and what it leaves out."""
        made = Conversation("imported")
        messages: dict[str, Message] = {}
        nearest: dict[str, str | None] = {}  # of each node, the message that it comes down to
        waiting = list(reversed(self._following.get(None, ())))
        n_left_out = 0
        while waiting:
            key = waiting.pop()
            node = self._nodes[key]
            above = nearest[node.parent] if node.parent is not None else None
            role = _role(node.role)
            if role is not None and (node.text.strip() or node.files):
                messages[key] = Message(key, above, role, node.text, node.created_s, node.files)
                above = key
            elif node.role is not None:
                n_left_out += 1
            nearest[key] = above
            waiting.extend(reversed(self._following.get(key, ())))
        if len(nearest) < len(self._nodes):
            raise broken(f"{self._place}messages", "follow one another in a circle")
        last = nearest.get(end) if isinstance(end, str) else None
        made = replace(made, messages=messages)
        last = last or next(reversed(messages), None)
        return (made.activate(last) if last is not None else made), n_left_out


def _finished(
    made: tuple[Conversation, int],
    title: str,
    file_name: str,
    changed_s: float,
    created_s: float = 0.0,
    *,
    pinned: bool = False,
) -> tuple[Conversation, int]:
    conversation, n_left_out = made
    times = [m.created_s for m in conversation.messages.values() if m.created_s]
    title = " ".join(title.split())[:MAX_NAME_CHARS]
    if not title:
        first = next((m for m in conversation.path() if m.role == "user"), None)
        title = title_of(first.content) if first is not None else file_name
    whole = replace(
        conversation,
        title=title,
        created_s=created_s or min(times, default=changed_s),
        changed_s=changed_s or max(times, default=created_s),
        pinned=pinned,
    )
    return whole, n_left_out


def _role(value: object) -> Role | None:
    match value:
        case "user":
            return "user"
        case "assistant":
            return "assistant"
    return None


def _text(value: object) -> str:
    return clean(value) if isinstance(value, str) else ""


def _seconds(value: object, unit: float = 1.0) -> float:
    """A time of another program; 0 where it is none."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        seconds = min(value, 1e18) / unit
        if math.isfinite(seconds) and 0 <= seconds <= LAST_SECOND:
            return seconds
    return 0.0


def _file(name: str, text: str) -> Attachment:
    return Attachment(name[:MAX_NAME_CHARS] or "file.txt", text, len(text.encode()))
