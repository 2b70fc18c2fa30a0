"""A window that serves other programs on a free port, and programs that ask it."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

    from pytestqt.qtbot import QtBot

    from paceline.gui.program import Program

HELLO = [{"role": "user", "content": "What is a list?"}]


@pytest.fixture
def port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
    return number


class Asker:
    """Another program: each of its requests runs on a thread, while the window lives on."""

    def __init__(self, pool: ThreadPoolExecutor, qtbot: QtBot, port: int) -> None:
        self._pool, self._qtbot = pool, qtbot
        self.url = f"http://127.0.0.1:{port}"
        self.key = ""

    def begin(self, path: str = "", **body: Any) -> Future[httpx2.Response]:
        """Ask, for a chat unless another path is given."""
        headers = {"authorization": f"Bearer {self.key}"} if self.key else {}
        headers["user-agent"] = "Zed/0.214.0"
        if path:
            return self._pool.submit(httpx2.get, self.url + path, headers=headers, timeout=30)
        body = {"messages": HELLO, **body}
        target = f"{self.url}/v1/chat/completions"
        return self._pool.submit(httpx2.post, target, json=body, headers=headers, timeout=30)

    def end(self, asked: Future[httpx2.Response]) -> httpx2.Response:
        """Wait for the answer."""
        self._qtbot.waitUntil(asked.done, timeout=30_000)
        return asked.result()

    def ask(self, path: str = "", **body: Any) -> httpx2.Response:
        """Ask, and wait for the answer."""
        return self.end(self.begin(path, **body))


@pytest.fixture
def asker(qtbot: QtBot, port: int) -> Iterator[Asker]:
    with ThreadPoolExecutor(8) as pool:
        yield Asker(pool, qtbot, port)


@pytest.fixture
def serve(qtbot: QtBot, port: int, asker: Asker) -> Callable[[Program], None]:
    """Turns the switch on, and waits until programs can ask."""

    def turn_on(program: Program) -> None:
        program.settings.update(serving_port=port, serves=True)
        qtbot.waitUntil(lambda: program.serving.status == "on")
        asker.key = program.settings.value("serving_key")

    return turn_on
