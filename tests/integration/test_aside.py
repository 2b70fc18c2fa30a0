"""The turn after something was said aside is that without it, to the last bit of its logits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from integration.engine import GREEDY, WARM, Engine
from paceline.engine.model.context import CachedContext
from paceline.messages import (
    AsideAnswered,
    Chat,
    ChatMessage,
    Reset,
    SamplingParams,
    SayAside,
    StartTurn,
    StepCommitted,
    TurnFinished,
    TurnStarted,
)
from turns import turn_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from paceline.engine.model.backend import Rows

USER = ChatMessage.of_text("user", "Tell me a story about a small dog and a ball.")
MORE = ChatMessage.of_text("user", "And then? Tell me more about the small dog.")


def two_turns(
    engine: Engine, strategy: str, sampling: SamplingParams, *, with_aside: bool
) -> tuple[int, list[object]]:
    """A chat's second turn: how much it reused, and its tokens with their likelihoods."""
    engine.client.request(Reset())
    options = {"strategy": strategy, "sampling": sampling, "seed": 7, "max_tokens": 48}
    engine.client.request(turn_of(messages=(USER,), **options))
    first = engine.events[-1]
    assert isinstance(first, TurnFinished)
    held = list(engine.pair.target.tokens)
    if with_aside:
        turn = StartTurn(Chat((USER,)), begun=first.tokens, begun_text=first.text)
        engine.client.request(SayAside(turn, "Give our chat a short title."))
        assert isinstance(engine.events[-1], AsideAnswered)
        assert list(engine.pair.target.tokens) == held
    n_before = len(engine.events)
    reply = ChatMessage.of_text("assistant", first.text)
    engine.client.request(turn_of(messages=(USER, reply, MORE), n_likely=3, **options))
    events = engine.events[n_before:]
    (started,) = (event for event in events if isinstance(event, TurnStarted))
    steps = [event for event in events if isinstance(event, StepCommitted)]
    return started.n_reused, [(step.text, step.tokens, step.likely) for step in steps]


@pytest.mark.grid(short=2)
@pytest.mark.parametrize(
    ("strategy", "sampling", "exact"),
    [
        ("draft:n_max=4", WARM, False),
        ("off", GREEDY, False),
        ("off", WARM, True),
        ("draft:n_max=4", GREEDY, True),
    ],
)
def test_the_next_turn_is_what_it_would_have_been(
    demo_pair: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    strategy: str,
    exact: bool,
    sampling: SamplingParams,
) -> None:
    n_fed = 0
    feed = CachedContext.feed

    def counted(self: CachedContext, tokens: Sequence[int], n_rows: int, width: int = 0) -> Rows:
        nonlocal n_fed
        n_fed += 1
        return feed(self, tokens, n_rows, width)

    monkeypatch.setattr(CachedContext, "feed", counted)
    with Engine(*demo_pair, exact=exact) as engine:
        n_fed = 0  # a load decodes, too
        without = two_turns(engine, strategy, sampling, with_aside=False)
        n_without, n_fed = n_fed, 0
        with_ = two_turns(engine, strategy, sampling, with_aside=True)
        assert with_ == without
        assert exact or without[0] > 0
        assert n_fed > n_without, "something was said"
