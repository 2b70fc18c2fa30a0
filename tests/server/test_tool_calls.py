"""Calls of tools and reasoning in all APIs for chats, as the clients of programs use them."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import anthropic
import httpx2
import openai
import pytest

import real_models
from paceline.messages import LoadPair, ModelParams
from paceline.server import replies
from schemas.validity import Judge
from server.apis import NAMES, Api, api_of
from server.puppet import end, said_by
from server.rig import running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paceline.server.endpoint import Endpoint

ASKED: list[Any] = [{"role": "user", "content": "How is the weather in Bern?"}]
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "town": {"type": "string", "minLength": 1, "maxLength": 12},
        "days": {"type": "integer", "minimum": 1, "maximum": 9},
    },
    "required": ["town", "days"],
}
TOOLS: dict[str, Any] = {"look_up": SCHEMA, "now": {"type": "object", "properties": {}}}


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    """An API's name."""
    found: str = request.param
    return found


@pytest.fixture
def api(endpoint: Endpoint, name: str) -> Iterator[Api]:
    """A client of the demo pair."""
    with api_of(name, endpoint.url) as api:
        yield api


@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_call_cannot_be_forced_after_the_beginning_of_an_answer(
    api: Api, is_streamed: bool
) -> None:
    begun = [*ASKED, {"role": "assistant", "content": "The weather"}]
    with pytest.raises((openai.BadRequestError, anthropic.BadRequestError)) as refused:
        api.ask(begun, TOOLS, "required", is_streamed=is_streamed)
    assert "This reply cannot be continued" in str(refused.value)


def test_a_call_is_the_same_whole_and_in_pieces(api: Api) -> None:
    whole = api.ask(ASKED, TOOLS, ("look_up",))
    streamed = api.ask(ASKED, TOOLS, ("look_up",), is_streamed=True)
    assert (whole.end, whole.text) == (streamed.end, streamed.text) == ("calls", "")
    (call,), (again,) = whole.calls, streamed.calls
    assert call.name == "look_up"
    assert call.id
    assert not Judge(SCHEMA).problem_of(call.arguments)
    assert again[1:] == call[1:]
    assert whole.n_prompt == streamed.n_prompt


def test_a_second_turn_has_the_result(api: Api) -> None:
    for is_streamed in (False, True):
        first = api.ask(ASKED, TOOLS, "required", is_streamed=is_streamed)
        assert first.calls
        results = api.results({call.id: "snow" for call in first.calls})
        again = [*ASKED, *first.items, *results]
        second = api.ask(again, TOOLS, "none", max_tokens=20, is_streamed=is_streamed)
        assert second.text
        assert not second.calls
        assert second.n_prompt > first.n_prompt


@pytest.mark.parametrize("max_tokens", [15, 25])
def test_a_call_that_is_cut_off_is_no_call(api: Api, max_tokens: int) -> None:
    for is_streamed in (False, True):
        said = api.ask(
            ASKED, TOOLS, ("look_up",), max_tokens=max_tokens, is_streamed=is_streamed
        )  # fmt: skip
        assert (said.end, said.text) == ("limit", "")
        if not is_streamed:
            assert said.calls == []


def test_what_cannot_be_kept_is_a_warning(endpoint: Endpoint) -> None:
    bad = {"type": "object", "properties": {"a": {"type": "array", "items": 3}}}
    tool: Any = {"type": "function", "function": {"name": "bad", "parameters": bad}}
    with openai.OpenAI(base_url=f"{endpoint.url}/v1", api_key="none", max_retries=0) as client:
        reply = client.chat.completions.create(
            model="any", messages=ASKED, tools=[tool], tool_choice="required", max_tokens=1
        )
    warnings = reply.model_dump()["paceline"]["warnings"]
    assert any("“bad” are not constrained" in warning for warning in warnings)


SEARCH: dict[str, dict[str, Any]] = {
    "chat": {"type": "web_search"},
    "responses": {"type": "web_search"},
    "messages": {"type": "web_search_20250305", "name": "web_search"},
}
"""Tools that the APIs' own servers carry out."""


def raw(url: str, name: str, tools: list[str | dict[str, Any]]) -> httpx2.Response:
    """Return the answer to a request with these tools; a text is the name of a function."""
    path, asked = {
        "chat": ("chat/completions", {"messages": ASKED, "max_tokens": 3}),
        "responses": ("responses", {"input": "Hello", "max_output_tokens": 3}),
        "messages": ("messages", {"messages": ASKED, "max_tokens": 3}),
    }[name]
    given = [
        tool if isinstance(tool, dict)
        else {"type": "function", "function": {"name": tool}} if name == "chat"
        else {"type": "function", "name": tool} if name == "responses"
        else {"name": tool, "input_schema": {"type": "object"}}
        for tool in tools
    ]  # fmt: skip
    body = asked | {"tools": given}
    return httpx2.post(f"{url}/v1/{path}", json=body, timeout=60)


