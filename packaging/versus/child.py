"""A server as a child process on the loopback, and how to ask it."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

HOST = "127.0.0.1"
START_S = 300.0
REPLY_S = 1800.0


def free_port() -> int:
    """Return a free port of the loopback."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


class Child:
    """A running server, for a with statement, which ends it in any case.

    Args:
        name: Name in errors.
        command: Its arguments, which name the port.
        port: Port that it listens on.
        more: Variables of its environment beside those of this process.
    """

    def __init__(
        self, name: str, command: Sequence[str], port: int, more: Mapping[str, str] | None = None
    ) -> None:
        self._name = name
        self._port = port
        # On Linux the system ends the server even when this process is killed.
        guard = shutil.which("setpriv")
        self._command = [*([guard, "--pdeathsig", "KILL"] if guard else []), *command]
        self._environment = {**os.environ, **(more or {})}
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `stop`
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=subprocess.STDOUT,
                env=self._environment,
            )
            self._await_health()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End the process, politely first."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        self._log.close()

    def ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """Return the answer to a request, an object of JSON.

        Raises:
            ConnectionError: It answers with an error.
        """
        with self._response(method, path, body) as response:
            answer: dict[str, Any] = json.loads(response.read() or b"{}")
        return answer

    def stream(self, path: str, body: object) -> tuple[float, list[tuple[float, bytes]]]:
        """Ask for an answer that is streamed.

        Returns:
            When it was asked for, and each line with when it came, in seconds of one clock. Nothing
            is read of the lines in between, so that the one who measures takes the server no time.

        Raises:
            ConnectionError: It answers with an error.
        """
        began = time.perf_counter()
        with self._response("POST", path, body) as response:
            return began, [(time.perf_counter(), line) for line in response]

    @contextlib.contextmanager
    def _response(self, method: str, path: str, body: object) -> Any:
        connection = http.client.HTTPConnection(HOST, self._port, timeout=REPLY_S)
        with contextlib.closing(connection):
            payload = None if body is None else json.dumps(body)
            connection.request(method, path, payload, {"Content-Type": "application/json"})
            response = connection.getresponse()
            if response.status != http.client.OK:
                told = response.read().decode(errors="replace")
                raise ConnectionError(f"{self._name} answered {response.status}: {told}")
            yield response

    def _await_health(self) -> None:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            assert self._process is not None
            if self._process.poll() is not None:
                break
            with contextlib.suppress(OSError):
                self.ask("GET", "/health")
                return
            time.sleep(0.05)
        self._log.seek(0)
        told = self._log.read().decode(errors="replace")[-2000:]
        raise ConnectionError(f"{self._name} did not start: {' '.join(self._command)}\n{told}")
