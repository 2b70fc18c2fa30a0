"""One connection, with time limits for its program."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from paceline.server.errors import ApiError
from paceline.server.limits import HEAD_S, MAX_CONNECTIONS, REFUSED_BODY_S, STALLED_S
from paceline.server.streams import as_json, json_response

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


class Connection(H11Protocol):
    """A connection that is closed when its program is too slow.

    uvicorn itself ends one that is idle after a request; it waits for ever for a first request, for
    headers and bodies that drip, and for a program that does not read.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._due: dict[str, asyncio.TimerHandle] = {}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; see `asyncio.Protocol`."""
        super().connection_made(transport)
        if len(self.connections) > 2 * MAX_CONNECTIONS:
            transport.abort()
        elif len(self.connections) > MAX_CONNECTIONS:
            self.app = _tell_of_no_room
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """End; see `asyncio.Protocol`."""
        for handle in self._due.values():
            handle.cancel()
        self._due.clear()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Handle the received events."""
        super().handle_events()
        self._look()

    def on_response_complete(self) -> None:
        """Prepare for the next request after a response."""
        super().on_response_complete()
        self._look()

    def shutdown(self) -> None:
        """End when the request under way is answered."""
        super().shutdown()
        self._look()

    def pause_writing(self) -> None:
        """Wait for the program to read; see `asyncio.Protocol`."""
        super().pause_writing()
        self._expect("read", STALLED_S)

    def resume_writing(self) -> None:
        """Go on writing; see `asyncio.Protocol`."""
        super().resume_writing()
        self._forget("read")

    def send_400_response(self, msg: str) -> None:
        """Say that this is no HTTP, in the form of the APIs."""
        del msg
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = as_json(ApiError(400, "bad_http", "This is no valid HTTP request.").body(""))
            headers = [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
                (b"connection", b"close"),
            ]
            head = h11.Response(status_code=400, headers=headers, reason=b"Bad Request")
            for event in (head, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _look(self) -> None:
        """Set the time limit for the next part."""
        theirs = self.conn.their_state
        states = {
            # A connection that is idle after a request has uvicorn's own time.
            "head": (theirs is h11.IDLE and self.timeout_keep_alive_task is None, HEAD_S),
            # Refused before its body had come: that is read, so that the answer gets through.
            "rest": (theirs is h11.SEND_BODY and self.conn.our_state is h11.DONE, REFUSED_BODY_S),
            "end": (self.transport.is_closing(), STALLED_S),
        }
        for name, (is_expected, seconds) in states.items():
            if is_expected:
                self._expect(name, seconds)
            else:
                self._forget(name)

    def _expect(self, name: str, seconds: float) -> None:
        """End the connection after this time unless the timer is cancelled."""
        if name not in self._due:
            self._due[name] = self.loop.call_later(seconds, self.transport.abort)

    def _forget(self, name: str) -> None:
        handle = self._due.pop(name, None)
        if handle is not None:
            handle.cancel()


async def _tell_of_no_room(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request for which there are too many connections."""
    error = ApiError(
        503,
        "too_many_connections",
        f"{MAX_CONNECTIONS} connections are open already. Try again later.",
        headers={"connection": "close"},
    )
    response = json_response(error.body(scope["path"]), error.status, error.headers)
    await response(scope, receive, send)
