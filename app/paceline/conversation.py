"""A conversation as an immutable tree of messages; no I/O, any thread.

Editing a message or regenerating a reply never overwrites anything: it adds a sibling under the
same parent. What is shown is one path from a root to a leaf, the *active path*. Every change
returns a new `Conversation`; ids are the caller's, so that storage and tests can choose them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Role = Literal["user", "assistant"]
TITLE_LENGTH = 48


@dataclass(frozen=True, slots=True)
class Message:
    """One message; `parent_id` is None for the first ones of a conversation."""

    message_id: str
    parent_id: str | None
    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """A tree of messages and the leaf that is shown.

    Attributes:
        conversation_id: The caller's id.
        title: What the list shows; empty until the first message names it.
        created_s: Seconds since the epoch.
        messages: All messages by their id, in the order in which they were added.
        leaf_id: End of the active path; None while there is no message.
    """

    conversation_id: str
    title: str = ""
    created_s: float = 0.0
    messages: Mapping[str, Message] = field(default_factory=lambda: MappingProxyType({}))
    leaf_id: str | None = None

    def path(self) -> tuple[Message, ...]:
        """The active path, first message first."""
        return self.path_to(self.leaf_id)

    def path_to(self, message_id: str | None) -> tuple[Message, ...]:
        """The messages from the root to this one; empty for None."""
        path: list[Message] = []
        while message_id is not None:
            message = self.messages[message_id]
            path.append(message)
            message_id = message.parent_id
        return tuple(reversed(path))

    def siblings(self, message_id: str) -> tuple[Message, ...]:
        """The messages under the same parent, this one included, oldest first."""
        return self._children(self.messages[message_id].parent_id)

    def add(self, message: Message) -> Conversation:
        """Append a message and make it the end of the active path.

        Raises:
            ValueError: The id is taken, or the parent is not in the tree.
        """
        if message.message_id in self.messages:
            raise ValueError(f"message {message.message_id} exists already")
        if message.parent_id is not None and message.parent_id not in self.messages:
            raise ValueError(f"message {message.message_id} has an unknown parent")
        title = self.title
        if not title and message.role == "user":
            title = title_of(message.content)
        return replace(
            self,
            title=title,
            messages=MappingProxyType({**self.messages, message.message_id: message}),
            leaf_id=message.message_id,
        )

    def edit(self, message_id: str, new_id: str, content: str) -> Conversation:
        """Add a sibling with another text and show it; what followed the old one stays there."""
        old = self.messages[message_id]
        return self.add(Message(new_id, old.parent_id, old.role, content))

    def with_content(self, message_id: str, content: str) -> Conversation:
        """Fill in the text of a reply that was generated meanwhile."""
        message = replace(self.messages[message_id], content=content)
        return replace(self, messages=MappingProxyType({**self.messages, message_id: message}))

    def activate(self, message_id: str) -> Conversation:
        """Show the path through this message, on to the newest leaf below it."""
        leaf = self.messages[message_id]
        while children := self._children(leaf.message_id):
            leaf = children[-1]
        return replace(self, leaf_id=leaf.message_id)

    def renamed(self, title: str) -> Conversation:
        """The same conversation under another title; blank keeps the old one."""
        title = " ".join(title.split())
        return replace(self, title=title) if title else self

    def _children(self, parent_id: str | None) -> tuple[Message, ...]:
        return tuple(m for m in self.messages.values() if m.parent_id == parent_id)


def title_of(content: str) -> str:
    """A title from a message: its first line, cut at a word."""
    lines = content.strip().splitlines()
    words = " ".join(lines[0].split()) if lines else ""
    if len(words) <= TITLE_LENGTH:
        return words
    cut = words[:TITLE_LENGTH].rsplit(" ", 1)[0]
    return f"{cut.rstrip(' ,;:.')}…"
