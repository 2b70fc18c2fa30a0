"""Server-sent events, and work that ends when the program hangs up."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from starlette.responses import Response, StreamingResponse

from paceline.server.errors import ApiError
from paceline.server.limits import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Mapping

    from starlette.requests import Request

T = TypeVar("T")
_END = object()


def as_json(data: object) -> bytes:
    """Return data as JSON."""
    return msgspec.json.encode(data, enc_hook=_plain)


def _plain(value: object) -> str:
    """Return the text of a `Sentence`."""
    if isinstance(value, str):
        return str(value)
    raise TypeError(f"a {type(value).__name__} is no JSON")


def json_response(
    data: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a response with JSON."""
    return Response(as_json(data), status, headers, "application/json")


def event(data: object, name: str = "") -> bytes:
    """Return a server-sent event with JSON."""
    begin = f"event: {name}\n".encode() if name else b""
    return begin + b"data: " + as_json(data) + b"\n\n"


def comment(words: str) -> bytes:
    """Return a line that readers of events pass over; it keeps the connection alive."""
    return f": {words}\n\n".encode()


async def attended(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Return what the work returns; cancel it when the program hangs up.

    Args:
        request: Its body has been read.
        work: What takes long.
    """
    task = asyncio.ensure_future(work)
    watching = asyncio.ensure_future(_hung_up(request))
    try:
        await asyncio.wait({task, watching}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        watching.cancel()
        if not task.done():
            task.cancel()
    return await task


async def _hung_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def streamed(
    request: Request, events: AsyncGenerator[bytes, None], headers: Mapping[str, str] | None = None
) -> Response:
    """Return a response of server-sent events.

    The first event is waited for, but not long: a request that is refused at once gets a status of
    its own. An error that comes later is an event.

    Args:
        request: Its path tells the form of errors.
        events: Written as they come; closed when the program hangs up.
        headers: Told besides.

    Raises:
        ApiError: The request is refused.
    """
    path = request.url.path
    first: asyncio.Future[Any] = asyncio.ensure_future(anext(events, _END))
    watching = asyncio.ensure_future(_hung_up(request))
    try:
        await asyncio.wait(
            {first, watching}, timeout=PATIENCE_S, return_when=asyncio.FIRST_COMPLETED
        )
    except asyncio.CancelledError:
        first.cancel()
        raise
    finally:
        watching.cancel()
    if first.done() and first.exception() is not None:
        await first  # raises it

    async def all_of_them() -> AsyncIterator[bytes]:
        async with aclosing(events):
            try:
                found = await first
                while found is not _END:
                    yield found
                    found = await anext(events, _END)
            except ApiError as error:
                name = "error" if error.body(path).get("type") == "error" else ""
                yield event(error.body(path), name)

    told = {"cache-control": "no-cache", "x-accel-buffering": "no", **(headers or {})}
    return StreamingResponse(all_of_them(), 200, told, "text/event-stream")
