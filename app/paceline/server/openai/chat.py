"""``/v1/chat/completions``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from paceline.content import Chat, text_of
from paceline.engine.calls.pieces import Answer, CallArguments, CallBegan, CallEnded
from paceline.server.context import Context, Effort, ignored_header, think_of
from paceline.server.errors import refused
from paceline.server.fields import read, read_stops
from paceline.server.limits import MAX_TOP_LOGPROBS
from paceline.server.openai.choices import (
    StreamOptions,
    figures_of,
    finish_reason,
    head_of,
    told,
    wants_usage,
)
from paceline.server.openai.messages import (
    ContentPart,
    MessageIn,
    ToolChoiceIn,
    ToolIn,
    read_content,
    read_messages,
    read_tools,
)
from paceline.server.pieces import ReasoningPiece
from paceline.server.replies import Grown, ReplyBegun, RunningReply
from paceline.server.shared.figures import likely_token
from paceline.server.shared.tools import functions_of
from paceline.server.streams import json_response, streamed
from paceline.server.turns import SamplingFields, continued, make_turn, turns_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from paceline.messages import StartTurn, TokenLikelihood
    from paceline.params import Prompting
    from paceline.server.pieces import Piece
    from paceline.server.served import Served


class SchemaIn(msgspec.Struct, kw_only=True):
    """A JSON schema with its name."""

    schema: dict[str, Any] | bool | None = None
    name: str = ""
    strict: bool | None = None


class ResponseFormat(msgspec.Struct, kw_only=True):
    """The form that an answer must have."""

    type: Literal["text", "json_object", "json_schema"] = "text"
    json_schema: SchemaIn | None = None
    schema: dict[str, Any] | None = None


class Prediction(msgspec.Struct, kw_only=True):
    """The text that the reply is expected to be."""

    content: str | list[ContentPart]
    type: Literal["content"] = "content"


class TemplateArguments(msgspec.Struct, kw_only=True):
    """Variables of chat templates; only the amount of reasoning is known."""

    enable_thinking: bool | None = None


class ChatRequest(SamplingFields, kw_only=True):
    """A request for a reply to a conversation."""

    messages: list[MessageIn]
    model: str = ""
    stream: bool = False
    stream_options: StreamOptions | None = None
    return_progress: bool = False
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    n: int = 1
    stop: str | list[str] | None = None
    logprobs: bool = False
    top_logprobs: int | None = None
    response_format: ResponseFormat | None = None
    reasoning_effort: Effort | None = None
    chat_template_kwargs: TemplateArguments | None = None
    tools: list[ToolIn] | None = None
    tool_choice: ToolChoiceIn | None = None
    parallel_tool_calls: bool | None = None
    prediction: Prediction | None = None
    modalities: list[str] | None = None


async def chat_completions(request: Request) -> Response:
    """Answer a conversation."""
    context = Context.of(request)
    body, ignored = read(ChatRequest, await context.body(request))
    body.tools, passed_over = functions_of(body.tools or [], ToolIn.name_of, "function")
    served = await context.models.wanted(body.model)
    switch = body.chat_template_kwargs or TemplateArguments()
    think = think_of(body.reasoning_effort, is_on=switch.enable_thinking)
    prompting, remarks = await context.prompting(think, served)
    turn = _turn_of(body, context, served, prompting)
    caller = context.caller(request)
    replies = [
        RunningReply(
            context,
            served,
            each,
            caller,
            fields={
                "prompt": "messages",
                "json_schema": "response_format" if body.response_format else "json_schema",
            },
            remarks=remarks,
        )
        for each in turns_of(turn, body.n)
    ]
    kind = "chat.completion.chunk" if body.stream else "chat.completion"
    head = head_of(served, kind, "chatcmpl")
    headers = ignored_header(ignored + passed_over)
    if body.stream:
        events = told(
            replies,
            head,
            _choice,
            has_usage=wants_usage(body.stream_options),
            has_progress=body.return_progress,
        )
        return await streamed(request, events, headers)
    whole = await _whole(replies, head)
    return json_response(whole, headers=headers)


# ----------------------------------------------------------------------------------------- request


def _turn_of(
    body: ChatRequest, context: Context, served: Served, prompting: Prompting
) -> StartTurn:
    if body.modalities and body.modalities != ["text"]:
        raise refused("modalities", "Only text can be written.")
    messages, begun = continued(read_messages(body.messages), "messages")
    _take_form(body)
    limit, limit_field = body.max_tokens, "max_tokens"
    if body.max_completion_tokens is not None:
        limit, limit_field = body.max_completion_tokens, "max_completion_tokens"
    return make_turn(
        Chat(
            messages,
            prompting,
            tools=read_tools(
                body.tools, body.tool_choice, is_parallel=body.parallel_tool_calls
            ),
        ),
        body,
        context.defaults,
        served,
        max_tokens=limit,
        limit_field=limit_field,
        stop=read_stops(body.stop),
        prediction=_predicted(body),
        begun_text=begun,
        n_likely=_n_likely(body),
    )  # fmt: skip


def _take_form(body: ChatRequest) -> None:
    """Take the form of the answer as a schema."""
    form = body.response_format
    if form is None or form.type == "text":
        return
    if body.grammar or body.json_schema is not None:
        raise refused("response_format", "Give a response_format, a grammar or a json_schema.")
    schema: dict[str, Any] | bool | None = form.schema
    if form.type == "json_schema":
        schema = form.json_schema.schema if form.json_schema else form.schema
        if schema is None:
            name = "response_format.json_schema.schema"
            raise refused(name, f"The field {name} is missing.", "missing_field")
    body.json_schema = {"type": "object"} if schema is None else schema


def _predicted(body: ChatRequest) -> str:
    if body.prediction is None:
        return ""
    return text_of(read_content(body.prediction.content, "prediction.content"))


def _n_likely(body: ChatRequest) -> int:
    n_top = body.top_logprobs
    if n_top is not None and not 0 <= n_top <= MAX_TOP_LOGPROBS:
        raise refused("top_logprobs", f"top_logprobs must be from 0 to {MAX_TOP_LOGPROBS}.")
    if n_top and not body.logprobs:
        raise refused("top_logprobs", "top_logprobs needs logprobs to be true.")
    return (n_top or 0) if body.logprobs else -1


# ---------------------------------------------------------------------------------------- response


def _message(pieces: Iterable[Piece]) -> dict[str, Any]:
    """Return the pieces of a reply as a message, or as a message's new part."""
    told: dict[str, Any] = {}
    calls: dict[int, dict[str, Any]] = {}
    for piece in pieces:
        match piece:
            case Answer(text):
                told["content"] = told.get("content", "") + text
            case ReasoningPiece(text):
                told["reasoning_content"] = told.get("reasoning_content", "") + text
            case CallBegan(index, name, id_):
                function = {"name": name, "arguments": ""}
                calls[index] = {"index": index, "id": id_, "type": "function", "function": function}
            case CallArguments(index, text):
                call = calls.setdefault(index, {"index": index, "function": {"arguments": ""}})
                call["function"]["arguments"] += text
    return told | ({"tool_calls": list(calls.values())} if calls else {})


