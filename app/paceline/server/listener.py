"""The open port, and the thread that serves it."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import threading
from typing import TYPE_CHECKING

import uvicorn

from paceline.errors import UserError
from paceline.server.limits import IDLE_S, LARGEST_HEAD, MOST_CONNECTIONS

if TYPE_CHECKING:
    from starlette.types import ASGIApp

_logger = logging.getLogger(__name__)


class Listener:
    """A port that is bound from the first moment and served from `start` on.

    Args:
        host: An address of this computer.
        port: 0 takes a free one.

    Attributes:
        host: The address.
        port: The port.

    Raises:
        UserError: The port is in use, or the address is none of this computer's.
    """

    def __init__(self, host: str, port: int) -> None:
        self._socket = _bound(host, port)
        self.host = host
        self.port: int = self._socket.getsockname()[1]
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Where programs reach the server."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{name}:{self.port}"

    def start(self, application: ASGIApp) -> None:
        """Serve, on a thread of its own.

        Args:
            application: What answers.
        """
        config = uvicorn.Config(
            application,
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level=logging.WARNING,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_keep_alive=IDLE_S,
            h11_max_incomplete_event_size=LARGEST_HEAD,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._run, args=(self._server,), name="server", daemon=True
        )
        self._thread.start()

    def stop(self, *, at_once: bool = False) -> None:
        """Take no more connections, and end when what is under way is done. Never waits.

        Args:
            at_once: End the connections, too.
        """
        if self._server is None:
            self._socket.close()
            return
        self._server.should_exit = True
        if at_once:
            self._server.force_exit = True

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the thread has ended; False: it has not in so many seconds."""
        if self._thread is None:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self, server: uvicorn.Server) -> None:
        try:
            asyncio.run(server.serve(sockets=[self._socket]))
        except Exception:
            _logger.exception("the server ended unexpectedly")


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows: nobody else gets the port, too
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen(socket.SOMAXCONN)
    except OSError as error:
        bound.close()
        if error.errno == errno.EADDRINUSE:
            raise UserError(
                "port-in-use",
                "Port {port} is in use by another program.",
                "End that program, or choose another port; 0 takes a free one.",
                port=port,
            ) from None
        raise UserError(
            "cannot-listen",
            "Nothing can listen at {host}, port {port} ({reason}).",
            "Give an address of this computer and a port that may be used.",
            host=host,
            port=port,
            reason=error.strerror or str(error),
        ) from None
    return bound
