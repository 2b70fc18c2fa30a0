"""A chat of another program: the tree of its messages, and the content that cannot be kept.

A reader makes a `Node` of everything that stands in the file's tree; `ParsedChat.chat` makes a
conversation of those that have a text or files, and counts the content that a conversation cannot
hold.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, NamedTuple

from paceline.chat.exchange.chat_json import (
    LAST_SECOND,
    MAX_FILES,
    MAX_MESSAGES,
    MAX_NAME_CHARS,
    MAX_TAGS,
    MAX_TEXT_CHARS,
    broken,
)
from paceline.chat.exchange.reply_text import with_reasoning
from paceline.content import StoredRole
from paceline.conversation import (
    Attachment,
    Conversation,
    Folder,
    Message,
    clean,
    title_of,
)
from paceline.run_record import RunRecord

LeftOut = Literal[
    "tools", "images", "recordings", "files", "system", "notes", "drafts", "other"
]  # fmt: skip
"""Content that cannot be kept: calls of tools and results, pictures, sound and films, files without
their text, messages of the system beside the prompt, notes, messages that were not sent."""
_ROLES: Mapping[object, StoredRole] = MappingProxyType({"user": "user", "assistant": "assistant"})
_SYSTEM = ("system", "developer")


class ImportedChat(NamedTuple):
    """A chat from a file.

    Attributes:
        conversation: The chat; its ids are the file's.
        records: Records of its replies, by message id; only Paceline's files have them.
        system_prompt: The system prompt of another program's chat; may be empty.
        left_out: Number of items that cannot be kept, by kind.
        folder: Its folder, without an id, or None.
        program: Name of the program that wrote the file.
    """

    conversation: Conversation
    records: Mapping[str, RunRecord] = MappingProxyType({})
    system_prompt: str = ""
    left_out: Mapping[LeftOut, int] = MappingProxyType({})
    folder: Folder | None = None
    program: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """A place in another program's tree; one without text or files only connects others.

    Attributes:
        parent: The one before it; None for the first ones.
        role: Who wrote it, in the file's words, or None if not a message.
        text: The message's text.
        reasoning: The model's reasoning before the text, or before the next reply if there is no
            text.
        created_s: When, in seconds since the epoch; 0 where that is not known.
        files: Text files that came with it.
        left_out: Its content that cannot be kept, counted by kind.
    """

    parent: str | None
    role: object = None
    text: str = ""
    reasoning: str = ""
    created_s: float = 0.0
    files: tuple[Attachment, ...] = ()
    left_out: Mapping[LeftOut, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ParsedChat:
    """The parts of one chat that a reader found.

    Attributes:
        place: Its position in the file, for errors.
        nodes: Its tree, by id, in any order.
        end: The id of the last node that was shown; any other value stands for the newest node.
        title: Its title; if blank, the first question gives one.
        file_name: The title where nothing else gives one.
        created_s: Time of its creation, in seconds since the epoch; 0 stands for its first
            message's.
        changed_s: Time of its last change; 0 stands for its last message's.
        pinned: Whether it stood above others.
        tags: Words that it was sorted by.
        system_prompt: The system prompt, if the file keeps it outside the tree.
        left_out: Content outside the nodes that cannot be kept, counted by kind.
    """

    place: str
    nodes: Mapping[str, Node]
    end: object
    title: str
    file_name: str
    created_s: float = 0.0
    changed_s: float = 0.0
    pinned: bool = False
    tags: tuple[str, ...] = ()
    system_prompt: str = ""
    left_out: Mapping[LeftOut, int] = field(default_factory=dict)

    def chat(self) -> ImportedChat:
        """Return the chat.

        Raises:
            UserError: It is damaged; the text says where.
        """
        self._check()
        messages, nearest = _messages(self.nodes)
        if len(nearest) < len(self.nodes):
            raise broken(f"{self.place}messages", "follow one another in a circle")
        conversation = Conversation("imported", messages=MappingProxyType(messages))
        # Messages stand by time.
        last = nearest.get(self.end) if isinstance(self.end, str) else None
        last = last or next(reversed(messages), None)
        if last is not None:
            conversation = conversation.activate(last)
        prompt, left_out = self._system_prompt(conversation)
        for node in self.nodes.values():
            left_out.update(node.left_out)
            is_by_another = node.role not in (*_ROLES, *_SYSTEM) and not any(node.left_out.values())
            left_out["other"] += is_by_another and bool(node.text.strip() or node.files)
        left_out.update(self.left_out)
        return ImportedChat(self._finished(conversation), {}, prompt, +left_out)

    def _check(self) -> None:
        place = f"{self.place}messages"
        if len(self.nodes) > MAX_MESSAGES:
            raise broken(place, "has more than {n:,} entries", n=MAX_MESSAGES)
        texts: list[str] = [self.system_prompt]
        for node in self.nodes.values():
            if node.parent is not None and node.parent not in self.nodes:
                raise broken(place, "follow {name:.60}, which is not there", name=repr(node.parent))
            if len(node.files) > MAX_FILES:
                raise broken(place, "have more than {n:,} files", n=MAX_FILES)
            texts += (node.text, node.reasoning, *(file.text for file in node.files))
        if max(map(len, texts)) > MAX_TEXT_CHARS:
            raise broken(place, "have more than {n:,} characters", n=MAX_TEXT_CHARS)

    def _system_prompt(self, conversation: Conversation) -> tuple[str, Counter[LeftOut]]:
        """Return what stood before the shown messages, and what of the system is left out."""
        nodes = self.nodes
        system = {k for k, n in nodes.items() if n.role in _SYSTEM and n.text.strip()}
        before: list[str] = []
        above = next((nodes[message.message_id].parent for message in conversation.path()), None)
        while above is not None:
            before += [above] if above in system else []
            above = nodes[above].parent
        texts = [self.system_prompt, *(nodes[key].text for key in reversed(before))]
        kept = list(dict.fromkeys(text.strip() for text in texts if text.strip()))
        lost = [k for k in system if nodes[k].text.strip() not in kept]
        return "\n\n".join(kept), Counter({"system": len(lost)})

    def _finished(self, conversation: Conversation) -> Conversation:
        times = [m.created_s for m in conversation.messages.values() if m.created_s]
        title = " ".join(self.title.split())[:MAX_NAME_CHARS]
        if not title:
            first = next((m for m in conversation.path() if m.role == "user"), None)
            title = title_of(first.text) if first is not None else self.file_name
        return replace(
            conversation,
            title=title,
            created_s=self.created_s or min(times, default=self.changed_s),
            changed_s=self.changed_s or max(times, default=self.created_s),
            pinned=self.pinned,
            tags=tuple(dict.fromkeys(tag[:MAX_NAME_CHARS] for tag in self.tags))[:MAX_TAGS],
        )


class _Reached(NamedTuple):
    """State of the nodes above a node.

    Attributes:
        message: The last message, or None if there is none.
        time_s: Time of the latest of them.
        thinker: The first node of the pending reasoning, or None.
        reasoning: Reasoning since that node, for the reply that follows.
    """

    message: str | None = None
    time_s: float = 0.0
    thinker: str | None = None
    reasoning: str = ""


def _messages(nodes: Mapping[str, Node]) -> tuple[dict[str, Message], dict[str, str | None]]:
    """Return the messages, each after its parent, by time, and of each node the nearest message.

    A node that is in no order with the others, or in a circle, is in neither.
    """
    following: dict[str | None, list[tuple[int, str]]] = {}
    for number, (key, node) in enumerate(nodes.items()):
        following.setdefault(node.parent, []).append((number, key))
    messages: dict[str, Message] = {}
    nearest: dict[str, str | None] = {}
    waiting: list[tuple[float, int, str, _Reached]] = []

    def reach(parent: str | None, above: _Reached) -> None:
        for number, key in following.get(parent, ()):
            time_s = max(above.time_s, nodes[key].created_s)
            heapq.heappush(waiting, (time_s, number, key, above))

    reach(None, _Reached())
    while waiting:
        time_s, _, key, above = heapq.heappop(waiting)
        now = above
        for message in _made(key, nodes[key], above, is_last=key not in following):
            messages.setdefault(message.message_id, message)
            now = _Reached(message.message_id)
        if now is above and nodes[key].reasoning.strip():
            thoughts = "\n\n".join(filter(None, (above.reasoning, nodes[key].reasoning.strip())))
            now = above._replace(thinker=above.thinker or key, reasoning=thoughts)
        nearest[key] = now.message
        reach(key, now._replace(time_s=time_s))
    return messages, nearest


def _made(key: str, node: Node, above: _Reached, *, is_last: bool) -> Iterator[Message]:
    """Yield a node's messages: a reply that has only reasoning, then its own; either may lack."""
    role = _ROLES.get(node.role) if isinstance(node.role, str) else None
    says = role is not None and bool(node.text.strip() or node.files)
    parent, reasoning = above.message, above.reasoning
    if role == "assistant" or (is_last and not says):
        reasoning = "\n\n".join(filter(None, (reasoning, node.reasoning.strip())))
    if role == "assistant" and says:
        text = with_reasoning(reasoning, node.text)
        yield Message.of_text(key, parent, role, text, node.created_s, attachments=node.files)
        return
    if reasoning and (is_last or says):
        thinker = key if above.thinker is None or (node.reasoning and not says) else above.thinker
        yield Message.of_text(
            thinker, parent, "assistant", with_reasoning(reasoning), node.created_s
        )
        parent = thinker
    if role is not None and says:
        yield Message.of_text(key, parent, role, node.text, node.created_s, attachments=node.files)


