"""The open port, and the thread that serves it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from typing import TYPE_CHECKING

import uvicorn

from paceline.server.errors import log_fault
from paceline.server.http.connection import Connection
from paceline.server.limits import IDLE_S, MAX_HEAD_BYTES
from paceline.server.port import bound

if TYPE_CHECKING:
    from typing import Any

    from starlette.types import ASGIApp

_DROP_S = 0.5
"""Seconds for the last bytes to programs whose connections are closed."""


class Listener:
    """A port that is bound from the first moment and served from `start` on.

    Args:
        host: An address of this computer.
        port: 0 takes a free one.

    Attributes:
        host: The address.
        port: The port.

    Raises:
        UserError: The port is in use, or the address does not belong to this computer.
    """

    def __init__(self, host: str, port: int) -> None:
        self._socket = bound(host, port)
        self.host = host
        self.port: int = self._socket.getsockname()[1]
        self._server: uvicorn.Server | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The address that programs reach the server at."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{name}:{self.port}"

    def start(self, application: ASGIApp) -> None:
        """Serve, on a thread of its own.

        Args:
            application: Answers the requests.
        """
        config = uvicorn.Config(
            application,
            http=Connection,
            ws="none",
            lifespan="off",
            log_config=None,
            # It would write to stderr; what goes wrong is answered and logged here.
            log_level=logging.CRITICAL,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=IDLE_S,
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._run, args=(self._server,), name="server", daemon=True
        )
        self._thread.start()

    def stop(self, *, at_once: bool = False) -> None:
        """Refuse new connections, and end when the running requests are done. Never waits.

        Args:
            at_once: End the connections, too.
        """
        if self._server is None:
            self._socket.close()
            return
        self._server.should_exit = True
        if at_once:
            self._server.force_exit = True
            if self._loop is not None:
                with contextlib.suppress(RuntimeError):  # it has ended
                    self._loop.call_soon_threadsafe(self._drop, self._server, self._loop)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the thread has ended; return False if it has not within the timeout."""
        if self._thread is None:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self, server: uvicorn.Server) -> None:
        async def serve() -> None:
            self._loop = asyncio.get_running_loop()
            self._loop.set_exception_handler(_log)
            await server.serve(sockets=[self._socket])

        try:
            asyncio.run(serve())
        except Exception as error:  # noqa: BLE001 - all that is left to do
            log_fault("the server", error)

    @staticmethod
    def _drop(server: uvicorn.Server, loop: asyncio.AbstractEventLoop) -> None:
        """End the connections soon; from Python 3.12 on the server waits for them."""
        for connection in list(server.server_state.connections):
            loop.call_later(_DROP_S, connection.transport.abort)


def _log(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log an uncaught error."""
    error = context.get("exception")
    if error is not None:
        log_fault("the server", error)
