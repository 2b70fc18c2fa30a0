"""Makes the engine drop its stored states of chats that are deleted, or private and closed.

A chat's states go as soon as the chat, a message or a version of it is deleted, before any undo
ends; one that comes back is read again. The engine does it, since it may be writing just then.
While it is busy, files are deleted here, too, and states in memory go between two steps; what it
did not delete before its end is deleted afterwards. On the thread of the chat session.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from functools import partial

from paceline.chat.conversations import Conversations
from paceline.engine.model.state_files import drop_files
from paceline.errors import UserError
from paceline.hosting.client import EngineClient
from paceline.messages import DropStates, Event, StatesDropped


class ChatStates:
    """Knows whose states the engine may have.

    Args:
        client: Client of the engine.
        conversations: The chats; reports deletions.
        folder: See `StateStorage.folder`, or empty if there are no files.
    """

    def __init__(self, client: EngineClient, conversations: Conversations, folder: str) -> None:
        self._client = client
        self._conversations = conversations
        self._folder = folder
        self._known: set[str] = set()
        self._unanswered: set[tuple[str, ...]] = set()
        conversations.on_deleted = self.drop
        conversations.on_left = self._on_left

    @property
    def known(self) -> Collection[str]:
        """The stored chats that the engine has read something of."""
        return self._known

    def on_begin(self, chat: str) -> None:
        """Note that the engine begins to read a chat, for a reply or ahead of one."""
        if not self._conversations.is_private(chat):
            self._known.add(chat)
        for owners in tuple(self._unanswered):  # the engine that was asked has died
            self._ask(owners)

    def on_end(self, chat: str) -> None:
        """Drop the states of a private chat that was left while its reply was under way."""
        if self._conversations.is_private(chat) and not self._conversations.is_open(chat):
            self.drop(chat)

    def _on_left(self, chat: str) -> None:
        """Drop the states of a chat that is not kept; its beginning may have been read."""
        if chat in self._known or self._conversations.is_private(chat):
            self.drop(chat)

    def drop(self, chat: str) -> None:
        """Drop a chat's states."""
        self._known.discard(chat)
        self._ask((chat,))

    def drop_all(self) -> None:
        """Drop the states of all chats and programs."""
        self._ask(())

    def close(self) -> None:
        """Delete the files that the engine, which has ended, left of deleted and private chats.

        It may have written at its end what another window has deleted meanwhile.
        """
        unsent = {chat for chat in self._known if self._conversations.summary(chat) is None}
        with contextlib.suppress(UserError):  # the database cannot be read
            unsent |= self._conversations.gone(self._known)
        for owners in (*self._unanswered, *((chat,) for chat in unsent)):
            drop_files(self._folder, owners)

    def _ask(self, owners: tuple[str, ...]) -> None:
        self._unanswered.add(owners)
        answer = partial(self._on_answer, owners)
        is_busy = self._client.running is not None
        self._client.request(DropStates(owners, self._folder), on_event=answer)
        if is_busy:  # a load, or a long prompt, may take longer than the undo is offered
            drop_files(self._folder, owners)

    def _on_answer(self, owners: tuple[str, ...], event: Event) -> None:
        if isinstance(event, StatesDropped):
            self._unanswered.discard(owners)
