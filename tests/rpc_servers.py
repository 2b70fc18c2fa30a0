"""RPC servers for tests: real ones, and those of each kind that cannot be used.

`with rpc_servers(2) as (one, two):` gives real ones, which are killed at the end, and on Linux when
the tests die. `with UNUSABLE[kind]() as endpoint:` gives one of another kind.
"""

from __future__ import annotations

import json
import socket
import socketserver
import struct
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

HELLO = 14
"""The first command of ggml's protocol (`rpc_cmd` in ggml-rpc.cpp)."""
VERSION = (7, 0, 0)
N_CAPS = 24
_HELLO_BYTES = 1 + 8 + N_CAPS
_MAIN = """\
import ctypes, signal, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
from paceline.__main__ import main
sys.exit(main(sys.argv[1:]))
"""
_PROGRAM = (sys.executable, "-c", _MAIN, "rpc-server")
_PATIENCE_S = 20


class Server(NamedTuple):
    """A real server: where it listens, its devices, and its process, which a test may kill."""

    endpoint: str
    devices: list[str]
    process: subprocess.Popen[str]


@contextmanager
def rpc_servers(n: int = 1, *options: str) -> Iterator[list[Server]]:
    """Start servers of `paceline rpc-server`; skip the test if llama.cpp has no RPC.

    Args:
        n: Number of servers, each on its own port.
        options: Options of the command.
    """
    with ExitStack() as ends:
        yield [ends.enter_context(_real(options)) for _ in range(n)]


@contextmanager
def _real(options: tuple[str, ...]) -> Iterator[Server]:
    words = [*_PROGRAM, "--json", "--port", "0", "--threads", "1", *options]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as it:
        try:
            assert it.stdout is not None
            said = json.loads(it.stdout.readline())
            if said.get("error", {}).get("code") == "no-rpc":
                pytest.skip(said["error"]["message"])
            assert said["event"] == "listening", said
            yield Server(said["endpoint"], said["devices"], it)
        finally:
            it.kill()


@contextmanager
def client_of(endpoint: str) -> Iterator[socket.socket]:
    """Give a connection that a server has greeted; it serves no one else meanwhile."""
    host, _, port = endpoint.rpartition(":")
    with socket.create_connection((host, int(port)), _PATIENCE_S) as connection:
        connection.sendall(struct.pack("<BQ", HELLO, N_CAPS) + bytes(N_CAPS))
        assert connection.recv(1), "the server has closed the connection"
        yield connection


# ---------------------------------------------------------------------------------------- unusable


@contextmanager
def _refusing() -> Iterator[str]:
    """A port that is taken, where nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{taken.getsockname()[1]}"


@contextmanager
def _silent() -> Iterator[str]:
    """A server that takes connections and never reads from them."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


@contextmanager
def _busy() -> Iterator[str]:
    """A real server with another client."""
    with rpc_servers() as (server,), client_of(server.endpoint):
        yield server.endpoint


class _Answers(socketserver.ThreadingTCPServer):
    """Gives each client the same answer to its greeting, and closes the connection."""

    daemon_threads = True  # one that waits for a greeting would hold up the end
    answer = b""


class _Handler(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        assert isinstance(self.server, _Answers)
        n = 0
        while n < _HELLO_BYTES and (data := self.request.recv(_HELLO_BYTES)):
            n += len(data)
        self.request.sendall(self.server.answer)


def _answering(answer: bytes) -> Callable[[], AbstractContextManager[str]]:
    @contextmanager
    def give() -> Iterator[str]:
        with _Answers(("127.0.0.1", 0), _Handler) as server:
            server.answer = answer
            thread = threading.Thread(target=server.serve_forever, args=(0.01,))
            thread.start()
            try:
                yield f"127.0.0.1:{server.server_address[1]}"
            finally:
                server.shutdown()
                thread.join()

    return give


def _greeting(version: tuple[int, int, int]) -> bytes:
    return struct.pack("<Q4B", 4 + N_CAPS, *version, 0) + bytes(N_CAPS)


UNUSABLE: dict[str, Callable[[], AbstractContextManager[str]]] = {
    "refuses": _refusing,
    "silent": _silent,
    "busy": _busy,
    "garbage": _answering(bytes(range(255, 195, -1))),
    "http": _answering(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"),
    "closes": _answering(b""),
    "closes-in-mid-answer": _answering(_greeting(VERSION)[:17]),
    "other-version": _answering(_greeting((VERSION[0] + 1, 0, 0))),
}
"""Kinds of servers that no model can be loaded on."""
