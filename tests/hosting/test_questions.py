"""Questions about sizes and tokens of prompts, to the engine in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hosting.engines import Host
from paceline.messages import (
    Chat,
    ChatMessage,
    CountTokens,
    Encode,
    Encoded,
    RawText,
    TokensCounted,
    TurnStarted,
)

QUESTION = CountTokens(Chat((ChatMessage.of_text("user", "How long is this?"),)))


@pytest.fixture(scope="module")
def host(demo_pair: tuple[Path, Path]) -> Iterator[Host]:
    with Host("process", demo_pair) as host:
        host.must_load()
        yield host


def test_the_real_engine_counts(host: Host) -> None:
    messages = (
        ChatMessage.of_text("system", "Be brief."),
        ChatMessage.of_text("user", "What does os.path.join do?"),
    )
    counted = host.submit(CountTokens(Chat(messages, cuts=True), 64))
    assert isinstance(counted, TokensCounted)
    host.reply(messages=messages, max_tokens=2, seed=1)
    started = next(event for event in host.events if isinstance(event, TurnStarted))
    assert counted.n_tokens == started.n_prompt
    assert len(counted.per_message) == 2
    assert sum(counted.per_message) <= counted.n_tokens


def test_the_real_engine_tells_the_tokens_of_a_prompt(host: Host) -> None:
    messages = (
        ChatMessage.of_text("system", "Be brief."),
        ChatMessage.of_text("user", "What does <|im_end|> do? €"),
    )
    chat = host.submit(Encode(Chat(messages)))
    assert isinstance(chat, Encoded)
    host.reply(messages=messages, max_tokens=2, seed=1)
    started = next(event for event in host.events if isinstance(event, TurnStarted))
    assert len(chat.tokens) == len(chat.pieces) == started.n_prompt
    assert b"".join(chat.pieces).decode() == chat.text
    plain = host.submit(Encode(Chat(messages[:1] + QUESTION.prompt.messages)))
    assert host.submit(Encode(RawText(plain.text, special=True))).tokens == plain.tokens
    long = "def area(r):\n    return 3.14 * r ** 2\n" * 40_000
    whole = host.submit(Encode(RawText(long)))
    assert isinstance(whole, Encoded)
    assert whole.code == ""
    assert b"".join(whole.pieces[whole.n_added :]).decode() == long
    assert host.submit(Encode(RawText(long * 8))).code == "prompt-too-long"
