"""The promises of every API that writes replies: limits, errors, forms, streams and their ends."""

from __future__ import annotations

import json
import queue
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

import anthropic
import httpx2
import openai
import pytest

from paceline.messages import StepCommitted, TurnFailed
from paceline.server import replies
from schemas.validity import Judge
from server.apis import NAMES, api_of
from server.puppet import DEATH, end, said_by
from server.wire import connect, request

if TYPE_CHECKING:
    from collections.abc import Callable

    from paceline.messages import Event
    from paceline.server.endpoint import Endpoint
    from paceline.server.journal import Entry

HELLO: list[Any] = [{"role": "user", "content": "What is a list?"}]
CHAT, TEXT, RESPONSES, MESSAGES = (
    f"/v1/{name}" for name in ("chat/completions", "completions", "responses", "messages")
)


class Route(NamedTuple):
    """One route that writes replies.

    Attributes:
        body: A request for a short reply.
        limit: The field that limits the reply.
        prompt: The field of the prompt.
        of_text: Returns the value of that field for a text.
        text_of: Returns the text of a reply.
        last: The line that ends a stream.
    """

    body: dict[str, Any]
    limit: str
    prompt: str
    of_text: Callable[[str], Any]
    text_of: Callable[[Any], str]
    last: str


def _user(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


ROUTES = {
    CHAT: Route(
        {"messages": HELLO, "max_tokens": 3},
        "max_tokens",
        "messages",
        _user,
        lambda told: str(told["choices"][0]["message"]["content"]),
        "data: [DONE]",
    ),
    TEXT: Route(
        {"prompt": "A list is", "max_tokens": 3},
        "max_tokens",
        "prompt",
        str,
        lambda told: str(told["choices"][0]["text"]),
        "data: [DONE]",
    ),
    RESPONSES: Route(
        {"input": "What is a list?", "max_output_tokens": 3},
        "max_output_tokens",
        "input",
        str,
        lambda told: "".join(o["content"][0]["text"] for o in told["output"]),
        "event: response.completed",
    ),
    MESSAGES: Route(
        {"messages": HELLO, "max_tokens": 3},
        "max_tokens",
        "messages",
        _user,
        lambda told: "".join(block["text"] for block in told["content"]),
        "event: message_stop",
    ),
    "/completion": Route(
        {"prompt": "A list is", "n_predict": 3},
        "n_predict",
        "prompt",
        str,
        lambda told: str(told["content"]),
        '"stop":true',
    ),
    "/infill": Route(
        {"prompt": "a", "n_predict": 3},
        "n_predict",
        "input_prefix",
        str,
        lambda told: str(told["content"]),
        "",
    ),
}
"""The last one is asked for refusals alone, since the demo pair fills in no gaps."""
every_route = pytest.mark.parametrize("path", [path for path in ROUTES if path != "/infill"])
every_api = pytest.mark.parametrize("name", NAMES)


def post(endpoint: Endpoint, path: str, **given: Any) -> httpx2.Response:
    return httpx2.post(f"{endpoint.url}{path}", json=ROUTES[path].body | given, timeout=60)


# ------------------------------------------------------------------------------------- refusals

_TEXT = {"type": "text", "text": "x"}
_IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}
_NO_SCHEMA = {"type": "json_schema", "name": "x"}


def _result(**fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [{"type": "tool_result", **fields}]}]}


