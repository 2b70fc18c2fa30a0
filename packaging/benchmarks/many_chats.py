"""A database of many chats for `bench_start`: Python's own library as text, a run with each reply.

Some replies have 200 kB, and the first conversation is long.
"""

from __future__ import annotations

import random
import sysconfig
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from paceline.content import StoredRole
from paceline.conversation import Conversation, Message, title_of
from paceline.storage.archive import Archive
from scripted import record_of

N_LONG = 10_000
"""Maximum number of messages of the first conversation."""
_LONG_REPLY, _EVERY = 200_000, 5_000
_MOST_CHARACTERS = 6  # of a token on average
_RUN = 240  # characters whose run is kept with each reply: some 60 tokens in 20 steps


class Texts:
    """Random pieces of a large text, reproducible by seed."""

    def __init__(self, seed: int = 1) -> None:
        folder = Path(sysconfig.get_path("stdlib"))
        files = sorted(folder.glob("*.py")) + sorted(folder.glob("*/*.py"))
        self._text = "".join(file.read_text("utf-8", "replace") for file in files)
        self.random = random.Random(seed)

    def piece(self, n: int) -> str:
        """Return a piece of about `n` characters."""
        start = self.random.randrange(max(len(self._text) - n, 1))
        return self._text[start : start + n].strip() or "empty"

    def of_tokens(self, wanted: int, n_tokens: Callable[[str], int]) -> str:
        """A piece with so many tokens, or a few less, by a function that counts them."""
        text = self.piece(wanted * _MOST_CHARACTERS)
        low, high = 0, len(text)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if n_tokens(text[:middle]) <= wanted else (low, middle)
        return text[:low]


def build(archive: Archive, texts: Texts, n_conversations: int, n_messages: int) -> None:
    """Fill a database.

    Args:
        archive: Open and empty.
        texts: Source of the texts.
        n_conversations: Number of conversations; the first is long.
        n_messages: Number of messages in all of them.
    """
    n_long = min(N_LONG, n_messages // 2)
    per_chat = (n_messages - n_long) // (n_conversations - 1)
    record = record_of("", texts.piece(_RUN), 1)
    n_replies = 0
    for number in range(n_conversations):
        n = n_long if number == 0 else per_chat
        messages: dict[str, Message] = {}
        parent = None
        for i in range(n):
            key = f"{number:08x}{i:024x}"
            is_reply = i % 2 == 1
            n_replies += is_reply
            size = texts.random.randint(200, 1200) if is_reply else texts.random.randint(20, 200)
            if is_reply and n_replies % _EVERY == 0:
                size = _LONG_REPLY
            role: StoredRole = "assistant" if is_reply else "user"
            messages[key] = Message.of_text(key, parent, role, texts.piece(size), 1e9 + number)
            parent = key
        first = next(iter(messages.values()))
        chat = Conversation(
            f"{number:032x}", title_of(first.text), 1e9 + number, 1e9 + number,
            messages=MappingProxyType(messages), leaf_id=parent,
        )  # fmt: skip
        archive.save(chat, list(messages))
        for message in messages.values():
            if message.role == "assistant":
                ended = replace(record, message_id=message.message_id)
                archive.end_run(chat.conversation_id, ended, message.content)
        if number % 200 == 0 and not archive.flush(600):
            raise RuntimeError(f"cannot be written: {archive.problem}")
    archive.flush(600)
