"""``/v1/messages`` and its count of tokens, as Anthropic's own client uses them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

import anthropic
import httpx2
import pydantic
import pytest

from server.puppet import end, said_by

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paceline.server.endpoint import Endpoint

HELLO: list[Any] = [{"role": "user", "content": "What is a list?"}]


@pytest.fixture
def claude(endpoint: Endpoint) -> Iterator[anthropic.Anthropic]:
    """Anthropic's client of the endpoint."""
    with anthropic.Anthropic(base_url=endpoint.url, api_key="none", max_retries=0) as client:
        yield client


def text_of(message: Any) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def ask(endpoint: Endpoint, path: str = "messages", **body: Any) -> httpx2.Response:
    given = {"messages": HELLO, "max_tokens": 3} | body
    return httpx2.post(f"{endpoint.url}/v1/{path}", json=given, timeout=60)


def test_a_stream_has_the_text_of_the_whole_message(claude: anthropic.Anthropic) -> None:
    whole = claude.messages.create(model="any", messages=HELLO, max_tokens=60)
    with claude.messages.stream(model="any", messages=HELLO, max_tokens=60) as stream:
        text = "".join(stream.text_stream)
        last = stream.get_final_message()
    assert text_of(whole) == text == text_of(last) != ""
    assert last.stop_reason == whole.stop_reason == "max_tokens"
    assert last.usage.output_tokens == whole.usage.output_tokens == 60
    assert whole.model == "paceline-demo-target-q8_0", "any name is served by the loaded model"


def test_the_events_of_a_stream_come_in_their_order(claude: anthropic.Anthropic) -> None:
    stream = claude.messages.create(model="any", messages=HELLO, max_tokens=20, stream=True)
    events = list(stream)
    kinds = [event.type for event in events]
    assert kinds[:2] == ["message_start", "content_block_start"]
    assert kinds[-3:] == ["content_block_stop", "message_delta", "message_stop"]
    assert set(kinds[2:-3]) == {"content_block_delta"}
    start: Any = events[0]
    assert (start.message.role, start.message.content) == ("assistant", [])
    told, last = start.message.usage, events[-2].model_dump()
    for name in ("input_tokens", "cache_read_input_tokens"):
        assert last["usage"][name] == getattr(told, name)
    assert last["usage"]["output_tokens"] == last["timings"]["predicted_n"] == 20
    assert last["paceline"]["n_reused"] == told.cache_read_input_tokens
    assert last["timings"]["prompt_n"] == told.input_tokens


def test_what_the_context_holds_is_read_from_the_cache(claude: anthropic.Anthropic) -> None:
    first = claude.messages.create(model="any", messages=HELLO, max_tokens=5)
    again = claude.messages.create(model="any", messages=HELLO, max_tokens=5)
    n_prompt = first.usage.input_tokens + (first.usage.cache_read_input_tokens or 0)
    assert (again.usage.cache_read_input_tokens or 0) > 0
    assert again.usage.input_tokens + (again.usage.cache_read_input_tokens or 0) == n_prompt
    assert claude.messages.count_tokens(model="any", messages=HELLO).input_tokens == n_prompt


def test_all_that_is_in_the_prompt_is_counted(claude: anthropic.Anthropic) -> None:
    def count(**more: Any) -> int:
        given = {"model": "any", "messages": HELLO} | more
        return claude.messages.count_tokens(**given).input_tokens

    tool = {"name": "look", "description": "Look at a thing.", "input_schema": {"type": "object"}}
    plain = count()
    assert count(system="You are brief.") > plain
    assert count(tools=[tool]) > plain
    begun = [*HELLO, {"role": "assistant", "content": "A list is a thing"}]
    assert count(messages=begun) > plain
    long = [{"role": "user", "content": "Hello " * 4000}]
    assert count(messages=long) > 2048, "also what does not fit is counted"


