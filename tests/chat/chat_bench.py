"""A session with a scripted engine, a store of the test's choice, and clocks moved by hand."""

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

    from paceline.chat.reply import Reply
    from paceline.conversation import Conversation, Message
    from paceline.run_record import RunRecord

PAIR = Pair(ModelParams("/models/target.gguf"), DraftModel(ModelParams("/models/draft.gguf")))


class ChatBench:
    """One life of the program; make another one around the same store to start it again."""

    def __init__(
        self,
        store: ConversationStore | None = None,
        *,
        prefix: str = "id",
        defaults: ReplySettings | None = None,
    ) -> None:
        self.client = FakeClient()
        self.options = TurnOptions()
        self.time = 0.0
        self.today = 1000.0
        numbers = count()
        self.store = store if store is not None else ConversationStore()
        self.loader = PairLoader(self.client)
        self.fingerprints: dict[str, str] = {}
        self.session = ChatSession(
            self.client,
            self.loader,
            lambda: self.options,
            store=self.store,
            defaults=lambda: defaults or ReplySettings(),
            fingerprint_of=lambda path: self.fingerprints.get(path, ""),
            new_id=lambda: f"{prefix}-{next(numbers)}",
            clock=lambda: self.time,
            now=lambda: self.today,
        )
        self.told = Recorder()
        self.session.set_listener(self.told)
        self.loader.load(PAIR)
        self.client.finish_load()

    @property
    def id(self) -> str:
        """The shown conversation's."""
        return self.session.current.conversation_id

    def import_copy(self, conversation: Conversation, records: Mapping[str, RunRecord]) -> str:
        """Keep a copy of a conversation, and show it; returns its id."""
        copy_id = self.session.conversations.add_copy(conversation, records)
        self.session.show_copy(copy_id)
        return copy_id

    @property
    def path(self) -> list[tuple[str, str]]:
        return [(m.role, m.text) for m in self.session.current.path()]

    @property
    def texts(self) -> list[str]:
        return [content for _, content in self.path]

    def message(self, number: int) -> str:
        """The id of one message of the shown path."""
        return self.session.current.path()[number].message_id

    def reply(self, number: int = -1) -> Reply:
        reply = self.session.conversations.reply_of(self.message(number))
        assert reply is not None
        return reply

    def ask(self, text: str, answer: str) -> None:
        assert self.session.send(text)
        self.client.reply(answer)


def text_of(question: Message | None) -> str | None:
    """What a question says that was taken back, if one was."""
    return None if question is None else question.text
