"""Events in any order and of any content: the session never fails and mixes up no replies."""

import random
from itertools import count

import pytest
from msgspec import structs

from chat.chat_bench import Shown
from chat.recorder import Recorder
from gui.fake_client import STATS, FakeClient, step_of
from message_samples import EVENTS, sample
from paceline.chat.pair import Pair, PairLoader
from paceline.chat.session import ChatSession
from paceline.hosting.broker import Ticket
from paceline.messages import (
    Event,
    LoadFailed,
    LoadPair,
    ModelParams,
    PairLoaded,
    PrefillProgressed,
    StepCommitted,
    TokenTrace,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from paceline.params import DraftModel, Strategy
from trials import Trials

NUMBERS = (-(2**63), -1, 0, 1, 10**30)
FLOATS = (-1.0, 0.0, 1e308, float("inf"), float("nan"))
TEXTS = ("", "\0", "ä" * 1000, "<b>", "\u202e")


class Chat(Shown):
    """A session with a loaded pair and one finished reply, whose text nothing may change."""

    def __init__(self) -> None:
        numbers = count()
        self.client = FakeClient()
        self.loader = PairLoader(self.client)
        self.begin(ChatSession(self.client, self.loader, new_id=lambda: f"id-{next(numbers)}"))
        self.session.set_listener(Recorder())
        self.load()
        self.turn_of("first")
        self.client.reply("The first answer.")
        self.first = self.texts

    def load(self) -> None:
        self.loader.load(Pair(ModelParams("target.gguf"), DraftModel(ModelParams("draft.gguf"))))
        self.client.finish_load()

    def turn_of(self, text: str) -> Ticket:
        """Send a question; returns the new turn's ticket."""
        assert self.send(text)
        return self.client.tickets[-1]


def sequence() -> list[Event]:
    """A sound reply."""
    steps = [step_of(f"word {n} ", n) for n in range(4)]
    finished = TurnFinished("eog", "word " * 4, (1, 2), 1, Strategy.of("draft"), STATS)
    return [TurnStarted(9, 0, 1), PrefillProgressed(9, 9), *steps, finished]


def mutated(events: list[Event], rng: random.Random) -> list[Event]:
    """Well-typed nonsense: another order, other numbers, what belongs elsewhere."""
    events = list(events)
    for _ in range(rng.randrange(1, 6)):
        place = rng.randrange(len(events))
        match rng.randrange(6):
            case 0:
                rng.shuffle(events)
            case 1:
                events.insert(place, rng.choice(events))
            case 2:
                events.insert(place, sample(rng.choice(EVENTS)))
            case 3:
                events[place] = _with_wild_values(events[place], rng)
            case 4:
                events += sequence()
            case _:
                del events[place]
        if not events:
            break
    return events


def _with_wild_values(event: Event, rng: random.Random) -> Event:
    changes: dict[str, object] = {}
    for name in event.__struct_fields__:
        value = getattr(event, name)
        if rng.random() < 0.5:
            continue
        if type(value) is int:
            changes[name] = rng.choice(NUMBERS)
        elif type(value) is float:
            changes[name] = rng.choice(FLOATS)
        elif type(value) is str and name not in {"reason", "stage"}:
            changes[name] = rng.choice(TEXTS)
        elif name == "tokens" and isinstance(event, StepCommitted):
            changes[name] = (TokenTrace(-5, "nobody", 10**9, -2.0, -7),) * rng.randrange(3)
    return structs.replace(event, **changes)  # type: ignore[arg-type]


def test_mutated_replies_harm_no_other_reply(trials: Trials) -> None:
    rng = random.Random(0)
    for _ in trials(150, 10_000):
        chat = Chat()
        turn = chat.turn_of("second")
        at_end: list[str] = []
        for event in mutated(sequence(), rng):
            chat.client.emit(event)
            if chat.session.active is None:
                at_end = at_end or chat.texts
        assert at_end in ([], chat.texts), "it changes no more"
        assert chat.texts[: len(chat.first)] == chat.first
        assert len(chat.texts) == len(chat.first) + 2
        end_and_ask_again(chat, turn)


def end_and_ask_again(chat: Chat, turn: Ticket) -> None:
    """Ask again after any events: the question gets its own answer, from a pair loaded again."""
    chat.client.emit(TurnFailed("x", "y", ""))
    if chat.session.active is not None:  # it waits for the models, since they are gone
        chat.load()
        chat.client.emit(TurnFailed("x", "y", ""))
    assert chat.session.active is None
    before = chat.texts
    chat.load()
    assert chat.turn_of("third") is not turn
    for late in sequence():
        chat.client.emit(late, turn)
    chat.client.reply("The third answer.")
    assert chat.texts == [*before, "third", "The third answer."]


@pytest.mark.parametrize("cls", [LoadFailed, PairLoaded])
def test_the_answer_to_another_load_ends_no_reply(cls: type[Event]) -> None:
    chat = Chat()
    chat.turn_of("second")
    foreign = chat.client.request(LoadPair(ModelParams("another.gguf")))
    chat.client.emit(sample(cls), foreign)
    assert chat.session.active is not None
    for event in sequence():
        chat.client.emit(event)
    assert chat.texts[-1] == "word " * 4
