"""Several chats at once, open or not: a use case does what it says in its own chat, and only there.

The machine knows each chat as a tree of texts. After every step the session, the store, and another
session on the same store must agree; the listener was notified of no other chat, and the engine
got no other prompt. Engines die, loads fail, and the program is closed or killed between the steps.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from hypothesis import Phase
from hypothesis import settings as limits
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from chat.recorder import Recorder
from chat.tree import Tree
from gui.fake_client import FakeClient, step_of
from paceline.chat.conversations import DeletedMessages
from paceline.chat.pair import Pair, PairLoader
from paceline.chat.reply import Reply, TurnOptions
from paceline.chat.session import ChatSession
from paceline.errors import UserError
from paceline.messages import EngineDied, LoadFailed, ModelParams, StartTurn, Tune, TurnFailed
from paceline.params import DraftModel, ReplySettings, Strategy
from paceline.run_record import CLOSED, INTERRUPTED
from paceline.storage.archive import Archive, ConversationStore

MOST_CHATS = 4
texts = st.sampled_from(("One", "Two words", "Ünd?"))
numbers = st.integers(0, 60)
endings = st.sampled_from(("finish", "stop", "fail", "die", "close"))
before = st.sampled_from(("finish", "stop", "fail", "die", "close", "busy"))
"""Ends of a reply under way before a use case; busy: it goes on, and the use case meets it."""
has_messages = precondition(lambda life: any(tree.nodes for tree in life.trees.values()))
strategies = st.sampled_from((Strategy.of("draft"), Strategy.of("off"), Strategy.of("suffix")))
courses = st.lists(st.tuples(texts, strategies), max_size=3)
"""The steps of a reply, each with the strategy that is chosen after it."""
PAIR = Pair(ModelParams("target"), DraftModel(ModelParams("draft")))
BROKEN = Pair(ModelParams("broken"))
Course = list[tuple[str, Strategy]]


def has_unbegun(life: ManyChats) -> bool:
    """Return whether the reply under way has not begun."""
    return life.session.active is not None and life.session.active.status == "waiting"


class ManyChats(RuleBasedStateMachine):
    """A session, its store, and a scripted engine."""

    def __init__(self) -> None:
        super().__init__()
        self.ids = count()
        self.store = self.new_store()
        self.begin()
        self.trees: dict[str, Tree] = {}
        self.removed: dict[str, Tree] = {}
        self.deleted: list[tuple[DeletedMessages, Tree]] = []
        self.errors: dict[str, str] = {}  # of replies that failed, by code
        self.strategy = Strategy.of("draft")
        self.text = ""  # of the reply under way
        self.is_continued = False
        self.settings = ReplySettings()  # that it was asked with
        self.chat = ""  # the one that a use case is about
        self.new(private=False)

    def new_store(self) -> ConversationStore:
        return ConversationStore()

    def begin(self) -> None:
        """Start the program on what is stored."""
        self.client = FakeClient()
        self.loader = PairLoader(self.client)
        self.session = ChatSession(
            self.client,
            self.loader,
            store=self.store,
            new_id=lambda: f"id-{next(self.ids)}",
            clock=lambda: 0.0,
            now=lambda: 1000.0,
        )
        self.told = Recorder()
        self.session.set_listener(self.told)
        self.loader.load(PAIR)
        self.client.finish_load()

    # ------------------------------------------------------------------------------ helpers

    @property
    def chats(self) -> list[str]:
        return list(self.trees)

    def options(self) -> TurnOptions:
        return TurnOptions(self.strategy, remember=True)

    def a_chat(self, number: int, *, where: Callable[[Tree], bool] = lambda _: True) -> str:
        """Choose a chat for a use case; return its id, or an empty one if no chat fits."""
        found = [name for name, tree in self.trees.items() if where(tree)]
        self.chat = found[number % len(found)] if found else ""
        return self.chat

    def a_place(self, number: int, at: int) -> tuple[str, Tree, str]:
        """Choose a chat that has messages, and one of them."""
        chat = self.a_chat(number, where=lambda tree: bool(tree.nodes))
        return chat, self.trees[chat], self.a_message(chat, at)

    def a_message(self, chat: str, number: int, role: str = "") -> str:
        nodes = self.trees[chat].nodes
        found = [n for n, node in nodes.items() if role in ("", node[1])]
        return found[number % len(found)] if found else ""

    def began(self, reply: Reply | None, chat: str, parent: str | None, begun: str = "") -> None:
        """Know of the reply that a use case has started; none while another is under way."""
        assert reply is not None
        assert reply is self.session.active
        assert (reply.conversation_id, reply.text) == (chat, begun)
        self.trees[chat].add(reply.message_id, parent, "assistant", "")
        self.text, self.is_continued = begun, bool(begun)
        self.settings = self.trees[chat].settings
        if self.is_loaded:
            self.was_asked()

    def was_asked(self) -> None:
        """Find that the engine was asked for the reply under way as its chat stands."""
        active, command = self.session.active, self.client.last(StartTurn)
        assert active is not None
        tree = self.trees[active.conversation_id]
        assert command.strategy == self.strategy
        assert command.remember != tree.private
        assert command.begun_text == self.text
        question = tree.nodes[active.message_id][0]
        assert question is not None
        said = [(m.role, m.text) for m in command.prompt.messages]
        wanted = replace(tree, settings=self.settings).prompt(question)
        if self.is_continued:  # it continues with the settings that it began with
            said, wanted = ([one for one in all_ if one[0] != "system"] for all_ in (said, wanted))
        else:
            assert command.seed == self.settings.seed
        assert said == wanted

    @property
    def is_loaded(self) -> bool:
        return self.loader.state.status == "ready"

    def be_asked(self) -> None:
        """Let the models be there that a reply waits for."""
        if not self.is_loaded:
            if self.loader.state.pair == BROKEN:
                self.client.emit(LoadFailed("broken", "It is broken.", ""))
            self.client.finish_load()
            self.was_asked()

    def is_refused(self, reply: Reply | None) -> bool:
        """Return whether a use case had to be refused, since a reply was under way before."""
        return reply is None and self.session.active is not None

    def be_idle(self, before: str) -> None:
        """Let the reply under way end like this, unless a use case is to meet it."""
        if self.session.active is not None and before != "busy":
            self.end(before)
            self.only_its_own_chat_was_told_of()

    def was_turned(self, chat: str) -> None:
        """Check that the listener was notified of the chat's new path."""
        paths = [value for name, value in self.told.calls if name == "path"]
        assert [made.conversation_id for made in paths] == [chat]
        assert [m.message_id for m in paths[0].path()] == self.trees[chat].path()

    # -------------------------------------------------------------------------------- chats

    @precondition(lambda self: len(self.trees) < MOST_CHATS)
    @rule(private=st.booleans())
    def new(self, *, private: bool) -> None:
        chat = self.session.conversations.new(private=private)
        self.trees[chat] = Tree(private, n_holders=1)
        assert self.session.regenerate(chat, self.options) is None
        assert self.session.continue_reply(chat, self.options) is None

    @has_messages
    @rule(
        what=st.sampled_from(("open", "close", "set", "rename", "remove", "load", "restart")),
        number=numbers,
        text=texts,
        flag=st.booleans(),
    )
    def tend(self, what: str, number: int, text: str, *, flag: bool) -> None:
        """Do one of what is not about messages; as rules of their own they would crowd lives."""
        match what:
            case "open":
                self.open(number)
            case "close":
                self.close(number)
            case "set":
                self.set(number, seed=number % 10)
            case "rename":
                self.rename(number, text)
            case "remove":
                self.remove(number)
            case "load" if self.session.active is None:
                self.load(is_wrong=flag)
            case "restart":
                self.restart(is_killed=flag)

    def open(self, number: int) -> None:
        if chat := self.a_chat(number):
            self.session.conversations.open(chat)
            self.trees[chat].n_holders += 1

    def close(self, number: int) -> None:
        """Let a chat go; an empty one would be gone."""
        if chat := self.a_chat(number, where=lambda tree: bool(tree.n_holders and tree.title)):
            self.session.conversations.close(chat)
            self.trees[chat].n_holders -= 1

    def set(self, number: int, seed: int) -> None:
        if chat := self.a_chat(number, where=lambda tree: tree.n_holders > 0):
            settings = ReplySettings(seed=seed, system_prompt="Rhyme." if seed % 2 else "")
            self.session.conversations.set_settings(chat, settings)
            self.trees[chat].settings = settings

    def rename(self, number: int, title: str) -> None:
        if chat := self.a_chat(number, where=lambda tree: bool(tree.title)):
            self.session.rename(chat, f"{title}!")
            self.trees[chat].title = f"{title}!"

    def remove(self, number: int) -> None:
        if chat := self.a_chat(number, where=lambda tree: bool(tree.title)):
            active = self.session.active
            self.session.remove(chat)
            assert self.told.calls[-1] == ("removed", (chat, False))
            if active is not None and active.conversation_id == chat:
                if self.session.active is not None:  # it did not wait for models
                    assert self.client.cancelled[-1] == self.client.last(StartTurn)
                    self.client.finish_turn(self.text)
                self.know_end(active)
            self.let_go(chat)
            self.removed[chat] = self.trees.pop(chat)

    def let_go(self, chat: str) -> None:
        for _ in range(self.trees[chat].n_holders):
            self.session.conversations.close(chat)
        self.trees[chat].n_holders = 0

    @precondition(lambda self: self.removed and len(self.trees) < MOST_CHATS)
    @rule(number=numbers)
    def restore(self, number: int) -> None:
        chat = self.chat = list(self.removed)[number % len(self.removed)]
        self.session.restore(chat)
        self.trees[chat] = self.removed.pop(chat)

    @precondition(lambda self: self.removed)
    @rule(number=numbers)
    def purge(self, number: int) -> None:
        chat = self.chat = list(self.removed)[number % len(self.removed)]
        del self.removed[chat]
        self.session.conversations.purge(chat)
        for use in (self.session.conversations.open, self.store.load):
            with pytest.raises(UserError):
                use(chat)

    @precondition(lambda self: len(self.trees) < MOST_CHATS)
    @has_messages
    @rule(number=numbers, at=numbers)
    def branch(self, number: int, at: int) -> None:
        chat, old, message = self.a_place(number, at)
        active = self.session.active
        copy_id = self.session.branch(chat, message)
        assert bool(copy_id) == (active is None or active.message_id != message)
        if not copy_id:
            return
        self.told.calls.clear()  # of the list alone
        copy = self.session.conversations.get(copy_id)
        tree = self.trees[copy_id] = Tree(old.private, title=copy.title, settings=old.settings)
        up_to = Tree(old.private, old.nodes, message).path()
        for made, name in zip(copy.path(), up_to, strict=True):
            tree.add(made.message_id, made.parent_id, old.nodes[name][1], old.nodes[name][2])
            self.errors[made.message_id] = self.errors.get(name, "")

    # ------------------------------------------------------------------------------ replies

    @rule(number=numbers, text=texts, before=before, course=courses)
    def send(self, number: int, text: str, before: str, course: Course) -> None:
        self.be_idle(before)
        chat = self.a_chat(number)
        if not chat:
            return
        was_busy = self.session.active is not None
        reply = self.session.send(chat, text, self.options)
        if was_busy:
            assert self.is_refused(reply)
            return
        assert reply is not None
        tree, made = self.trees[chat], self.session.conversations.get(chat)
        question = made.messages[reply.message_id].parent_id
        assert question is not None
        tree.add(question, tree.leaf, "user", text)
        tree.title = made.title
        self.began(reply, chat, question)
        self.go_on(course)

    @has_messages
    @rule(number=numbers, at=numbers, text=texts, before=before, course=courses)
    def edit(self, number: int, at: int, text: str, before: str, course: Course) -> None:
        self.be_idle(before)
        chat, tree, message = self.a_place(number, at)
        was_busy = self.session.active is not None
        if tree.is_reply(message):
            is_new = not was_busy and tree.nodes[message][2] != text
            assert self.session.edit_reply(chat, message, text) == is_new
            if is_new:
                leaf = self.session.conversations.get(chat).leaf_id
                assert leaf is not None
                tree.add(leaf, tree.nodes[message][0], "assistant", text)
                self.was_turned(chat)
            return
        reply = self.session.edit(chat, message, text, self.options)
        if was_busy:
            assert self.is_refused(reply)
            return
        assert reply is not None
        made = self.session.conversations.get(chat)
        question = made.messages[reply.message_id].parent_id
        assert question is not None
        tree.add(question, tree.nodes[message][0], "user", text)
        tree.title = made.title
        self.began(reply, chat, question)
        self.was_turned(chat)
        self.go_on(course)

    @has_messages
    @rule(number=numbers, at=numbers, blank=st.sampled_from(("", " \n\t")))
    def write_nothing(self, number: int, at: int, blank: str) -> None:
        """Send blanks, or edit something into them or itself: nothing is asked or changes."""
        chat, tree, message = self.a_place(number, at)
        active = self.session.active
        assert self.session.send(chat, blank, self.options) is None
        assert self.session.edit(chat, message, blank, self.options) is None
        assert not self.session.edit_reply(chat, message, blank)
        assert not self.session.edit_reply(chat, message, tree.nodes[message][2])
        assert self.session.edit(chat, "unknown", "Text", self.options) is None
        assert self.session.regenerate(chat, self.options, "unknown") is None
        assert self.session.active is active
        if active is None:
            n_cancelled = len(self.client.cancelled)
            self.session.stop()
            assert len(self.client.cancelled) == n_cancelled

    @has_messages
    @rule(number=numbers, at=numbers, before=before, course=courses)
    def regenerate(self, number: int, at: int, before: str, course: Course) -> None:
        self.be_idle(before)
        chat, tree, message = self.a_place(number, at)
        was_busy = self.session.active is not None
        reply = self.session.regenerate(chat, self.options, message)
        if was_busy:
            assert self.is_refused(reply)
        else:
            parent = tree.nodes[message][0] if tree.is_reply(message) else message
            self.began(reply, chat, parent)
            self.was_turned(chat)
            self.go_on(course)

    @has_messages
    @rule(number=numbers, at=numbers, before=before, course=courses)
    def continue_reply(self, number: int, at: int, before: str, course: Course) -> None:
        self.be_idle(before)
        chat, tree, message = self.a_place(number, at)
        was_busy = self.session.active is not None
        reply = self.session.continue_reply(chat, self.options, message)
        text = tree.nodes[message][2]
        if was_busy or not tree.is_reply(message) or not text:
            assert reply is None
        else:
            self.began(reply, chat, tree.nodes[message][0], text)
            self.was_turned(chat)
            self.go_on(course)

    @has_messages
    @rule(number=numbers, at=numbers, step=st.sampled_from((-1, 1)), before=before)
    def turn(self, number: int, at: int, step: int, before: str) -> None:
        self.be_idle(before)
        chat, tree, message = self.a_place(number, at)
        siblings = tree.children(tree.nodes[message][0])
        place = siblings.index(message) + step
        there = 0 <= place < len(siblings)
        assert self.session.turn_to_sibling(chat, message, step) == there
        if there:
            tree.turn_to(siblings[place])
            self.was_turned(chat)

    @has_messages
    @rule(number=numbers, at=numbers, before=before)
    def turn_to(self, number: int, at: int, before: str) -> None:
        """Show a message that may be on another path, as a search does."""
        self.be_idle(before)
        chat, tree, message = self.a_place(number, at)
        was_shown = message in tree.path()
        self.session.turn_to(chat, message)
        if not was_shown:
            tree.turn_to(message)
            self.was_turned(chat)

    @has_messages
    @rule(number=numbers, at=numbers, before=before)
    def delete(self, number: int, at: int, before: str) -> None:
        self.be_idle(before)
        chat, tree, message = self.a_place(number, at)
        was = Tree(tree.private, dict(tree.nodes), tree.leaf)
        deleted = self.session.delete_message(chat, message)
        if self.session.active is not None:
            assert deleted is None
            return
        assert deleted is not None
        assert [m.message_id for m in deleted.messages] == tree.below(message)
        tree.drop(message)
        self.was_turned(chat)
        self.deleted = [(deleted, was)]

    @precondition(lambda self: self.deleted)
    @rule()
    def undelete(self) -> None:
        """Take the last deletion back, as long as nothing else has changed the chat."""
        deleted, was = self.deleted.pop()
        chat = self.chat = deleted.conversation_id
        gone = [message.message_id for message in deleted.messages]
        left = {n for n in was.nodes if n not in gone}
        if chat in self.trees and self.trees[chat].nodes.keys() == left:
            self.session.undelete(deleted)
            tree = self.trees[chat]
            tree.nodes, tree.leaf = {**tree.nodes, **{n: was.nodes[n] for n in gone}}, was.leaf
            self.was_turned(chat)

    # ---------------------------------------------------------------------------- the engine

    def hear_late(self) -> None:
        """Let every turn before speak, those that were not seen to end first: nothing is told."""
        told, command = list(self.told.calls), self.client.last(StartTurn)
        for ticket in self.client.tickets:
            if isinstance(ticket.command, StartTurn) and ticket.command is not command:
                self.client.emit(step_of("late", 9), ticket)
        assert self.told.calls == told

    def go_on(self, course: Course) -> None:
        """Let the reply that has just been started be written as far as this."""
        for text, strategy in course:
            self.step(text, strategy)

    @precondition(lambda self: self.session.active is not None)
    @rule(text=texts, strategy=strategies)
    def step(self, text: str, strategy: Strategy) -> None:
        active = self.session.active
        assert active is not None
        self.be_asked()
        self.hear_late()
        if active.status == "waiting":
            self.client.start_turn()
        self.client.step(text, len(active.steps))
        self.text += text
        assert active.text == self.text
        before = len(self.client.all(Tune))
        is_new = strategy != self.strategy
        self.strategy = strategy
        assert self.session.tune(strategy)
        assert len(self.client.all(Tune)) == before + is_new

    @precondition(lambda self: self.session.active is not None)
    @rule(how=endings)
    def end(self, how: str) -> None:
        active = self.session.active
        assert active is not None
        self.chat = active.conversation_id
        self.be_asked()
        if active.status == "waiting":
            self.client.start_turn()
            self.client.step("x", len(active.steps))
            self.text += "x"
        if how == "fail":
            self.client.emit(TurnFailed("decode", "It failed.", ""))
        elif how == "die":
            self.client.emit(EngineDied("Killed.", ""))
            self.loader.reload()
            self.client.finish_load()
        elif how == "close":
            self.session.end_reply()
        else:
            if how == "stop":
                n_cancelled = len(self.client.cancelled)
                self.session.stop()
                self.session.stop()
                assert self.client.cancelled[n_cancelled:] == [self.client.last(StartTurn)]
            self.client.finish_turn(self.text)
        codes = {"fail": "decode", "die": "engine-died", "close": CLOSED.code}
        self.know_end(active, codes.get(how, ""))
        assert self.session.take_back(active) is None, "what has begun stays"

    def know_end(self, ended: Reply, code: str = "") -> None:
        assert self.session.active is None
        assert ended.has_ended
        assert (ended.error.code if ended.error is not None else "") == code
        self.errors[ended.message_id] = code
        tree = self.trees[ended.conversation_id]
        tree.nodes[ended.message_id] = tree.nodes[ended.message_id][0], "assistant", self.text

    def load(self, *, is_wrong: bool) -> None:
        """Load other models, perhaps from a wrong file; what is sent waits for those that come."""
        self.loader.load(BROKEN if is_wrong else PAIR)

    @precondition(has_unbegun)
    @rule()
    def stop_before_it_begins(self) -> None:
        active = self.session.active
        assert active is not None
        self.chat = active.conversation_id
        n_turns, was_loaded = len(self.client.all(StartTurn)), self.is_loaded
        self.session.stop()
        if was_loaded:
            self.client.emit(TurnFailed("cancelled", "It was stopped.", ""))
        self.know_end(active)
        assert active.reason == "cancelled"
        assert len(self.client.all(StartTurn)) == n_turns

    @precondition(has_unbegun)
    @rule(n_deaths=st.integers(1, 2))
    def die_before_it_begins(self, n_deaths: int) -> None:
        """Let engines die: the next one gets the reply, but once."""
        active = self.session.active
        assert active is not None
        self.chat = active.conversation_id
        for _ in range(n_deaths):
            code = "engine-died" if active.waits_again else ""
            n_turns = len(self.client.all(StartTurn))
            self.client.emit(EngineDied("Killed.", ""))
            assert len(self.client.all(StartTurn)) == n_turns
            assert not self.is_loaded
            if code:
                self.know_end(active, code)
                self.loader.reload()
                return
            self.be_asked()

    def restart(self, *, is_killed: bool) -> None:
        """Start the program again: what is stored is there, and private chats are gone."""
        active, chats = self.session.active, self.session.conversations
        for chat, tree in self.trees.items():
            if tree.n_holders:
                chats.keep_settings(chat)
            tree.n_holders = 0
        if not is_killed:
            self.session.end_reply()
        if active is not None:
            self.chat = active.conversation_id
            nodes = self.trees[self.chat].nodes
            nodes[active.message_id] = nodes[active.message_id][0], "assistant", self.text
            self.errors[active.message_id] = (INTERRUPTED if is_killed else CLOSED).code
        self.trees = {c: tree for c, tree in self.trees.items() if tree.title and not tree.private}
        self.removed.clear()
        self.reopen()
        self.begin()

    def reopen(self) -> None:
        """Close the store and open it again, where it is on a disk."""

    @precondition(has_unbegun)
    @rule()
    def refuse(self) -> None:
        """The engine refuses a reply before it begins, and the window takes it back."""
        active = self.session.active
        assert active is not None
        assert self.session.take_back(active) is None, "it has not ended"
        self.be_asked()
        chat = self.chat = active.conversation_id
        self.client.emit(TurnFailed("prompt-too-long", "Too long.", ""))
        self.know_end(active, "prompt-too-long")
        tree = self.trees[chat]
        question = tree.nodes[active.message_id][0]
        assert question is not None
        is_alone = len(tree.children(question)) == 1
        returned = self.session.take_back(active)
        assert (returned.message_id if returned is not None else None) == (
            question if is_alone else None
        )
        tree.drop(question if is_alone else active.message_id)
        if not tree.nodes:
            assert self.told.calls[-1] == ("removed", (chat, True))
            assert self.session.conversations.is_purged(chat)
            self.let_go(chat)
            del self.trees[chat]
        else:
            self.was_turned(chat)
            assert self.session.conversations.reply_of(chat, active.message_id) is None

    # -------------------------------------------------------------------------- what is true

    @invariant()
    def the_session_says_so(self) -> None:
        chats = self.session.conversations
        active = self.session.active.message_id if self.session.active is not None else ""
        for chat, tree in self.trees.items():
            made = chats.get(chat)
            found = {n: (m.parent_id, m.role, m.text) for n, m in made.messages.items()}
            assert found.keys() == tree.nodes.keys()
            assert {n: v for n, v in found.items() if n != active} == {
                n: v for n, v in tree.nodes.items() if n != active
            }
            assert [m.message_id for m in made.path()] == tree.path()
            assert (made.title, made.private) == (tree.title, tree.private)
            assert chats.settings_of(chat) == tree.settings
        listed = {line.conversation_id for line in self.session.summaries}
        assert listed == {chat for chat, tree in self.trees.items() if tree.title}

    @invariant()
    def a_restart_would_say_so(self) -> None:
        """Find stored chats in another session, all but settings just set, and no private one."""
        again = ChatSession(FakeClient(), PairLoader(FakeClient()), store=self.store)
        stored = {c for c, tree in self.trees.items() if tree.title and not tree.private}
        assert {line.conversation_id for line in again.summaries} == stored
        active = self.session.active
        for chat in stored:
            here, there = self.session.conversations.get(chat), again.conversations.get(chat)
            assert (there.title, there.leaf_id) == (here.title, here.leaf_id)
            for message in here.messages.values():
                if active is not None and active.message_id == message.message_id:
                    assert there.messages[message.message_id].text == self.text
                    continue
                assert there.messages[message.message_id] == message
                if message.role == "assistant":
                    ours = self.session.conversations.full_reply(chat, message.message_id)
                    theirs = again.conversations.full_reply(chat, message.message_id)
                    assert ours is not None
                    assert theirs is not None
                    assert (theirs.text, theirs.steps) == (ours.text, ours.steps)
                    assert theirs.error == ours.error
                    code = self.errors.get(message.message_id, "")
                    assert (ours.error.code if ours.error is not None else "") == code

    @invariant()
    def only_its_own_chat_was_told_of(self) -> None:
        active = self.session.active
        its_own = {self.chat, active.conversation_id if active is not None else ""}
        for name, value in self.told.calls:
            if name in ("path", "changed"):
                assert value.conversation_id == self.chat
            elif name == "removed":
                assert value[0] == self.chat
            elif name in ("started", "progressed", "grew", "tuned"):
                assert value.conversation_id in its_own
        self.told.calls.clear()


ManyChats.TestCase.settings = limits(
    max_examples=40, stateful_step_count=50, phases=[Phase.generate]
)
TestManyChats = ManyChats.TestCase


class ManyChatsOnDisk(ManyChats):
    """The same with chats in a database."""

    def new_store(self) -> Archive:
        self.ends = contextlib.ExitStack()
        folder = self.ends.enter_context(tempfile.TemporaryDirectory())
        self.path = Path(folder) / "chats.db"
        return self.opened()

    def opened(self) -> Archive:
        archive = Archive(self.path)
        archive.open()
        self.ends.callback(archive.close)
        return archive

    def reopen(self) -> None:
        assert isinstance(self.store, Archive)
        assert self.store.close()
        self.store = self.opened()

    def teardown(self) -> None:
        self.ends.close()


ManyChatsOnDisk.TestCase.settings = limits(
    max_examples=5, stateful_step_count=30, phases=[Phase.generate]
)
TestManyChatsOnDisk = ManyChatsOnDisk.TestCase
