"""Drafts stay with their chats, whatever is shown, sent, deleted or refused meanwhile.

The machine plays the field in which one writes: it hands over what it holds when another chat is
about to be shown and when a reply has started, and takes the draft of the chat that comes.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import settings as limits
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from PySide6.QtCore import QObject

from chat.chat_bench import ChatBench
from paceline.conversation import Attachment
from paceline.gui.state.chat_signals import ChatSignals
from paceline.gui.state.drafts import Drafts
from paceline.gui.state.shown_chat import ShownChat
from paceline.messages import TurnFailed
from paceline.storage.archive import ConversationStore

FILES = (Attachment("a.txt", "a", 1), Attachment("b.txt", "b", 1))
texts = st.sampled_from(("", "half a thought", "Ünd?"))
attached = st.sampled_from(((), FILES[:1], FILES))
numbers = st.integers(0, 20)


@dataclass
class Field:
    """The text and the attachments that are written."""

    text: str = ""
    files: tuple[Attachment, ...] = ()


class Machine(RuleBasedStateMachine):
    """One window; `left` has the drafts of the chats that it does not show, "" is the new one."""

    def __init__(self) -> None:
        super().__init__()
        self.owner = QObject()
        self.store = ConversationStore()
        self.bench = ChatBench(self.store)
        self.session = self.bench.session
        signals = ChatSignals(self.owner)
        self.session.set_listener(signals)
        self.shown = ShownChat(self.session, signals, self.owner)
        self.drafts = Drafts(self.shown, self.session.conversations, signals)
        self.field = Field()
        self.left: dict[str, Field] = {}
        self.listed: list[str] = []
        self.shown.leaving.connect(self.keep)
        self.drafts.turned.connect(self.take)
        signals.started.connect(self.keep)

    def keep(self) -> None:
        self.drafts.write(self.field.text, self.field.files)

    def take(self) -> None:
        self.field = Field(self.drafts.text, self.drafts.files)

    @property
    def id(self) -> str:
        """The shown chat's; empty for a new one that is kept once it has a message."""
        is_kept = self.shown.id in self.listed or self.shown.conversation.private
        return self.shown.id if is_kept else ""

    def send(self) -> None:
        """Send a question, with what is written already as the next one."""
        assert self.session.send(self.shown.id, "Question?", self.bench.asked)

    @rule(text=texts, files=attached, rests=st.booleans())
    def write(self, text: str, files: tuple[Attachment, ...], rests: bool) -> None:
        """Write; the next start has what was written before a rest."""
        self.field = Field(text, files)
        if rests:
            self.keep()
            self.expect_kept()

    @rule(number=numbers, private=st.booleans())
    def turn(self, number: int, private: bool) -> None:
        """Show a chat of the list, or a new one."""
        before, left, written = self.shown.id, self.id, self.field
        chats = [*self.listed, None]
        chat = chats[number % len(chats)]
        if chat is None:
            self.shown.new(private=private)
        else:
            self.shown.show(chat)
        if self.shown.id != before:
            self.left[left] = written
            assert self.field == self.left.pop(self.id, Field())

    @rule()
    def ask(self) -> None:
        if self.shown.id not in self.listed:
            self.listed.append(self.shown.id)
        self.send()
        self.bench.client.reply("Answer")
        self.expect_kept()

    @precondition(lambda self: self.listed)
    @rule(number=numbers)
    def delete(self, number: int) -> None:
        chat = self.listed.pop(number % len(self.listed))
        is_shown = chat == self.shown.id
        self.session.remove(chat)
        if is_shown:
            assert self.field == self.left.pop(self.id, Field())
        self.left.pop(chat, None)
        self.session.conversations.purge(chat)

    @precondition(lambda self: not self.shown.conversation.messages)
    @rule()
    def be_refused(self) -> None:
        """The first question fails and is taken back: what is written is not lost with its chat."""
        refused, written = self.shown.id, self.field
        self.send()
        reply = self.session.active
        assert reply is not None
        self.bench.client.emit(TurnFailed("context", "Too long.", "Shorten it."))
        assert self.session.take_back(reply)
        assert self.shown.id != refused
        assert self.field == written
        self.expect_kept()

    def expect_kept(self) -> None:
        chats = self.session.conversations
        assert Field(chats.unsent(self.id), chats.unsent_files(self.id)) == self.field
        if not self.shown.conversation.private:
            kept = Field(self.store.unsent(self.id), self.store.unsent_files(self.id))
            assert kept == self.field

    @invariant()
    def each_draft_is_kept_with_its_chat(self) -> None:
        chats = self.session.conversations
        for chat in {"", *self.listed} - {self.id}:
            kept = Field(chats.unsent(chat), chats.unsent_files(chat))
            assert kept == self.left.get(chat, Field())

    @invariant()
    def nothing_private_is_stored(self) -> None:
        if self.shown.conversation.private:
            assert self.store.unsent(self.shown.id) == ""
            assert self.store.unsent_files(self.shown.id) == ()


TestDrafts = Machine.TestCase
TestDrafts.settings = limits(max_examples=80, stateful_step_count=20)


def test_text_that_was_kept_is_there_at_the_next_start() -> None:
    first, second = ChatBench(), QObject()
    first.session.conversations.save_unsent("", "half a thought")
    again = ChatBench(first.store)
    signals = ChatSignals(second)
    shown = ShownChat(again.session, signals, second)
    drafts = Drafts(shown, again.session.conversations, signals)
    assert (drafts.text, drafts.files) == ("half a thought", ())


def test_pasted_files_that_an_earlier_version_kept_outlive_a_change_of_the_text() -> None:
    first = ChatBench()
    first.session.conversations.save_unsent("", '\x1e["half", ["a.txt", "a"], ["b.txt", "b"]]')
    for text in ("half", "half a thought"):
        owner, bench = QObject(), ChatBench(first.store)
        signals = ChatSignals(owner)
        shown = ShownChat(bench.session, signals, owner)
        drafts = Drafts(shown, bench.session.conversations, signals)
        assert (drafts.text, drafts.files) == (text, FILES)
        drafts.write("half a thought", FILES)
