"""Replies as choices in OpenAI's form: the objects that all routes share, whole and streamed."""

from __future__ import annotations

import time
import uuid
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import msgspec

from paceline import __version__
from paceline.server.replies import Grown, Progressed, ReplyBegun, RunningReply, Waits
from paceline.server.shared.figures import own_figures, prompt_progress, timings, usage
from paceline.server.streams import comment, event

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from paceline.messages import FinishReason
    from paceline.server.served import Served

_REASONS: dict[FinishReason, str] = {"eog": "stop", "stop": "stop"}
"""The reasons of a reply's end in OpenAI's words; any other is the length limit."""


class StreamOptions(msgspec.Struct, kw_only=True):
    """Options of a stream."""

    include_usage: bool | None = None


def wants_usage(options: StreamOptions | None) -> bool:
    """Return whether a stream ends with an event for its figures alone."""
    return options is not None and bool(options.include_usage)


def head_of(served: Served, kind: str, prefix: str) -> dict[str, Any]:
    """Return the fields that every object of a request begins with.

    Args:
        served: The loaded pair.
        kind: The object's kind.
        prefix: The beginning of ids.
    """
    return {
        "id": f"{prefix}-{uuid.uuid4().hex}",
        "object": kind,
        "created": int(time.time()),
        "model": served.id,
        "system_fingerprint": f"paceline-{__version__}",
    }


def finish_reason(reply: RunningReply) -> str:
    """Return why a reply has ended."""
    assert reply.finished is not None
    if reply.has_called:
        return "tool_calls"
    return _REASONS.get(reply.finished.reason, "length")


def figures_of(replies: Sequence[RunningReply]) -> dict[str, Any]:
    """Return the figures of a request; timings are those of its last reply."""
    last = replies[-1]
    return {
        "usage": usage(replies),
        "timings": timings(last.stats),
        "paceline": own_figures(last),
    }


async def told(
    replies: Sequence[RunningReply],
    head: dict[str, Any],
    choice: Callable[[int, ReplyBegun | Grown | RunningReply], dict[str, Any] | None],
    *,
    has_usage: bool,
    has_progress: bool = False,
) -> AsyncGenerator[bytes, None]:
    """Generate replies, one after the other, and yield their events.

    Args:
        replies: The replies of a request.
        head: Fields that every event begins with.
        choice: Returns the fields of a choice, given its number and an event, or the reply itself
            at its end; None for no event.
        has_usage: Whether the figures are an event of their own; otherwise the last choice has
            them.
        has_progress: Whether there are events for the progress of the prompt, too.
    """
    for i, reply in enumerate(replies):
        async with aclosing(reply.grow()) as growing:
            async for each in growing:
                if isinstance(each, Waits):
                    yield comment(each.words)
                    continue
                if isinstance(each, Progressed):
                    if has_progress:
                        nothing = {"index": i, "delta": {}, "finish_reason": None}
                        more = {"prompt_progress": prompt_progress(each)}
                        yield event(head | {"choices": [nothing]} | more)
                    continue
                gained = choice(i, each)
                if gained is not None:
                    yield event(head | {"choices": [gained]})
        last = head | {"choices": [choice(i, reply)]}
        if reply is replies[-1] and not has_usage:
            last |= figures_of(replies)
        yield event(last)
    if has_usage:
        yield event(head | {"choices": []} | figures_of(replies))
    yield b"data: [DONE]\n\n"
