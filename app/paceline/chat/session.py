"""The use cases of chats: send, edit, regenerate, stop, show, rename, branch, remove and the rest.

A session joins three parts: `Conversations` (which chats there are), `ReplyRunner` (the reply under
way) and a `PairLoader` (the models). It takes every event of the engine in `on_event`, and tells a
`SessionListener` what has changed. All on the thread that owns the engine client; no widgets.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import MappingProxyType

from paceline.chat.conversations import (
    Conversations,
    DeletedMessages,
    LaterTurns,
    later_turns,
    without,
    without_reply,
)
from paceline.chat.pair import PairEvent, PairLoader, new_id
from paceline.chat.recording import Recording
from paceline.chat.reply import Reply, TurnOptions, can_be_repeated, edited_record, to_record
from paceline.chat.reply_runner import Drawing, ReplyRunner, SessionListener
from paceline.chat.stored_texts import StoredTexts
from paceline.content import Content, of_text
from paceline.conversation import (
    Attachment,
    Conversation,
    ConversationSummary,
    Message,
    Origin,
    clean,
    numbered,
    with_title,
)
from paceline.hosting.client import EngineClient
from paceline.messages import (
    DescribeEngine,
    EngineDescribed,
    EngineDied,
    Event,
    LoadProgressed,
    PairLoaded,
    Strategy,
    TurnEvent,
)
from paceline.params import ReplySettings
from paceline.storage.archive import ConversationStore


class ChatSession:
    """Conversations in a store, one of them shown, and at most one reply under way.

    Attributes:
        conversations: To read from; changes go through the session, which tells its listener.
        stored_texts: Hands what is stored to the engine; nothing before its limit is set.
        later: How far `bring_up_to_date` is; None: it is not at work.
    """

    def __init__(
        self,
        client: EngineClient,
        pair: PairLoader,
        options: Callable[[], TurnOptions],
        *,
        store: ConversationStore | None = None,
        defaults: Callable[[], ReplySettings] = ReplySettings,
        fingerprint_of: Callable[[str], str] = lambda _: "",
        new_id: Callable[[], str] = new_id,
        clock: Callable[[], float] = time.perf_counter,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Make a session; the engine is not asked for anything yet.

        Args:
            client: Where commands go.
            pair: The models.
            options: What the next reply is generated with, besides the chat's settings; asked when
                one begins.
            store: Keeps the conversations; None: they are kept in memory.
            defaults: How replies of a new conversation are drawn.
            fingerprint_of: The fingerprint of a model's file by its path, at once; empty: not
                known, or not yet.
            new_id: Makes ids.
            clock: Monotonic seconds.
            now: Seconds since the epoch.
        """
        self.conversations = Conversations(store or ConversationStore(), new_id, now, defaults)
        self.stored_texts = StoredTexts(client, self.conversations)
        self._client = client
        self._pair = pair
        self._runner = ReplyRunner(
            client, pair, self.conversations, options, fingerprint_of=fingerprint_of, clock=clock,
            on_begin=self.stored_texts.on_turn, on_end=self._go_on_later,
        )  # fmt: skip
        pair.follow(self._on_pair_event)
        self._listener = SessionListener()
        self.later: LaterTurns | None = None

    @property
    def current(self) -> Conversation:
        """The conversation that is shown; not in `summaries` before its first message."""
        return self.conversations.current

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
        self._tell_conversations()

    @property
    def active(self) -> Reply | None:
        """The reply that is under way."""
        return self._runner.active

    def set_listener(self, listener: SessionListener | None) -> None:
        """Tell `listener` from now on what changes."""
        self._listener = self._runner.listener = listener or SessionListener()

    # -------------------------------------------------------------------------------- engine

    def describe_engine(self) -> None:
        """Ask for versions and devices."""
        self._client.request(DescribeEngine(), on_event=self._on_described)

    def _on_described(self, event: Event) -> None:
        if isinstance(event, EngineDescribed):
            self._runner.engine_version = event.library_version
            self._listener.engine_described(event)

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
        self, text: str, attachments: tuple[Attachment, ...] = (), *, greedy: bool = False
    ) -> bool:
        """Add a message of the user and start its reply; False if blank or one is under way.

        Args:
            text: What it says.
            attachments: Its files.
            greedy: This one reply takes the likeliest token each time, regardless of the settings.
        """
        text = clean(text).strip()
        if self.active is not None or not (text or attachments):
            return False
        self._runner.start(*self._with_question(of_text(text), attachments), Drawing(greedy=greedy))
        return True

    def begin_recorded(self, recording: Recording) -> Reply | None:
        """Ask a recording's question in the shown chat; its events go to `on_recorded`.

        Returns:
            The reply, which ends with the recording or by `end_reply`; None: another one is under
            way.
        """
        if self.active is not None:
            return None
        return self._runner.start(
            *self._with_question(of_text(recording.question)), recording=recording
        )

    def on_recorded(self, event: TurnEvent) -> None:
        """Take an event of the recording whose reply is under way."""
        self._runner.on_recorded(event)

    def _with_question(
        self, content: Content, attachments: tuple[Attachment, ...] = ()
    ) -> tuple[Conversation, str]:
        """Return the shown one with a message of the user at its end, and the message's id."""
        question = self.conversations.new_message(
            "user", content, self.current.leaf_id, attachments
        )
        return self._as_asked(self.current.add(question)), question.message_id

    def _as_asked(self, conversation: Conversation) -> Conversation:
        """Return it with the title that its questions give, and the settings in force."""
        named = with_title(self.current, conversation)
        return replace(named, settings=self.conversations.settings)

    def edit(
        self,
        message_id: str,
        text: str,
        attachments: tuple[Attachment, ...] | None = None,
        *,
        keeps: bool = False,
    ) -> bool:
        """Add a message of the user as a new version of an old one, and start its reply.

        Of a reply only the text changes, see `edit_reply`.

        Args:
            message_id: The old message, which stays beside the new one.
            text: What the new one says.
            attachments: Its files; None: those of the old one.
            keeps: Whether the reply keeps what need not change of the old one: its seed.

        Returns:
            False: it is no user's message, it would be empty, or a reply is under way.
        """
        old = self.current.messages.get(message_id)
        if old is not None and old.role == "assistant":
            return self.edit_reply(message_id, text)
        text = clean(text).strip()
        if self.active is not None or old is None:
            return False
        files = old.attachments if attachments is None else attachments
        if not (text or files):
            return False
        replaced = self._answer_to(message_id)
        new_id, now = self.conversations.new_id(), self.conversations.now()
        edited = self.current.edit(
            message_id, new_id, of_text(text), created_s=now, attachments=files
        )
        drawing = Drawing(replaced=replaced, keeps=keeps)
        self._runner.start(self._as_asked(edited), new_id, drawing, shows_again=True)
        return True

    def _answer_to(self, question_id: str) -> Message | None:
        """The reply to a question: the one that is shown, or else the newest."""
        answers = [m for m in self.current.children(question_id) if m.role == "assistant"]
        shown = self.current.path()
        return next((m for m in answers if m in shown), answers[-1] if answers else None)

    def regenerate(self, message_id: str = "", *, keeps: bool = False) -> bool:
        """Answer a question once more, beside the old reply; False if there is none.

        Args:
            message_id: The old reply, or the question; empty: the last one, or the last question's.
            keeps: Whether the reply keeps what need not change of the old one: its seed. It is
                the same if nothing has changed since.
        """
        last = next((m for m in reversed(self.current.path()) if m.role == "user"), None)
        old = self.current.messages.get(message_id) if message_id else last
        if self.active is not None or old is None:
            return False
        is_reply = old.role == "assistant"
        question_id = old.parent_id if is_reply else old.message_id
        if question_id is None:
            return False
        replaced = old if is_reply else self._answer_to(question_id)
        drawing = Drawing(replaced=replaced, keeps=keeps)
        self._runner.start(self.current, question_id, drawing, shows_again=True)
        return True

    def repeat(self, message_id: str, strategy: Strategy) -> bool:
        """Answer a question once more as it was answered, but with another strategy.

        Seed and settings are those of that reply, and no other version drafts: so their figures
        can be compared, and the texts are the same where that is promised. One that was stopped,
        or filled its context, is not written on.

        Args:
            message_id: The reply.
            strategy: The other strategy.

        Returns:
            False: see `can_be_repeated`, or one is under way.
        """
        old = self.conversations.full_reply(message_id)
        if self.active is not None or old is None or not can_be_repeated(to_record(old)):
            return False
        question_id = self.current.messages[message_id].parent_id
        if question_id is None:
            return False
        settings = replace(old.options.settings, seed=old.seed)
        if old.reason in (None, "cancelled", "context") and old.traces:
            settings = replace(settings, max_tokens=len(old.traces))
        like = replace(old.options, settings=settings, strategy=strategy)
        self._runner.start(self.current, question_id, Drawing(like=like), shows_again=True)
        return True

    def bring_up_to_date(self) -> bool:
        """Ask the questions that only an older branch has in the shown one, too, one by one.

        Each reply is drawn with its old one's seed. The listener hears of each as of any other;
        `later` counts them. A stop, a failure, or another path or chat that is shown ends it after
        the reply under way.

        Returns:
            False: there are none, or a reply is under way.
        """
        turns = later_turns(self.current)
        if self.active is not None or not turns:
            return False
        self._ask_later(turns, n_before=0)
        return True

    def _ask_later(self, turns: Sequence[Message], n_before: int) -> None:
        n_questions = n_before + sum(message.role == "user" for message in turns)
        question, *after = turns
        asked, question_id = self._with_question(question.content, question.attachments)
        self.later = LaterTurns(question_id, n_questions, n_before + 1)
        replaced = next((m for m in after[:1] if m.role == "assistant"), None)
        drawing = Drawing(replaced=replaced, keeps=True)
        self._runner.start(asked, question_id, drawing, shows_again=True)

    def _go_on_later(self) -> None:
        """Ask the next question where the last one was answered; otherwise it is over."""
        later = self.later
        if later is None or self.active is not None:
            return
        turns: tuple[Message, ...] = ()
        leaf = self.current.messages.get(self.current.leaf_id or "")
        if leaf is not None and leaf.parent_id == later.question_id:  # it is still shown
            last = self.conversations.reply_of(leaf.message_id)
            if last is not None and last.status == "finished" and last.reason != "cancelled":
                turns = later_turns(self.current)
        self.later = None
        if turns:
            self._ask_later(turns, later.n_asked)

    def continue_reply(self, message_id: str = "") -> bool:
        """Let a reply go on where it ended, as a new version of it; False if there is none.

        It is drawn as its beginning was: same seed, sampling and system prompt.

        Args:
            message_id: The reply; empty: the last message of the shown path.
        """
        old = self.current.messages.get(message_id or self.current.leaf_id or "")
        is_reply = old is not None and old.role == "assistant" and bool(old.text)
        if self.active is not None or old is None or not is_reply or old.parent_id is None:
            return False
        drawing = Drawing(continued=old)
        self._runner.start(self.current, old.parent_id, drawing, shows_again=True)
        return True

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
        was_shown = name == self.current.conversation_id
        rest, question = without_reply(old, reply.message_id)
        if rest.messages:
            gone = [message_id for message_id in old.messages if message_id not in rest.messages]
            self.conversations.put(rest, removed=gone)
        else:
            settings = self.conversations.settings
            self.conversations.remove(name)
            self.conversations.purge(name)
            if was_shown:  # what was refused may be a setting, which is to be corrected
                empty = self.conversations.empty(private=old.private)
                self.conversations.show(replace(empty, settings=settings))
        self._tell_conversations()
        if was_shown:
            self._tell_shown()
        return question

    def delete_message(self, message_id: str) -> DeletedMessages | None:
        """Delete a message of the shown conversation, and all that follows it in any version.

        Returns:
            What `undelete` takes; None while a reply is under way, or where it is not there.
        """
        old = self.current
        if self.active is not None or message_id not in old.messages:
            return None
        rest = without(old, message_id)
        gone = tuple(m for name, m in old.messages.items() if name not in rest.messages)
        replies = (self.conversations.full_reply(message.message_id) for message in gone)
        records = tuple(to_record(reply) for reply in replies if reply is not None)
        self.conversations.put(rest, removed=[message.message_id for message in gone])
        self._tell_new_path()
        return DeletedMessages(old.conversation_id, gone, records, old.leaf_id)

    def undelete(self, deleted: DeletedMessages) -> None:
        """Bring deleted messages back, and show the conversation as it was.

        Raises:
            UserError: The conversation is not there any more, or cannot be read.
        """
        self.show(deleted.conversation_id)
        back = {message.message_id: message for message in deleted.messages}
        messages = MappingProxyType({**self.current.messages, **back})
        whole = replace(self.current, messages=messages, leaf_id=deleted.leaf_id)
        self.conversations.put(whole, tuple(back))
        for record in deleted.records:
            self.conversations.keep_record(whole, record)
        self.conversations.on_texts(deleted.conversation_id)
        self._tell_new_path()

    def edit_reply(self, message_id: str, text: str) -> bool:
        """Add another text of a reply as a new version; the model is not asked.

        Returns:
            False: it is no reply, the text is blank or the same, or a reply is under way.
        """
        old, text = self.current.messages.get(message_id), clean(text)
        if self.active is not None or old is None or old.role != "assistant":
            return False
        if not text.strip() or text == old.text:
            return False
        new_id, now = self.conversations.new_id(), self.conversations.now()
        edited = self.current.edit(message_id, new_id, of_text(text), created_s=now)
        self.conversations.put(edited, (new_id,))
        reply = self.conversations.reply_of(message_id)
        if reply is not None:
            self.conversations.keep_record(edited, edited_record(to_record(reply), new_id))
        self.conversations.on_texts(edited.conversation_id)
        self._tell_new_path()
        return True

    # ------------------------------------------------------------------------- what is shown

    def new(self, *, private: bool = False) -> None:
        """Show an empty conversation; a reply under way goes on in its own."""
        if self.current.messages or self.current.private != private:
            self._show(self.conversations.empty(private=private))

    def show(self, conversation_id: str) -> None:
        """Show another conversation.

        Raises:
            UserError: It is not there, or cannot be read.
        """
        if conversation_id != self.current.conversation_id:
            self._show(self.conversations.get(conversation_id))

    def show_message(self, conversation_id: str, message_id: str) -> None:
        """Show the conversation on a path through this message.

        Raises:
            UserError: The conversation is not there, or cannot be read.
        """
        self.show(conversation_id)
        on_path = {message.message_id for message in self.current.path()}
        if message_id in self.current.messages and message_id not in on_path:
            self._turn_to(message_id)

    def show_sibling(self, message_id: str, step: int) -> bool:
        """Show the sibling `step` places after this message; False if there is none."""
        sibling = self.current.sibling(message_id, step)
        if sibling is not None:
            self._turn_to(sibling.message_id)
        return sibling is not None

    # -------------------------------------------------------------------------- what is kept

    def rename(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title, which stays; blank keeps the old one."""
        self._change(self.conversations.get(conversation_id).renamed(clean(title)))

    def pin(self, conversation_id: str, on: bool) -> None:  # noqa: FBT001  as the signal has it
        """Let it stand above the others, or no longer."""
        self._change(replace(self.conversations.get(conversation_id), pinned=on))

    def tag(self, conversation_id: str, tags: Sequence[str]) -> None:
        """Give it these tags in place of those it has; blank ones and doubles are left out."""
        words = dict.fromkeys(" ".join(clean(tag).split()) for tag in tags)
        words.pop("", None)
        self._change(replace(self.conversations.get(conversation_id), tags=tuple(words)))

    def branch(self, message_id: str) -> str:
        """Make a new conversation of the path up to here, and show it; returns its id.

        Empty while the reply in this message is under way.
        """
        if self.active is not None and self.active.message_id == message_id:
            return ""
        path = self.current.path_to(message_id)
        now = self.conversations.now()
        part = replace(
            self.current,
            title=numbered(self.current.title, (summary.title for summary in self.summaries)),
            messages={message.message_id: message for message in path},
            leaf_id=message_id,
            created_s=now,
            changed_s=now,
            pinned=False,
            origin=Origin(self.current.conversation_id, message_id, message_id),
        )
        replies = (self.conversations.full_reply(message.message_id) for message in path)
        records = {reply.message_id: to_record(reply) for reply in replies if reply is not None}
        copy_id = self.conversations.add_copy(part, records)
        self.show_copy(copy_id)
        return copy_id

    def show_copy(self, conversation_id: str) -> None:
        """List all copies that were added, and show one, unless it was deleted since."""
        self._tell_conversations()
        if self.conversations.summary(conversation_id) is not None:
            self._show(self.conversations.get(conversation_id))

    def remove(self, conversation_id: str) -> None:
        """Take a conversation out of the list; a reply under way in it is stopped.

        `restore` brings it back until `purge`.
        """
        if self.active is not None and self.active.conversation_id == conversation_id:
            self.stop()
        was_shown = conversation_id == self.current.conversation_id
        self.conversations.remove(conversation_id)
        self._tell_conversations()
        if was_shown:
            self._tell_shown()

    def restore(self, conversation_id: str) -> None:
        """Bring a conversation back that was removed, and show it.

        Raises:
            UserError: It is not there any more, or cannot be read.
        """
        self.conversations.restore(conversation_id)
        self._tell_conversations()
        self.show(conversation_id)

    # ------------------------------------------------------------------------------- telling

    def _change(self, conversation: Conversation) -> None:
        """Keep another value of a conversation whose path is the same."""
        self.conversations.put(conversation)
        self._tell_conversations()
        is_shown = conversation.conversation_id == self.current.conversation_id
        if is_shown:
            self._listener.conversation_changed(self.current)

    def _turn_to(self, message_id: str) -> None:
        """Show the path of the shown conversation through this message."""
        self.conversations.put(self.current.activate(message_id))
        self._tell_new_path()

    def _tell_new_path(self) -> None:
        self._tell_conversations()
        self._tell_shown()

    def _show(self, conversation: Conversation) -> None:
        self.conversations.show(conversation)
        if self.active is not None:
            self.conversations.add_reply(self.active)
        self._tell_shown()

    def _tell_shown(self) -> None:
        self._listener.conversation_shown(self.current)

    def _tell_conversations(self) -> None:
        self._listener.conversations_changed()