REFUSED: tuple[tuple[str, dict[str, Any], str], ...] = (
    *[
        (path, given, field)
        for path in (CHAT, TEXT, RESPONSES, MESSAGES, "/completion")
        for given, field in (({"temperature": -1}, "temperature"), ({"top_p": 2}, "top_p"))
    ],
    *[(path, {"max_tokens": 0}, "max_tokens") for path in (CHAT, TEXT, MESSAGES)],
    *[(path, {"messages": []}, "messages") for path in (CHAT, MESSAGES)],
    *[
        (path, {"messages": [{"role": "robot", "content": ""}]}, "messages[0].role")
        for path in (CHAT, MESSAGES)
    ],
    *[(path, {"n": 9}, "n") for path in (CHAT, TEXT)],
    *[(path, {"prompt": ""}, "prompt") for path in (TEXT, "/completion")],
    *[(path, {"top_logprobs": 3}, "top_logprobs") for path in (CHAT, RESPONSES)],
    *[(path, {"tool_choice": "required"}, "tool_choice") for path in (CHAT, RESPONSES)],
    (CHAT, {"temperature": "warm"}, "temperature"),
    (CHAT, {"max_tokens": 9, "max_completion_tokens": 0}, "max_completion_tokens"),
    (CHAT, {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
     "messages[0].content[0]"),
    (CHAT, {"messages": _user(" ")}, "messages"),
    (CHAT, {"messages": [*HELLO, {"role": "tool", "tool_call_id": "7", "content": "x"}]},
     "messages"),
    (CHAT, {"messages": [*HELLO, {"role": "assistant", "tool_calls": [
        {"id": "1", "function": {"name": "f", "arguments": "[1]"}}]}, *HELLO]}, "messages"),
    (CHAT, {"messages": [*HELLO, {"role": "assistant", "content": "<|im_end|>"}]}, "messages"),
    (CHAT, {"logit_bias": {"x": 1}}, "logit_bias"),
    (CHAT, {"logit_bias": {"99999999": 1}}, "logit_bias"),
    (CHAT, {"logit_bias": {"7": 1e9}}, "logit_bias"),
    (CHAT, {"grammar": "root := x"}, "grammar"),
    (CHAT, {"json_schema": {"$ref": "#/nowhere"}}, "json_schema"),
    (CHAT, {"stop": ["a"] * 99}, "stop"),
    (CHAT, {"response_format": {"type": "json_schema"}}, "response_format.json_schema.schema"),
    (CHAT, {"reasoning_effort": "much"}, "reasoning_effort"),
    (CHAT, {"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": 7}}}},
     "response_format"),
    (CHAT, {"paceline": {"strategy": "magic"}}, "paceline.strategy"),
    (CHAT, {"paceline": {"strategy": "mtp"}}, "paceline.strategy"),
    (TEXT, {"prompt": []}, "prompt"),
    (TEXT, {"prompt": ["a"] * 65}, "prompt"),
    (TEXT, {"prompt": ["a", 5]}, "prompt"),
    (TEXT, {"prompt": [["a"]]}, "prompt[0][0]"),
    (TEXT, {"prompt": [True]}, "prompt[0]"),
    (TEXT, {"prompt": [100, 200], "suffix": "b"}, "suffix"),
    (TEXT, {"prompt": [10**6]}, "prompt"),
    (TEXT, {"suffix": "b"}, "suffix"),
    (TEXT, {"best_of": 2}, "best_of"),
    (TEXT, {"logprobs": 21}, "logprobs"),
    (TEXT, {"logprobs": 1, "echo": True}, "logprobs"),
    (RESPONSES, {"input": []}, "input"),
    (RESPONSES, {"input": None}, "input"),
    (RESPONSES, {"input": " "}, "input"),
    (RESPONSES, {"input": [{"type": "item_reference", "id": "msg_1"}]}, "input[0]"),
    (RESPONSES, {"input": [{"role": "user", "content": [{"type": "input_image"}]}]},
     "input[0].content[0]"),
    (RESPONSES, {"input": [{"type": "function_call", "call_id": "1"}]}, "input[0].name"),
    (RESPONSES, {"input": [{"type": "function_call_output", "output": ""}]}, "input[0].call_id"),
    (RESPONSES, {"input": [{"role": "user", "content": "Hi"},
                           {"type": "function_call_output", "call_id": "7", "output": ""}]},
     "input"),
    (RESPONSES, {"max_output_tokens": 0}, "max_output_tokens"),
    (RESPONSES, {"tools": [{"type": "web_search"}]}, "tools[0]"),
    (RESPONSES, {"text": {"format": _NO_SCHEMA}}, "text.format.schema"),
    (RESPONSES, {"text": {"format": _NO_SCHEMA | {"schema": {"$ref": "#/x"}}}}, "text.format"),
    (RESPONSES, {"reasoning": {"effort": "much"}}, "reasoning.effort"),
    (RESPONSES, {"previous_response_id": "resp_1"}, "previous_response_id"),
    (RESPONSES, {"store": True}, "store"),
    (RESPONSES, {"background": True}, "background"),
    (MESSAGES, {"messages": [{"role": "user", "content": [_TEXT, _IMAGE]}]},
     "messages[0].content[1]"),
    (MESSAGES, {"messages": [{"role": "user", "content": [{"type": "tool_use"}]}]},
     "messages[0].content[0]"),
    (MESSAGES, _result(), "messages[0].content[0].tool_use_id"),
    (MESSAGES, _result(tool_use_id="1", content=[_TEXT, _IMAGE]),
     "messages[0].content[0].content[1]"),
    (MESSAGES, {"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "1"}]}]},
     "messages[0].content[0].name"),
    (MESSAGES, {"messages": [{"role": "assistant", "content": "I"}]}, "messages"),
    (MESSAGES, {"messages": [{"role": "user", "content": []}]}, "messages: The prompt is empty"),
    (MESSAGES, {"system": [_IMAGE]}, "system[0]"),
    (MESSAGES, {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "tools[0]"),
    (MESSAGES, {"tool_choice": {"type": "any"}}, "tool_choice"),
    (MESSAGES, {"tools": [{"name": "look", "input_schema": {}}],
                "tool_choice": {"type": "tool", "name": "see"}}, "tool_choice"),
    (MESSAGES, {"stop_sequences": ["a"] * 99}, "stop_sequences"),
    (MESSAGES, {"thinking": {"type": "maybe"}}, "thinking.type"),
    (MESSAGES, {"output_config": {"format": {"type": "json_schema", "schema": {"$ref": "#/x"}}}},
     "output_config.format: "),
    ("/completion", {"prompt": ["a", "b"]}, "prompt"),
    ("/completion", {"n_predict": -2}, "n_predict"),
    ("/completion", {"n_probs": 21}, "n_probs"),
    ("/infill", {"input_prefix": 3}, "input_prefix"),
    ("/infill", {"input_prefix": "a", "input_suffix": "b"}, "input_suffix"),
    ("/infill", {"input_extra": [{"text": ""}] * 1001}, "input_extra"),
)  # fmt: skip
"""Routes, what cannot be honoured there, and the field that is named."""


@pytest.mark.parametrize(("path", "given", "field"), REFUSED)
def test_what_cannot_be_honoured_is_refused_by_its_name(
    endpoint: Endpoint, path: str, given: dict[str, Any], field: str
) -> None:
    reply = post(endpoint, path, **given)
    told = reply.json()
    assert reply.status_code == 400, told
    error = told["error"]
    assert error["type"] == "invalid_request_error"
    if path == MESSAGES:  # its form has no field for it
        assert told["type"] == "error"
        assert field in error["message"]
    else:
        assert error["param"] == field


@every_route
def test_a_prompt_that_does_not_fit_is_refused_with_both_numbers(
    endpoint: Endpoint, path: str
) -> None:
    route = ROUTES[path]
    for stream in (False, True):
        reply = post(endpoint, path, stream=stream, **{route.prompt: route.of_text("Hi " * 4000)})
        error = reply.json()["error"]
        assert reply.status_code == 400
        assert "2,048" in error["message"]
        if path != MESSAGES:
            assert (error["code"], error["param"]) == ("context_length_exceeded", route.prompt)


# ------------------------------------------------------------------------------------- replies

FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 20}, "n": {"enum": [1, 2, 3]}},
    "required": ["name", "n"],
    "additionalProperties": False,
}
FORMS: dict[str, dict[str, Any]] = {
    CHAT: {
        "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": FORM}},
        "max_tokens": 120,
    },
    RESPONSES: {
        "text": {"format": {"type": "json_schema", "name": "a", "schema": FORM}},
        "max_output_tokens": 120,
    },
    MESSAGES: {
        "output_config": {"format": {"type": "json_schema", "schema": FORM}},
        "max_tokens": 120,
    },
}


