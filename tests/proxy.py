"""A proxy on this computer that counts what goes through it."""

from __future__ import annotations

import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit


class Proxy(ThreadingHTTPServer):
    """Passes plain HTTP on; is there as long as the `with` block runs.

    Attributes:
        asked: The addresses that were asked for, in order.
        address: Its own.
    """

    daemon_threads = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []
        self.address = f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> Proxy:
        self._thread = threading.Thread(target=self.serve_forever)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    """One request, on a connection of its own."""

    server: Proxy

    def _pass_on(self) -> None:
        self.server.asked.append(self.path)
        parts = urlsplit(self.path)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
        try:
            target = f"{parts.path}?{parts.query}" if parts.query else parts.path
            headers = {name: text for name, text in self.headers.items() if "proxy" not in name}
            connection.request(self.command, target, headers=headers | {"Connection": "close"})
            answer = connection.getresponse()
            body = answer.read()
            self.send_response(answer.status)
            for name, text in answer.getheaders():
                if name.lower() not in ("connection", "transfer-encoding"):
                    self.send_header(name, text)
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)
        finally:
            connection.close()
            self.close_connection = True

    do_GET = do_HEAD = do_POST = _pass_on  # noqa: N815  the library's names

    def log_message(self, *_: Any) -> None:
        """Say nothing."""
