"""Texts of stored chats: when the engine is handed them, and when they are taken from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from chat.chat_bench import ChatBench
from paceline.chat.reply import TurnOptions
from paceline.conversation import Attachment
from paceline.messages import (
    DropStates,
    EngineDied,
    LoadPair,
    Remember,
    Remembered,
    StartTurn,
    TurnFailed,
    TurnStarted,
    Unloaded,
)

if TYPE_CHECKING:
    from paceline.storage.archive import ConversationStore

MUCH = 1_000_000


class Engine(ChatBench):
    """The texts that an engine has after the commands that it was given."""

    def __init__(self, store: ConversationStore | None = None, limit: int = MUCH) -> None:
        super().__init__(store, prefix=f"life-{id(self)}")
        self._n_heard = 0
        self.known: dict[str, tuple[str, ...]] = {}
        self.session.stored_texts.set_limit(limit)
        self.hear()

    def hear(self) -> None:
        """Carry out the commands since the last call."""
        for command in self.client.commands[self._n_heard :]:
            if isinstance(command, LoadPair):
                self.known.clear()
            elif isinstance(command, Remember):
                self.known.pop(command.chat, None)
                if command.texts:
                    self.known[command.chat] = command.texts
        self._n_heard = len(self.client.commands)

    def chat(self, question: str, answer: str, *, private: bool = False) -> str:
        """Have a chat of one question, a second after the last one; returns its id."""
        self.today += 1
        self.new(private=private)
        self.ask(question, answer)
        return self.id

    @property
    def texts(self) -> set[str]:  # type: ignore[override]
        self.hear()
        return {text for texts in self.known.values() for text in texts}


@pytest.fixture
def engine(store: ConversationStore) -> Engine:
    return Engine(store)


def test_a_start_hands_in_the_newest_chat_first_and_the_next_when_it_is_taken(
    engine: Engine, store: ConversationStore
) -> None:
    chats = [engine.chat(f"{n}?", f"{n}.") for n in range(4)]
    second = ChatBench(store, prefix="second")
    second.client.takes_texts = False
    second.session.stored_texts.set_limit(MUCH)
    for n in range(1, 5):
        assert [given.chat for given in second.client.all(Remember)] == chats[: -n - 1 : -1]
        second.client.emit(Remembered(second.client.last(Remember).chat))
    assert len(second.client.all(Remember)) == 4


def test_a_message_comes_before_texts(engine: Engine, store: ConversationStore) -> None:
    engine.chat("One?", "1.")
    bench = ChatBench(store, prefix="second")
    bench.session.stored_texts.set_limit(MUCH)
    bench.loader.reload()
    bench.send("Two?")
    n = len(bench.client.commands)
    bench.client.finish_load()
    assert [type(command) for command in bench.client.commands[n : n + 2]] == [StartTurn, Remember]


def test_private_chats_are_never_handed_in(engine: Engine) -> None:
    secret = engine.chat("Secret?", "Shh.", private=True)
    engine.chat("One?", "1.")
    engine.show(secret)
    engine.ask("More?", "Shh.")
    engine.regenerate()
    engine.client.reply("Hush.")
    engine.branch(engine.message(1))
    engine.session.stored_texts.set_limit(MUCH // 2)
    engine.loader.reload()
    engine.client.finish_load()
    assert engine.texts == {"One?", "1."}
    for command in engine.client.all(Remember):
        assert "Secret?" not in command.texts
        assert command.chat != secret


def test_a_deletion_is_reported_at_once_and_undone(engine: Engine) -> None:
    first = engine.chat("One?", "1.")
    engine.chat("Two?", "2.")
    engine.hear()
    n = len(engine.client.commands)
    engine.session.remove(first)
    told = [Remember(first), DropStates((first,))]
    assert engine.client.commands[n:] == told  # neither undo nor idle is waited for
    assert engine.texts == {"Two?", "2."}
    engine.restore(first)
    assert engine.texts == {"One?", "1.", "Two?", "2."}
    engine.session.remove(first)
    engine.session.conversations.purge(first)
    assert engine.texts == {"Two?", "2."}
    assert engine.client.all(DropStates) == 2 * told[1:], "not again for what is gone already"


def test_a_chat_that_is_deleted_before_it_was_taken_does_not_stay(engine: Engine) -> None:
    engine.client.takes_texts = False
    chat = engine.chat("One?", "1.")
    engine.ask("Two?", "2.")  # waits to be handed in again
    engine.session.remove(chat)
    engine.client.emit(Remembered(chat))
    engine.client.emit(Remembered(chat))
    assert engine.texts == set()


def test_a_refused_question_is_taken_back_from_the_engine(engine: Engine) -> None:
    engine.chat("One?", "1.")
    engine.send("Too long?")
    engine.client.emit(TurnFailed("prompt-too-long", "It is too long.", ""))
    assert "Too long?" in engine.texts
    engine.session.take_back(engine.reply())
    assert engine.texts == {"One?", "1."}


def test_versions_attachments_and_copies_count(engine: Engine) -> None:
    engine.chat("One?", "1.")
    engine.edit(engine.message(0), "Uno?")
    engine.client.reply("Uno.")
    assert engine.texts == {"One?", "1.", "Uno?", "Uno."}
    engine.send("What is it?", (Attachment("a.py", "import this", 11),))
    engine.client.reply("Poetry.")
    assert any("import this" in text for text in engine.texts)
    engine.branch(engine.message(1))
    assert len(engine.known) == 1
    engine.hear()
    assert len(engine.known) == 2


def test_the_limit_keeps_the_newest_chats(store: ConversationStore) -> None:
    engine = Engine(store, limit=40)
    chats = [engine.chat(f"{n}?" + "x" * 8, "y" * 8) for n in range(4)]  # 18 bytes each
    engine.hear()
    assert list(engine.known) == chats[2:]
    second = Engine(store, limit=40)
    assert set(second.known) == set(chats[2:])
    second.show(chats[0])
    second.today += 10
    second.ask("more", "text")
    second.hear()
    assert set(second.known) == {chats[0]}, "18 and 8 bytes, and the next one has 18"
    second.session.stored_texts.set_limit(62)
    second.hear()
    assert set(second.known) == {chats[0], *chats[2:]}


def test_of_a_long_chat_the_latest_texts_count(store: ConversationStore) -> None:
    engine = Engine(store, limit=20)
    engine.chat("a" * 8, "b" * 8)
    engine.ask("c" * 8, "ü" * 5)
    assert engine.texts == {"c" * 8, "ü" * 5}


def test_old_chats_that_are_too_many_are_not_even_read(
    engine: Engine, store: ConversationStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(30):
        engine.chat(f"{n}?", "y" * 8)
    loaded: list[str] = []
    load = type(store).load
    monkeypatch.setattr(
        type(store), "load", lambda self, name: (loaded.append(name), load(self, name))[1]
    )
    second = Engine(store, limit=40)
    assert len(second.known) == 3
    assert len(loaded) == 4


def test_switching_off_takes_everything_out_and_on_again_hands_it_in(engine: Engine) -> None:
    engine.chat("One?", "1.")
    engine.chat("Two?", "2.")
    engine.session.stored_texts.set_limit(0)
    assert engine.texts == set()
    engine.chat("Three?", "3.")
    assert engine.texts == set()
    engine.session.stored_texts.set_limit(MUCH)
    assert engine.texts == {"One?", "1.", "Two?", "2.", "Three?", "3."}


@pytest.mark.parametrize("end", [EngineDied("It crashed."), Unloaded()], ids=["died", "unloaded"])
def test_another_engine_is_handed_everything_again(
    engine: Engine, end: EngineDied | Unloaded
) -> None:
    engine.options = TurnOptions(remember=True)
    first = engine.chat("One?", "1.")
    engine.chat("Two?", "2.")
    engine.hear()
    engine.client.emit(end)
    n = len(engine.client.all(Remember))
    engine.session.remove(first)
    assert len(engine.client.all(Remember)) == n, "there is no one to tell"
    engine.loader.reload()
    engine.client.finish_load()
    assert engine.texts == {"Two?", "2."}


def test_a_chat_that_no_longer_fits_is_taken_out(store: ConversationStore) -> None:
    engine = Engine(store, limit=100)
    chat = engine.chat("A" * 20, "a" * 20)
    engine.send("S" * 10)
    engine.today += 1
    engine.branch(engine.message(1))  # it is newer, and what comes last
    engine.client.reply("s" * 50)
    engine.hear()
    assert chat not in engine.known


def test_what_does_not_fit_makes_no_room(store: ConversationStore) -> None:
    engine = Engine(store, limit=100)
    engine.chat("One?", "1.")
    engine.chat("Long?", "x" * 101)
    assert engine.texts == {"One?", "1."}
    assert all(not c.texts or not c.makes_room for c in engine.client.all(Remember))


def test_what_is_handed_in_during_a_load_can_be_deleted(
    engine: Engine, store: ConversationStore
) -> None:
    chats = [engine.chat(f"{n}?", f"{n}.") for n in range(3)]
    bench = ChatBench(store, prefix="second")
    bench.client.takes_texts = False
    bench.session.stored_texts.set_limit(MUCH)
    bench.loader.reload()
    bench.client.emit(Remembered(chats[2]))  # by the pair before
    assert bench.client.last(Remember).chat == chats[1], "it comes after the load"
    bench.client.finish_load()
    bench.session.remove(chats[1])
    assert bench.client.last(Remember) == Remember(chats[1])


def test_what_another_window_deletes_is_gone_before_the_next_reply(
    engine: Engine, store: ConversationStore
) -> None:
    chats = [engine.chat(f"{n}?", f"{n}.") for n in range(3)]
    other = Engine(store)
    other.loader.reload()
    engine.session.remove(chats[0])
    other.client.finish_load()
    engine.session.remove(chats[1])
    other.new()
    other.send("Three?")
    other.client.emit(TurnStarted(3, 0, 1))
    assert other.texts == {"2?", "2."}
