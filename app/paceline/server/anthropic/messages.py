"""``/v1/messages`` and ``/v1/messages/count_tokens``."""

from __future__ import annotations

import uuid
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from paceline.content import Chat, RawText
from paceline.server.anthropic.conversation import (
    AnthropicMessage,
    AnthropicTool,
    ContentBlock,
    ToolChoiceIn,
    read_messages,
    read_tools,
)
from paceline.server.context import Context, Effort, ignored_header, think_of
from paceline.server.fields import read, read_stops
from paceline.server.replies import Grown, ReplyBegun, RunningReply, Waits
from paceline.server.shared.blocks import BlockOpened, Blocks, Change, Closed, Gained
from paceline.server.shared.figures import own_figures, timings
from paceline.server.shared.tools import functions_of
from paceline.server.streams import comment, event, json_response, streamed
from paceline.server.turns import SamplingFields, continued, make_turn

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from starlette.requests import Request
    from starlette.responses import Response

    from paceline.messages import StartTurn
    from paceline.server.served import Served
    from paceline.server.shared import blocks


_FIELDS = {"prompt": "messages"}


class Thinking(msgspec.Struct, kw_only=True):
    """The switch of the model's reasoning."""

    type: Literal["enabled", "disabled", "adaptive"]


class MessagesForm(msgspec.Struct, kw_only=True):
    """The form that an answer must have."""

    type: Literal["json_schema"]
    schema: dict[str, Any]


class OutputConfig(msgspec.Struct, kw_only=True):
    """The amount of reasoning, and the form of the answer."""

    effort: Effort | None = None
    format: MessagesForm | None = None


class MessagesRequest(SamplingFields, kw_only=True):
    """A request for a reply to a conversation, or for its size."""

    messages: list[AnthropicMessage]
    model: str = ""
    system: str | list[ContentBlock] | None = None
    stream: bool = False
    max_tokens: int | None = None
    stop_sequences: list[str] | None = None
    tools: list[AnthropicTool] | None = None
    tool_choice: ToolChoiceIn | None = None
    thinking: Thinking | None = None
    output_config: OutputConfig | None = None
    cache_control: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None


async def messages(request: Request) -> Response:
    """Answer a conversation."""
    context = Context.of(request)
    body, ignored = read(MessagesRequest, await context.body(request))
    body.tools, passed_over = functions_of(body.tools or [], AnthropicTool.name_of, None, "custom")
    served = await context.models.wanted(body.model)
    chat, begun, remarks = await _chat_of(body, context, served)
    turn = _turn_of(body, context, served, chat, begun)
    has_form = body.output_config is not None and body.output_config.format is not None
    reply = RunningReply(
        context,
        served,
        turn,
        context.caller(request),
        id_prefix="toolu_",
        fields=_FIELDS | {"json_schema": "output_config.format" if has_form else "json_schema"},
        remarks=remarks,
    )
    headers = ignored_header(ignored + passed_over)
    if body.stream:
        return await streamed(request, _stream(reply), headers)
    return json_response(await _whole(reply), headers=headers)


async def count_tokens(request: Request) -> Response:
    """Count the tokens of a conversation, with its tools and what the template adds."""
    context = Context.of(request)
    body, ignored = read(MessagesRequest, await context.body(request))
    body.tools, passed_over = functions_of(body.tools or [], AnthropicTool.name_of, None, "custom")
    served = await context.models.wanted(body.model)
    chat, begun, _ = await _chat_of(body, context, served)
    asker = context.caller(request).name
    n_tokens = len((await context.desk.encode(chat, asker, _FIELDS)).tokens)
    if begun:
        encoded = await context.desk.encode(RawText(begun), asker, _FIELDS)
        n_tokens += len(encoded.tokens) - encoded.n_added
    return json_response({"input_tokens": n_tokens}, headers=ignored_header(ignored + passed_over))


# ----------------------------------------------------------------------------------------- request


async def _chat_of(
    body: MessagesRequest, context: Context, served: Served
) -> tuple[Chat, str, tuple[str, ...]]:
    """Return the conversation, the text that the reply continues, and remarks for the program."""
    conversation, begun = continued(read_messages(body.system, body.messages), "messages")
    tools = read_tools(body.tools, body.tool_choice)
    effort = body.output_config.effort if body.output_config else None
    is_on = None if body.thinking is None else body.thinking.type != "disabled"
    prompting, remarks = await context.prompting(think_of(effort, is_on=is_on), served)
    return Chat(conversation, prompting, tools=tools), begun, remarks


