"""Calls whose marks are control tokens: a reply that may hold them shows them, another does not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import real_templates
from engine.calls.tools import read_of
from integration.engine import Engine
from integration.test_reasoning_marks import write_model
from paceline.content import Chat, Tool, ToolChoice, ToolUse
from paceline.engine.calls.forms import BY_ID
from paceline.engine.calls.reader import CallReader
from paceline.messages import (
    ChatMessage,
    Prompting,
    SamplingParams,
    StartTurn,
    TurnFinished,
    TurnStarted,
)
from schemas.validity import Judge
from strategies import strategy

SCHEMA = {
    "type": "object",
    "properties": {
        "town": {"type": "string", "minLength": 1, "maxLength": 8},
        "days": {"type": "integer", "minimum": 0, "maximum": 9},
        "deep": {"type": "boolean"},
    },
    "required": ["town"],
}
TOOLS = (Tool("look_up", "Looks up.", json.dumps(SCHEMA)), Tool("stop_all", "Stops."))
TEMPLATES = {
    "mistral": "unsloth-mistral-Devstral-Small-2507",
    "mistral-list": "mistralai-Mistral-Nemo-Instruct-2407",
    "kimi": "moonshotai-Kimi-K2",
    "command": "CohereForAI-c4ai-command-r7b-12-2024-tool_use",
    "solar": "upstage-Solar-Open-100B",
    "dsml-tool_calls": "deepseek-ai-DeepSeek-V4",
    "lfm": "LFM2.5-8B-A1B",
    "harmony": "openai-gpt-oss-120b",
    "glm": "GLM-4.6",
}
TOKENS = (
    "[TOOL_CALLS]", "[ARGS]", "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>",
    "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>",
    "<|START_ACTION|>", "<|END_ACTION|>", "<|tool_calls|>", "<|tool_call:begin|>",
    "<|tool_call:name|>", "<|tool_call:args|>", "<|tool_call:end|>", "｜DSML｜",
    "<|tool_call_start|>", "<|start|>", "<|channel|>", "<|message|>", "<|end|>", "<|constrain|>",
    "<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>",
)  # fmt: skip
"""Control tokens of the vocabulary; those of some marks are missing, and are text."""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    file: Path = tmp_path_factory.mktemp("calls") / "calls.gguf"
    with Engine(write_model(file, TOKENS), n_ctx=2048) as engine:
        yield engine


def reply(
    engine: Engine, name: str, choice: ToolChoice, plan: str, seed: int = 7
) -> tuple[TurnStarted, TurnFinished]:
    engine.events.clear()
    template = real_templates.source(TEMPLATES[name])
    asked = (ChatMessage.of_text("user", "How is the weather?"),)
    chat = Chat(asked, Prompting(template=template, think=""), tools=ToolUse(TOOLS, choice))
    engine.client.request(
        StartTurn(
            chat,
            SamplingParams(temperature=1),
            strategy(plan),
            max_tokens=250,
            seed=seed,
        )
    )
    (started,) = (event for event in engine.events if isinstance(event, TurnStarted))
    finished = engine.events[-1]
    assert isinstance(finished, TurnFinished)
    return started, finished


@pytest.mark.parametrize("name", TEMPLATES)
def test_calls_of_control_tokens_are_forced_and_read(engine: Engine, name: str) -> None:
    form = BY_ID[name]
    for seed in range(20):  # random weights may reason for long
        started, finished = reply(engine, name, "required", "off", seed)
        if form.marks[0] in finished.text:
            break
    assert started.calls == name
    assert not any("constrained" in note for note in started.notes)
    at = finished.text.index(form.marks[0])
    reader = CallReader(form, TOOLS)
    pieces = reader.add(finished.text[at:])
    read = read_of([*pieces, *reader.finish(is_cut=finished.reason == "length")])
    assert read.answer == ""
    assert read.calls
    assert read.n_broken <= (finished.reason == "length")
    for call in read.calls:
        schema = SCHEMA if call.name == "look_up" else {"type": "object", "maxProperties": 0}
        assert not Judge(schema).problem_of(json.dumps(call.arguments))
    assert reply(engine, name, "required", "suffix", seed)[1].tokens == finished.tokens


def test_a_reply_that_may_call_continues_as_a_call_from_its_control_token_on(
    engine: Engine,
) -> None:
    vocab = engine.pair.target.model.vocab
    reply(engine, "mistral", "none", "off")  # so that the same is before both that are compared
    none = reply(engine, "mistral", "none", "off")
    started, finished = reply(engine, "mistral", "auto", "off")
    assert started.calls == "mistral"
    assert none[0].calls == ""
    assert "[TOOL_CALLS]" not in none[1].text
    (mark,) = vocab.tokenize("[TOOL_CALLS]", special=True)
    n_same = finished.tokens.index(mark) if mark in finished.tokens else len(finished.tokens)
    assert finished.tokens[:n_same] == none[1].tokens[:n_same]
    assert ("[TOOL_CALLS]" in finished.text) == (mark in finished.tokens)
