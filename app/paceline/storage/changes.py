"""Changes of stored chats, as values: they wait, are written, are rescued, and are read again.

Each of them gives a new state, not a difference, so that carrying out the same ones again, in
order, changes nothing. Therefore a queue that may be written already is harmless to readers, and a
rescue file is harmless to import twice. No I/O, any thread.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from paceline.conversation import Message, Origin, ViewPlace, clean, clean_message
from paceline.messages import StepCommitted
from paceline.params import ReplySettings
from paceline.run_record import RunRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.conversation import Conversation


@dataclass(frozen=True, slots=True)
class Head:
    """A conversation without its messages.

    Attributes:
        conversation_id: See `Conversation`; likewise all others.
        title: See above.
        created_s: See above.
        changed_s: See above.
        pinned: See above.
        tags: See above.
        leaf_id: See above.
        settings: See above.
        origin: See above.
    """

    conversation_id: str
    title: str = ""
    created_s: float = 0.0
    changed_s: float = 0.0
    pinned: bool = False
    tags: tuple[str, ...] = ()
    leaf_id: str | None = None
    settings: ReplySettings | None = None
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class SaveChat:
    """A conversation's head, and those of its messages that are new, changed or gone."""

    head: Head
    messages: tuple[Message, ...] = ()
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BeginRun:
    """A reply began."""

    conversation_id: str
    record: RunRecord


@dataclass(frozen=True, slots=True)
class ExtendRun:
    """A reply gained a text in some steps; `number` counts these pieces of one reply from 0."""

    message_id: str
    number: int
    text: str
    steps: tuple[StepCommitted, ...]


@dataclass(frozen=True, slots=True)
class EndRun:
    """A reply ended with this whole text."""

    record: RunRecord
    text: str


@dataclass(frozen=True, slots=True)
class Remove:
    """A conversation is hidden."""

    conversation_id: str


@dataclass(frozen=True, slots=True)
class Restore:
    """A hidden conversation is shown again."""

    conversation_id: str


@dataclass(frozen=True, slots=True)
class Purge:
    """A conversation is deleted for good."""

    conversation_id: str


@dataclass(frozen=True, slots=True)
class SaveUnsent:
    """Text that was written in a conversation, but not sent."""

    conversation_id: str
    text: str


@dataclass(frozen=True, slots=True)
class SavePlace:
    """Where a conversation was left."""

    conversation_id: str
    place: ViewPlace


@dataclass(frozen=True, slots=True)
class Sync:
    """From now on what was written before survives a power failure."""


Change = (
    SaveChat | BeginRun | ExtendRun | EndRun | Remove | Restore | Purge
    | SaveUnsent | SavePlace | Sync
)  # fmt: skip


def is_urgent(change: Change) -> bool:
    """Whether it must be written at once and survive a power failure; the others wait a moment."""
    return not isinstance(change, (BeginRun, ExtendRun, SaveUnsent, SavePlace))


def merged(old: Change, new: Change) -> Change | None:
    """One change that stands for both, where `new` directly follows `old`; None: there is none."""
    match old, new:
        case ExtendRun(), ExtendRun() if old.message_id == new.message_id:
            return replace(new, text=old.text + new.text, steps=old.steps + new.steps,
                           number=old.number)  # fmt: skip
        case SaveUnsent(), SaveUnsent() if old.conversation_id == new.conversation_id:
            return new
        case SavePlace(), SavePlace() if old.conversation_id == new.conversation_id:
            return new
        case Sync(), Sync():
            return new
        case _:
            return None


def is_outdated(old: Change, new: EndRun) -> bool:
    """Whether the end of a reply makes an earlier change superfluous."""
    return isinstance(old, ExtendRun) and old.message_id == new.record.message_id


def saved(
    conversation: Conversation, changed: Sequence[str] = (), removed: Sequence[str] = ()
) -> SaveChat:
    """The change that keeps these parts of a conversation."""
    wanted = set(changed)
    messages = conversation.messages
    if len(wanted) == 1:
        new = tuple(messages[key] for key in wanted if key in messages)
    else:  # in the order in which they were added
        new = tuple(m for key, m in messages.items() if key in wanted) if wanted else ()
    return SaveChat(_head(conversation), tuple(map(clean_message, new)), tuple(removed))


def _head(conversation: Conversation) -> Head:
    return Head(
        conversation.conversation_id,
        clean(conversation.title),
        conversation.created_s,
        conversation.changed_s,
        conversation.pinned,
        tuple(map(clean, conversation.tags)),
        conversation.leaf_id,
        conversation.settings,
        conversation.origin,
    )
