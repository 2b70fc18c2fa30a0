"""The use cases of chats: send, edit, regenerate, stop, rename, branch, remove and the rest.

A session joins three parts: `Conversations` (which chats there are), `ReplyRunner` (the reply under
way) and a `PairLoader` (the models). It reports changes of chats to a `SessionListener`. A use case
gets the chat's id, and does the same in every chat, whether it is shown or not. One that starts a
reply gets the reply's options, and returns the reply. All on one thread, on which the engine's
client has to call listeners; no widgets.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from paceline.chat.conversations import Conversations, DeletedMessages, LaterTurns
from paceline.chat.pair import PairEvent, PairLoader, new_id
from paceline.chat.remembered.chat_states import ChatStates
from paceline.chat.remembered.stored_texts import StoredTexts
from paceline.chat.reply import (
    AskOptions,
    Reply,
    TurnOptions,
    can_be_repeated,
    edited_record,
    to_record,
)
from paceline.chat.reply_runner import Drawing, ReplyRunner, SessionListener
from paceline.content import Content, of_text
from paceline.conversation import (
    Attachment,
    Conversation,
    ConversationSummary,
    Folder,
    Message,
    Origin,
    answer_to,
    clean,
    later_turns,
    numbered,
    with_title,
    without,
    without_reply,
)
from paceline.errors import UserError
from paceline.hosting.client import EngineClient
from paceline.messages import (
    DescribeEngine,
    EngineDescribed,
    EngineDied,
    Event,
    LoadProgressed,
    PairLoaded,
    Strategy,
)
from paceline.params import ReplySettings
from paceline.run_record import RunRecord
from paceline.storage.archive import ConversationStore


class ChatSession:
    """Conversations in a store, and at most one reply under way.

    Use cases raise `UserError` where their chat is not there, or cannot be read; one that is open
    (`Conversations.open`) is and can.

    Attributes:
        conversations: For reading; changes go through the session, which notifies its listener.
        stored_texts: Gives the texts of stored chats to the engine, once its limit is set.
        states: Drops the engine's stored states of chats that are deleted.
        later: Progress of `bring_up_to_date`, or None if it is not running.
        clock: Monotonic seconds, which replies are timed by.
    """

    def __init__(
        self,
        client: EngineClient,
        pair: PairLoader,
        *,
        store: ConversationStore | None = None,
        defaults: Callable[[], ReplySettings] = ReplySettings,
        fingerprint_of: Callable[[str], str] = lambda _: "",
        states_folder: str = "",
        new_id: Callable[[], str] = new_id,
        clock: Callable[[], float] = time.perf_counter,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Make a session; the engine is not asked for anything yet.

        Args:
            client: Client of the engine.
            pair: The models.
            store: Keeps the conversations, or None if they are kept in memory.
            defaults: Sampling settings of a new conversation.
            fingerprint_of: The fingerprint of a model's file by its path, at once, or empty if not
                known, or not yet.
            states_folder: See `StateStorage.folder`.
            new_id: Makes ids.
            clock: Monotonic seconds.
            now: Seconds since the epoch.
        """
        self.conversations = Conversations(store or ConversationStore(), new_id, now, defaults)
        self.stored_texts = StoredTexts(client, self.conversations)
        self.states = ChatStates(client, self.conversations, states_folder)
        self.clock = clock
        self._client = client
        self._pair = pair
        self._runner = ReplyRunner(
            client, pair, self.conversations, fingerprint_of=fingerprint_of, clock=clock,
            on_begin=self._on_begin, on_end=self._on_end,
        )  # fmt: skip
        pair.follow(self._on_pair_event)
        self._listener = SessionListener()
        self.later: LaterTurns | None = None
        self._later_options: AskOptions = TurnOptions

    @property
    def summaries(self) -> tuple[ConversationSummary, ...]:
        """One line for each conversation that has a message, in no particular order."""
        return self.conversations.summaries

    def look_again(self) -> None:
        """List the stored chats, too, that could not be read before.

        Raises:
            UserError: They still cannot.
        """
        self.conversations.look_again()
        self._listener.conversations_changed()

    @property
    def active(self) -> Reply | None:
        """The reply that is under way."""
        return self._runner.active

    def set_listener(self, listener: SessionListener | None) -> None:
        """Tell `listener` from now on what changes."""
        self._listener = self._runner.listener = listener or SessionListener()

    # -------------------------------------------------------------------------------- engine

    def describe_engine(self) -> None:
        """Ask for versions and devices, those of the RPC servers in use included."""
        servers = self._pair.servers
        self._client.request(DescribeEngine(servers), on_event=partial(self._on_described, servers))

    def _on_described(self, servers: tuple[str, ...], event: Event) -> None:
        # Devices of servers that are not used any more would be taken for those of others.
        if isinstance(event, EngineDescribed) and servers == self._pair.servers:
            self._runner.engine_version = event.library_version
            self._listener.engine_described(event)

    def _on_begin(self, conversation_id: str) -> None:
        """Have the engine forget what another window has deleted, before a reply drafts."""
        try:
            known = {*self.stored_texts.known, *self.states.known}
            gone = self.conversations.gone(known)
        except UserError:  # it is told where something is read or written for people
            gone = frozenset()
        for chat in gone:
            self.stored_texts.take_out(chat)
            self.states.drop(chat)
        self.states.on_begin(conversation_id)

    def _on_end(self, conversation_id: str) -> None:
        self.states.on_end(conversation_id)
        self._go_on_later()

    def _on_pair_event(self, event: PairEvent) -> None:
        """Take an event about the models; the pair's state is that of after it."""
        if isinstance(event, EngineDied):
            self.stored_texts.on_load(is_loaded=False)
            self._runner.on_death(event)
            self._listener.engine_died(event)
            return
        self._runner.on_pair_event(event)
        if not isinstance(event, LoadProgressed):
            self.stored_texts.on_load(is_loaded=isinstance(event, PairLoaded))

    # ------------------------------------------------------------------------------- replies

    def send(
        self,
        conversation_id: str,
        text: str,
        options: AskOptions,
        attachments: tuple[Attachment, ...] = (),
        *,
        greedy: bool = False,
    ) -> Reply | None:
        """Add a message of the user at the end of a chat's active path, and start its reply.

        Args:
            conversation_id: The chat.
            text: The message's text.
            options: Options of the reply besides the chat's settings.
            attachments: The message's files.
            greedy: This one reply takes the likeliest token each time, regardless of the settings.

        Returns:
            None if it is blank, or a reply is under way.
        """
        text = clean(text).strip()
        if self.active is not None or not (text or attachments):
            return None
        with self.conversations.opened(conversation_id) as chat:
            asked = self._with_question(chat, of_text(text), attachments)
            return self._runner.start(*asked, options, Drawing(greedy=greedy))

    def _with_question(
        self, chat: Conversation, content: Content, attachments: tuple[Attachment, ...] = ()
    ) -> tuple[Conversation, str]:
        """Return a chat with a message of the user at its end, and the message's id."""
        question = self.conversations.new_message("user", content, chat.leaf_id, attachments)
        return self._as_asked(chat, chat.add(question)), question.message_id

    def _as_asked(self, old: Conversation, new: Conversation) -> Conversation:
        """Return the new value with the title of its questions, and the settings in force."""
        settings = self.conversations.settings_of(old.conversation_id)
        return replace(with_title(old, new), settings=settings, archived=False)

    def edit(
        self,
        conversation_id: str,
        message_id: str,
        text: str,
        options: AskOptions,
        attachments: tuple[Attachment, ...] | None = None,
        *,
        keeps: bool = False,
    ) -> Reply | None:
        """Add a message of the user as a new version of an old one, and start its reply.

        Args:
            conversation_id: The chat.
            message_id: The old message, which stays beside the new one.
            text: The new message's text.
            options: Options of the reply besides the chat's settings.
            attachments: Its files; None means those of the old one.
            keeps: Whether the reply keeps what need not change of the old one: its seed.

        Returns:
            None if it is no user's message, it would be empty, or a reply is under way.
        """
        with self.conversations.opened(conversation_id) as chat:
            old = chat.messages.get(message_id)
            text = clean(text).strip()
            if self.active is not None or old is None or old.role != "user":
                return None
            files = old.attachments if attachments is None else attachments
            if not (text or files):
                return None
            new_id, now = self.conversations.new_id(), self.conversations.now()
            edited = chat.edit(message_id, new_id, of_text(text), created_s=now, attachments=files)
            drawing = Drawing(replaced=answer_to(chat, message_id), keeps=keeps)
            asked = self._as_asked(chat, edited)
            return self._runner.start(asked, new_id, options, drawing, is_new_path=True)

    def regenerate(
        self,
        conversation_id: str,
        options: AskOptions,
        message_id: str = "",
        *,
        keeps: bool = False,
    ) -> Reply | None:
        """Answer a question once more, beside the old reply.

        Args:
            conversation_id: The chat.
            options: Options of the reply besides the chat's settings.
            message_id: The old reply, or the question; empty means the last one, or the last
                question's.
            keeps: Whether the reply keeps what need not change of the old one: its seed. It is
                the same if nothing has changed since.

        Returns:
            None if there is no such message, or a reply is under way.
        """
        with self.conversations.opened(conversation_id) as chat:
            last = next((m for m in reversed(chat.path()) if m.role == "user"), None)
            old = chat.messages.get(message_id) if message_id else last
            if self.active is not None or old is None:
                return None
            is_reply = old.role == "assistant"
            question_id = old.parent_id if is_reply else old.message_id
            if question_id is None:
                return None
            replaced = old if is_reply else answer_to(chat, question_id)
            drawing = Drawing(replaced=replaced, keeps=keeps)
            return self._runner.start(chat, question_id, options, drawing, is_new_path=True)

    def repeat(
        self, conversation_id: str, message_id: str, strategy: Strategy, options: AskOptions
    ) -> Reply | None:
        """Answer a question once more as it was answered, but with another strategy.

        Seed and settings are those of that reply, and no other version drafts: so their figures
        can be compared, and the texts are the same where that is promised. One that was stopped,
        or filled its context, is not written on.

        Args:
            conversation_id: The chat.
            message_id: The reply.
            strategy: The other strategy.
            options: Says the rest.

        Returns:
            None; see `can_be_repeated`, or one is under way.
        """
        with self.conversations.opened(conversation_id) as chat:
            old = self.conversations.full_reply(conversation_id, message_id)
            if self.active is not None or old is None or not can_be_repeated(to_record(old)):
                return None
            question_id = chat.messages[message_id].parent_id
            if question_id is None:
                return None
            settings = replace(old.options.settings, seed=old.seed)
            if old.reason in (None, "cancelled", "context") and old.traces:
                settings = replace(settings, max_tokens=len(old.traces))
            like = replace(old.options, settings=settings, strategy=strategy)
            drawing = Drawing(like=like)
            return self._runner.start(chat, question_id, options, drawing, is_new_path=True)

    def bring_up_to_date(self, conversation_id: str, options: AskOptions) -> Reply | None:
        """Ask the questions that only an older branch has in the active one, too, one by one.

        Each reply has its old one's seed. The listener is notified of each as of any other; `later`
        counts them. A stop, a failure, another active path, or `leave_later` ends it after the
        reply under way.

        Returns:
            The first reply, or None if there are no such questions, or a reply is under way.
        """
        with self.conversations.opened(conversation_id) as chat:
            turns = later_turns(chat)
            if self.active is not None or not turns:
                return None
            return self._ask_later(chat, turns, options, n_before=0)

    def leave_later(self) -> None:
        """Ask no further question of `bring_up_to_date`; a running reply continues."""
        self.later = None

    def _ask_later(
        self, chat: Conversation, turns: Sequence[Message], options: AskOptions, n_before: int
    ) -> Reply:
        n_questions = n_before + sum(message.role == "user" for message in turns)
        question, *after = turns
        asked, question_id = self._with_question(chat, question.content, question.attachments)
        self._later_options = options
        self.later = LaterTurns(chat.conversation_id, question_id, n_questions, n_before + 1)
        replaced = next((m for m in after[:1] if m.role == "assistant"), None)
        drawing = Drawing(replaced=replaced, keeps=True)
        return self._runner.start(asked, question_id, options, drawing, is_new_path=True)

    def _go_on_later(self) -> None:
        """Ask the next question where the last one was answered; otherwise it is over."""
        later = self.later
        if later is None or self.active is not None:
            return
        self.later = None
        with ExitStack() as stack:
            try:
                chat = stack.enter_context(self.conversations.opened(later.conversation_id))
            except UserError:  # another window may have deleted it
                return
            leaf = chat.messages.get(chat.leaf_id or "")
            if leaf is None or leaf.parent_id != later.question_id:
                return
            last = self.conversations.reply_of(chat.conversation_id, leaf.message_id)
            if last is not None and last.status == "finished" and last.reason != "cancelled":
                turns = later_turns(chat)
                if turns:
                    self._ask_later(chat, turns, self._later_options, later.n_asked)

    def continue_reply(
        self, conversation_id: str, options: AskOptions, message_id: str = ""
    ) -> Reply | None:
        """Let a reply go on where it ended, as a new version of it.

        It is drawn as its beginning was: same seed, sampling and system prompt.

        Args:
            conversation_id: The chat.
            options: Say the rest.
            message_id: The reply; empty means the last message of the active path.

        Returns:
            None if there is no such reply, or one is under way.
        """
        with self.conversations.opened(conversation_id) as chat:
            old = chat.messages.get(message_id or chat.leaf_id or "")
            is_reply = old is not None and old.role == "assistant" and bool(old.text)
            if self.active is not None or old is None or not is_reply or old.parent_id is None:
                return None
            drawing = Drawing(continued=old)
            return self._runner.start(chat, old.parent_id, options, drawing, is_new_path=True)

    def stop(self) -> None:
        """Stop the reply that is under way; its text so far stays."""
        self._runner.stop()

    def end_reply(self) -> None:
        """End the reply that is under way without waiting for the engine; what it has is kept."""
        self._runner.end()

    def tune(self, strategy: Strategy) -> bool:
        """Change the running reply from its next step on; False when none is running."""
        return self._runner.tune(strategy)

    def take_back(self, reply: Reply) -> Message | None:
        """Delete a reply that failed before it began; returns its question if that is gone, too."""
        name = reply.conversation_id
        if not reply.has_ended or reply.has_begun or self.conversations.summary(name) is None:
            return None
        old = self.conversations.get(name)
        if reply.message_id not in old.messages:
            return None
        rest, question = without_reply(old, reply.message_id)
        if rest.messages:
            gone = [message_id for message_id in old.messages if message_id not in rest.messages]
            self.conversations.put(rest, removed=gone)
            self._tell_new_path(rest)
        else:
            self.conversations.remove(name)
            self.conversations.purge(name)
            self._listener.conversations_changed()
            self._listener.conversation_removed(name, was_refused=True)
        return question

    def delete_message(self, conversation_id: str, message_id: str) -> DeletedMessages | None:
        """Delete a message, and all that follows it in any version.

        Returns:
            What `undelete` takes; None while a reply is under way, or where it is not there.
        """
        with self.conversations.opened(conversation_id) as old:
            if self.active is not None or message_id not in old.messages:
                return None
            rest = without(old, message_id)
            gone = tuple(m for name, m in old.messages.items() if name not in rest.messages)
            records = self._records_of(old, gone)
            self.conversations.put(rest, removed=[message.message_id for message in gone])
            self._tell_new_path(rest)
            return DeletedMessages(conversation_id, gone, tuple(records.values()), old.leaf_id)

    def undelete(self, deleted: DeletedMessages) -> None:
        """Bring deleted messages back, with the path that was active then.

        Raises:
            UserError: The conversation is not there any more, or cannot be read.
        """
        with self.conversations.opened(deleted.conversation_id) as rest:
            back = {message.message_id: message for message in deleted.messages}
            messages = MappingProxyType({**rest.messages, **back})
            whole = replace(rest, messages=messages, leaf_id=deleted.leaf_id)
            self.conversations.put(whole, tuple(back))
            for record in deleted.records:
                self.conversations.keep_record(whole, record)
            self.conversations.on_texts(deleted.conversation_id)
            self._tell_new_path(whole)

    def edit_reply(self, conversation_id: str, message_id: str, text: str) -> bool:
        """Add another text of a reply as a new version; the model is not asked.

        Returns:
            False if it is no reply, the text is blank or the same, or a reply is under way.
        """
        with self.conversations.opened(conversation_id) as chat:
            old, text = chat.messages.get(message_id), clean(text)
            if self.active is not None or old is None or old.role != "assistant":
                return False
            if not text.strip() or text == old.text:
                return False
            new_id, now = self.conversations.new_id(), self.conversations.now()
            edited = chat.edit(message_id, new_id, of_text(text), created_s=now)
            reply = self.conversations.reply_of(conversation_id, message_id)
            record = edited_record(to_record(reply), new_id) if reply is not None else None
            self._put_version(edited, new_id, record)
            return True

    def keep_reply(self, question_id: str, reply: Reply) -> bool:
        """Add a reply that was written outside of its chat as a version of the answer.

        Args:
            question_id: The question.
            reply: The reply, which has ended, with a message id that its chat does not have.

        Returns:
            False if the question is not there any more, or a reply is under way.
        """
        with self.conversations.opened(reply.conversation_id) as chat:
            if self.active is not None or question_id not in chat.messages:
                return False
            now, name = self.conversations.now(), reply.message_id
            kept = chat.add(Message(name, question_id, "assistant", of_text(reply.text), now))
            reply.engine_version = self._runner.engine_version
            self._put_version(kept, name, to_record(reply))
            return True

    def _put_version(self, chat: Conversation, message_id: str, record: RunRecord | None) -> None:
        """Keep a chat with one reply more, which has ended."""
        self.conversations.put(chat, (message_id,))
        if record is not None:
            self.conversations.keep_record(chat, record)
        self.conversations.on_texts(chat.conversation_id)
        self._tell_new_path(chat)

    def turn_to(self, conversation_id: str, message_id: str) -> None:
        """Make a path through this message the active one, unless it is on that already."""
        chat = self.conversations.get(conversation_id)
        on_path = {message.message_id for message in chat.path()}
        if message_id in chat.messages and message_id not in on_path:
            self._activate(chat, message_id)

    def turn_to_sibling(self, conversation_id: str, message_id: str, step: int) -> bool:
        """Turn to the sibling `step` places after this message; False if there is none."""
        chat = self.conversations.get(conversation_id)
        sibling = chat.sibling(message_id, step)
        if sibling is not None:
            self._activate(chat, sibling.message_id)
        return sibling is not None

    def _activate(self, chat: Conversation, message_id: str) -> None:
        turned = chat.activate(message_id)
        self.conversations.put(turned)
        self._tell_new_path(turned)

    # -------------------------------------------------------------------------- what is kept

    def rename(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title, which stays; blank keeps the old one."""
        self._change(self.conversations.get(conversation_id).renamed(clean(title)))

    def pin(self, conversation_id: str, on: bool) -> None:  # noqa: FBT001  as the signal has it
        """Pin it above the others, or unpin it."""
        self._change(replace(self.conversations.get(conversation_id), pinned=on))

    def tag(self, conversation_id: str, tags: Sequence[str]) -> None:
        """Give it these tags in place of those it has; blank ones and doubles are left out."""
        words = dict.fromkeys(" ".join(clean(tag).split()) for tag in tags)
        words.pop("", None)
        self._change(replace(self.conversations.get(conversation_id), tags=tuple(words)))

    def move(self, conversation_id: str, folder_id: str) -> None:
        """Put a conversation into a folder, out of the archive; empty means into none."""
        old = self.conversations.get(conversation_id)
        self._change(replace(old, folder_id=folder_id, archived=False))

    def archive(self, conversation_id: str, on: bool) -> None:  # noqa: FBT001  as with `pin`
        """Keep a conversation out of the list, or no longer; so does its next question."""
        self._change(replace(self.conversations.get(conversation_id), archived=on))

    def put_folder(self, folder: Folder) -> None:
        """Keep a folder; see `Folders.put`."""
        self.conversations.folders.put(folder)
        self._tell_folder(folder.folder_id)

    def remove_folder(self, folder_id: str) -> None:
        """Delete a folder; its conversations stay. `put_folder` brings it back."""
        self.conversations.folders.remove(folder_id)
        self._tell_folder(folder_id)

    def branch(self, conversation_id: str, message_id: str) -> str:
        """Make a new conversation of the path up to here; returns its id.

        Empty while the reply in this message is under way.
        """
        if self.active is not None and self.active.message_id == message_id:
            return ""
        with self.conversations.opened(conversation_id) as chat:
            path = chat.path_to(message_id)
            now = self.conversations.now()
            part = replace(
                chat,
                title=numbered(chat.title, (summary.title for summary in self.summaries)),
                messages={message.message_id: message for message in path},
                leaf_id=message_id,
                created_s=now,
                changed_s=now,
                pinned=False,
                archived=False,
                origin=Origin(conversation_id, message_id, message_id),
            )
            copy_id = self.conversations.add_copy(part, self._records_of(chat, path))
        self.list_copies()
        return copy_id

    def _records_of(self, chat: Conversation, messages: Sequence[Message]) -> dict[str, RunRecord]:
        """Return the records, with steps, of the replies among these messages."""
        name = chat.conversation_id
        replies = (self.conversations.full_reply(name, m.message_id) for m in messages)
        return {reply.message_id: to_record(reply) for reply in replies if reply is not None}

    def list_copies(self) -> None:
        """Notify the listener of conversations that `Conversations.add_copy` has added."""
        self._listener.conversations_changed()

    def remove(self, conversation_id: str) -> None:
        """Take a conversation out of the list; a reply under way in it is stopped.

        `restore` brings it back until `purge`.
        """
        if self.active is not None and self.active.conversation_id == conversation_id:
            self.stop()
        self.conversations.remove(conversation_id)
        self._listener.conversations_changed()
        self._listener.conversation_removed(conversation_id, was_refused=False)

    def restore(self, conversation_id: str) -> None:
        """Bring a conversation back that was removed."""
        self.conversations.restore(conversation_id)
        self._listener.conversations_changed()

    # ------------------------------------------------------------------------------- telling

    def _change(self, conversation: Conversation) -> None:
        """Keep another value of a conversation whose path is the same."""
        self.conversations.put(conversation)
        self._listener.conversations_changed()
        self._listener.details_changed(conversation)

    def _tell_folder(self, folder_id: str) -> None:
        self._listener.conversations_changed()
        for conversation in self.conversations.open_in(folder_id):
            self._listener.details_changed(conversation)

    def _tell_new_path(self, conversation: Conversation) -> None:
        self._listener.conversations_changed()
        self._listener.path_changed(conversation)
