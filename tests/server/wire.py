"""HTTP requests as raw bytes, including those that no client library sends."""

from __future__ import annotations

import http.client
import json
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable

SECONDS = 30.0
"""Timeout of a server's answer, in seconds."""


class Answer:
    """A response: status, headers, body."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def error(self) -> dict[str, Any]:
        """The error in the body, in OpenAI's form."""
        found: dict[str, Any] = json.loads(self.body)["error"]
        return found


def connect(url: str) -> socket.socket:
    """Open a connection."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    return socket.create_connection((parts.hostname, parts.port or 80), SECONDS)


def request(
    url: str,
    line: str,
    *headers: str,
    host: str | None = None,
    body: bytes = b"",
    has_length: bool = True,
) -> bytes:
    """Return the bytes of a request.

    Args:
        url: URL of the server.
        line: Method and target, such as ``GET /health``.
        headers: Header lines; `Host` and `Content-Length` are added.
        host: Value of `Host`, by default that of `url`; if empty, the header is left out.
        body: The body.
        has_length: True to send `Content-Length` with a body.
    """
    host = urlsplit(url).netloc if host is None else host
    lines = [f"{line} HTTP/1.1", *([f"Host: {host}"] if host else []), *headers]
    if body and has_length:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def answered(url: str, data: bytes, method: str = "GET") -> Answer:
    """Send bytes and return the answer."""
    with connect(url) as connection:
        # The server may answer and close before it has read everything.
        with suppress(ConnectionError):
            connection.sendall(data)
        return read(connection, method)


def read(connection: socket.socket, method: str = "GET") -> Answer:
    """Return the next answer."""
    response = http.client.HTTPResponse(connection, method=method)
    response.begin()
    return Answer(response)


def ask(url: str, line: str, *headers: str, host: str | None = None, body: bytes = b"") -> Answer:
    """Send a request and return the answer."""
    data = request(url, line, *headers, host=host, body=body)
    return answered(url, data, line.partition(" ")[0])


def is_ended(connection: socket.socket, drip: Iterable[bytes] = ()) -> bool:
    """Return whether the server closes a connection within the timeout.

    Args:
        connection: The connection; whatever arrives on it is discarded.
        drip: Pieces to send first, one every 20 ms.
    """
    connection.settimeout(0.02)
    for piece in drip:
        try:
            if not connection.recv(1 << 16):
                return True
        except TimeoutError:
            pass
        except ConnectionError:
            return True
        with suppress(ConnectionError):
            connection.sendall(piece)
    connection.settimeout(SECONDS)
    try:
        while connection.recv(1 << 16):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True
