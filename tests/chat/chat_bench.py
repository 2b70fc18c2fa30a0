"""A session with a scripted engine, a store of the test's choice, and clocks moved by hand.

The bench shows one chat, as a window does, and its use cases are those of that chat.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from chat.recorder import Recorder
from gui.fake_client import FakeClient
from paceline.chat.pair import Pair, PairLoader
from paceline.chat.reply import TurnOptions
from paceline.chat.session import ChatSession
from paceline.messages import ModelParams
from paceline.params import DraftModel, ReplySettings
from paceline.storage.archive import ConversationStore

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paceline.chat.conversations import DeletedMessages
    from paceline.chat.reply import Reply
    from paceline.conversation import Attachment, Conversation, Message
    from paceline.params import Strategy
    from paceline.run_record import RunRecord

PAIR = Pair(ModelParams("/models/target.gguf"), DraftModel(ModelParams("/models/draft.gguf")))


class Shown:
    """A chat of a session that is shown, as the window does it, and the use cases of that chat.

    Attributes:
        session: The session.
        options: Options of its next reply.
        id: Id of the chat.
    """

    session: ChatSession
    options: TurnOptions
    id: str

    def begin(self, session: ChatSession, options: TurnOptions | None = None) -> None:
        """Show an empty chat."""
        self.session, self.options = session, options or TurnOptions()
        self.id = session.conversations.new()

    def asked(self) -> TurnOptions:
        """The options of a reply that begins now."""
        return self.options

    # ------------------------------------------------------------------------- what is shown

    @property
    def current(self) -> Conversation:
        return self.session.conversations.get(self.id)

    @property
    def settings(self) -> ReplySettings:
        return self.session.conversations.settings_of(self.id)

    def set_settings(self, settings: ReplySettings) -> None:
        self.session.conversations.set_settings(self.id, settings)

    def take(self, chat_id: str) -> None:
        """Show a chat that is open, in place of the one before."""
        left, self.id = self.id, chat_id
        self.session.conversations.close(left)

    def new(self, *, private: bool = False) -> None:
        if self.current.messages or self.current.private != private:
            self.take(self.session.conversations.new(private=private))

    def show(self, chat_id: str) -> None:
        if chat_id != self.id:
            self.session.conversations.open(chat_id)
            self.take(chat_id)

    def show_copy(self, chat_id: str) -> None:
        self.session.list_copies()
        if self.session.conversations.summary(chat_id) is not None:
            self.show(chat_id)

    def import_copy(self, conversation: Conversation, records: Mapping[str, RunRecord]) -> str:
        """Keep a copy of a conversation, and show it; returns its id."""
        copy_id = self.session.conversations.add_copy(conversation, records)
        self.show_copy(copy_id)
        return copy_id

    @property
    def active(self) -> Reply:
        """The reply under way."""
        assert self.session.active is not None
        return self.session.active

    @property
    def path(self) -> list[tuple[str, str]]:
        return [(m.role, m.text) for m in self.current.path()]

    @property
    def texts(self) -> list[str]:
        return [content for _, content in self.path]

    def message(self, number: int) -> str:
        """The id of one message of the shown path."""
        return self.current.path()[number].message_id

    def reply(self, number: int = -1) -> Reply:
        reply = self.reply_of(self.message(number))
        assert reply is not None
        return reply

    def reply_of(self, message_id: str) -> Reply | None:
        return self.session.conversations.reply_of(self.id, message_id)

    def full_reply(self, message_id: str) -> Reply | None:
        return self.session.conversations.full_reply(self.id, message_id)

    # ---------------------------------------------------------------------- the shown chat's

    def ask(self, text: str, answer: str) -> None:
        assert self.send(text)
        self.client.reply(answer)

    def send(
        self, text: str, attachments: tuple[Attachment, ...] = (), *, greedy: bool = False
    ) -> Reply | None:
        return self.session.send(self.id, text, self.asked, attachments, greedy=greedy)

    def edit(
        self,
        message_id: str,
        text: str,
        attachments: tuple[Attachment, ...] | None = None,
        *,
        keeps: bool = False,
    ) -> Reply | None:
        return self.session.edit(self.id, message_id, text, self.asked, attachments, keeps=keeps)

    def edit_reply(self, message_id: str, text: str) -> bool:
        return self.session.edit_reply(self.id, message_id, text)

    def regenerate(self, message_id: str = "", *, keeps: bool = False) -> Reply | None:
        return self.session.regenerate(self.id, self.asked, message_id, keeps=keeps)

    def repeat(self, message_id: str, strategy: Strategy) -> Reply | None:
        return self.session.repeat(self.id, message_id, strategy, self.asked)

    def continue_reply(self, message_id: str = "") -> Reply | None:
        return self.session.continue_reply(self.id, self.asked, message_id)

    def bring_up_to_date(self) -> Reply | None:
        return self.session.bring_up_to_date(self.id, self.asked)

    def delete_message(self, message_id: str) -> DeletedMessages | None:
        return self.session.delete_message(self.id, message_id)

    def undelete(self, deleted: DeletedMessages) -> None:
        self.show(deleted.conversation_id)
        self.session.undelete(deleted)

    def show_sibling(self, message_id: str, step: int) -> bool:
        return self.session.turn_to_sibling(self.id, message_id, step)

    def branch(self, message_id: str) -> str:
        """Branch off a chat, and show it; returns its id."""
        chat_id = self.session.branch(self.id, message_id)
        if chat_id:
            self.show(chat_id)
        return chat_id

    def restore(self, chat_id: str) -> None:
        self.session.restore(chat_id)
        self.show(chat_id)


class Viewer(Recorder):
    """A listener that shows another chat where the shown one is gone, as the window does."""

    def __init__(self, bench: ChatBench) -> None:
        super().__init__()
        self._bench = bench

    def conversation_removed(self, conversation_id: str, *, was_refused: bool) -> None:
        super().conversation_removed(conversation_id, was_refused=was_refused)
        bench, chats = self._bench, self._bench.session.conversations
        if conversation_id == bench.id and was_refused:
            old = bench.current
            bench.take(chats.new(private=old.private, settings=bench.settings))
        elif conversation_id == bench.id:
            bench.take(chats.new())

    def reply_ended(self, reply: Reply) -> None:
        super().reply_ended(reply)
        if reply.conversation_id != self._bench.id:
            self._bench.session.leave_later()


class ChatBench(Shown):
    """One life of the program; make another one around the same store to start it again."""

    def __init__(
        self,
        store: ConversationStore | None = None,
        *,
        prefix: str = "id",
        defaults: ReplySettings | None = None,
        loads: bool = True,
        states_folder: str = "",
    ) -> None:
        self.client = FakeClient()
        self.time = 0.0
        self.today = 1000.0
        numbers = count()
        self.store = store if store is not None else ConversationStore()
        self.loader = PairLoader(self.client)
        self.fingerprints: dict[str, str] = {}
        session = ChatSession(
            self.client,
            self.loader,
            store=self.store,
            defaults=lambda: defaults or ReplySettings(),
            fingerprint_of=lambda path: self.fingerprints.get(path, ""),
            states_folder=states_folder,
            new_id=lambda: f"{prefix}-{next(numbers)}",
            clock=lambda: self.time,
            now=lambda: self.today,
        )
        self.begin(session)
        self.told = Viewer(self)
        session.set_listener(self.told)
        if loads:
            self.load()

    def load(self) -> None:
        self.loader.load(PAIR)
        self.client.finish_load()


def text_of(question: Message | None) -> str | None:
    """Return the text of a question that was taken back, if one was."""
    return None if question is None else question.text