def test_tools_of_other_servers_are_named_beside_functions(endpoint: Endpoint, name: str) -> None:
    reply = raw(endpoint.url, name, [SEARCH[name], "now", SEARCH[name]])
    assert (reply.status_code, reply.headers["x-paceline-ignored"]) == (200, "tools[0], tools[2]")


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ([None], "tools[0] is of the type “web_search"),
        (["now", ""], "tools[1] is a function without a name"),
        (["now", None, "now"], "tools[2] is called “now”"),
    ],
    ids=["no function", "no name", "one name twice"],
)
def test_tools_that_cannot_be_called_are_refused(
    endpoint: Endpoint, name: str, tools: list[str | None], words: str
) -> None:
    reply = raw(endpoint.url, name, [SEARCH[name] if tool is None else tool for tool in tools])
    error = reply.json()["error"]
    assert reply.status_code == 400
    assert words in error["message"]
    assert name == "messages" or error["param"] == words[:8]


# ------------------------------------------------------------------------- what a model would say

CALLS = [
    "<think>", "I have", " to look.", "</think>", "\n\nLet me ", "see.\n",
    '<tool_call>\n{"name": "look_up", "argu', 'ments": {"town": "B', 'ern", "days": 2}}\n',
    '</tool_call>\n<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>',
]  # fmt: skip


@pytest.mark.parametrize("is_streamed", [False, True])
def test_reasoning_answer_and_calls_are_distinguished(name: str, *, is_streamed: bool) -> None:
    with said_by([*CALLS, end()]) as endpoint, api_of(name, endpoint.url) as api:
        said = api.ask(ASKED, TOOLS, "auto", is_streamed=is_streamed)
    assert (said.reasoning, said.text) == ("I have to look.", "Let me see.")
    assert said.end == "calls"
    assert [(c.name, json.loads(c.arguments)) for c in said.calls] == [
        ("look_up", {"town": "Bern", "days": 2}),
        ("now", {}),
    ]
    assert len({call.id for call in said.calls}) == 2
    prefix = "toolu_" if name == "messages" else "call_"
    assert all(call.id.startswith(prefix) for call in said.calls)


def test_who_wishes_for_reasoning_sees_the_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replies, "MAX_WAIT_FOR_START_S", 0.01)
    go_on = threading.Event()
    body = {"messages": ASKED, "stream": True}
    with said_by(["Hi", go_on, end()], ("off", "on")) as endpoint:
        url = f"{endpoint.url}/v1/messages"
        wish = body | {"thinking": {"type": "enabled"}}
        go_on.set()
        assert httpx2.post(url, json=wish, timeout=60).status_code == 200
        go_on.clear()
        with httpx2.stream("POST", url, json=body, timeout=60) as first:
            begun = first.iter_lines()
            assert next(line for line in begun if line.startswith("event:"))
            with httpx2.stream("POST", url, json=wish, timeout=60) as second:
                lines = second.iter_lines()
                assert next(line for line in lines if line.startswith(": waiting, place 1"))
                go_on.set()
                assert "event: message_stop" in list(lines)
            assert "event: message_stop" in list(begun)


LEVELS = ("off", "low", "medium", "high")


@pytest.mark.parametrize(
    ("path", "wish", "words", "told"),
    [
        ("chat/completions", {"reasoning_effort": "none"}, ("off", "on"), "off"),
        ("chat/completions", {"reasoning_effort": "high"}, ("off", "on"), "on"),
        ("chat/completions", {"reasoning_effort": "xhigh"}, LEVELS, "high"),
        ("chat/completions", {"chat_template_kwargs": {"enable_thinking": False}}, LEVELS, "off"),
        ("chat/completions", {}, LEVELS, ""),
        ("responses", {"reasoning": {"effort": "minimal"}}, LEVELS, "low"),
        ("responses", {"reasoning": {"effort": "low", "summary": "auto"}}, (), ""),
        ("responses", {}, LEVELS, ""),
        ("messages", {"thinking": {"type": "disabled"}}, ("off", "on"), "off"),
        ("messages", {"thinking": {"type": "enabled", "budget_tokens": 9}}, ("off", "on"), "on"),
        ("messages", {"thinking": {"type": "adaptive"}}, LEVELS, "medium"),
        ("messages", {"output_config": {"effort": "max"}}, LEVELS, "high"),
        ("messages", {}, LEVELS, ""),
    ],
)
def test_how_much_is_reasoned(
    path: str, wish: dict[str, Any], words: tuple[str, ...], told: str
) -> None:
    asked = {"input": "Hello"} if path == "responses" else {"messages": ASKED}
    with said_by(["Hi", end()], words) as endpoint:
        reply = httpx2.post(f"{endpoint.url}/v1/{path}", json=asked | wish, timeout=60)
        assert reply.status_code == 200, reply.text
        assert endpoint.journal.entries[-1].reply.options.prompting.think == told
        named = reply.headers.get("x-paceline-ignored")
        remarks = reply.json()["paceline"]["warnings"]
    assert any("no switch" in remark for remark in remarks) == bool(wish and not told)
    unknown = ("thinking.budget_tokens", "reasoning.summary")
    assert named == next((each for each in unknown if each.partition(".")[2] in str(wish)), None)


