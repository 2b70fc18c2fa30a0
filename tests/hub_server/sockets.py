"""A server on 127.0.0.1 that can hang up on everybody, and the handling of one request."""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from hub_server import answers, content
from hub_server.answers import Answer

if TYPE_CHECKING:
    from hub_server.faults import Fault
    from hub_server.server import HubServer, Request


class Server(ThreadingHTTPServer):
    """One of the two hosts."""

    daemon_threads = False  # so that they are waited for
    allow_reuse_address = True

    def __init__(self, hub: HubServer, host: str, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.hub = hub
        self.host = host
        self.address = f"http://127.0.0.1:{self.server_address[1]}"
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()

    def process_request(self, request: Any, client_address: Any) -> None:
        # What lies in the buffer counts as sent, so it has to be small.
        request.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 18)
        with self._lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """End all connections, also those on which a client waits for nothing."""
        with self._lock:
            for connection in self._connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, ConnectionError):
            self.hub.failures.append(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body go out apart, and the client would wait 40 ms
    server: Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base class's name
        """Keep quiet; `HubServer.requests` has it all."""

    def _handle(self) -> None:
        hub = self.server.hub
        n_form = int(self.headers.get("Content-Length") or 0)
        form = parse_qs(self.rfile.read(n_form).decode()) if n_form else {}
        request = hub.record(self.command, self.path, self.headers.items(), self.server.host)
        fault = hub.faults_of(request, content=False)
        if fault.silent or fault.latency_s:
            hub.closing.wait(None if fault.silent else fault.latency_s)
        if hub.closing.is_set():
            self.close_connection = True
            return
        answer = _instead(fault) or hub.answer(request, form, fault.etag)
        if isinstance(answer, content.Content):
            content.send(self, request, answer, hub)
        else:
            self._send(request, answer)

    do_GET = do_HEAD = do_POST = _handle  # noqa: N815  the names that the base class looks for

    def _send(self, request: Request, answer: Answer) -> None:
        request.status = answer.status
        self.send_response(answer.status)
        for name, text in answer.headers.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)


def _instead(fault: Fault) -> Answer | None:
    """Return what a fault puts in the place of the true answer."""
    if fault.status:
        wrong = answers.failure(fault.status, fault.error_code)
        again = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
        return Answer(wrong.status, wrong.body, {**wrong.headers, **again})
    if fault.html:
        page = b"<!doctype html><title>Welcome</title><p>Please log in to this network."
        return Answer(200, page, {"Content-Type": "text/html; charset=utf-8"})
    return None
