"""The three APIs for chats as one protocol, by the clients that programs use."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import anthropic
import openai

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Choice = Literal["auto", "none", "required"] | tuple[str]
"""The wish for a tool to be called; a tuple: for which one."""


class Call(NamedTuple):
    """A tool that is to be called."""

    id: str
    name: str
    arguments: str


class Said(NamedTuple):
    """A reply.

    Attributes:
        text: Text of the answer.
        reasoning: Reasoning before the answer.
        calls: Calls of tools.
        end: Reason of its end: "end", "calls" or "limit".
        items: Items to send back with the next question.
        n_prompt: Tokens of the prompt.
    """

    text: str
    reasoning: str
    calls: list[Call]
    end: str
    items: list[Any]
    n_prompt: int


class Api(Protocol):
    """An API for chats, with a client of it."""

    def ask(
        self,
        items: Sequence[Any],
        tools: Mapping[str, Any],
        choice: Choice,
        *,
        max_tokens: int = 120,
        is_streamed: bool = False,
        **more: Any,
    ) -> Said:
        """Return a reply.

        Args:
            items: The conversation, in the API's form.
            tools: The schemas of tools, by name.
            choice: Rule for calls of tools; only "auto" allows several.
            max_tokens: Maximum number of tokens of the reply.
            is_streamed: True to receive the reply in pieces.
            more: Further fields of the request.
        """

    def results(self, results: Mapping[str, str]) -> list[Any]:
        """Return what tools have returned, by the ids of calls, in the API's form."""


class ChatApi:
    """OpenAI's chat completions."""

    def __init__(self, client: openai.OpenAI) -> None:
        self._client = client

    def ask(
        self,
        items: Sequence[Any],
        tools: Mapping[str, Any],
        choice: Choice,
        *,
        max_tokens: int = 120,
        is_streamed: bool = False,
        **more: Any,
    ) -> Said:
        """Ask; see `Api`."""
        given: dict[str, Any] = {
            "model": "any",
            "messages": items,
            "max_tokens": max_tokens,
            **more,
        }
        given["tools"] = [
            {"type": "function", "function": {"name": name, "parameters": schema}}
            for name, schema in tools.items()
        ]
        given["tool_choice"] = choice
        given["parallel_tool_calls"] = choice == "auto"
        if isinstance(choice, tuple):
            given["tool_choice"] = {"type": "function", "function": {"name": choice[0]}}
        if is_streamed:
            usage = {"include_usage": True}
            with self._client.chat.completions.stream(**given, stream_options=usage) as stream:
                try:
                    reply: Any = stream.get_final_completion()
                except openai.LengthFinishReasonError as error:
                    reply = error.completion
        else:
            reply = self._client.chat.completions.create(**given)
        (found,) = reply.choices
        message = found.message.model_dump(exclude_none=True)
        calls = [
            Call(call["id"], call["function"]["name"], call["function"]["arguments"])
            for call in message.get("tool_calls", ())
        ]
        ends = {"stop": "end", "tool_calls": "calls", "length": "limit"}
        reasoning = message.get("reasoning_content", "")
        message.pop("parsed", None)
        return Said(
            message.get("content") or "", reasoning, calls, ends[found.finish_reason], [message],
            reply.usage.prompt_tokens,
        )  # fmt: skip

    def results(self, results: Mapping[str, str]) -> list[Any]:
        """Return results of tools; see `Api`."""
        return [{"role": "tool", "tool_call_id": id_, "content": t} for id_, t in results.items()]


