"""Responses: JSON, and server-sent events."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

import msgspec
from starlette.responses import Response, StreamingResponse

from paceline.server.errors import ApiError, fault, log_fault

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send


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
    """Return a comment line, which event readers skip; it keeps the connection alive."""
    return f": {words}\n\n".encode()


async def streamed(
    request: Request, events: AsyncGenerator[bytes, None], headers: Mapping[str, str] | None = None
) -> Response:
    """Return a response of server-sent events.

    A request that is refused before the first event gets a status of its own. An error that comes
    later is an event.

    Args:
        request: Its path decides the form of errors.
        events: The events; closed when the program hangs up.
        headers: Additional headers.

    Raises:
        ApiError: The request is refused.
    """
    told = {"cache-control": "no-cache", "x-accel-buffering": "no", **(headers or {})}
    first = await anext(events, b"")
    return _Events(first, events, request.scope["path"], told)


class _Events(StreamingResponse):
    """A response of events, the first of which is known already."""

    def __init__(
        self,
        first: bytes,
        events: AsyncGenerator[bytes, None],
        path: str,
        headers: Mapping[str, str],
    ) -> None:
        self._events = events
        self._written = self._write(first, path)
        super().__init__(self._written, 200, headers, "text/event-stream")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events; `HangUps` cancels this."""
        del scope, receive
        async with aclosing(self._events), aclosing(self._written):
            await self.stream_response(send)

    async def _write(self, first: bytes, path: str) -> AsyncGenerator[bytes, None]:
        yield first
        try:
            async for each in self._events:
                yield each
        except ApiError as error:
            yield _failed(error, path)
        except Exception as error:  # noqa: BLE001 - the status has been sent
            log_fault("a stream", error)
            yield _failed(fault(), path)


def _failed(error: ApiError, path: str) -> bytes:
    body = error.body(path)
    return event(body, "error" if body.get("type") == "error" else "")
