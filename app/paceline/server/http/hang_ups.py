"""Cancellation of a request's work when its program closes the connection."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HangUps:
    """Cancels the handler of a request when its program hangs up; ASGI middleware.

    Args:
        app: Answers requests.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request until its program hangs up."""
        line = _Line(receive, send)
        try:
            await self._app(scope, line.hear, line.tell)
        except asyncio.CancelledError:
            if not line.has_hung_up:
                raise
            line.work.uncancel()
        finally:
            line.close()


class _Line:
    """The two directions between a program and the task that works on its request.

    After the request's body has been read, the connection is watched, whatever the work waits for
    meanwhile: a place in the queue, a load, a step.
    """

    def __init__(self, receive: Receive, send: Send) -> None:
        work = asyncio.current_task()
        assert work is not None
        self.work = work
        self.has_hung_up = False
        self._receive = receive
        self._send = send
        self._is_answered = False
        self._watching: asyncio.Task[None] | None = None

    async def hear(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self._stop()
            await asyncio.sleep(0)  # the work ends here
        elif self._watching is None and not message.get("more_body", False):
            self._watching = asyncio.create_task(self._watch())
        return message

    async def tell(self, message: Message) -> None:
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self._is_answered = True
        await self._send(message)

    def close(self) -> None:
        self._is_answered = True
        if self._watching is not None:
            self._watching.cancel()

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._stop()

    def _stop(self) -> None:
        if not (self._is_answered or self.has_hung_up):
            self.has_hung_up = True
            self.work.cancel()
