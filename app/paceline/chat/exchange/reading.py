"""From the bytes of a file to the chats in it: ours, and what other programs export.

A file is either read as a whole or refused; nothing is imported from one that is partly damaged.

Sources for other programs' formats: llama.cpp's code (`tools/ui/src/lib`: `database.d.ts`,
`conversation-transfer.service.ts`), published descriptions of ChatGPT's `conversations.json`, and
published converters of LM Studio's `*.conversation.json`. Only what the user and the model wrote is
taken of them, with text files; system prompts, tools and pictures are counted as left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from json.decoder import JSONArray, JSONObject  # type: ignore[attr-defined]
from typing import Any, NamedTuple, NoReturn

from paceline.chat.exchange.chat_json import (
    FORMAT,
    LAST_SECOND,
    MAX_MESSAGES,
    MAX_NAME_CHARS,
    MAX_TEXT_CHARS,
    broken,
    from_json,
)
from paceline.conversation import Attachment, Conversation, Message, Role, clean, title_of
from paceline.errors import UserError
from paceline.run_record import RunRecord

_THINKING = "<think>\n{}\n</think>\n\n{}"

Reader = Callable[[Any, str, str], tuple[Conversation, int]]
"""Takes data, its place in the file and the file's name; returns a chat and how much it omits."""


class _Node(NamedTuple):
    """A message of another program; one without text or files only connects others."""

    parent: str | None
    role: object
    text: str = ""
    created_s: float = 0.0
    files: tuple[Attachment, ...] = ()


def reader_of(data: object) -> Reader | None:
    """Return the reader of this data; None: it is no known format."""
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
    """Collect the lines of llama.cpp's older exports: a session, then its messages.

    Raises:
        ValueError: The lines are something else.
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
    """A tree of the messages with text or files, from nodes in any order."""

    def __init__(self, nodes: Mapping[str, _Node], place: str) -> None:
        if len(nodes) > MAX_MESSAGES:
            raise broken(f"{place}messages", f"has more than {MAX_MESSAGES:,} entries")
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
        """Return the chat whose path ends at this message or the newest, and how much it omits."""
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
    """Return a time in seconds; 0 where the value is none."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        seconds = min(value, 1e18) / unit
        if math.isfinite(seconds) and 0 <= seconds <= LAST_SECOND:
            return seconds
    return 0.0


def _file(name: str, text: str) -> Attachment:
    return Attachment(name[:MAX_NAME_CHARS] or "file.txt", text, len(text.encode()))


MAX_FILE_BYTES = 512_000_000
_BOMS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_NOT_ONE = "Choose a chat that Paceline, llama.cpp's web page, LM Studio or ChatGPT exported."


class ImportedChat(NamedTuple):
    """A chat from a file.

    Attributes:
        conversation: The chat; its ids are the file's.
        records: How its replies were made, by message id; only Paceline's files have them.
        n_left_out: Messages that cannot be imported: system prompts, tools, pictures.
    """

    conversation: Conversation
    records: Mapping[str, RunRecord]
    n_left_out: int = 0


def read_chats(raw: bytes, name: str) -> tuple[ImportedChat, ...]:
    """Return the chats in a file's content; at least one.

    Args:
        raw: The whole content.
        name: The file's name, for errors.

    Raises:
        UserError: It has no chats, or they are damaged; the text says where.
    """
    if len(raw) > MAX_FILE_BYTES:
        raise UserError(
            "chat-too-large",
            f"“{name}” has {len(raw) / 1e6:,.0f} MB; a file may have {MAX_FILE_BYTES / 1e6:.0f}.",
            "Export fewer chats at a time.",
        )
    if raw.startswith(b"PK\x03\x04"):
        raise UserError(
            "chat-in-archive", f"“{name}” is an archive.", "Unpack it and import the files in it."
        )
    text = _decoded(raw, name)
    try:
        chats = _chats(_parsed(text), name)
    except UserError as error:
        raise UserError(error.code, f"“{name}”: {error.message}", error.hint) from error
    except RecursionError:  # of the parser, or of what walks over the data
        raise UserError("not-a-chat", f"“{name}” is nested too deeply.", _NOT_ONE) from None
    if not chats:
        raise UserError("no-chats", f"“{name}” has no messages to import.", _NOT_ONE)
    return chats


def _chats(data: Any, name: str) -> tuple[ImportedChat, ...]:
    if isinstance(data, dict) and data.get("format") == FORMAT:
        return (ImportedChat(*from_json(data)),)
    found: list[ImportedChat] = []
    for number, item in enumerate(data if isinstance(data, list) else [data]):
        place = f"[{number}]" if isinstance(data, list) else ""
        read = reader_of(item)
        if read is None:
            text = f"It is JSON, but {place} is no chat." if place else "It is JSON, but no chat."
            raise UserError("not-a-chat", text, _NOT_ONE)
        conversation, n_left_out = read(item, place, name)
        if conversation.messages:
            found.append(ImportedChat(conversation, {}, n_left_out))
    return tuple(found)


def _decoded(raw: bytes, name: str) -> str:
    encoding = next((e for bom, e in _BOMS.items() if raw.startswith(bom)), "utf-8")
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError:
        raise UserError("not-a-chat", f"“{name}” is no text file.", _NOT_ONE) from None


def _parsed(text: str) -> Any:
    """Return the data of JSON, or of lines of JSON as older exports of llama.cpp have them."""
    try:
        return _Decoder().decode(text)
    except ValueError as error:
        try:
            return sessions([_Decoder().decode(line) for line in text.splitlines() if line.strip()])
        except ValueError:
            pass
        what = "It is not JSON."
        if isinstance(error, json.JSONDecodeError):
            what = f"It is not JSON (line {error.lineno})."
        raise UserError("not-json", what, _NOT_ONE) from None


class _Decoder(json.JSONDecoder):
    """Reads the two outer levels step by step.

    The fast parser blocks all other threads until it is done; for a whole chat that may take a
    second, in which the window would not respond.
    """

    def __init__(self) -> None:
        super().__init__(parse_constant=_refuse)
        self._fast: Any = self.scan_once  # type: ignore[has-type]
        self.scan_once = self._outer

    def _outer(self, text: str, at: int) -> tuple[Any, int]:
        return self._container(text, at, self._inner)

    def _inner(self, text: str, at: int) -> tuple[Any, int]:
        return self._container(text, at, self._fast)

    def _container(self, text: str, at: int, scan: Any) -> tuple[Any, int]:
        first = text[at : at + 1]
        result: tuple[Any, int]
        if first == "{":
            result = JSONObject((text, at + 1), self.strict, scan, None, None, {})
        elif first == "[":
            result = JSONArray((text, at + 1), scan)
        else:
            result = self._fast(text, at)
        return result


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")
