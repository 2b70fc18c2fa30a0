"""The use cases of a chat that need the engine: send, edit, regenerate, stop, tune, forget.

It knows no widgets: a `SessionListener` shows what happens. What needs no engine is in
`chat.desk`, what becomes of a reply under way in `chat.running`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paceline.chat.running import Turns
from paceline.chat.titles import with_title
from paceline.chat.turns import without_reply
from paceline.conversation import Message, clean
from paceline.messages import DescribeEngine, Forget, Tune

if TYPE_CHECKING:
    from paceline.chat.recording import Recording
    from paceline.chat.reply import Reply
    from paceline.conversation import Attachment, Conversation


class ChatSession(Turns):
    """Conversations in a store, one of them current, and at most one reply under way."""

    # ----------------------------------------------------------------------------- use cases

    def describe_engine(self) -> None:
        """Ask for versions and devices."""
        self._client.submit(DescribeEngine())

    def send(
        self, text: str, attachments: tuple[Attachment, ...] = (), *, greedy: bool = False
    ) -> bool:
        """Add a message of the user and start its reply; False if blank or one is under way.

        Args:
            text: What it says.
            attachments: Its files.
            greedy: This one reply takes the likeliest token each time, whatever the settings say.
        """
        text = clean(text).strip()
        if self._active is not None or not (text or attachments):
            return False
        leaf = self.current.leaf_id
        question = Message(self._new_id(), leaf, "user", text, self._now(), attachments)
        self._ask(self.current.add(question), question.message_id, greedy=greedy)
        return True

    def begin_recorded(self, recording: Recording) -> Reply | None:
        """Ask a recording's question in the shown chat; its events are then told to `on_event`.

        Returns:
            The reply, which ends with the recording or by `end_recorded`; None: another one is
            under way.
        """
        if self._active is not None:
            return None
        leaf = self.current.leaf_id
        question = Message(self._new_id(), leaf, "user", recording.question, self._now())
        conversation = with_title(self.current, self.current.add(question))
        self._shelf.put(conversation, (question.message_id,))
        return self._start_reply(question.message_id, recording=recording)

    def end_recorded(self) -> None:
        """End the recorded reply that is under way where it is."""
        if self._active is not None:
            self._give_up(self._active)

    def edit(
        self, message_id: str, text: str, attachments: tuple[Attachment, ...] | None = None
    ) -> bool:
        """Write a message of the user anew, beside the old one, and start its reply.

        Args:
            message_id: The message.
            text: What it says now.
            attachments: Its files; None: those that it has.

        Returns:
            False: it is no user's message, it would be empty, or a reply is under way.
        """
        old = self.current.messages.get(message_id)
        text = clean(text).strip()
        if self._active is not None or old is None or old.role != "user":
            return False
        files = old.attachments if attachments is None else attachments
        if not (text or files):
            return False
        new_id = self._new_id()
        edited = self.current.edit(
            message_id, new_id, text, created_s=self._now(), attachments=files
        )
        self._ask(edited, new_id, shows_again=True)
        return True

    def regenerate(self, message_id: str = "") -> bool:
        """Answer a question once more, beside the old reply; False if there is none.

        Args:
            message_id: The old reply; empty: the last one, or the last question's.
        """
        question_id: str | None
        if message_id:
            old = self.current.messages.get(message_id)
            question_id = old.parent_id if old is not None and old.role == "assistant" else None
        else:
            questions = [m.message_id for m in self.current.path() if m.role == "user"]
            question_id = questions[-1] if questions else None
        if self._active is not None or question_id is None:
            return False
        self._start_reply(question_id, shows_again=True)
        return True

    def stop(self) -> None:
        """Stop the reply that is under way; its text so far stays."""
        reply = self._active
        if reply is None or reply.stopping:
            return
        reply.stopping = True
        if self._is_submitted:
            self._client.cancel(reply.turn_id)
            self._tell_progress(reply)
        else:
            self._give_up(reply)

    def close(self) -> None:
        """The program ends: a reply that is under way is kept with what it has."""
        if self._active is not None:
            self._give_up(self._active)

    def tune(self, strategy: str) -> bool:
        """Change the running reply from its next step on; False when none is running."""
        if self._active is None:
            return False
        if self._is_submitted:
            self._client.submit(Tune(self._active.turn_id, strategy))
        else:
            self._active.strategy = strategy  # the options are asked for again then
        return True

    def take_back(self, reply: Reply) -> Message | None:
        """Forget a reply that failed before it began; returns its question if that is gone, too."""
        if not reply.has_ended or reply.steps or not self._shelf.has(reply.conversation_id):
            return None
        old = self._shelf.get(reply.conversation_id)
        if reply.message_id not in old.messages:
            return None
        was_shown = reply.conversation_id == self.current.conversation_id
        rest, question = without_reply(old, reply.message_id)
        self._replies.pop(reply.message_id, None)
        if rest.messages:
            gone = [name for name in old.messages if name not in rest.messages]
            self._shelf.put(rest, removed=gone)
        else:
            self._shelf.remove(reply.conversation_id)
            self._purge(reply.conversation_id, was_learned=reply.submitted_s is not None)
        self._tell_conversations()
        if was_shown:
            self._tell_shown()
        return question

    def remove(self, conversation_id: str) -> None:
        """Take a conversation out; a reply under way in it is stopped. `restore` brings it back."""
        if self._active is not None and self._active.conversation_id == conversation_id:
            self.stop()
        super().remove(conversation_id)

    def purge(self, conversation_id: str) -> None:
        """Delete a removed conversation for good, and what drafters keep of it before that.

        The store keeps it hidden until the engine has forgotten it, so that whatever ends the
        program meanwhile, or keeps the engine from it, the next start can ask for it again.
        """
        self._purge(conversation_id, was_learned=True)

    # ------------------------------------------------------------------------------- private

    def _ask(
        self,
        conversation: Conversation,
        question_id: str,
        *,
        shows_again: bool = False,
        greedy: bool = False,
    ) -> None:
        """Keep a question that was just added, and start its reply."""
        self._shelf.put(with_title(self.current, conversation), (question_id,))
        self._start_reply(question_id, shows_again=shows_again, greedy=greedy)

    def _purge(self, conversation_id: str, *, was_learned: bool) -> None:
        self._shelf.give_up(conversation_id)
        memory_dir = self._pair.memory_dir
        if was_learned and memory_dir and not self._shelf.store.is_private(conversation_id):
            self._client.submit(Forget(memory_dir, conversation_id))
        else:
            self._shelf.purge(conversation_id)
