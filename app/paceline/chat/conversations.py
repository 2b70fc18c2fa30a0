"""The conversations of a session: the list, those that are open, and the store of each.

Everything goes to a store at once. In memory are one line about each conversation and those that
are open, their replies without steps: the one that a window shows, and one whose use case runs.
Any other is read anew when it is asked for, since another window may have changed it. Private
conversations have a store of their own, in memory: which of the two is used is decided by id in
`Conversations.store_of` and nowhere else, so that no word of a private chat can reach the disk. No
Qt, no files, no engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from paceline.chat.presets import check_settings
from paceline.chat.prompt import KnownOf, with_instructions
from paceline.chat.reply import Reply, known_of, renamed, to_record, to_reply
from paceline.codec import made_of
from paceline.content import Content, StoredRole, of_text
from paceline.conversation import (
    Attachment,
    Conversation,
    ConversationSummary,
    Folder,
    Message,
    SearchHit,
    ViewPlace,
    clean,
    clean_message,
)
from paceline.errors import UserError, ValueOutOfRangeError
from paceline.messages import StepCommitted
from paceline.params import ReplySettings
from paceline.run_record import RunRecord
from paceline.storage.archive import NEW_CHAT, ConversationStore, no_such_chat
from paceline.storage.folders import Folders


@dataclass(slots=True)
class OpenChat:
    """A conversation that is held in memory.

    Attributes:
        conversation: Its value now.
        records: Records of its replies, without steps, as of when it was read.
        replies: Replies by the id of the message, made from `records` on demand, or newer than
            these.
        n_holders: Number of `open` calls without their `close`.
        has_other_settings: Whether it has settings that are not stored yet.
    """

    conversation: Conversation
    records: Mapping[str, RunRecord] = field(default_factory=dict)
    replies: dict[str, Reply] = field(default_factory=dict)
    n_holders: int = 0
    has_other_settings: bool = False


class Conversations:
    """Conversations by their id; each is kept from its first message on.

    Attributes:
        new_id: Makes ids.
        now: Returns seconds since the epoch.
        folders: The folders that they may be in.
        on_texts: Called with a conversation's id when it has other texts, was removed or restored;
            not while a reply is under way.
        on_deleted: Called with its id when it, or one of its messages, was deleted.
        on_left: Called with the id of a private one, or one that is not kept, when nothing holds
            it open any more.

    Args:
        store: Keeps the conversations that are not private.
        new_id: See above.
        now: See above.
        defaults: Sampling settings of a new conversation.
    """

    def __init__(
        self,
        store: ConversationStore,
        new_id: Callable[[], str],
        now: Callable[[], float],
        defaults: Callable[[], ReplySettings],
    ) -> None:
        self.new_id = new_id
        self.now = now
        self.on_texts: Callable[[str], None] = _ignore
        self.on_deleted: Callable[[str], None] = _ignore
        self.on_left: Callable[[str], None] = _ignore
        self._defaults = defaults
        self._kept = store
        self._memory = ConversationStore()
        self._private: set[str] = set()
        self._summaries = {s.conversation_id: s for s in store.summaries()}
        self.folders = Folders(store)
        self._removed: dict[str, ConversationSummary] = {}
        self._purged: set[str] = set()
        self._open: dict[str, OpenChat] = {}
        self._under_way: dict[str, Reply] = {}  # by the id of the message

    def store_of(self, conversation_id: str) -> ConversationStore:
        """Return the store that keeps this conversation: private ones stay in memory."""
        return self._memory if conversation_id in self._private else self._kept

    # ------------------------------------------------------------------------------- reading

    @property
    def summaries(self) -> tuple[ConversationSummary, ...]:
        """One line for each conversation that has a message, in no particular order."""
        return tuple(self._summaries.values())

    def look_again(self) -> None:
        """List the stored chats again, including those that could not be read before.

        Raises:
            UserError: They still cannot be read.
        """
        found = {s.conversation_id: s for s in self._kept.summaries()}
        self._summaries = found | self._summaries
        self.folders.look_again()

    def summary(self, conversation_id: str) -> ConversationSummary | None:
        """Return the line of one conversation, or None if it is not in the list."""
        return self._summaries.get(conversation_id)

    def folder_of(self, conversation_id: str) -> Folder | None:
        """Return the folder of a conversation that is open, or None if it is in none."""
        return self.folders.get(self._open[conversation_id].conversation.folder_id)

    def open_in(self, folder_id: str) -> tuple[Conversation, ...]:
        """Return the open conversations of a folder."""
        chats = (chat.conversation for chat in self._open.values())
        return tuple(chat for chat in chats if chat.folder_id == folder_id)

    def gone(self, conversation_ids: Iterable[str]) -> frozenset[str]:
        """Return those of these stored conversations that another window has deleted.

        Raises:
            UserError: That cannot be read.
        """
        return self._kept.gone(conversation_ids)

    def is_open(self, conversation_id: str) -> bool:
        """Return whether anything holds it open."""
        return conversation_id in self._open

    def is_private(self, conversation_id: str) -> bool:
        """Return whether it is kept in memory only."""
        return conversation_id in self._private

    def is_purged(self, conversation_id: str) -> bool:
        """Return whether it was deleted for good in this session; nothing may be written to it."""
        return conversation_id in self._purged

    def get(self, conversation_id: str) -> Conversation:
        """Return one conversation with all messages; without settings that no reply can use.

        Raises:
            UserError: It is not there, or cannot be read.
        """
        if conversation_id in self._open:
            return self._open[conversation_id].conversation
        if conversation_id in self._purged:
            raise no_such_chat()
        conversation = self.store_of(conversation_id).load(conversation_id)
        settings = conversation.settings
        if settings is not None and not _can_be_used(settings):
            settings = None
        return replace(conversation, settings=settings, private=self.is_private(conversation_id))

    def with_records(self, conversation_id: str) -> tuple[Conversation, Mapping[str, RunRecord]]:
        """Return any conversation with the records of its replies, these without their steps.

        Raises:
            UserError: It is not there, or cannot be read.
        """
        conversation = self.get(conversation_id)
        return conversation, self.store_of(conversation_id).runs(conversation_id)

    def reply_of(self, conversation_id: str, message_id: str) -> Reply | None:
        """Return a reply; a stored one has no steps.

        Raises:
            UserError: The conversation is not open, and cannot be read.
        """
        chat = self._chat(conversation_id)
        reply = self._under_way.get(message_id) or chat.replies.get(message_id)
        record = chat.records.get(message_id) if reply is None else None
        message = chat.conversation.messages.get(message_id)
        if record is not None and message is not None:
            reply = chat.replies[message_id] = to_reply(record, conversation_id, message.text)
        return reply

    def known_in(self, conversation_id: str) -> KnownOf:
        """Return a function that gives the facts of how a reply of a conversation was generated."""
        if conversation_id in self._open:
            return lambda message_id: known_of(self.reply_of(conversation_id, message_id))
        records = self.store_of(conversation_id).runs(conversation_id)
        return lambda message_id: known_of(records.get(message_id))

    def full_reply(self, conversation_id: str, message_id: str) -> Reply | None:
        """Return the same with steps and traces, which are read from the store if necessary.

        Raises:
            UserError: It cannot be read.
        """
        reply = self.reply_of(conversation_id, message_id)
        if reply is None or reply.steps or not reply.has_ended:
            return reply
        return replace(reply, steps=list(self.steps_of(conversation_id, message_id)))

    def steps_of(self, conversation_id: str, message_id: str) -> tuple[StepCommitted, ...]:
        """Return the steps of any reply; empty where none are kept."""
        return self.store_of(conversation_id).steps(message_id)

    def search(self, text: str, limit: int = 50) -> tuple[SearchHit, ...]:
        """Return titles and messages that have all words of the text, the best first.

        Private ones come before the others: they are few and recent.
        """
        return (*self._memory.search(text, limit), *self._kept.search(text, limit))[:limit]

    # --------------------------------------------------------------------------- what is open

    def new(
        self,
        *,
        private: bool = False,
        settings: ReplySettings | None = None,
        folder_id: str = "",
    ) -> str:
        """Open a conversation without messages, which is not kept until it is `put`.

        Args:
            private: Whether nothing of it is ever stored.
            settings: Its sampling settings; None means the defaults.
            folder_id: The folder that it is in, or empty if there is none.

        Returns:
            Its id, for `close`.
        """
        chat_id, now = self.new_id(), self.now()
        made = Conversation(
            chat_id, created_s=now, private=private, settings=settings, folder_id=folder_id
        )
        if private:
            self._private.add(chat_id)
        self._open[chat_id] = OpenChat(made, n_holders=1)
        return chat_id

    def open(self, conversation_id: str) -> None:
        """Hold a conversation in memory until it is closed as often as it was opened.

        Raises:
            UserError: It is not there, or cannot be read.
        """
        chat = self._open[conversation_id] = self._chat(conversation_id)
        chat.n_holders += 1

    def close(self, conversation_id: str) -> None:
        """Close it and store its settings; a conversation without messages is dropped."""
        chat = self._open[conversation_id]
        chat.n_holders -= 1
        if not chat.n_holders:
            self.keep_settings(conversation_id)
            del self._open[conversation_id]
            if self.is_private(conversation_id) or conversation_id not in self._summaries:
                self.on_left(conversation_id)

    @contextmanager
    def opened(self, conversation_id: str) -> Iterator[Conversation]:
        """Hold a conversation for a `with` statement; its value at the beginning is the target.

        Raises:
            UserError: It is not there, or cannot be read.
        """
        self.open(conversation_id)
        try:
            yield self._open[conversation_id].conversation
        finally:
            self.close(conversation_id)

    def _chat(self, conversation_id: str) -> OpenChat:
        """Return an open conversation, or one that is read for this one question."""
        chat = self._open.get(conversation_id)
        if chat is None:
            read = self.get(conversation_id)
            if not read.messages:
                return OpenChat(read)
            records = self.store_of(conversation_id).runs(conversation_id)
            settings = self._settings_of(read, records)
            chat = OpenChat(replace(read, settings=settings), records)
        return chat

    def add_reply(self, reply: Reply) -> None:
        """Let `reply_of` return this reply, which is under way, until `end_run`."""
        self._under_way[reply.message_id] = reply

    def settings_of(self, conversation_id: str) -> ReplySettings:
        """Return the sampling settings of a conversation.

        Raises:
            UserError: It is not open, and cannot be read.
        """
        return self._chat(conversation_id).conversation.settings or self._defaults()

    def sent_settings(self, conversation_id: str) -> ReplySettings:
        """Return the settings of an open conversation as a reply gets them.

        The system prompt has the instructions of the conversation's folder before it.
        """
        settings = self.settings_of(conversation_id)
        return with_instructions(self.folder_of(conversation_id), settings)

    def set_settings(self, conversation_id: str, settings: ReplySettings) -> None:
        """Set the sampling settings of an open conversation's next replies; see `keep_settings`."""
        chat = self._open[conversation_id]
        chat.conversation = replace(chat.conversation, settings=settings)
        chat.has_other_settings = True

    def keep_settings(self, conversation_id: str) -> None:
        """Store what `set_settings` has changed; a conversation without messages is not kept."""
        chat = self._open[conversation_id]
        if chat.has_other_settings and conversation_id in self._summaries:
            self.put(chat.conversation)

    def _settings_of(
        self, conversation: Conversation, records: Mapping[str, RunRecord]
    ) -> ReplySettings:
        """Return a conversation's stored settings, else those of its newest record, if valid."""
        if conversation.settings is not None:
            return conversation.settings
        path = (records.get(m.message_id) for m in reversed(conversation.path()))
        recorded = self._as_recorded(r for r in path if r is not None and r.max_tokens)
        return recorded if recorded and _can_be_used(recorded) else self._defaults()

    def _as_recorded(self, records: Iterator[RunRecord]) -> ReplySettings | None:
        """Return the settings of the first of these records, the newest, or None if there is none.

        A record has the seed of its reply, whether it was drawn or fixed: two replies after each
        other have the same one only if it was fixed, and so has one that has that of the defaults.
        """
        last = next(records, None)
        if last is None:
            return None
        before = next(records, None)
        fixed = (self._defaults().seed, before.seed if before is not None else None)
        return last.settings if last.seed in fixed else replace(last.settings, seed=None)

    # ------------------------------------------------------------------------------ changing

    def put(
        self,
        conversation: Conversation,
        changed: Sequence[str] = (),
        removed: Sequence[str] = (),
    ) -> None:
        """Keep this value of a conversation.

        Args:
            conversation: Its title, flags, settings and active path are kept.
            changed: Its messages that are new or changed.
            removed: Messages that it no longer has.
        """
        name = conversation.conversation_id
        if conversation.private:
            self._private.add(name)
        self.store_of(name).save(conversation, changed, removed)
        self._summaries[name] = made_of(ConversationSummary, conversation)
        chat = self._open.get(name)
        if chat is not None:
            chat.conversation, chat.has_other_settings = conversation, False
            for message_id in removed:
                chat.replies.pop(message_id, None)
        if removed:
            self.on_texts(name)
            self.on_deleted(name)

    def new_message(
        self,
        role: StoredRole,
        content: Content,
        parent_id: str | None,
        attachments: tuple[Attachment, ...] = (),
    ) -> Message:
        """Return a new message with an id and a time."""
        return Message(self.new_id(), parent_id, role, content, self.now(), attachments)

    def add_copy(
        self,
        conversation: Conversation,
        records: Mapping[str, RunRecord],
        system_prompt: str = "",
    ) -> str:
        """Keep a copy under new ids; returns its id.

        Args:
            conversation: Times, title, flags and settings are kept.
            records: Records of its replies with their steps, by message id.
            system_prompt: That of a chat without settings, which has the usual ones otherwise.
        """
        if system_prompt:
            settings = replace(self._defaults(), system_prompt=system_prompt)
            conversation = replace(conversation, settings=settings)
        copy, ids = _copy_of(conversation, self.new_id)
        self.put(copy, tuple(copy.messages))
        for old_id, record in records.items():
            if old_id in ids:
                self.keep_record(copy, renamed(record, ids[old_id]))
        self.on_texts(copy.conversation_id)
        return copy.conversation_id

    def mark(self) -> int:
        """Return a mark of everything written so far, for `is_written`."""
        return self._kept.mark()

    def is_written(self, mark: int) -> bool:
        """Return whether everything up to the mark is on the disk, or cannot be written now."""
        return self._kept.is_written(mark)

    def keep_record(self, conversation: Conversation, record: RunRecord) -> None:
        """Keep the record, with steps, of a reply that has ended and whose message was `put`."""
        name, message = conversation.conversation_id, conversation.messages[record.message_id]
        store = self.store_of(name)
        store.begin_run(name, replace(record, steps=()))
        store.end_run(name, record, message.content)
        if name in self._open:
            self._open[name].replies[record.message_id] = to_reply(record, name, message.text)

    def begin_run(self, reply: Reply) -> None:
        """Keep the record of a reply whose message was `put`, and what it begins with."""
        name = reply.conversation_id
        if name in self._purged:
            return
        self.store_of(name).begin_run(name, to_record(reply))
        if reply.steps:
            self.extend_run(reply, reply.text, reply.steps)

    def extend_run(self, reply: Reply, text: str, steps: Sequence[StepCommitted]) -> None:
        """Keep some steps of a reply that is under way, and the text that they gave."""
        if reply.conversation_id not in self._purged:
            store = self.store_of(reply.conversation_id)
            store.extend_run(reply.conversation_id, reply.message_id, text, steps)

    def end_run(self, reply: Reply) -> None:
        """Keep the record of a reply that has ended, and its text."""
        name = reply.conversation_id
        self._under_way.pop(reply.message_id, None)
        if name in self._purged:
            return
        content = of_text(reply.text)
        self.store_of(name).end_run(name, to_record(reply), content)
        chat = self._open.get(name)
        if chat is not None:
            chat.conversation = chat.conversation.with_content(reply.message_id, content)
            chat.replies[reply.message_id] = reply
        self.on_texts(name)

    # ------------------------------------------------------------------------------ deleting

    def remove(self, conversation_id: str) -> None:
        """Take one out of the list; it stays open where it is."""
        if conversation_id in self._open:
            self.keep_settings(conversation_id)
        self._removed[conversation_id] = self._summaries.pop(conversation_id)
        self.store_of(conversation_id).remove(conversation_id)
        self.on_texts(conversation_id)
        self.on_deleted(conversation_id)

    def restore(self, conversation_id: str) -> None:
        """Bring one back that was removed in this session; others are left alone."""
        summary = self._removed.pop(conversation_id, None)
        if summary is not None:
            self._summaries[conversation_id] = summary
            self.store_of(conversation_id).restore(conversation_id)
            self.on_texts(conversation_id)

    def purge(self, conversation_id: str) -> None:
        """Delete a removed one for good, perhaps of an earlier session."""
        if self._removed.pop(conversation_id, None) is None:
            self.on_deleted(conversation_id)
        self._purged.add(conversation_id)
        self.store_of(conversation_id).purge(conversation_id)

    # ----------------------------------------------------------------------- how it was left

    def unsent_id(self, conversation_id: str) -> str:
        """Return the id under which text of a conversation is kept that was not sent."""
        is_new = conversation_id not in self._summaries and not self.is_private(conversation_id)
        return NEW_CHAT if is_new else conversation_id

    def unsent(self, unsent_id: str) -> str:
        """Return the text that was kept under this id; empty where it cannot be read."""
        try:
            return self.store_of(unsent_id).unsent(unsent_id)
        except UserError:
            return ""

    def unsent_files(self, unsent_id: str) -> tuple[Attachment, ...]:
        """Return the files that were stored under this id; empty if they cannot be read."""
        try:
            return self.store_of(unsent_id).unsent_files(unsent_id)
        except UserError:
            return ()

    def save_unsent_files(self, unsent_id: str, files: tuple[Attachment, ...]) -> None:
        """Store the files that are attached but not sent; an empty tuple removes them."""
        if unsent_id not in self._purged:
            self.store_of(unsent_id).save_unsent_files(unsent_id, files)

    def save_unsent(self, unsent_id: str, text: str) -> None:
        """Store text that is typed but not sent; an empty text removes it."""
        if unsent_id not in self._purged:
            self.store_of(unsent_id).save_unsent(unsent_id, text)

    def place(self, conversation_id: str) -> ViewPlace:
        """Return where the view of a conversation was left; its end where that cannot be read."""
        try:
            return self.store_of(conversation_id).place(conversation_id)
        except UserError:
            return ViewPlace()

    def save_place(self, conversation_id: str, place: ViewPlace) -> None:
        """Keep where the view was left; nothing is kept of a conversation without messages."""
        if conversation_id in self._summaries:
            self.store_of(conversation_id).save_place(conversation_id, place)


