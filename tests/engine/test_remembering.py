"""Texts of stored chats in a loaded pair: who may use them, when they are indexed, how they go."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.bench import Bench
from fake_model import FakeModel, scripted
from paceline.engine.draft.lookups.earlier_texts import PIECE_CHARS, EarlierTexts
from paceline.engine.service import EngineService
from paceline.hosting.broker import Broker
from paceline.hosting.client import next_ticket
from paceline.messages import (
    Event,
    LoadPair,
    ModelParams,
    RawText,
    Remember,
    Remembered,
    Reset,
    StartTurn,
    StepCommitted,
    TurnFinished,
    Unload,
)
from strategies import strategy

REPLY = "The quick brown fox jumps over the lazy dog, and then it goes home for a long sleep."
PROMPT = "abc"


@pytest.fixture
def bench() -> Bench:
    bench = Bench(target=FakeModel(scripted(REPLY, len(PROMPT)), n_ctx=2048))
    bench.load()
    return bench


def earlier(bench: Bench) -> EarlierTexts:
    pair = bench.client.service._pair  # type: ignore[attr-defined]
    assert pair is not None
    texts = pair.earlier
    assert isinstance(texts, EarlierTexts)
    return texts


def drafted(bench: Bench, *, remember: bool = True, which: str = "suffix") -> int:
    """Let the target write its reply, and return how many tokens of it were drafted."""
    turn = StartTurn(
        RawText(PROMPT), strategy=strategy(which), max_tokens=60, seed=1, remember=remember
    )
    bench.client.request(turn)
    last = bench.events[-1]
    assert isinstance(last, TurnFinished)
    assert last.text == REPLY[:60]
    return last.stats.n_accepted


def test_a_reply_is_drafted_from_an_earlier_chat(bench: Bench) -> None:
    assert drafted(bench) < 10
    bench.client.request(Remember("chat", ("Hello", REPLY), at_once=True))
    assert bench.events[-1] == Remembered("chat")
    assert drafted(bench) > 40
    assert drafted(bench, remember=False) < 10, "a private chat looks nowhere else"


def test_what_is_handed_in_waits_for_idle_time(bench: Bench) -> None:
    bench.client.request(Remember("chat", (REPLY,)))
    assert bench.events[-1] == Remembered("chat")
    assert drafted(bench) < 10
    while bench.client.service.idle():  # type: ignore[attr-defined]
        pass
    assert drafted(bench) > 40


def test_a_deletion_in_mid_reply_takes_effect_at_the_next_step(bench: Bench) -> None:
    bench.client.request(Remember("chat", (REPLY,), at_once=True))
    bench.client.request(Remember("other", ("Something else.",), at_once=True))
    bench.events.clear()

    def delete(event: Event) -> None:
        if isinstance(event, StepCommitted) and event.step == 3:
            bench.client.request(Remember("chat"))

    bench.on_event = delete
    assert 0 < drafted(bench, which="suffix:max=4") < 20
    kinds = [type(event) for event in bench.events]
    assert kinds.index(Remembered) < kinds.index(TurnFinished)
    at = bench.events.index(Remembered("chat"))
    steps = [event for event in bench.events[at:] if isinstance(event, StepCommitted)]
    assert len(steps) > 10
    assert sum(count.n_accepted for step in steps for count in step.drafted) < 10


def test_a_forgotten_chat_leaves_no_index_of_its_own(bench: Bench) -> None:
    bench.client.request(Remember("chat", (REPLY,), at_once=True))
    drafted(bench)
    pair = bench.client.service._pair  # type: ignore[attr-defined]
    assert pair.kept
    bench.client.request(Remember("chat", ("less",)))
    assert pair.kept
    bench.client.request(Remember("chat"))
    assert not pair.kept


def test_a_benchmarks_reset_forgets_replies_alone(bench: Bench) -> None:
    bench.client.request(Remember("chat", (REPLY,), at_once=True))
    bench.client.request(Reset())
    assert drafted(bench) > 40


def test_another_pair_knows_nothing(bench: Bench) -> None:
    bench.client.request(Remember("chat", (REPLY,), at_once=True))
    bench.client.request(LoadPair(ModelParams("target")))
    assert drafted(bench) < 10
    bench.client.request(Unload())
    n = len(bench.events)
    bench.client.request(Remember("chat", (REPLY,)))
    assert len(bench.events) == n, "without models there is no one to keep it"


def test_a_message_that_comes_in_an_idle_slice_waits_for_one_piece() -> None:
    tokenized: list[int] = []
    broker = Broker()
    texts = EarlierTexts(lambda text: (tokenized.append(len(text)), [])[1])
    texts.put("chat", ["".join(map(chr, range(1000, 1000 + 9 * PIECE_CHARS)))])
    turn = StartTurn(RawText(""))

    def idle() -> bool:
        if len(tokenized) == 5:
            broker.request(turn)
        return texts.slice()

    ticket = next_ticket(broker, idle, timeout=0)
    assert ticket is not None
    assert ticket.command == turn
    assert tokenized == [PIECE_CHARS] * 6


def test_texts_are_indexed_between_the_other_idle_work(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    slices: list[str] = []
    original: Callable[[EarlierTexts], bool] = EarlierTexts.slice
    monkeypatch.setattr(
        EarlierTexts, "slice", lambda self: (slices.append("texts"), original(self))[1]
    )
    bench.client.request(Remember("chat", tuple(f"{n} {REPLY}" for n in range(4))))
    service = bench.client.service
    assert isinstance(service, EngineService)
    n_idle = 0
    while service.idle():
        n_idle += 1
    assert n_idle >= 4
    assert earlier(bench).n_tokens == sum(len(f"{n} {REPLY}") + 1 for n in range(4))
