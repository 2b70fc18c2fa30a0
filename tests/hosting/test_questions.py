"""Questions about sizes, and texts to remember, with the engine in a process of its own."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from hosting.engines import HOSTS, Host
from hosting.rig import MakeRig
from paceline.messages import (
    Chat,
    ChatMessage,
    CountTokens,
    DropStates,
    Encode,
    Encoded,
    EngineDied,
    RawText,
    Remember,
    StatesDropped,
    TokensCounted,
    TurnStarted,
)
from paceline.workers.frames import MAX_FRAME

AllowWarnings = Callable[[str], None]
QUESTION = CountTokens(Chat((ChatMessage.of_text("user", "How long is this?"),)))


def test_no_process_is_started_to_count(rig: MakeRig) -> None:
    r = rig()
    assert r.submit(QUESTION) == [TokensCounted(-1, 0)]
    assert r.service.pid == 0


def test_a_dead_process_is_told_and_not_started_again(
    rig: MakeRig, allow_warnings: AllowWarnings
) -> None:
    allow_warnings("paceline.hosting")
    r = rig()
    r.load()
    os.kill(r.service.pid, signal.SIGTERM)
    events = r.submit(QUESTION)
    while not isinstance(events[-1], TokensCounted) or len(events) < 2:
        events = [*events, *r.submit(QUESTION)]
        assert len(events) < 10_000
    assert any(isinstance(event, EngineDied) for event in events)
    assert r.service.pid == 0


def test_a_conversation_beyond_a_frame_is_not_counted(rig: MakeRig) -> None:
    r = rig()
    r.load()
    huge = CountTokens(Chat((ChatMessage.of_text("user", "x" * MAX_FRAME),)))
    assert r.submit(huge) == [TokensCounted(-1, 0)]
    assert r.service.pid


def test_no_process_is_started_for_the_tokens_of_a_prompt(rig: MakeRig) -> None:
    r = rig()
    (answer,) = r.submit(Encode(RawText("a")))
    assert (answer.tokens, answer.code) == ((), "no-model")
    assert r.service.pid == 0


def test_a_prompt_beyond_a_frame_is_refused_in_words(rig: MakeRig) -> None:
    r = rig()
    r.load()
    (answer,) = r.submit(Encode(RawText("x" * MAX_FRAME)))
    assert (answer.tokens, answer.code) == ((), "prompt-too-long")
    assert answer.problem
    assert r.service.pid


def test_no_process_is_started_for_texts(rig: MakeRig) -> None:
    r = rig()
    assert r.submit(Remember("chat", ("Hello",))) == []
    assert r.service.pid == 0


def test_no_process_is_started_to_delete_stored_states(rig: MakeRig, tmp_path: Path) -> None:
    for owner in "ab":
        (tmp_path / "a model" / owner.encode().hex()).mkdir(parents=True)
    r = rig()
    assert r.submit(DropStates(("a",), str(tmp_path))) == [StatesDropped()]
    assert [folder.name for folder in tmp_path.glob("*/*")] == [b"b".hex()]
    assert r.service.pid == 0


def test_texts_beyond_a_frame_are_left_out(rig: MakeRig) -> None:
    r = rig()
    r.load()
    assert r.submit(Remember("chat", ("x" * MAX_FRAME,))) == []
    assert r.service.pid


@pytest.mark.parametrize("kind", HOSTS)
def test_the_real_engine_counts(kind: str, demo_pair: tuple[Path, Path]) -> None:
    with Host(kind, demo_pair) as host:
        host.must_load()
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


@pytest.mark.parametrize("kind", HOSTS)
def test_the_real_engine_tells_the_tokens_of_a_prompt(
    kind: str, demo_pair: tuple[Path, Path]
) -> None:
    with Host(kind, demo_pair) as host:
        host.must_load()
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