# -------------------------------------------------------------------------------------- values


def text_in(value: object) -> str:
    """Return a text that can be stored; empty if the value is no text."""
    return clean(value) if isinstance(value, str) else ""


def content_in(value: object, left_out: Counter[LeftOut]) -> str:
    """Return a message's text, which may be in parts; parts of another kind are counted."""
    if isinstance(value, str):
        return text_in(value)
    texts: list[str] = []
    for part in value if isinstance(value, list) else [value]:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str):
            texts.append(text_in(text))
        elif part is not None:
            kind = kind_of_file(part.get("type")) if isinstance(part, dict) else "other"
            left_out["other" if kind == "files" else kind] += 1
    return "\n".join(filter(None, texts))


def seconds(value: object, unit: float = 1.0) -> float:
    """Return a time in seconds since the epoch; 0 if the value is no time.

    Args:
        value: The value in the file.
        unit: Units per second, such as 1000 for milliseconds.
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        time_s = min(value, 1e18) / unit
        if math.isfinite(time_s) and 0 <= time_s <= LAST_SECOND:
            return time_s
    return 0.0


def dicts(value: object) -> list[dict[str, object]]:
    """Return the objects of a list; empty if the value is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def file_of(name: object, text: str) -> Attachment:
    """Return a text file that was attached."""
    text = clean(text)
    return Attachment(text_in(name)[:MAX_NAME_CHARS] or "file.txt", text, len(text.encode()))


def kind_of_file(what: object) -> LeftOut:
    """Return the kind of a file without text, by the media type that the export gives."""
    name = what.lower() if isinstance(what, str) else ""
    if "image" in name:
        return "images"
    return "recordings" if "audio" in name or "video" in name else "files"