class ResponsesApi:
    """OpenAI's responses."""

    def __init__(self, client: openai.OpenAI) -> None:
        self._client = client

    def ask(
        self,
        items: Sequence[Any],
        tools: Mapping[str, Any],
        choice: Choice,
        *,
        max_tokens: int = 120,
        is_streamed: bool = False,
        **more: Any,
    ) -> Said:
        """Ask; see `Api`."""
        given: dict[str, Any] = {"model": "any", "input": items, "max_output_tokens": max_tokens}
        given["tools"] = [
            {"type": "function", "name": name, "parameters": schema, "strict": False}
            for name, schema in tools.items()
        ]
        given["tool_choice"] = choice
        given["parallel_tool_calls"] = choice == "auto"
        if isinstance(choice, tuple):
            given["tool_choice"] = {"type": "function", "name": choice[0]}
        if is_streamed:
            with self._client.responses.stream(**given, **more) as stream:
                last: Any = list(stream)[-1]
            reply: Any = last.response
        else:
            reply = self._client.responses.create(**given, **more)
        calls = [
            Call(item.call_id, item.name, item.arguments)
            for item in reply.output
            if item.type == "function_call"
        ]
        reasoning = "".join(
            part.text for item in reply.output if item.type == "reasoning" for part in item.content
        )
        end = "calls" if calls else "end"
        if reply.status != "completed":
            assert reply.incomplete_details.reason == "max_output_tokens"
            end = "limit"
        items = [item.model_dump(exclude_none=True) for item in reply.output]
        return Said(reply.output_text, reasoning, calls, end, items, reply.usage.input_tokens)

    def results(self, results: Mapping[str, str]) -> list[Any]:
        """Return results of tools; see `Api`."""
        return [
            {"type": "function_call_output", "call_id": id_, "output": text}
            for id_, text in results.items()
        ]


class MessagesApi:
    """Anthropic's messages."""

    def __init__(self, client: anthropic.Anthropic) -> None:
        self._client = client

    def ask(
        self,
        items: Sequence[Any],
        tools: Mapping[str, Any],
        choice: Choice,
        *,
        max_tokens: int = 120,
        is_streamed: bool = False,
        **more: Any,
    ) -> Said:
        """Ask; see `Api`."""
        given: dict[str, Any] = {
            "model": "any",
            "messages": items,
            "max_tokens": max_tokens,
            **more,
        }
        given["tools"] = [
            {"name": name, "input_schema": schema} for name, schema in tools.items()
        ]  # fmt: skip
        kinds = {"required": "any", "auto": "auto", "none": "none"}
        if isinstance(choice, tuple):
            given["tool_choice"] = {"type": "tool", "name": choice[0]}
        else:
            given["tool_choice"] = {"type": kinds[choice]}
        if choice not in ("auto", "none"):
            given["tool_choice"]["disable_parallel_tool_use"] = True
        if is_streamed:
            with self._client.messages.stream(**given) as stream:
                reply: Any = stream.get_final_message()
        else:
            reply = self._client.messages.create(**given)
        ends = {"end_turn": "end", "tool_use": "calls", "max_tokens": "limit"}
        end = ends[reply.stop_reason]
        blocks = [block.model_dump(exclude_none=True) for block in reply.content]
        calls = [
            Call(block["id"], block["name"], json.dumps(block["input"]))
            for block in blocks
            if block["type"] == "tool_use" and end == "calls"
        ]
        text, reasoning = (
            "".join(block[kind] for block in blocks if block["type"] == kind)
            for kind in ("text", "thinking")
        )
        usage = reply.usage
        n_prompt = usage.input_tokens + usage.cache_read_input_tokens
        items = [{"role": "assistant", "content": blocks}]
        return Said(text, reasoning, calls, end, items, n_prompt)

    def results(self, results: Mapping[str, str]) -> list[Any]:
        """Return results of tools; see `Api`."""
        blocks = [
            {"type": "tool_result", "tool_use_id": id_, "content": text}
            for id_, text in results.items()
        ]
        return [{"role": "user", "content": blocks}]


NAMES = ("chat", "responses", "messages")


@contextmanager
def api_of(name: str, url: str) -> Iterator[Api]:
    """Give a client of an API."""
    if name == "messages":
        with anthropic.Anthropic(base_url=url, api_key="none", max_retries=0) as client:
            yield MessagesApi(client)
        return
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        yield ChatApi(client) if name == "chat" else ResponsesApi(client)