# ------------------------------------------------------------------------------------ a real model


@pytest.fixture(scope="module")
def real() -> Iterator[Endpoint]:
    """SmolLM2-135M, which has been trained by people, at an endpoint."""
    path = real_models.path_or_skip("smollm2-135m")
    with running(LoadPair(ModelParams(str(path), n_ctx=4096), None)) as endpoint:
        yield endpoint


TEN = {f"{verb}_{noun}": SCHEMA for verb in ("get", "set") for noun in "abcde"}


FEW = {name: TEN[name] for name in ("get_a", "set_a", "get_b")}
"""So many are read in a third of the time."""


@pytest.mark.grid(short=1)
def test_a_real_model_follows_in_both_turns(real: Endpoint, name: str, *, is_long: bool) -> None:
    tools = TEN if is_long else FEW
    with api_of(name, real.url) as api:
        for i in range(34 if is_long else 2):
            tool = f"{('get', 'set')[i % 2]}_{'abcde'[i // 2 % 5]}"
            choice: Any = "required" if i % 2 else (tool,)
            first = api.ask(
                ASKED, tools, choice, max_tokens=300, is_streamed=i % 3 == 0,
                extra_body={"temperature": 0.8, "seed": i},
            )  # fmt: skip
            assert first.end == "calls"
            (call,) = first.calls
            assert call.name in tools if i % 2 else call.name == tool
            assert not Judge(SCHEMA).problem_of(call.arguments)
        results = api.results({call.id: "It rains."})
        second = api.ask([*ASKED, *first.items, *results], tools, "none", max_tokens=20)
    assert second.text
    assert second.n_prompt > first.n_prompt


FORM = {
    "type": "object",
    "properties": {"rain": {"type": "boolean"}},
    "required": ["rain"],
    "additionalProperties": False,
}
FORMS: dict[str, dict[str, Any]] = {
    "chat": {
        "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": FORM}}
    },
    "responses": {"text": {"format": {"type": "json_schema", "name": "a", "schema": FORM}}},
    "messages": {"output_config": {"format": {"type": "json_schema", "schema": FORM}}},
}


@pytest.mark.grid(short=1)
def test_a_real_model_calls_a_tool_or_keeps_the_form(
    real: Endpoint, name: str, *, is_long: bool
) -> None:
    n_ended = 0
    with api_of(name, real.url) as api:
        for i in range(4) if is_long else (0, 3):
            said = api.ask(
                ASKED, FEW, "auto", max_tokens=300, is_streamed=i % 2 == 1,
                extra_body=FORMS[name] | {"temperature": 0.8, "seed": i},
            )  # fmt: skip
            # So small a model may call tools until the limit, in the middle of a call.
            is_cut = said.end == "limit"
            for call in said.calls[:-1] if is_cut else said.calls:
                assert not Judge(FEW[call.name]).problem_of(call.arguments)
            if is_cut:
                continue
            n_ended += 1
            assert said.end in ("calls", "end")
            if not said.calls:
                assert not Judge(FORM).problem_of(said.text)
    assert n_ended >= 2


def test_a_form_beside_a_call_that_must_come_is_a_warning(endpoint: Endpoint) -> None:
    tool = {"type": "function", "function": {"name": "now"}}
    body = {"messages": ASKED, "tools": [tool], "tool_choice": "required", "max_tokens": 60}
    reply = httpx2.post(
        f"{endpoint.url}/v1/chat/completions", json=body | FORMS["chat"], timeout=60
    ).json()
    assert reply["choices"][0]["finish_reason"] == "tool_calls"
    assert any("has no effect" in warning for warning in reply["paceline"]["warnings"])


def test_a_grammar_holds_where_no_tool_is_called(endpoint: Endpoint) -> None:
    tool = {"type": "function", "function": {"name": "now", "parameters": TOOLS["now"]}}
    body = {"messages": ASKED, "tools": [tool], "grammar": 'root ::= "yes" | "no"'}
    reply = httpx2.post(
        f"{endpoint.url}/v1/chat/completions", json=body | {"max_tokens": 60}, timeout=60
    )
    (choice,) = reply.json()["choices"]
    is_call = choice["finish_reason"] == "tool_calls"
    assert is_call or choice["message"]["content"] in ("yes", "no")