def _whole_message(pieces: Sequence[Piece]) -> dict[str, Any]:
    """Return a reply as a message, without a call that was cut."""
    cut = {piece.index for piece in pieces if isinstance(piece, CallEnded) and not piece.is_whole}
    message = {"role": "assistant", "content": "", "refusal": None} | _message(pieces)
    calls = [call for call in message.pop("tool_calls", ()) if call.pop("index") not in cut]
    if calls:
        message |= {"content": message["content"] or None, "tool_calls": calls}
    return message


async def _whole(replies: Sequence[RunningReply], head: dict[str, Any]) -> dict[str, Any]:
    choices = []
    for i, reply in enumerate(replies):
        whole = await reply.complete()
        choices.append(
            {
                "index": i,
                "message": _whole_message(whole.pieces),
                "finish_reason": finish_reason(reply),
                "logprobs": _logprobs(whole.likely) if reply.turn.n_likely >= 0 else None,
            }
        )
    return head | {"choices": choices} | figures_of(replies)


def _choice(i: int, came: ReplyBegun | Grown | RunningReply) -> dict[str, Any] | None:
    """Return the new part of a choice."""
    gained: dict[str, Any] = {"index": i, "delta": {}, "finish_reason": None, "logprobs": None}
    match came:
        case ReplyBegun():
            return gained | {"delta": {"role": "assistant", "content": ""}}
        case RunningReply():
            return gained | {"finish_reason": finish_reason(came)}
        case Grown(pieces, likely) if pieces or likely:
            logprobs = _logprobs(likely) if likely else None
            return gained | {"delta": _message(pieces), "logprobs": logprobs}
    return None


def _logprobs(likely: Sequence[TokenLikelihood]) -> dict[str, Any]:
    content = [
        likely_token(each.drawn) | {"top_logprobs": [likely_token(best) for best in each.best]}
        for each in likely
    ]
    return {"content": content, "refusal": None}