def test_a_stop_sequence_is_reported(claude: anthropic.Anthropic) -> None:
    whole = claude.messages.create(model="any", messages=HELLO, max_tokens=60)
    stop = text_of(whole)[20:28]
    cut = claude.messages.create(
        model="any", messages=HELLO, max_tokens=60, stop_sequences=["none such", stop]
    )
    assert (cut.stop_reason, cut.stop_sequence) == ("stop_sequence", stop)
    assert text_of(cut) == text_of(whole).partition(stop)[0]


def test_a_message_continues_after_its_beginning(claude: anthropic.Anthropic) -> None:
    whole = text_of(claude.messages.create(model="any", messages=HELLO, max_tokens=30))
    begun = whole[: len(whole) // 2]
    messages = [*HELLO, {"role": "assistant", "content": begun}]
    rest = text_of(claude.messages.create(model="any", messages=messages, max_tokens=30))
    assert rest
    assert not rest.startswith(begun)


def test_a_request_of_a_coding_agent_is_answered(endpoint: Endpoint) -> None:
    cached = {"cache_control": {"type": "ephemeral"}}
    body = {
        "model": "claude-any",
        "max_tokens": 8,
        "system": [
            {"type": "text", "text": "You are an agent."},
            {"type": "text", "text": "Be brief.", **cached},
        ],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Read a.py."}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "I have to read it.", "signature": ""},
                    {"type": "text", "text": "I read it."},
                    {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"file": "a"}},
                    {"type": "tool_use", "id": "toolu_2", "name": "read", "input": {"file": "b"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": "x = 1"},
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_2",
                        "is_error": True,
                        "content": [{"type": "text", "text": "There is none."}],
                        **cached,
                    },
                    {"type": "text", "text": "And now?"},
                ],
            },
        ],
        "tools": [
            {
                "name": f"tool_{i}",
                "description": "A tool.",
                "input_schema": {"type": "object", "properties": {"file": {"type": "string"}}},
            }
            for i in range(30)
        ],
        "tool_choice": {"type": "none"},
        "thinking": {"type": "adaptive"},
        "metadata": {"user_id": "me"},
        "temperature": 1,
        "context_management": {"edits": []},
    }
    reply = httpx2.post(
        f"{endpoint.url}/v1/messages?beta=true",
        json=body,
        headers={"anthropic-version": "2023-06-01", "anthropic-beta": "any-2025-01-01"},
        timeout=60,
    )
    assert reply.status_code == 200, reply.text
    assert reply.json()["usage"]["output_tokens"] > 0
    assert reply.headers["x-paceline-ignored"] == "context_management"


def test_models_are_listed(claude: anthropic.Anthropic) -> None:
    (model,) = claude.models.list()
    assert model.id == model.display_name == "paceline-demo-target-q8_0"
    assert claude.models.retrieve(model.id) == model


class Found(pydantic.BaseModel):
    """An answer in a form."""

    name: str = pydantic.Field(max_length=20)
    n: Literal[1, 2, 3]


def test_a_form_is_read_by_the_client(claude: anthropic.Anthropic) -> None:
    message = claude.messages.parse(
        model="any", messages=HELLO, max_tokens=200, output_format=Found
    )
    assert isinstance(message.parsed_output, Found)


@pytest.mark.parametrize(
    ("last", "told"),
    [
        (end(), ("end_turn", None)),
        (end("length"), ("max_tokens", None)),
        (end("context"), ("model_context_window_exceeded", None)),
        (end("stop", "Stop!"), ("stop_sequence", "Stop!")),
        (end("stop", "<end of the template>"), ("end_turn", None)),
    ],
)
def test_why_a_message_has_ended(last: Any, told: tuple[str, str | None]) -> None:
    with said_by(["Well", last]) as endpoint:
        message = ask(endpoint, stop_sequences=["Halt!", "Stop!"]).json()
        assert (message["stop_reason"], message["stop_sequence"]) == told
        stream = ask(endpoint, stop_sequences=["Halt!", "Stop!"], stream=True).text
    deltas = [json.loads(line[6:]) for line in stream.splitlines() if line.startswith("data: ")]
    delta = deltas[-2]["delta"]
    assert (delta["stop_reason"], delta["stop_sequence"]) == told
