"""A model file with a second chat template, which is for chats with tools."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gguf_file import read
from integration.engine import Engine
from paceline.content import Chat, Tool, ToolUse
from paceline.messages import (
    ChatMessage,
    Prompting,
    PromptRendered,
    RenderPrompt,
    StartTurn,
    TurnFinished,
    TurnStarted,
)

_TURNS = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
FIRST = f"first {_TURNS}"
SECOND = f"<|tool_call|>available_tools {{{{ tools | tojson if tools }}}}{_TURNS}"
USE = ToolUse((Tool("look_up", "Looks the weather up."),))
QUESTION = (ChatMessage.of_text("user", "How is the weather?"),)


@pytest.fixture(scope="module")
def engine(
    demo_pair: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine]:
    model = read(demo_pair[0])
    model.set(tokenizer__chat_template=FIRST)
    model.set(**{"tokenizer.chat_template.tool_use": SECOND})
    file = tmp_path_factory.mktemp("model") / "two-templates.gguf"
    with file.open("wb") as out:
        model.write(out)
    with Engine(file) as engine:
        yield engine


def test_a_file_with_one_has_none_for_tools(demo_pair: tuple[Path, Path]) -> None:
    with Engine(demo_pair[0]) as engine:
        assert engine.pair.target.model.template
        assert engine.pair.target.model.tool_template == ""


@pytest.mark.parametrize(
    ("chat", "begin", "calls"),
    [
        (Chat(QUESTION), "first ", ""),
        (Chat(QUESTION, tools=USE), "<|tool_call|>", "granite"),
        (Chat(QUESTION, Prompting(FIRST), tools=USE), "first ", "hermes"),
    ],
    ids=["no tools", "tools", "own template"],
)
def test_a_chat_with_tools_is_written_by_the_second(
    engine: Engine, chat: Chat, begin: str, calls: str
) -> None:
    engine.events.clear()
    engine.client.request(RenderPrompt(chat))
    (rendered,) = engine.events
    assert isinstance(rendered, PromptRendered)
    assert rendered.text.startswith(begin)
    engine.client.request(StartTurn(chat, max_tokens=2))
    assert isinstance(engine.events[-1], TurnFinished)
    (started,) = (event for event in engine.events if isinstance(event, TurnStarted))
    assert started.calls == calls