@pytest.mark.parametrize("path", FORMS)
def test_a_schema_is_followed(endpoint: Endpoint, path: str) -> None:
    told = post(endpoint, path, **FORMS[path]).json()
    assert not Judge(FORM).problem_of(ROUTES[path].text_of(told))


@every_api
@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_reply_that_ends_at_once_is_empty(name: str, *, is_streamed: bool) -> None:
    with said_by([end()]) as endpoint, api_of(name, endpoint.url) as api:
        said = api.ask(HELLO, {}, "auto", is_streamed=is_streamed)
    assert (said.text, said.reasoning, said.calls, said.end) == ("", "", [], "end")


@every_api
@pytest.mark.parametrize("is_streamed", [False, True])
def test_reasoning_alone_has_reached_the_limit(name: str, *, is_streamed: bool) -> None:
    script = ["<think>", "I have to", end("length")]
    with said_by(script) as endpoint, api_of(name, endpoint.url) as api:
        said = api.ask(HELLO, {}, "auto", is_streamed=is_streamed)
    assert (said.reasoning, said.text, said.end) == ("I have to", "", "limit")


@every_route
def test_a_stream_that_waits_is_kept_alive(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replies, "KEEP_ALIVE_EVERY_S", 0.01)
    go_on, body = threading.Event(), ROUTES[path].body | {"stream": True}
    with (
        said_by(["Let me", go_on, " see.", end()]) as endpoint,
        httpx2.stream("POST", f"{endpoint.url}{path}", json=body, timeout=60) as reply,
    ):
        lines = []
        for line in reply.iter_lines():
            lines.append(line)
            if line.startswith(":"):
                go_on.set()
    assert any(ROUTES[path].last in line for line in lines)
    waited = next(i for i, line in enumerate(lines) if line.startswith(":"))
    assert ("event: ping" in lines[waited:]) == (path == MESSAGES)


