"""A question aside leaves the context as it was, or is not answered."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from engine.bench import ASK, Bench
from fake_model import EOG, N_VOCAB, FakeModel
from paceline.messages import (
    AsideAnswered,
    Chat,
    ChatMessage,
    KernelUse,
    LoadPair,
    ModelParams,
    ReadAhead,
    ReadAheadEnded,
    SayAside,
    StartTurn,
    StateOwner,
    StateStorage,
    TurnFinished,
    TurnStarted,
)

TITLE = "A short title"


def says(tokens: Sequence[int]) -> np.ndarray:
    """Answer "Hello!", or a title where one is asked for."""
    text = bytes(token % 256 for token in tokens)
    answer, begun = b"Hello!", text.rpartition(b"\n")[2]
    if b"title?" in text:
        answer = TITLE.encode()
    elif b"lines?" in text:
        answer = b"One\nTwo\nThree"
    row = np.zeros(N_VOCAB, np.float32)
    row[answer[len(begun)] if len(begun) < len(answer) else EOG] = 20.0
    return row


def replied(bench: Bench) -> StartTurn:
    """Let the model reply; returns the turn that goes on after all of it."""
    reply = bench.finish()
    return StartTurn(Chat(ASK), begun=reply.tokens, begun_text=reply.text)


def aside(bench: Bench, turn: StartTurn, max_tokens: int = 16) -> str:
    bench.client.request(SayAside(turn, "title?", max_tokens))
    said = bench.events[-1]
    assert isinstance(said, AsideAnswered)
    return said.text


def test_the_model_answers_after_its_reply_and_the_context_is_as_before() -> None:
    model = FakeModel(says)
    bench = Bench(target=model)
    bench.load()
    turn = replied(bench)
    held, n_events = list(model.tokens), len(bench.events)
    assert aside(bench, turn) == TITLE
    assert list(model.tokens) == held
    assert bench.events[n_events:] == [AsideAnswered(TITLE)], "nothing else is told of it"
    bench.ask(messages=(*ASK, *ASK))
    again = Bench(target=FakeModel(says))
    again.load()
    replied(again)
    again.ask(messages=(*ASK, *ASK))
    started = [[e for e in each.events if isinstance(e, TurnStarted)] for each in (bench, again)]
    assert started[0] == started[1]


@pytest.mark.parametrize(
    "model",
    [
        FakeModel(says, can_rollback=False),
        FakeModel(says, n_ctx=40),
        pytest.param(FakeModel(says), id="without a template"),
    ],
    ids=["cannot go back", "has no room", ""],
)
def test_nothing_is_said_where_it_would_cost_something(
    model: FakeModel, request: pytest.FixtureRequest
) -> None:
    if "template" in request.node.name:
        model.template = ""
    bench = Bench(target=model)
    bench.load()
    turn = replied(bench)
    held = list(model.tokens)
    assert aside(bench, turn) == ""
    assert list(model.tokens) == held


def test_nothing_is_said_in_another_context_or_without_models() -> None:
    bench = Bench(target=FakeModel(says))
    assert aside(bench, StartTurn(Chat(ASK), begun_text="Hello!")) == ""
    bench.load()
    assert aside(bench, StartTurn(Chat(ASK), begun_text="Hello!")) == "", "it holds nothing yet"
    turn = replied(bench)
    bench.ask(prompt="another program's")
    held = list(bench.models["target"].tokens)
    assert aside(bench, turn) == ""
    assert list(bench.models["target"].tokens) == held


def test_the_first_line_is_all_of_the_answer() -> None:
    model = FakeModel(says)
    bench = Bench(target=model)
    bench.load()
    turn = replied(bench)
    bench.client.request(SayAside(turn, "lines?"))
    assert bench.events[-1] == AsideAnswered("One")


def test_an_answer_that_does_not_end_is_none() -> None:
    bench = Bench(target=FakeModel(says))
    bench.load()
    turn = replied(bench)
    assert aside(bench, turn, max_tokens=len(TITLE)) == ""
    assert aside(bench, turn, max_tokens=len(TITLE) + 1) == TITLE


def test_it_stops_within_a_step_and_leaves_the_context() -> None:
    model = FakeModel(says)
    bench = Bench(target=model)
    bench.load()
    turn = replied(bench)
    held, decode = list(model.tokens), model.decode

    def stopping(tokens: Sequence[int], n_rows: int) -> np.ndarray:
        rows = decode(tokens, n_rows)
        if n_rows:  # the question was read
            bench.client.cancel()
        return rows

    model.decode = stopping  # type: ignore[method-assign]
    n_decodes = len(model.widths)
    assert aside(bench, turn) == ""
    assert list(model.tokens) == held
    assert len(model.widths) - n_decodes <= 3


class RowsAlone(FakeModel):
    """Computes every row as if it were alone."""

    def kernel_uses(self) -> tuple[KernelUse, ...]:
        return (KernelUse("f16", "own"),)


@pytest.mark.parametrize("keeps", [True, False])
def test_what_was_read_ahead_does_not_stand_in_the_way(*, keeps: bool) -> None:
    model = RowsAlone(says, n_block=32, n_ctx=2000)
    model.computes_here = True
    if not keeps:  # without a store only what goes on from the context is read
        model.template = "{% for m in messages %}{{ m['content'] }}\n{% endfor %}"
    bench = Bench(target=model)
    states = StateStorage(1 << 20) if keeps else None
    bench.client.request(LoadPair(ModelParams("target"), None, states=states))
    owner = StateOwner("a chat")
    bench.ask(owner=owner)
    reply = bench.events[-1]
    assert isinstance(reply, TurnFinished)
    turn = StartTurn(Chat(ASK), begun=reply.tokens, begun_text=reply.text, owner=owner)
    said = (*ASK, ChatMessage.of_text("assistant", reply.text))
    coming = (*said, ChatMessage.of_text("user", "The first sentence of the next message."))
    bench.client.request(ReadAhead(StartTurn(Chat(coming), owner=owner)))
    done = bench.events[-1]
    assert isinstance(done, ReadAheadEnded)
    assert done.n_read == done.n_certain > len(reply.text)
    assert aside(bench, turn) == TITLE
