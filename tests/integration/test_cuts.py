"""Long chats without their oldest messages on real weights: the same with every strategy."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.engine import WARM, Engine
from paceline.messages import (
    Chat,
    ChatMessage,
    CountTokens,
    TextDiverged,
    TokensCounted,
    TurnFailed,
    TurnStarted,
)

STRATEGIES = ("draft:n_max=4:p_min=0", "suffix", "prompt-lookup:max_ngram=2:n_pred=4")
QUESTIONS = ("What does os.path.join do?", "Which exceptions does open() raise?", "And on Windows?")


@pytest.fixture(scope="module")
def engine(demo_pair: tuple[Path, Path]) -> Iterator[Engine]:
    with Engine(*demo_pair, n_ctx=512) as engine:
        yield engine


def chat(n_turns: int) -> tuple[ChatMessage, ...]:
    messages = [ChatMessage.of_text("system", "Be brief.")]
    for i in range(n_turns):
        question = QUESTIONS[i % len(QUESTIONS)]
        messages.append(ChatMessage.of_text("user", f"{i}: {question}"))
        messages.append(
            ChatMessage.of_text("assistant", f"Answer {i}. See the documentation of it.")
        )
    return (*messages, ChatMessage.of_text("user", "What was the first thing that I asked?"))


@pytest.mark.grid(short=2)
@pytest.mark.parametrize("n_turns", [4, 14, 15])
def test_every_strategy_cuts_and_answers_alike(engine: Engine, n_turns: int) -> None:
    options = {"messages": chat(n_turns), "cuts": True, "sampling": WARM, "max_tokens": 48}
    engine.client.request(CountTokens(Chat(chat(n_turns), cuts=True), 48))
    counted = engine.events[-1]
    assert isinstance(counted, TokensCounted)
    engine.reply("", **options)  # so that all that follow reuse the same prompt
    plain = engine.reply("", **options)
    started = next(event for event in engine.events if isinstance(event, TurnStarted))
    assert started.n_cut == counted.n_cut
    assert (started.n_cut > 0) == (counted.n_tokens > 512 - 48)
    for strategy in STRATEGIES:
        again = engine.reply("", strategy=strategy, expected=plain.tokens, **options)
        assert again.tokens == plain.tokens
        assert again.reason == plain.reason
        other = next(event for event in engine.events if isinstance(event, TurnStarted))
        assert (other.n_prompt, other.n_cut, other.notes) == (
            started.n_prompt, started.n_cut, started.notes,
        )  # fmt: skip
        assert not any(isinstance(event, TextDiverged) for event in engine.events)


def test_the_long_chat_is_refused_where_nothing_may_be_left_out(engine: Engine) -> None:
    failed = engine.run("", messages=chat(40))
    assert isinstance(failed, TurnFailed)
    assert failed.code == "prompt-too-long"


def test_a_question_while_somebody_types_is_answered_at_once(engine: Engine) -> None:
    messages = [
        ChatMessage.of_text("user" if i % 2 == 0 else "assistant", f"{i}: {QUESTIONS[i % 3]} " * 10)
        for i in range(100)
    ]
    times = []
    for n in range(1, 12):
        question = CountTokens(
            Chat((*messages, ChatMessage.of_text("user", "why " * n)), cuts=True), 48
        )
        began = time.perf_counter()
        engine.client.request(question)
        times.append(time.perf_counter() - began)
        assert isinstance(engine.events[-1], TokensCounted)
        assert engine.events[-1].n_cut > 0
    assert sorted(times)[len(times) // 2] < 0.05  # 0.3 ms on a quiet machine
