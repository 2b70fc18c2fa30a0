"""``/v1/completions``: continuation of texts and filling of gaps, without a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paceline.content import Infill, RawText, Tokens
from paceline.engine.calls.pieces import Answer
from paceline.server.context import Context, ignored_header
from paceline.server.errors import refused
from paceline.server.fields import read, read_stops
from paceline.server.limits import MAX_PROMPTS, MAX_TOP_LOGPROBS
from paceline.server.openai.choices import (
    StreamOptions,
    figures_of,
    finish_reason,
    head_of,
    told,
    wants_usage,
)
from paceline.server.replies import Grown, ReplyBegun, RunningReply
from paceline.server.streams import json_response, streamed
from paceline.server.turns import SamplingFields, make_turn, turns_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from paceline.content import Prompt
    from paceline.figures import LikelyToken

PromptIn = str | list[str | int | list[int]]
"""A text, or its tokens, or a list of either."""


class CompletionRequest(SamplingFields, kw_only=True):
    """A request for continuations of prompts."""

    prompt: PromptIn
    suffix: str | None = None
    model: str = ""
    stream: bool = False
    stream_options: StreamOptions | None = None
    max_tokens: int | None = None
    n: int = 1
    best_of: int | None = None
    stop: str | list[str] | None = None
    logprobs: int | None = None
    echo: bool = False


async def completions(request: Request) -> Response:
    """Continue prompts, or fill in the gap before a suffix."""
    context = Context.of(request)
    body, ignored = read(CompletionRequest, await context.body(request))
    _check(body)
    served = await context.models.wanted(body.model)
    caller = context.caller(request)
    prompts = read_prompts(body.prompt, body.suffix)
    replies = []
    for prompt in prompts:
        turn = make_turn(
            prompt,
            body,
            context.defaults,
            served,
            max_tokens=body.max_tokens,
            stop=read_stops(body.stop),
            n_likely=-1 if body.logprobs is None else body.logprobs,
        )
        replies += [RunningReply(context, served, each, caller) for each in turns_of(turn, body.n)]
    echoes = [
        await _text_of(prompt, context, caller.name) if body.echo else "" for prompt in prompts
    ]
    echoes = [echo for echo in echoes for _ in range(body.n)]
    head = head_of(served, "text_completion", "cmpl")
    headers = ignored_header(ignored)
    if body.stream:
        has_usage = wants_usage(body.stream_options)
        events = told(replies, head, _choices(echoes), has_usage=has_usage)
        return await streamed(request, events, headers)
    whole = await _whole(replies, echoes, head)
    return json_response(whole, headers=headers)


# ----------------------------------------------------------------------------------------- request


def _check(body: CompletionRequest) -> None:
    """Refuse fields that cannot be honoured."""
    if body.best_of is not None and body.best_of != body.n:
        raise refused("best_of", "best_of must be n: every generated reply is returned.")
    if body.logprobs is None:
        return
    if not 0 <= body.logprobs <= MAX_TOP_LOGPROBS:
        raise refused("logprobs", f"logprobs must be from 0 to {MAX_TOP_LOGPROBS}.")
    if body.echo:
        raise refused("logprobs", "logprobs exist for replies, not for prompts: leave out echo.")


def read_prompts(given: PromptIn, suffix: str | None = None) -> list[Prompt]:
    """Return the prompts of a request.

    Control tokens in a text are read by their names, since a program that sends a text without a
    conversation writes the template into it; around a gap they are plain text.

    Args:
        given: The request's field.
        suffix: The text after a gap; None or empty without a gap.

    Raises:
        ApiError: There are none or too many, they are of several kinds, or tokens with a gap.
    """
    wanted: list[Any] = [given]
    if isinstance(given, list) and not (given and all(isinstance(each, int) for each in given)):
        wanted = given
    if not 1 <= len(wanted) <= MAX_PROMPTS:
        raise refused("prompt", f"There may be 1 to {MAX_PROMPTS} prompts.")
    prompts: list[Prompt] = []
    for each in wanted:
        match each:
            case str() if suffix:
                prompts.append(Infill(each, suffix))
            case str():
                prompts.append(RawText(each, special=True))
            case list() if suffix:
                raise refused("suffix", "suffix needs a prompt that is text.")
            case list():
                prompts.append(Tokens(tuple(each)))
            case _:
                raise refused("prompt", "prompt mixes token ids with texts or lists.")
    return prompts


async def _text_of(prompt: Prompt, context: Context, asker: str) -> str:
    """Return the text of a prompt, for `echo`."""
    match prompt:
        case RawText(text) | Infill(text, _):
            return text
    return (await context.desk.encode(prompt, asker)).text


# ---------------------------------------------------------------------------------------- response


async def _whole(
    replies: Sequence[RunningReply], echoes: Sequence[str], head: dict[str, Any]
) -> dict[str, Any]:
    choices = []
    for i, (reply, echo) in enumerate(zip(replies, echoes, strict=True)):
        whole = await reply.complete()
        choice = _choice(i, echo, whole) | {"finish_reason": finish_reason(reply)}
        if reply.turn.n_likely >= 0:
            choice["logprobs"] = _logprobs(whole, 0)
        choices.append(choice)
    return head | {"choices": choices} | figures_of(replies)


def _choices(
    echoes: Sequence[str],
) -> Callable[[int, ReplyBegun | Grown | RunningReply], dict[str, Any] | None]:
    """Return a function that gives the choices' fields while they grow; see `told`."""
    n_told = [0] * len(echoes)

    def choice(i: int, came: ReplyBegun | Grown | RunningReply) -> dict[str, Any] | None:
        match came:
            case ReplyBegun():
                return _choice(i, echoes[i], Grown(())) if echoes[i] else None
            case RunningReply():
                return _choice(i, "", Grown(())) | {"finish_reason": finish_reason(came)}
            case Grown(pieces, likely, ends) if pieces or likely:
                begin = n_told[i]
                n_told[i] = ends[-1] if ends else begin
                return _choice(i, "", came, begin)
        return None

    return choice


def _choice(i: int, echo: str, grown: Grown, begin: int = 0) -> dict[str, Any]:
    """Return the fields of a choice, or of its new part.

    Args:
        i: Its number.
        echo: The text that it begins with.
        grown: Text and likelihoods.
        begin: Characters before the first token that is reported.
    """
    text = "".join(piece.text for piece in grown.pieces if isinstance(piece, Answer))
    logprobs = _logprobs(grown, begin) if grown.likely else None
    return {"text": echo + text, "index": i, "logprobs": logprobs, "finish_reason": None}


def _logprobs(grown: Grown, begin: int) -> dict[str, Any]:
    likely = grown.likely
    return {
        "tokens": [_name(each.drawn) for each in likely],
        "token_logprobs": [each.drawn.logprob for each in likely],
        "top_logprobs": [
            {_name(token): token.logprob for token in (*each.best, each.drawn)} for each in likely
        ],
        "text_offset": [begin, *grown.ends][: len(likely)],
    }


def _name(token: LikelyToken) -> str:
    """Return a token as text, or its bytes if they are no text."""
    try:
        return token.piece.decode()
    except UnicodeDecodeError:
        return "bytes:" + "".join(f"\\x{byte:02x}" for byte in token.piece)