@dataclass(frozen=True, slots=True)
class DeletedMessages:
    """Messages that were taken out of a conversation, with all that brings them back.

    Attributes:
        conversation_id: The conversation.
        messages: In the order in which they were added.
        records: Records of the replies among them, with steps.
        leaf_id: The end of the path that was shown.
    """

    conversation_id: str
    messages: tuple[Message, ...]
    records: tuple[RunRecord, ...]
    leaf_id: str | None


def _ignore(_conversation_id: str) -> None:
    """No-op callback."""


def _can_be_used(settings: ReplySettings) -> bool:
    try:
        check_settings(settings)
    except ValueOutOfRangeError:
        return False
    return True


def _copy_of(
    conversation: Conversation, new_id: Callable[[], str]
) -> tuple[Conversation, dict[str, str]]:
    """Return a copy under new ids, and the new ids of its messages by the old ones."""
    ids: dict[str, str] = {}
    messages: dict[str, Message] = {}
    for name, message in conversation.messages.items():
        parent = ids[message.parent_id] if message.parent_id is not None else None
        ids[name] = new_id()
        copied = replace(clean_message(message), message_id=ids[name], parent_id=parent)
        messages[ids[name]] = copied
    leaf = conversation.leaf_id
    origin = conversation.origin
    copy = replace(
        conversation,
        origin=replace(origin, here=ids.get(origin.here, "")) if origin is not None else None,
        conversation_id=new_id(),
        title=clean(conversation.title),
        tags=tuple(map(clean, conversation.tags)),
        messages=MappingProxyType(messages),
        leaf_id=ids[leaf] if leaf is not None else None,
    )
    return copy, ids


@dataclass(frozen=True, slots=True)
class LaterTurns:
    """Turns that are brought up to date, one after the other.

    Attributes:
        conversation_id: The conversation.
        question_id: The message of the question that is being answered.
        n_questions: Number of questions to ask.
        n_asked: Number of questions asked so far, the running one included.
    """

    conversation_id: str
    question_id: str
    n_questions: int
    n_asked: int

    @property
    def is_last(self) -> bool:
        """Return whether the last one is under way, or answered."""
        return self.n_asked >= self.n_questions
