"""Calls of tools with a small model that people have trained: SmolLM2-135M."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import real_models
from engine.calls.tools import Read, read_of
from integration.engine import Engine
from paceline.content import Chat, Tool, ToolChoice, ToolUse
from paceline.engine.calls.forms import BY_ID
from paceline.engine.calls.reader import CallReader
from paceline.messages import ChatMessage, SamplingParams, StartTurn, TurnFinished, TurnStarted
from schemas.validity import Judge
from strategies import strategy

NAMES = ("get_weather", "search_files", "create_event")
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "minLength": 1, "maxLength": 40},
        "count": {"type": "integer", "minimum": 0, "maximum": 99},
        "mode": {"enum": ["fast", "slow"]},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 12}, "maxItems": 3},
    },
    "required": ["query", "mode"],
}
TOOLS = tuple(Tool(name, name.replace("_", " "), json.dumps(SCHEMA)) for name in NAMES)
QUESTION = "How is the weather in Paris? Call a tool."


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(real_models.path_or_skip("smollm2-135m"), n_ctx=2048) as engine:
        yield engine


def reply(
    engine: Engine,
    choice: ToolChoice,
    *,
    seed: int = 0,
    question: str = QUESTION,
    name: str = "",
    is_parallel: bool = False,
    temperature: float = 0.7,
    **options: Any,
) -> tuple[TurnStarted, TurnFinished]:
    """Generate a reply of at most 300 tokens that may call, or has to."""
    engine.events.clear()
    use = ToolUse(TOOLS, choice, name, is_parallel)
    chat = Chat((ChatMessage.of_text("user", question),), tools=use)
    sampling = SamplingParams(temperature=temperature)
    engine.client.request(
        StartTurn(chat, **{"max_tokens": 300, "seed": seed, "sampling": sampling, **options})
    )
    (started,) = (event for event in engine.events if isinstance(event, TurnStarted))
    finished = engine.events[-1]
    assert isinstance(finished, TurnFinished)
    return started, finished


def read(started: TurnStarted, finished: TurnFinished) -> Read:
    reader = CallReader(BY_ID[started.calls], TOOLS)
    pieces = reader.add(finished.text)
    return read_of([*pieces, *reader.finish(is_cut=finished.reason == "length")])


def test_a_forced_call_has_valid_arguments(engine: Engine, is_long: bool) -> None:
    judge, n = Judge(SCHEMA), 100 if is_long else 3
    for seed in range(n):
        started, finished = reply(
            engine,
            "required",
            seed=seed,
            name=NAMES[seed % len(NAMES)] if seed % 2 == 0 else "",
            temperature=(0.0, 0.7, 1.2)[seed % 3],
        )
        assert finished.reason == "eog"
        found = read(started, finished)
        assert (found.answer, found.n_broken) == ("", 0)
        (call,) = found.calls
        assert not judge.problem_of(json.dumps(call.arguments)), finished.text
        if seed % 2 == 0:
            assert call.name == NAMES[seed % len(NAMES)]


def test_several_calls_and_one_that_is_cut(engine: Engine) -> None:
    n_calls, seed = 0, 2
    while n_calls < 2:
        started, finished = reply(
            engine, "required", seed=seed, is_parallel=True, temperature=1.0, max_tokens=90
        )
        found = read(started, finished)
        assert found.answer == ""
        assert not found.n_broken or finished.reason == "length"
        n_calls, seed = max(n_calls, len(found.calls) + found.n_broken), seed + 1
        assert seed < 9


def test_drafts_of_what_a_call_forces_change_nothing(engine: Engine) -> None:
    plain = reply(engine, "required", seed=3, strategy=strategy("off"))[1]
    drafted = reply(engine, "required", seed=3, strategy=strategy("suffix"))[1]
    assert drafted.tokens == plain.tokens
    forced = {each.drafter: each for each in drafted.stats.by_drafter}["grammar"]
    assert forced.tokens_accepted > 10


def test_a_call_is_free_up_to_its_mark_and_held_to_the_schema_from_there(engine: Engine) -> None:
    reply(engine, "none", max_tokens=1)  # so that the same is before all that are compared
    none = reply(engine, "none", max_tokens=40)[1]
    started, auto = reply(engine, "auto", max_tokens=40)
    mark = BY_ID[started.calls].marks[0]
    assert auto.text.partition(mark)[0] == none.text.partition(mark)[0]
    begun = "Let me see. <tool_call>"
    started, finished = reply(engine, "auto", begun_text=begun)
    found = read(started, finished)
    assert found.answer == "Let me see."
    (call,) = found.calls
    assert not Judge(SCHEMA).problem_of(json.dumps(call.arguments))
    assert not reply(engine, "none", begun_text=begun, max_tokens=1)[0].calls
