"""``/completion`` and ``/infill``: continuation of texts, and filling of gaps."""

from __future__ import annotations

from contextlib import aclosing
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec

from paceline.content import Infill, ProjectFile
from paceline.engine.calls.pieces import Answer
from paceline.server.context import Context, ignored_header
from paceline.server.errors import refused
from paceline.server.fields import read, read_stops
from paceline.server.limits import MAX_FILES, MAX_TOP_LOGPROBS
from paceline.server.llama.props import drawn_by
from paceline.server.openai.completions import PromptIn, read_prompts
from paceline.server.replies import Grown, Progressed, RunningReply, Waits
from paceline.server.shared.figures import likely_token, own_figures, prompt_progress, timings
from paceline.server.streams import comment, event, json_response, streamed
from paceline.server.turns import SamplingFields, make_turn

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from paceline.content import Prompt
    from paceline.figures import LikelyToken
    from paceline.messages import FinishReason

_STOPS: dict[FinishReason, str] = {"eog": "eos", "stop": "word"}
"""The reasons of a reply's end in llama-server's words; any other is the length limit."""


class ReplyRequest(SamplingFields, kw_only=True):
    """The fields that both requests have."""

    model: str = ""
    n_predict: int | None = None
    stop: str | list[str] | None = None
    stream: bool = False
    return_progress: bool = False
    n_probs: int = 0
    response_fields: list[str] | None = None


class LlamaCompletionRequest(ReplyRequest, kw_only=True):
    """A request for the continuation of a prompt."""

    prompt: PromptIn


class FileIn(msgspec.Struct, kw_only=True):
    """A text that belongs to the same project."""

    text: str = ""
    filename: str = ""


class InfillRequest(ReplyRequest, kw_only=True):
    """A request for the text between a prefix and a suffix."""

    input_prefix: str = ""
    input_suffix: str = ""
    input_extra: list[FileIn] | None = None
    prompt: str = ""


async def completion(request: Request) -> Response:
    """Continue a prompt."""
    context = Context.of(request)
    body, ignored = read(LlamaCompletionRequest, await context.body(request))
    prompts = read_prompts(body.prompt)
    if len(prompts) > 1:
        raise refused("prompt", "There may be one prompt only; /v1/completions takes several.")
    return await _answer(request, body, prompts[0], ignored)


async def infill(request: Request) -> Response:
    """Fill in a gap."""
    context = Context.of(request)
    body, ignored = read(InfillRequest, await context.body(request))
    extra = body.input_extra or ()
    if len(extra) > MAX_FILES:
        raise refused("input_extra", f"There may be {MAX_FILES:,} texts at most.")
    files = tuple(ProjectFile(file.filename, file.text) for file in extra)
    prompt = Infill(body.input_prefix + body.prompt, body.input_suffix, files)
    fields = {"prompt": "input_prefix", "suffix": "input_suffix"}
    return await _answer(request, body, prompt, ignored, fields)


async def _answer(
    request: Request,
    body: ReplyRequest,
    prompt: Prompt,
    ignored: tuple[str, ...],
    fields: Mapping[str, str] = MappingProxyType({}),
) -> Response:
    context = Context.of(request)
    if not 0 <= body.n_probs <= MAX_TOP_LOGPROBS:
        raise refused("n_probs", f"n_probs must be from 0 to {MAX_TOP_LOGPROBS}.")
    if body.n_predict is not None and body.n_predict < -1:
        raise refused("n_predict", "n_predict must be -1 (no limit) or more.")
    served = await context.models.wanted(body.model)
    turn = make_turn(
        prompt,
        body,
        context.defaults,
        served,
        # With nothing to predict only the prompt is read; a token is sampled, but not reported.
        max_tokens={None: None, -1: served.target.n_ctx, 0: 1}.get(body.n_predict, body.n_predict),
        stop=read_stops(body.stop),
        n_likely=body.n_probs or -1,
    )
    reply = RunningReply(context, served, turn, context.caller(request), fields=fields)
    headers = ignored_header(ignored)
    if body.stream:
        return await streamed(request, _told(reply, body), headers)
    return json_response(await _whole(reply, body), headers=headers)


async def _whole(reply: RunningReply, body: ReplyRequest) -> dict[str, Any]:
    whole = await reply.complete()
    return _chosen(_gained(whole, body) | _end(reply, body), body.response_fields)


async def _told(reply: RunningReply, body: ReplyRequest) -> AsyncGenerator[bytes, None]:
    async with aclosing(reply.grow()) as growing:
        async for each in growing:
            match each:
                case Waits(words):
                    yield comment(words)
                case Progressed() if body.return_progress:
                    told = _gained(Grown(()), body) | {"stop": False}
                    yield event(told | {"prompt_progress": prompt_progress(each)})
                case Grown(pieces, likely) if (pieces or likely) and body.n_predict != 0:
                    yield event(_gained(each, body) | {"stop": False})
    last = _gained(Grown(()), body) | _end(reply, body)
    yield event(_chosen(last, body.response_fields))


def _gained(grown: Grown, body: ReplyRequest) -> dict[str, Any]:
    """Return the fields of a reply, or of its new part."""
    text = "".join(piece.text for piece in grown.pieces if isinstance(piece, Answer))
    is_told = body.n_predict != 0
    gained: dict[str, Any] = {"index": 0, "content": text if is_told else "", "tokens": []}
    if body.n_probs and is_told:
        gained["completion_probabilities"] = [
            _likely(each.drawn) | {"top_logprobs": [_likely(best) for best in each.best]}
            for each in grown.likely
        ]
    return gained


def _end(reply: RunningReply, body: ReplyRequest) -> dict[str, Any]:
    """Return the fields of a reply that has ended."""
    assert reply.finished is not None
    turn, stats, finished = reply.turn, reply.stats, reply.finished
    own = own_figures(reply)
    limit = -1 if body.n_predict is None else body.n_predict
    return {
        "id_slot": 0,
        "stop": True,
        "model": reply.served.id,
        "tokens_predicted": stats.n_generated if limit else 0,
        "tokens_evaluated": stats.n_prompt,
        "generation_settings": drawn_by(turn.sampling, finished.seed, limit, turn.stop)
        | {"n_ctx": reply.served.target.n_ctx},
        "has_new_line": "\n" in finished.text,
        "truncated": reply.record.n_cut > 0,
        "stop_type": _STOPS.get(finished.reason, "limit"),
        "stopping_word": finished.stopped_by,
        "tokens_cached": stats.n_prompt + stats.n_generated,
        "timings": timings(stats),
        "paceline": own | {"warnings": [*own["warnings"], *_left_out(reply)]},
    }


def _left_out(reply: RunningReply) -> list[str]:
    """Return a sentence about files that did not fit."""
    n = reply.record.n_cut
    were = "was" if n == 1 else "were"
    said = f"{n} of the texts in input_extra did not fit into the context and {were} left out."
    return [said] if n else []


def _chosen(told: dict[str, Any], paths: list[str] | None) -> dict[str, Any]:
    """Return the values at these paths, such as ``timings/prompt_n``; None means all of it."""
    if paths is None:
        return told
    found = {}
    for path in paths:
        value: Any = told
        for name in path.split("/"):
            value = value.get(name) if isinstance(value, dict) else None
        if value is not None:
            found[path] = value
    return found


def _likely(token: LikelyToken) -> dict[str, Any]:
    return {"id": token.token} | likely_token(token)
