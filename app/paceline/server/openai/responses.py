"""``/v1/responses``: created and streamed; nothing is stored."""

from __future__ import annotations

import time
import uuid
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from paceline.content import Chat
from paceline.server.context import Context, Effort, ignored_header, think_of
from paceline.server.errors import ApiError, refused
from paceline.server.fields import read
from paceline.server.openai.response_input import (
    Item,
    ResponsesTool,
    ToolChoiceIn,
    read_input,
    read_tools,
)
from paceline.server.replies import Grown, ReplyBegun, RunningReply, Waits
from paceline.server.shared.blocks import BlockOpened, Blocks, Change, Closed, Gained, ReplyBlock
from paceline.server.shared.figures import own_figures, timings
from paceline.server.shared.tools import functions_of
from paceline.server.streams import comment, event, json_response, streamed
from paceline.server.turns import SamplingFields, continued, make_turn

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from starlette.requests import Request
    from starlette.responses import Response

    from paceline.messages import StartTurn
    from paceline.params import Prompting
    from paceline.server.served import Served


class ResponsesForm(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The form that an answer must have."""

    type: Literal["text", "json_object", "json_schema"]
    name: str | None = None
    schema: dict[str, Any] | None = None
    strict: bool | None = None


class TextConfig(msgspec.Struct, kw_only=True):
    """The form of the answer."""

    format: ResponsesForm | None = None


class ReasoningConfig(msgspec.Struct, kw_only=True):
    """The amount of reasoning."""

    effort: Effort | None = None


class ResponsesRequest(SamplingFields, kw_only=True):
    """A request for a response."""

    input: str | list[Item]
    model: str = ""
    instructions: str | None = None
    stream: bool = False
    max_output_tokens: int | None = None
    tools: list[ResponsesTool] = msgspec.field(default_factory=list)
    tool_choice: ToolChoiceIn | None = None
    parallel_tool_calls: bool | None = None
    text: TextConfig | None = None
    reasoning: ReasoningConfig | None = None
    truncation: Literal["auto", "disabled"] = "disabled"
    include: list[str] | None = None
    top_logprobs: int | None = None
    store: bool | None = None
    background: bool | None = None
    previous_response_id: str | None = None
    conversation: str | dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None


async def responses(request: Request) -> Response:
    """Answer an input."""
    context = Context.of(request)
    body, ignored = read(ResponsesRequest, await context.body(request))
    body.tools, passed_over = functions_of(body.tools, ResponsesTool.name_of, "function")
    served = await context.models.wanted(body.model)
    think = think_of(body.reasoning.effort if body.reasoning else None)
    prompting, remarks = await context.prompting(think, served)
    turn = _turn_of(body, context, served, prompting)
    reply = RunningReply(
        context,
        served,
        turn,
        context.caller(request),
        fields={
            "prompt": "input",
            "json_schema": "text.format" if body.text and body.text.format else "json_schema",
        },
        remarks=remarks,
    )
    telling = _Telling(body, reply)
    headers = ignored_header(ignored + passed_over)
    if body.stream:
        return await streamed(request, telling.stream(), headers)
    return json_response(await telling.whole(), headers=headers)


# ----------------------------------------------------------------------------------------- request


def _turn_of(
    body: ResponsesRequest, context: Context, served: Served, prompting: Prompting
) -> StartTurn:
    _check_storage(body)
    if body.top_logprobs or "message.output_text.logprobs" in (body.include or ()):
        raise refused(
            "top_logprobs" if body.top_logprobs else "include",
            "Only /v1/chat/completions returns likelihoods of tokens.",
        )
    messages, begun = continued(read_input(body.input, body.instructions), "input")
    _take_form(body)
    chat = Chat(
        messages,
        prompting,
        cuts=body.truncation == "auto",
        tools=read_tools(body.tools, body.tool_choice, is_parallel=body.parallel_tool_calls),
    )
    return make_turn(
        chat,
        body,
        context.defaults,
        served,
        max_tokens=body.max_output_tokens,
        limit_field="max_output_tokens",
        stop=None,
        begun_text=begun,
    )


def _check_storage(body: ResponsesRequest) -> None:
    for name in ("previous_response_id", "conversation", "store", "background"):
        if getattr(body, name):
            raise refused(
                name,
                f"{name} cannot be honoured, since no response is stored. Send the whole "
                "conversation as input, with “store” false.",
            )


def _take_form(body: ResponsesRequest) -> None:
    """Take the form of the answer as a schema."""
    form = body.text.format if body.text else None
    if form is None or form.type == "text":
        return
    if form.type == "json_schema" and form.schema is None:
        name = "text.format.schema"
        raise refused(name, f"The field {name} is missing.", "missing_field")
    body.json_schema = form.schema if form.type == "json_schema" else {"type": "object"}


# ---------------------------------------------------------------------------------------- response


class _Telling:
    """The events and objects of one response.

    Args:
        body: The request, many fields of which a response repeats.
        reply: The reply.
    """

    def __init__(self, body: ResponsesRequest, reply: RunningReply) -> None:
        self._body = body
        self._reply = reply
        self._key = uuid.uuid4().hex
        self._created_s = int(time.time())
        self._blocks = Blocks()
        self._n_events = 0

    async def whole(self) -> dict[str, Any]:
        """Return the response when it has ended."""
        self._blocks = Blocks.of((await self._reply.complete()).pieces)
        return self._ended()

    async def stream(self) -> AsyncGenerator[bytes, None]:
        """Yield the events of the response as it grows."""
        try:
            async with aclosing(self._reply.grow()) as growing:
                async for each in growing:
                    match each:
                        case Waits(words):
                            yield comment(words)
                        case ReplyBegun():
                            response = self._response("in_progress")
                            yield self._event("response.created", response=response)
                            yield self._event("response.in_progress", response=response)
                        case Grown(pieces):
                            for change in self._blocks.take(pieces):
                                for told in self._told(change):
                                    yield told
        except ApiError as error:
            if not self._n_events:
                raise
            failure = {"code": "server_error", "message": error.message}
            response = self._response("failed", error=failure)
            yield self._event("response.failed", response=response)
            return
        for change in self._blocks.finish():
            for told in self._told(change):
                yield told
        response = self._ended()
        yield self._event(f"response.{response['status']}", response=response)

    # ------------------------------------------------------------------------------------ objects

    def _response(self, status: str, **more: Any) -> dict[str, Any]:
        """Return the response, as far as it is known."""
        body, turn = self._body, self._reply.turn
        told = {
            "id": f"resp_{self._key}",
            "object": "response",
            "created_at": self._created_s,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "instructions": body.instructions,
            "max_output_tokens": body.max_output_tokens,
            "metadata": body.metadata or {},
            "model": self._reply.served.id,
            "output": [],
            "parallel_tool_calls": body.parallel_tool_calls is not False,
            "previous_response_id": None,
            "reasoning": {
                "effort": body.reasoning.effort if body.reasoning else None,
                "summary": None,
            },
            "store": False,
            "temperature": turn.sampling.temperature,
            "text": {
                "format": (body.text.format if body.text else None) or ResponsesForm(type="text")
            },
            "tool_choice": body.tool_choice or "auto",
            "tools": body.tools,
            "top_p": turn.sampling.top_p,
            "truncation": body.truncation,
            "usage": None,
        }
        return told | more

    def _ended(self) -> dict[str, Any]:
        """Return the response of a reply that has ended."""
        reply, stats = self._reply, self._reply.stats
        is_cut = self._is_cut
        return self._response(
            "incomplete" if is_cut else "completed",
            incomplete_details={"reason": "max_output_tokens"} if is_cut else None,
            output=[self._item(block) for block in self._blocks.whole],
            usage={
                "input_tokens": stats.n_prompt,
                "input_tokens_details": {"cached_tokens": stats.n_reused, "cache_write_tokens": 0},
                "output_tokens": stats.n_generated,
                "output_tokens_details": {"reasoning_tokens": reply.n_reasoning},
                "total_tokens": stats.n_prompt + stats.n_generated,
            },
            timings=timings(stats),
            paceline=own_figures(reply),
        )

    @property
    def _is_cut(self) -> bool:
        finished = self._reply.finished
        if finished is None or self._reply.has_called:
            return False
        return finished.reason in ("length", "context")

    def _item_id(self, block: ReplyBlock) -> str:
        prefix = {"reasoning": "rs", "answer": "msg", "call": "fc"}[block.kind]
        return f"{prefix}_{self._key}{block.index}"

    def _item(self, block: ReplyBlock, *, is_new: bool = False) -> dict[str, Any]:
        is_last = block is self._blocks.all[-1]
        is_cut = not block.is_whole or (self._is_cut and is_last and block.kind != "call")
        status = "in_progress" if is_new else "incomplete" if is_cut else "completed"
        told = {"id": self._item_id(block), "status": status}
        content = [] if is_new else [_part(block)]
        match block.kind:
            case "reasoning":
                return told | {"type": "reasoning", "summary": [], "content": content}
            case "answer":
                return told | {"type": "message", "role": "assistant", "content": content}
            case "call":
                call = {"call_id": block.call_id, "name": block.name, "arguments": block.text}
                return told | {"type": "function_call"} | call

    # ------------------------------------------------------------------------------------- events

    def _event(self, kind: str, **fields: Any) -> bytes:
        number = self._n_events
        self._n_events += 1
        return event({"type": kind, "sequence_number": number, **fields}, kind)

    def _told(self, change: Change) -> Iterator[bytes]:
        """Yield the events of a change."""
        block = change.block
        if block.kind == "call":
            yield from self._told_of_call(change)
            return
        place = {"output_index": block.index}
        text = {**place, "item_id": self._item_id(block), "content_index": 0}
        likely: dict[str, Any] = {} if block.kind == "reasoning" else {"logprobs": []}
        kind = "reasoning_text" if block.kind == "reasoning" else "output_text"
        match change:
            case BlockOpened():
                item = self._item(block, is_new=True)
                yield self._event("response.output_item.added", **place, item=item)
                yield self._event("response.content_part.added", **text, part=_part(block))
            case Gained(text=gained):
                yield self._event(f"response.{kind}.delta", **text, **likely, delta=gained)
            case Closed():
                yield self._event(f"response.{kind}.done", **text, **likely, text=block.text)
                yield self._event("response.content_part.done", **text, part=_part(block))
                item = self._item(block)
                yield self._event("response.output_item.done", **place, item=item)

    def _told_of_call(self, change: Change) -> Iterator[bytes]:
        block = change.block
        place = {"output_index": block.index}
        arguments = {**place, "item_id": self._item_id(block)}
        kind = "response.function_call_arguments"
        match change:
            case BlockOpened():
                item = self._item(block, is_new=True)
                yield self._event("response.output_item.added", **place, item=item)
            case Gained(text=gained):
                yield self._event(f"{kind}.delta", **arguments, delta=gained)
            case Closed():
                if block.is_whole:
                    yield self._event(f"{kind}.done", **arguments, arguments=block.text)
                item = self._item(block)
                yield self._event("response.output_item.done", **place, item=item)


def _part(block: ReplyBlock) -> dict[str, Any]:
    if block.kind == "reasoning":
        return {"type": "reasoning_text", "text": block.text}
    return {"type": "output_text", "text": block.text, "annotations": [], "logprobs": []}
