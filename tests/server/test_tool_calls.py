"""Tool calls at ``/v1/chat/completions``, as OpenAI's own client uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from schemas.validity import Judge

if TYPE_CHECKING:
    import openai

ASKED: list[Any] = [{"role": "user", "content": "How is the weather in Bern?"}]
SCHEMA = {
    "type": "object",
    "properties": {
        "town": {"type": "string", "minLength": 1, "maxLength": 12},
        "days": {"type": "integer", "minimum": 1, "maximum": 9},
    },
    "required": ["town", "days"],
}
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "look_up", "parameters": SCHEMA}},
    {"type": "function", "function": {"name": "now", "description": "Tells the time."}},
]
LOOK_UP: Any = {"type": "function", "function": {"name": "look_up"}}


def test_a_call_is_the_same_whole_and_in_pieces(client: openai.OpenAI) -> None:
    options: Any = {"model": "any", "messages": ASKED, "tools": TOOLS, "tool_choice": LOOK_UP}
    (choice,) = client.chat.completions.create(**options, max_tokens=120).choices
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content is None
    assert choice.message.tool_calls is not None
    (call,) = choice.message.tool_calls
    assert call.type == "function"
    assert call.function.name == "look_up"
    assert not Judge(SCHEMA).problem_of(call.function.arguments)
    with client.chat.completions.stream(**options, max_tokens=120) as stream:
        fragments = [e.arguments_delta for e in stream if e.type.endswith("arguments.delta")]
        (streamed,) = stream.get_final_completion().choices
    assert streamed.finish_reason == "tool_calls"
    assert streamed.message.tool_calls is not None
    (again,) = streamed.message.tool_calls
    assert again.function.arguments == call.function.arguments == "".join(fragments)
    assert len(fragments) > 1
    assert again.id


def test_a_second_turn_has_the_result(client: openai.OpenAI) -> None:
    options: Any = {"model": "any", "tools": TOOLS, "max_tokens": 120}
    first = client.chat.completions.create(**options, messages=ASKED, tool_choice="required")
    message = first.choices[0].message
    assert message.tool_calls
    results = [
        {"role": "tool", "tool_call_id": call.id, "content": "snow"} for call in message.tool_calls
    ]
    again = [*ASKED, message.model_dump(exclude_none=True), *results]
    second = client.chat.completions.create(**options, messages=again, tool_choice="none")
    assert second.choices[0].message.content
    assert second.choices[0].message.tool_calls is None
    assert first.usage is not None
    assert second.usage is not None
    assert second.usage.prompt_tokens > first.usage.prompt_tokens


@pytest.mark.parametrize("max_tokens", [15, 25])
def test_a_call_that_is_cut_is_none(client: openai.OpenAI, max_tokens: int) -> None:
    reply = client.chat.completions.create(
        model="any", messages=ASKED, tools=TOOLS, tool_choice=LOOK_UP, max_tokens=max_tokens
    )
    (choice,) = reply.choices
    assert choice.finish_reason == "length"
    assert choice.message.tool_calls is None
    assert choice.message.content == ""


def test_what_cannot_be_kept_is_a_warning(client: openai.OpenAI) -> None:
    bad = {"type": "object", "properties": {"a": {"type": "array", "items": 3}}}
    tool: Any = {"type": "function", "function": {"name": "bad", "parameters": bad}}
    reply = client.chat.completions.create(
        model="any", messages=ASKED, tools=[*TOOLS, tool], tool_choice="required", max_tokens=1
    )
    warnings = reply.model_dump()["paceline"]["warnings"]
    assert any("“bad” are not constrained" in warning for warning in warnings)