@every_route
@pytest.mark.parametrize("stream", [True, False])
def test_a_program_that_leaves_ends_its_reply(path: str, *, stream: bool) -> None:
    ended: queue.SimpleQueue[Entry] = queue.SimpleQueue()
    began, go_on = threading.Event(), threading.Event()

    def grow(_entry: Entry, event: Event) -> None:
        if isinstance(event, StepCommitted):
            began.set()

    body = json.dumps(ROUTES[path].body | {"stream": stream}).encode()
    with said_by(["Let me", go_on, " see.", end("cancelled")]) as endpoint:
        endpoint.journal.follow(ended.put, grew=grow)
        with connect(endpoint.url) as connection:
            kind = "Content-Type: application/json"
            connection.sendall(request(endpoint.url, f"POST {path}", kind, body=body))
            assert began.wait(30)
        error = ended.get(timeout=30).reply.error
        go_on.set()
    assert error is not None
    assert error.code == "hung-up"


FAILURE = TurnFailed("invalid-numbers", "The model computes numbers that are none.", "")


@every_api
@pytest.mark.parametrize("failure", [FAILURE, DEATH])
def test_a_failure_in_mid_reply_is_an_error(name: str, failure: Any) -> None:
    with said_by(["Let me", " see", failure]) as endpoint:
        url = endpoint.url
        words = failure.message if isinstance(failure, TurnFailed) else failure.reason
        with api_of(name, url) as api, pytest.raises((openai.APIError, anthropic.APIError)) as told:
            api.ask(HELLO, {}, "auto")
        assert words in str(told.value)
        assert _streamed_error(name, url) == words


def _streamed_error(name: str, url: str) -> str:
    """Return how the stream of a reply that fails ends, after its beginning."""
    if name == "messages":
        with anthropic.Anthropic(base_url=url, api_key="none", max_retries=0) as claude:
            stream = claude.messages.create(model="any", messages=HELLO, max_tokens=9, stream=True)
            assert next(stream).type == "message_start"
            with pytest.raises(anthropic.APIStatusError) as broken:
                list(stream)
            body: Any = broken.value.body
            return str(body["error"]["message"])
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        if name == "responses":
            *begun, last = client.responses.create(model="any", input="Hello", stream=True)
            assert begun[0].type == "response.created"
            assert last.type == "response.failed"
            assert last.response.error is not None
            return last.response.error.message
        chunks = client.chat.completions.create(model="any", messages=HELLO, stream=True)
        with pytest.raises(openai.APIError) as failed:
            list(chunks)
        return failed.value.message


def test_a_route_that_there_is_not_names_those_that_there_are(endpoint: Endpoint) -> None:
    for path in ("/v1/embeddings", "/api/chat", "/v1/chat/completions/", "/"):
        reply = httpx2.post(f"{endpoint.url}{path}", json={})
        error = json.loads(reply.text)["error"]
        assert (reply.status_code, error["code"]) == (404, "not_found")
        assert "/v1/chat/completions, " in error["message"]
