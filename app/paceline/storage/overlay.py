"""Changes that wait to be written, laid over what was read from the disk. No I/O, any thread.

Whatever a reader found on the disk may have a part of these changes already. That does no harm:
carried out again, in order, they lead to the same end.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from paceline.conversation import Message
from paceline.run_record import Figures, RunRecord, figures_of
from paceline.storage.changes import (
    BeginRun,
    Change,
    EndRun,
    ExtendRun,
    Head,
    Purge,
    Remove,
    Restore,
    SaveChat,
    SavePlace,
    SaveUnsent,
)
from paceline.storage.runs import Pieces
from paceline.storage.search import text_of

_T = TypeVar("_T", SaveUnsent, SavePlace)


@dataclass(slots=True)
class WaitingHeads:
    """What the list of conversations must know of changes that wait.

    Attributes:
        heads: Saved conversations by id; None: purged.
        shown: Conversations that are removed or restored, and whether they are shown then.
        figures: The figures of replies by message.
    """

    heads: dict[str, Head | None] = field(default_factory=dict)
    shown: dict[str, bool] = field(default_factory=dict)
    figures: dict[str, Figures] = field(default_factory=dict)

    @property
    def touched(self) -> set[str]:
        """Conversations whose lines are not those of the disk."""
        return self.heads.keys() | self.shown.keys()


def waiting_heads(changes: Sequence[Change]) -> WaitingHeads:
    """Collect what the list must know of."""
    waiting = WaitingHeads()
    for change in changes:
        match change:
            case SaveChat(head):
                key = head.conversation_id
                if waiting.heads.get(key, head) is None:  # it was purged, and begins anew
                    waiting.shown[key] = True
                waiting.heads[key] = head
            case Remove(key):
                waiting.shown[key] = False
            case Restore(key):
                waiting.shown[key] = True
            case Purge(key):
                waiting.heads[key] = None
                waiting.shown.pop(key, None)
            case BeginRun(_, record) | EndRun(record, _):
                waiting.figures[record.message_id] = figures_of(record)
            case _:
                pass
    return waiting


def lay_over_chat(
    conversation_id: str, head: Head | None, messages: dict[str, Message], changes: Sequence[Change]
) -> Head | None:
    """Bring a conversation up to date.

    Args:
        conversation_id: Whose.
        head: As on the disk; None: it is not there.
        messages: As on the disk; changed here.
        changes: What waits.

    Returns:
        The head; None: there is no such conversation.
    """
    for change in changes:
        match change:
            case SaveChat(new, saved, removed) if new.conversation_id == conversation_id:
                head = new
                messages.update((message.message_id, message) for message in saved)
                for message_id in removed:
                    messages.pop(message_id, None)
            case Purge(key) if key == conversation_id:
                head = None
                messages.clear()
            case EndRun(record, text) if record.message_id in messages:
                message = messages[record.message_id]
                messages[record.message_id] = replace(message, content=text)
            case _:
                pass
    return head


def lay_over_records(
    records: dict[str, bytes | RunRecord],
    messages: Collection[str],
    changes: Sequence[Change],
) -> None:
    """Bring the records of a conversation's replies up to date, without steps.

    Args:
        records: As on the disk; changed here.
        messages: The ids of the conversation's messages.
        changes: What waits.
    """
    for change in changes:
        match change:
            case BeginRun(_, record) | EndRun(record, _) if record.message_id in messages:
                records[record.message_id] = replace(record, steps=())
            case _:
                pass
    for key in records.keys() - messages:
        del records[key]


def lay_over_pieces(message_id: str, pieces: Pieces, changes: Sequence[Change]) -> None:
    """Bring a reply's checkpoints up to date; one that has ended, or begun anew, has none.

    Args:
        message_id: The reply's message.
        pieces: As on the disk; changed here. What ended before them has the number -1.
        changes: What waits.
    """
    for change in changes:
        match change:
            case BeginRun(_, record) if record.message_id == message_id:
                pieces.clear()
            case EndRun(record, _) if record.message_id == message_id:
                pieces.clear()
                pieces[-1] = "", record.steps
            case ExtendRun(key, number, text, steps) if key == message_id:
                pieces[number] = text, steps
            case _:
                pass


def latest(changes: Sequence[Change], kind: type[_T], conversation_id: str) -> _T | None:
    """The last change of a kind to a conversation; None: there is none."""
    for change in reversed(changes):
        if isinstance(change, kind) and change.conversation_id == conversation_id:
            return change
    return None


@dataclass(slots=True)
class Waiting:
    """What a search must know of changes that wait.

    Attributes:
        shown: Conversations that are removed or restored, and whether they are shown then.
        titles: New titles by conversation.
        texts: Conversation and text of new messages, by message.
        ended: Texts of replies that ended, whose messages are on the disk.
        gone: Messages that are deleted.
        purged: Conversations of which nothing on the disk counts.
    """

    shown: dict[str, bool] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    texts: dict[str, tuple[str, str]] = field(default_factory=dict)
    ended: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    purged: set[str] = field(default_factory=set)

    def is_found(self, conversation_id: str, message_id: str, is_removed: int) -> bool:
        """Whether a hit on the disk is still one; an empty `message_id` means the title."""
        if conversation_id in self.purged or (not message_id and conversation_id in self.titles):
            return False
        if message_id in self.texts or message_id in self.ended or message_id in self.gone:
            return False
        return self.shown.get(conversation_id, not is_removed)


def waiting_texts(changes: Sequence[Change]) -> Waiting:
    """Collect what a search must know of."""
    waiting = Waiting()
    messages: dict[str, tuple[str, Message]] = {}
    for change in changes:
        match change:
            case SaveChat(head, saved, removed):
                key = head.conversation_id
                if key in waiting.purged and key not in waiting.titles:  # it begins anew
                    waiting.shown[key] = True
                waiting.titles[key] = head.title
                messages.update((message.message_id, (key, message)) for message in saved)
                for message_id in removed:
                    messages.pop(message_id, None)
                    waiting.ended.pop(message_id, None)
                waiting.gone.update(removed)
            case EndRun(record, text) if record.message_id in messages:
                key, message = messages[record.message_id]
                messages[record.message_id] = key, replace(message, content=text)
            case EndRun(record, text):
                waiting.ended[record.message_id] = text
            case Remove(key):
                waiting.shown[key] = False
            case Restore(key):
                waiting.shown[key] = True
            case Purge(key):
                waiting.shown[key] = False
                waiting.titles.pop(key, None)
                waiting.purged.add(key)
                for message_id in [m for m, (owner, _) in messages.items() if owner == key]:
                    del messages[message_id]
            case _:
                pass
    waiting.texts = {
        message_id: (key, text_of(message)) for message_id, (key, message) in messages.items()
    }
    waiting.gone -= waiting.texts.keys()
    return waiting
