"""A conversation once more under new ids: for a branch of its own, and for one from a file."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from paceline.conversation import clean, clean_message
from paceline.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    from paceline.conversation import Conversation, Message

_YEAR_9999_S = 253_370_764_800


def copy_of(
    conversation: Conversation, new_id: Callable[[], str]
) -> tuple[Conversation, dict[str, str]]:
    """Return the copy, and the new ids of its messages by the old ones.

    Raises:
        UserError: A message follows one that does not stand before it, or there is no such end.
    """
    ids: dict[str, str] = {}
    messages: dict[str, Message] = {}
    for name, message in conversation.messages.items():
        parent = None
        if message.parent_id is not None:
            if message.parent_id not in ids:
                raise _no_tree(f"a message follows {message.parent_id!r:.40}, which is not there")
            parent = ids[message.parent_id]
        ids[name] = new_id()
        messages[ids[name]] = replace(
            clean_message(message),
            message_id=ids[name], parent_id=parent, created_s=_time(message.created_s),
        )  # fmt: skip
    leaf = conversation.leaf_id
    if leaf is not None and leaf not in ids:
        raise _no_tree(f"it ends with {leaf!r:.40}, which is not there")
    copy = replace(
        conversation,
        conversation_id=new_id(),
        title=clean(conversation.title),
        tags=tuple(map(clean, conversation.tags)),
        messages=MappingProxyType(messages),
        leaf_id=ids[leaf] if leaf is not None else None,
        created_s=_time(conversation.created_s),
        changed_s=_time(conversation.changed_s),
    )
    return copy, ids


def _time(seconds: float) -> float:
    """A time that calendars know; 0, as nobody knows it, in place of any other."""
    return seconds if 0 <= seconds < _YEAR_9999_S else 0.0


def _no_tree(why: str) -> UserError:
    return UserError(
        "broken-chat", f"The chat is damaged: {why}.", "Export it again from where it is whole."
    )
