"""The conversations as a session shows them: which one is current, and who is told of changes.

Everything here needs no engine. What is shown is loaded when it is shown, its replies without
their steps; all else is a summary.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paceline.chat.copies import copy_of
from paceline.chat.records import renamed, to_record, to_reply
from paceline.chat.shelf import Shelf
from paceline.chat.titles import numbered
from paceline.conversation import ViewPlace, clean
from paceline.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paceline.chat.listener import SessionListener
    from paceline.chat.reply import Reply
    from paceline.chat.store import ConversationStore
    from paceline.conversation import Conversation, ConversationSummary, SearchHit
    from paceline.messages import StepCommitted
    from paceline.run_record import RunRecord


class Desk:
    """The use cases of a session that need no engine."""

    def __init__(
        self, store: ConversationStore, new_id: Callable[[], str], now: Callable[[], float]
    ) -> None:
        self._listener: SessionListener | None = None
        self._new_id = new_id
        self._now = now
        self._shelf = Shelf(store, new_id, now)
        self._records: Mapping[str, RunRecord] = {}  # of the shown conversation, as it was shown
        self._replies: dict[str, Reply] = {}  # what was asked for of them, and what is newer
        self._active: Reply | None = None

    # ------------------------------------------------------------------------------- reading

    @property
    def current(self) -> Conversation:
        """The conversation that is shown; not in `summaries` before its first message."""
        return self._shelf.current

    @property
    def summaries(self) -> tuple[ConversationSummary, ...]:
        """One line for each conversation that has a message, in no particular order."""
        return tuple(self._shelf.summaries.values())

    @property
    def active(self) -> Reply | None:
        """The reply that is under way."""
        return self._active

    def summary(self, conversation_id: str) -> ConversationSummary | None:
        """The line of one conversation; None: it is not in the list."""
        return self._shelf.summaries.get(conversation_id)

    def reply_of(self, message_id: str) -> Reply | None:
        """What is known of a reply of the shown conversation; of stored ones without steps."""
        reply = self._replies.get(message_id)
        record = self._records.get(message_id) if reply is None else None
        message = self.current.messages.get(message_id)
        if record is not None and message is not None:
            reply = to_reply(record, self.current.conversation_id, message.content)
            self._replies[message_id] = reply
        return reply

    def full_reply(self, message_id: str) -> Reply | None:
        """The same with steps and traces, which are read now if need be."""
        reply = self.reply_of(message_id)
        if reply is None or reply.steps or not reply.has_ended:
            return reply
        steps = list(self._shelf.store.steps(message_id))
        return replace(reply, steps=steps, traces=[t for step in steps for t in step.tokens])

    def kept(self, conversation_id: str) -> tuple[Conversation, Mapping[str, RunRecord]]:
        """Any conversation with the records of its replies, these without their steps.

        Raises:
            UserError: It is not there, or cannot be read.
        """
        return self._shelf.get(conversation_id), self._shelf.store.runs(conversation_id)

    def steps_of(self, message_id: str) -> tuple[StepCommitted, ...]:
        """The steps of any reply; empty where none are kept."""
        return self._shelf.store.steps(message_id)

    def search(self, text: str, limit: int = 50) -> tuple[SearchHit, ...]:
        """Titles and messages that have all words of the text, the best first, at most so many."""
        return self._shelf.store.search(text, limit)

    # ------------------------------------------------------------------------- what is shown

    def set_listener(self, listener: SessionListener | None) -> None:
        """Tell `listener` from now on."""
        self._listener = listener

    def new(self, *, private: bool = False) -> None:
        """Show an empty conversation; a reply under way goes on in its own."""
        if self.current.messages or self.current.private != private:
            self._show(self._shelf.empty(private=private))

    def show(self, conversation_id: str) -> None:
        """Make another conversation the current one.

        Raises:
            UserError: It is not there, or cannot be read.
        """
        if conversation_id != self.current.conversation_id:
            self._show(self._shelf.get(conversation_id))

    def show_message(self, conversation_id: str, message_id: str) -> None:
        """Show the conversation on a path through this message.

        Raises:
            UserError: The conversation is not there, or cannot be read.
        """
        self.show(conversation_id)
        on_path = {message.message_id for message in self.current.path()}
        if message_id in self.current.messages and message_id not in on_path:
            self._turn_to(self.current.activate(message_id))

    def show_sibling(self, message_id: str, step: int) -> bool:
        """Show the message that many places further among its siblings; False behind the end."""
        sibling = self.current.sibling(message_id, step)
        if sibling is None:
            return False
        self._turn_to(self.current.activate(sibling.message_id))
        return True

    # ------------------------------------------------------------------------- what is kept

    def rename(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title, which stays; blank keeps the old one."""
        self._change(self._shelf.get(conversation_id).renamed(clean(title)))

    def pin(self, conversation_id: str, on: bool) -> None:  # noqa: FBT001  as the signal has it
        """Let it stand above the others, or no longer."""
        self._change(replace(self._shelf.get(conversation_id), pinned=on))

    def tag(self, conversation_id: str, tags: Sequence[str]) -> None:
        """Give it these tags in place of those it has; blank ones and doubles are left out."""
        words = dict.fromkeys(" ".join(clean(tag).split()) for tag in tags)
        words.pop("", None)
        self._change(replace(self._shelf.get(conversation_id), tags=tuple(words)))

    def branch(self, message_id: str) -> str:
        """Make a new conversation of the path up to here, and show it; returns its id.

        Empty while the reply in this message is under way.
        """
        if self._active is not None and self._active.message_id == message_id:
            return ""
        path = self.current.path_to(message_id)
        now = self._now()
        titles = (summary.title for summary in self._shelf.summaries.values())
        part = replace(
            self.current,
            title=numbered(self.current.title, titles),
            messages={message.message_id: message for message in path},
            leaf_id=message_id,
            created_s=now,
            changed_s=now,
            pinned=False,
        )
        replies = (self.full_reply(message.message_id) for message in path)
        records = {reply.message_id: to_record(reply) for reply in replies if reply is not None}
        return self.import_conversation(part, records)

    def import_conversation(
        self, conversation: Conversation, records: Mapping[str, RunRecord], *, shows: bool = True
    ) -> str:
        """Keep a copy under new ids, and show it; returns its id.

        Args:
            conversation: Times, title and flags are kept.
            records: What is known of its replies, by message id; with steps.
            shows: Whether it is shown; else nobody is told, and the last of many must be.

        Raises:
            UserError: Its messages are no tree.
        """
        copy, ids = copy_of(conversation, self._new_id)
        self._shelf.put(copy, tuple(copy.messages))
        for old_id, record in records.items():
            if old_id in ids:
                mine = renamed(record, ids[old_id])
                self._shelf.store.begin_run(copy.conversation_id, replace(mine, steps=()))
                self._shelf.store.end_run(mine, copy.messages[ids[old_id]].content)
        if shows:
            self._tell_conversations()
            self._show(self._shelf.get(copy.conversation_id))
            self._show_figures()
        else:
            known = (records.get(m.message_id) for m in reversed(conversation.path()))
            last = next((record for record in known if record is not None), None)
            self._shelf.show_figures(copy.conversation_id, last)
        return copy.conversation_id

    def remove(self, conversation_id: str) -> None:
        """Take a conversation out of the list; `restore` brings it back until `purge`."""
        was_shown = conversation_id == self.current.conversation_id
        self._shelf.remove(conversation_id)
        self._tell_conversations()
        if was_shown:
            self._show(self.current)

    def restore(self, conversation_id: str) -> None:
        """Bring a conversation back that was removed, and show it.

        Raises:
            UserError: It is not there any more, or cannot be read.
        """
        self._shelf.restore(conversation_id)
        self._tell_conversations()
        self.show(conversation_id)

    # ------------------------------------------------------------------- how it was left

    @property
    def unsent_id(self) -> str:
        """The id under which text of the shown conversation is kept that was not sent."""
        return self._shelf.unsent_id

    def is_gone(self, conversation_id: str) -> bool:
        """Whether it was deleted for good in this session."""
        return self._shelf.is_purged(conversation_id)

    def unsent(self, unsent_id: str) -> str:
        """The text that was kept under this id; empty where it cannot be read."""
        try:
            return self._shelf.store.unsent(unsent_id)
        except UserError:
            return ""

    def save_unsent(self, unsent_id: str, text: str) -> None:
        """Keep text that was written, but not sent; empty: there is none any more."""
        if not self._shelf.is_purged(unsent_id):
            self._shelf.store.save_unsent(unsent_id, text)

    def place(self, conversation_id: str) -> ViewPlace:
        """Where the view of a conversation was left; at its end where that cannot be read."""
        try:
            return self._shelf.store.place(conversation_id)
        except UserError:
            return ViewPlace()

    def save_place(self, conversation_id: str, place: ViewPlace) -> None:
        """Keep where it was left; of a conversation without messages nothing is kept."""
        if self._shelf.has(conversation_id):
            self._shelf.store.save_place(conversation_id, place)

    # ------------------------------------------------------------------------------- telling

    def _change(self, conversation: Conversation) -> None:
        """Keep another value of a conversation whose path is the same."""
        self._shelf.put(conversation)
        self._tell_conversations()
        if conversation.conversation_id == self.current.conversation_id:
            self._tell_changed()

    def _turn_to(self, conversation: Conversation) -> None:
        """Show another path of the current conversation."""
        self._shelf.put(conversation)
        self._show_figures()
        self._tell_shown()

    def _show(self, conversation: Conversation) -> None:
        name = conversation.conversation_id
        self._records = self._shelf.store.runs(name) if conversation.messages else {}
        self._shelf.current = conversation
        self._replies = {}
        if self._active is not None and self._active.message_id in conversation.messages:
            self._replies[self._active.message_id] = self._active
        self._tell_shown()

    def _show_figures(self) -> None:
        """Let the list tell of the last reply on the path that is shown now."""
        shown = (self.reply_of(m.message_id) for m in reversed(self.current.path()))
        last = next((reply for reply in shown if reply is not None), None)
        record = to_record(last) if last is not None else None
        self._shelf.show_figures(self.current.conversation_id, record)
        self._tell_conversations()

    def _tell_shown(self) -> None:
        if self._listener is not None:
            self._listener.conversation_shown(self.current)

    def _tell_changed(self) -> None:
        if self._listener is not None:
            self._listener.conversation_changed(self.current)

    def _tell_conversations(self) -> None:
        if self._listener is not None:
            self._listener.conversations_changed()
