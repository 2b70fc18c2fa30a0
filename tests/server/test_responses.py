"""``/v1/responses``, as OpenAI's own client uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import httpx2
import openai
import pydantic

if TYPE_CHECKING:
    from paceline.server.endpoint import Endpoint

HELLO = "What is a list?"


class Found(pydantic.BaseModel):
    """An answer in a form."""

    name: str = pydantic.Field(max_length=20)
    n: Literal[1, 2, 3]


def test_a_stream_has_the_text_of_the_whole_response(client: openai.OpenAI) -> None:
    whole = client.responses.create(model="any", input=HELLO, max_output_tokens=60)
    with client.responses.stream(model="any", input=HELLO, max_output_tokens=60) as stream:
        events = list(stream)
    text = "".join(e.delta for e in events if e.type == "response.output_text.delta")
    last: Any = events[-1]
    assert whole.output_text == text == last.response.output_text != ""
    assert whole.status == last.response.status == "incomplete"
    assert whole.incomplete_details is not None
    assert whole.incomplete_details.reason == "max_output_tokens"
    assert whole.usage is not None
    assert whole.usage.output_tokens == last.response.usage.output_tokens == 60
    chat = client.chat.completions.create(
        model="any", messages=[{"role": "user", "content": HELLO}], max_tokens=60
    )
    assert chat.choices[0].message.content == text


def test_the_events_of_a_stream_come_in_their_order(client: openai.OpenAI) -> None:
    stream = client.responses.create(model="any", input=HELLO, max_output_tokens=9, stream=True)
    events = list(stream)
    kinds = [event.type.removeprefix("response.") for event in events]
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert kinds[:4] == ["created", "in_progress", "output_item.added", "content_part.added"]
    assert kinds[-4:] == [
        "output_text.done", "content_part.done", "output_item.done", "incomplete"
    ]  # fmt: skip
    assert set(kinds[4:-4]) == {"output_text.delta"}
    added, done, last = (events[i].model_dump() for i in (2, -2, -1))
    assert added["item"]["id"] == done["item"]["id"] == last["response"]["output"][0]["id"]
    assert (added["item"]["status"], added["item"]["content"]) == ("in_progress", [])
    assert done["item"] == last["response"]["output"][0]
    assert events[0].model_dump()["response"]["id"] == last["response"]["id"]


def test_a_response_reports_its_figures(client: openai.OpenAI) -> None:
    told = client.responses.create(model="any", input=HELLO, max_output_tokens=20).model_dump()
    usage, timings, own = told["usage"], told["timings"], told["paceline"]
    assert timings["predicted_n"] == usage["output_tokens"]
    assert timings["cache_n"] == usage["input_tokens_details"]["cached_tokens"] == own["n_reused"]
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
    assert told["store"] is False


def test_a_form_is_followed_and_read(client: openai.OpenAI) -> None:
    response = client.responses.parse(
        model="any", input=HELLO, max_output_tokens=120, text_format=Found
    )
    assert response.status == "completed"
    assert isinstance(response.output_parsed, Found)
    with client.responses.stream(
        model="any", input=HELLO, max_output_tokens=120, text_format=Found
    ) as stream:
        assert stream.get_final_response().output_parsed == response.output_parsed


def test_items_are_the_conversation_of_their_messages(client: openai.OpenAI) -> None:
    items: list[Any] = [
        {"role": "user", "content": "Hello"},
        {"type": "message", "role": "assistant", "status": "completed", "id": "msg_1",
         "content": [{"type": "output_text", "text": "Hello!", "annotations": []}]},
        {"role": "user", "content": [{"type": "input_text", "text": HELLO}]},
    ]  # fmt: skip
    response = client.responses.create(
        model="any", instructions="Be brief.", input=items, max_output_tokens=30
    )
    chat = client.chat.completions.create(
        model="any", max_tokens=30,
        messages=[
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "Hello!"},
            {"role": "user", "content": HELLO},
        ],
    )  # fmt: skip
    assert response.output_text == chat.choices[0].message.content
    assert response.usage is not None
    assert chat.usage is not None
    assert response.usage.input_tokens == chat.usage.prompt_tokens


def test_what_the_model_said_in_a_row_is_one_message(endpoint: Endpoint) -> None:
    items = [
        {"role": "user", "content": "Read a."},
        {"type": "reasoning", "id": "rs_1", "summary": [],
         "content": [{"type": "reasoning_text", "text": "I read it."}]},
        {"type": "function_call", "call_id": "call_1", "name": "read", "arguments": "{}"},
        {"type": "function_call", "call_id": "call_2", "name": "read", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "x = 1"},
        {"type": "function_call_output", "call_id": "call_2",
         "output": [{"type": "input_text", "text": "y = 1"}]},
    ]  # fmt: skip
    function = {"name": "read", "parameters": {"type": "object"}}
    reply = ask(
        endpoint, input=items, tools=[{"type": "function", **function}], tool_choice="none"
    ).json()
    call = {"type": "function", "function": {"name": "read", "arguments": "{}"}}
    chat = httpx2.post(
        f"{endpoint.url}/v1/chat/completions",
        json={
            "messages": [
                {"role": "user", "content": "Read a."},
                {
                    "role": "assistant",
                    "content": None,
                    "reasoning_content": "I read it.",
                    "tool_calls": [{"id": "call_1", **call}, {"id": "call_2", **call}],
                },
                {"role": "tool", "tool_call_id": "call_1", "content": "x = 1"},
                {"role": "tool", "tool_call_id": "call_2", "content": "y = 1"},
            ],
            "tools": [{"type": "function", "function": function}],
            "tool_choice": "none",
            "max_tokens": 3,
        },
        timeout=60,
    ).json()
    assert reply["usage"]["input_tokens"] == chat["usage"]["prompt_tokens"]
    (told,) = reply["output"]
    assert told["content"][0]["text"] == chat["choices"][0]["message"]["content"]


def ask(endpoint: Endpoint, **body: Any) -> httpx2.Response:
    given = {"input": HELLO, "max_output_tokens": 3} | body
    return httpx2.post(f"{endpoint.url}/v1/responses", json=given, timeout=60)


def test_tools_that_are_no_functions_are_not_among_the_tools(endpoint: Endpoint) -> None:
    tools = [
        {"type": "web_search"},
        {"type": "function", "name": "read", "parameters": {"type": "object"}},
        {"type": "namespace", "name": "agents", "tools": []},
    ]
    reply = ask(endpoint, tools=tools, parallel_tool_calls=False)
    assert reply.headers["x-paceline-ignored"] == "tools[0], tools[2]"
    assert [tool["name"] for tool in reply.json()["tools"]] == ["read"]


def test_a_long_conversation_is_cut_where_that_is_asked_for(endpoint: Endpoint) -> None:
    items = [
        {"role": "user" if i % 2 == 0 else "assistant", "content": "Hello " * 200}
        for i in range(41)
    ]
    refusal = ask(endpoint, input=items)
    assert refusal.status_code == 400
    assert refusal.json()["error"]["code"] == "context_length_exceeded"
    assert ask(endpoint, input=items, truncation="auto").status_code == 200
