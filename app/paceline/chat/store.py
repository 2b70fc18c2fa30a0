"""Where a session keeps its conversations: in a database, or in memory alone.

`storage.archive.Archive` keeps them in a database; `MemoryStore` keeps them as long as it lives:
private chats, tests, and where there is no database. The session's thread calls everything. Reading
returns at once what was written before, even if it is not on the disk yet. Writing returns at once
and is carried out in order; what cannot be written is kept and tried again, and the store's owner
is told of the problem.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from operator import attrgetter
from types import MappingProxyType
from typing import TypeAlias

from paceline.codec import made_of
from paceline.conversation import Conversation, ConversationSummary, SearchHit, ViewPlace
from paceline.errors import UserError
from paceline.messages import StepCommitted
from paceline.run_record import RunRecord
from paceline.storage.archive import Archive
from paceline.storage.search import Query, text_of

NEW_CHAT = ""
"""The id under which unsent text is kept that was written in a chat without a message."""


def no_such_chat() -> UserError:
    """Return the error to raise for a conversation that is not there."""
    return UserError("no-such-chat", "This chat is not there any more.")


def summary_of(conversation: Conversation) -> ConversationSummary:
    """Return the line of the list."""
    return made_of(ConversationSummary, conversation)


class MemoryStore:
    """Keeps conversations in memory, and as long as it lives."""

    def __init__(self) -> None:
        self._kept: dict[str, Conversation] = {}
        self._removed: dict[str, Conversation] = {}
        self._runs: dict[str, RunRecord] = {}
        self._steps: dict[str, list[StepCommitted]] = {}
        self._home: dict[str, str] = {}
        self._unsent: dict[str, str] = {}
        self._places: dict[str, ViewPlace] = {}

    # ------------------------------------------------------------------------------- reading

    def has_run(self, message_id: str) -> bool:
        """Whether it keeps a record of this reply."""
        return message_id in self._home

    def summaries(self) -> tuple[ConversationSummary, ...]:
        """One line for each; for this and the methods below see `Archive`."""
        return tuple(map(summary_of, self._kept.values()))

    def gone(self, conversation_ids: Iterable[str]) -> frozenset[str]:
        """Those of these that are not kept, or hidden."""
        return frozenset(conversation_ids) - self._kept.keys()

    def load(self, conversation_id: str) -> Conversation:
        """One conversation with all messages.

        Raises:
            UserError: It is not there.
        """
        try:
            return self._kept[conversation_id]
        except KeyError:
            raise no_such_chat() from None

    def runs(self, conversation_id: str) -> Mapping[str, RunRecord]:
        """The records of its replies, without their steps."""
        ids = self._kept[conversation_id].messages if conversation_id in self._kept else ()
        return {name: self._runs[name] for name in ids if name in self._runs}

    def steps(self, message_id: str) -> tuple[StepCommitted, ...]:
        """The steps of one reply."""
        return tuple(self._steps.get(message_id, ()))

    def search(self, text: str, limit: int = 50) -> tuple[SearchHit, ...]:
        """Titles and messages that have all words of the text, those that changed last first."""
        query = Query.of(text)
        if query is None:
            return ()
        kept = sorted(self._kept.values(), key=attrgetter("changed_s"), reverse=True)
        hits = (
            query.hit(chat.conversation_id, message_id, content)
            for chat in kept
            for message_id, content in (
                ("", chat.title),
                *((m.message_id, text_of(m)) for m in chat.messages.values()),
            )
            if query.fits(content)
        )
        return tuple(islice(hits, limit))

    def unsent(self, conversation_id: str) -> str:
        """Text that was written in it, but not sent."""
        return self._unsent.get(conversation_id, "")

    def place(self, conversation_id: str) -> ViewPlace:
        """Where it was left."""
        return self._places.get(conversation_id, ViewPlace())

    # ------------------------------------------------------------------------------- writing

    def save(
        self,
        conversation: Conversation,
        changed: Sequence[str] = (),
        removed: Sequence[str] = (),
    ) -> None:
        """Keep its title, flags, settings and active path, and these messages."""
        known = self._kept.get(conversation.conversation_id)
        messages = dict(known.messages) if known is not None else {}
        messages.update((name, conversation.messages[name]) for name in changed)
        for name in removed:
            messages.pop(name, None)
            self._drop_run(name)
        kept = replace(conversation, messages=MappingProxyType(messages))
        self._kept[conversation.conversation_id] = kept

    def begin_run(self, conversation_id: str, record: RunRecord) -> None:
        """A reply begins."""
        self._home[record.message_id] = conversation_id
        self._runs[record.message_id] = replace(record, steps=())
        self._steps[record.message_id] = []
        self._write(record.message_id, "", adds=False)

    def extend_run(self, message_id: str, text: str, steps: Sequence[StepCommitted]) -> None:
        """The reply gained this text in these steps."""
        if message_id in self._home:
            self._steps.setdefault(message_id, []).extend(steps)
            self._write(message_id, text, adds=True)

    def end_run(self, record: RunRecord, text: str) -> None:
        """The reply has ended with this whole text."""
        if record.message_id in self._home:
            self._runs[record.message_id] = replace(record, steps=())
            self._steps[record.message_id] = list(record.steps)
            self._write(record.message_id, text, adds=False)

    def remove(self, conversation_id: str) -> None:
        """Hide a conversation."""
        if conversation_id in self._kept:
            self._removed[conversation_id] = self._kept.pop(conversation_id)

    def restore(self, conversation_id: str) -> None:
        """Show a removed conversation again."""
        if conversation_id in self._removed:
            self._kept[conversation_id] = self._removed.pop(conversation_id)

    def purge(self, conversation_id: str) -> None:
        """Delete a removed conversation for good."""
        removed = self._removed.pop(conversation_id, None)
        for message_id in removed.messages if removed is not None else ():
            self._drop_run(message_id)
        self._unsent.pop(conversation_id, None)
        self._places.pop(conversation_id, None)

    def save_unsent(self, conversation_id: str, text: str) -> None:
        """Keep text that was written, but not sent."""
        self._unsent[conversation_id] = text

    def save_place(self, conversation_id: str, place: ViewPlace) -> None:
        """Keep where it was left."""
        self._places[conversation_id] = place

    # ------------------------------------------------------------------------------- private

    def _write(self, message_id: str, text: str, *, adds: bool) -> None:
        conversation_id = self._home[message_id]
        for kept in (self._kept, self._removed):
            conversation = kept.get(conversation_id)
            if conversation is not None and message_id in conversation.messages:
                old = conversation.messages[message_id].content if adds else ""
                kept[conversation_id] = conversation.with_content(message_id, old + text)

    def _drop_run(self, message_id: str) -> None:
        self._home.pop(message_id, None)
        self._runs.pop(message_id, None)
        self._steps.pop(message_id, None)


ConversationStore: TypeAlias = "Archive | MemoryStore"
"""Keeps conversations, run records, unsent text and where each conversation was left."""