def _turn_of(
    body: MessagesRequest, context: Context, served: Served, chat: Chat, begun: str
) -> StartTurn:
    if body.output_config is not None and body.output_config.format is not None:
        body.json_schema = body.output_config.format.schema
    return make_turn(
        chat,
        body,
        context.defaults,
        served,
        max_tokens=body.max_tokens,
        stop=read_stops(body.stop_sequences, "stop_sequences"),
        begun_text=begun,
    )


# ---------------------------------------------------------------------------------------- response


def _message(reply: RunningReply) -> dict[str, Any]:
    """Return the message object at the begin of a reply."""
    record = reply.record
    return {
        "id": f"msg_{uuid.uuid4().hex}",
        "type": "message",
        "role": "assistant",
        "model": reply.served.id,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _usage(record.n_prompt, record.n_prefilled, 0),
    }


def _usage(n_prompt: int, n_reused: int, n_generated: int) -> dict[str, Any]:
    return {
        "input_tokens": n_prompt - n_reused,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": n_reused,
        "output_tokens": n_generated,
    }


def _end(reply: RunningReply) -> dict[str, Any]:
    """Return the fields that say why a reply has ended."""
    finished = reply.finished
    assert finished is not None
    told: dict[str, Any] = {"stop_reason": "end_turn", "stop_sequence": None}
    if reply.has_called:
        told["stop_reason"] = "tool_use"
    elif finished.reason == "length":
        told["stop_reason"] = "max_tokens"
    elif finished.reason == "context":
        told["stop_reason"] = "model_context_window_exceeded"
    elif finished.stopped_by in reply.turn.stop:
        told = {"stop_reason": "stop_sequence", "stop_sequence": finished.stopped_by}
    return told


def _figures(reply: RunningReply) -> dict[str, Any]:
    stats = reply.stats
    counts = _usage(stats.n_prompt, stats.n_reused, stats.n_generated)
    return {
        "usage": counts | {"output_tokens_details": {"thinking_tokens": reply.n_reasoning}},
        "timings": timings(stats),
        "paceline": own_figures(reply),
    }


def _block(block: blocks.ReplyBlock) -> dict[str, Any]:
    if block.kind == "reasoning":
        return {"type": "thinking", "thinking": block.text, "signature": ""}
    if block.kind == "call":
        given = msgspec.Raw(block.text.encode() or b"{}")
        return {"type": "tool_use", "id": block.call_id, "name": block.name, "input": given}
    return {"type": "text", "text": block.text}


async def _whole(reply: RunningReply) -> dict[str, Any]:
    content = [_block(block) for block in Blocks.of((await reply.complete()).pieces).whole]
    return _message(reply) | {"content": content} | _end(reply) | _figures(reply)


def _event(kind: str, **fields: Any) -> bytes:
    return event({"type": kind, **fields}, kind)


async def _stream(reply: RunningReply) -> AsyncGenerator[bytes, None]:
    found = Blocks()
    async with aclosing(reply.grow()) as growing:
        async for each in growing:
            match each:
                case Waits(words):
                    yield comment(words) + _event("ping")
                case ReplyBegun():
                    yield _event("message_start", message=_message(reply))
                    yield _event("ping")
                case Grown(pieces):
                    for change in found.take(pieces):
                        yield _told(change)
    for change in found.finish():
        yield _told(change)
    yield _event("message_delta", delta=_end(reply), **_figures(reply))
    yield _event("message_stop")


def _told(change: Change) -> bytes:
    """Return the events of a change."""
    index = change.block.index
    match change:
        case BlockOpened(block):
            return _event("content_block_start", index=index, content_block=_block(block))
        case Gained(block, text):
            return _delta(index, _GAINS[block.kind], text)
        case Closed(block):
            end = _event("content_block_stop", index=index)
            if block.kind == "reasoning":  # programs give a reasoning back that has a signature
                return _delta(index, ("signature_delta", "signature"), "") + end
            return end


_GAINS = {
    "reasoning": ("thinking_delta", "thinking"),
    "answer": ("text_delta", "text"),
    "call": ("input_json_delta", "partial_json"),
}


def _delta(index: int, kind: tuple[str, str], text: str) -> bytes:
    delta = {"type": kind[0], kind[1]: text}
    return _event("content_block_delta", index=index, delta=delta)
