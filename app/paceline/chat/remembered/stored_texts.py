"""Hands the texts of stored chats to the engine, whose lookups learn from them.

After every load all are handed in, the newest chat first, one after the other: the next one is read
when the engine has taken the last, so that neither the window nor a reply waits for them. A chat is
handed in again when a reply has ended or it was brought back, and is taken out at once when it is
deleted. Private chats are never handed in. On the thread of the chat session.
"""

from __future__ import annotations

from collections.abc import Collection
from operator import attrgetter

from paceline.chat.conversations import Conversations
from paceline.chat.prompt import with_attachments
from paceline.content import text_of
from paceline.errors import UserError
from paceline.hosting.broker import Priority
from paceline.hosting.client import EngineClient
from paceline.messages import Event, Remember, Remembered


class StoredTexts:
    """Queue of the chats whose texts the engine gets, with those that it has.

    Args:
        client: Client of the engine.
        conversations: The chats; reports changes.
    """

    def __init__(self, client: EngineClient, conversations: Conversations) -> None:
        self._client = client
        self._conversations = conversations
        self._limit = 0
        self._is_loaded = False
        self._sizes: dict[str, int] = {}  # bytes of the chats that were handed in
        self._waiting: list[str] = []  # the next one last
        self._awaited = ""
        conversations.on_texts = self._on_texts

    def set_limit(self, n_bytes: int) -> None:
        """Set the limit in bytes of UTF-8; 0 also removes the texts that the engine has."""
        if n_bytes != self._limit:
            self._limit = n_bytes
            for chat in tuple(self._sizes):
                self._take_out(chat, makes_room=n_bytes > 0)
            self._hand_in_all()

    def on_load(self, *, is_loaded: bool) -> None:
        """Hand in all texts to a newly loaded pair; without a pair the engine has none any more."""
        self._is_loaded = is_loaded
        if not is_loaded:
            self._awaited = ""
        # What was handed in while the pair was being loaded comes to the new one.
        self._sizes = {chat: n for chat, n in self._sizes.items() if chat == self._awaited}
        self._hand_in_all()

    def _on_answer(self, event: Event) -> None:
        """Go on with the next chat, where the engine has taken this one."""
        if isinstance(event, Remembered) and event.chat == self._awaited:
            self._awaited = ""
            self._go_on()

    @property
    def known(self) -> Collection[str]:
        """The chats that were handed in."""
        return self._sizes.keys()

    def take_out(self, chat: str) -> None:
        """Take out a chat that another window has deleted."""
        if chat in self._sizes:
            self._take_out(chat)

    def _hand_in_all(self) -> None:
        lines = sorted(self._conversations.summaries, key=attrgetter("changed_s"))
        self._waiting = [line.conversation_id for line in lines]
        self._go_on()

    def _on_texts(self, chat: str) -> None:
        if self._is_stored(chat):
            self._waiting.append(chat)
            self._go_on()
        elif chat in self._sizes:
            self._take_out(chat)

    def _is_stored(self, chat: str) -> bool:
        is_private = self._conversations.is_private(chat)
        return not is_private and self._conversations.summary(chat) is not None

    def _changed_s(self, chat: str) -> float:
        line = self._conversations.summary(chat)
        return line.changed_s if line is not None else 0.0

    def _go_on(self) -> None:
        """Hand in the next chat, unless the engine has not taken the last one yet."""
        while self._is_loaded and self._limit and self._waiting and not self._awaited:
            chat = self._waiting.pop()
            texts, size = self._read(chat) if self._is_stored(chat) else ((), 0)
            if texts and self._make_room(chat, size):
                self._sizes[chat] = size
                self._awaited = chat
                self._client.request(Remember(chat, texts), Priority.IDLE, self._on_answer)
                continue
            if chat in self._sizes:
                self._take_out(chat, makes_room=bool(texts))
            if texts:  # there is no room, so what is older does not count either
                changed_s = self._changed_s(chat)
                self._waiting = [
                    name for name in self._waiting if self._changed_s(name) > changed_s
                ]

    def _read(self, chat: str) -> tuple[tuple[str, ...], int]:
        """Return a chat's texts in their order, as many of the latest as fit, and their size."""
        try:
            messages = tuple(self._conversations.get(chat).messages.values())
        except UserError:  # another window may have deleted it
            return (), 0
        texts: list[str] = []
        size = 0
        for message in reversed(messages):
            text = text_of(with_attachments(message))
            n_bytes = len(text.encode(errors="replace"))
            if size + n_bytes > self._limit:
                break
            size += n_bytes
            if text:
                texts.append(text)
        return tuple(reversed(texts)), size

    def _make_room(self, chat: str, size: int) -> bool:
        """Remove older chats until the limit holds; return False if all the others are newer."""
        others = self._sizes.keys() - {chat}
        while sum(self._sizes[name] for name in others) + size > self._limit:
            oldest = min(others, key=self._changed_s)
            if self._changed_s(oldest) >= self._changed_s(chat):
                return False
            others.remove(oldest)
            self._take_out(oldest, makes_room=True)
        return True

    def _take_out(self, chat: str, *, makes_room: bool = False) -> None:
        del self._sizes[chat]
        self._client.request(Remember(chat, makes_room=makes_room), Priority.IDLE)
