"""Requests to the broker, for coroutines: events come by the event loop, and places are limited."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from types import MappingProxyType
from typing import TYPE_CHECKING

from paceline.hosting.broker import Priority
from paceline.messages import Encode, Encoded, EngineDied, LoadFailed
from paceline.server.errors import ApiError, from_engine, not_loaded

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator, Mapping

    from paceline.hosting.broker import Ticket
    from paceline.hosting.client import EngineClient
    from paceline.messages import Command, Event, LoadPair, Prompt

_logger = logging.getLogger(__name__)

RETRY_S = 5
"""Seconds after which a program that found the queue full may try again."""


class Question:
    """One request of a program. On one event loop; the engine's thread hands its events over.

    Args:
        client: The engine.
        command: The command.
        priority: Priority of the request.
        asker: Name of the requesting program, for people.

    Attributes:
        ticket: The request in the broker's queue.
    """

    def __init__(
        self, client: EngineClient, command: Command, priority: Priority, asker: str
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._events: deque[Event] = deque()
        self._has_come = asyncio.Event()
        self.ticket: Ticket = client.request(command, priority, self._hear, asker)

    def _hear(self, event: Event) -> None:
        """Receive an event on the engine's thread."""
        self._events.append(event)
        with contextlib.suppress(RuntimeError):  # the loop has ended, and with it who asked
            self._loop.call_soon_threadsafe(self._has_come.set)

    async def events(
        self, patience: float | None = None, silence: float | None = None
    ) -> AsyncGenerator[Event | None]:
        """Yield every event as it comes, up to the answer; cancel the request if left earlier.

        Args:
            patience: Seconds to wait for the first event, after which None is yielded once.
            silence: Seconds between events after which None is yielded, each time.
        """
        timeout = patience
        try:
            while True:
                while not self._events:
                    self._has_come.clear()
                    try:
                        # `wait_for` of Python 3.11 can lose a cancellation.
                        async with asyncio.timeout(timeout):
                            await self._has_come.wait()
                    except TimeoutError:
                        timeout = silence
                        yield None
                timeout = silence
                event = self._events.popleft()
                yield event
                if event is self.ticket.answer and not self._events:
                    return
        finally:
            self.ticket.cancel()

    async def answer(self) -> Event:
        """Wait for the answer and return it."""
        async for event in self.events():
            last = event
        assert last is not None
        return last


class Desk:
    """Access of programs to the engine: a queue of bounded length.

    Args:
        client: The engine.
        longest: Upper bound of the requests that wait.

    Attributes:
        is_closing: Whether new requests are refused.
    """

    def __init__(self, client: EngineClient, longest: int) -> None:
        self._client = client
        self._longest = longest
        self._open: set[Question] = set()
        self.is_closing = False

    @property
    def n_waiting(self) -> int:
        """Requests that wait."""
        return sum(question.ticket.state == "waiting" for question in self._open)

    @property
    def n_running(self) -> int:
        """Requests that are being carried out; 0 or 1."""
        return sum(question.ticket.state == "running" for question in self._open)

    @contextlib.contextmanager
    def asking(
        self, command: Command, asker: str, priority: Priority = Priority.PROGRAM
    ) -> Iterator[Question]:
        """Send a request, and cancel it at the end of the block if it is not over.

        Raises:
            ApiError: The queue is full, or the server is ending.
        """
        if self.is_closing:
            raise ending()
        self.refuse_if_full()
        question = Question(self._client, command, priority, asker)
        self._open.add(question)
        try:
            yield question
        finally:
            self._open.discard(question)
            question.ticket.cancel()

    def refuse_if_full(self, more: int = 0) -> None:
        """Refuse a request where too many wait.

        Args:
            more: Requests that wait for something other than the engine.

        Raises:
            ApiError: The queue is full.
        """
        n_next = int(self._client.running is None)  # the engine takes one of them right away
        if self.n_waiting + more >= self._longest + n_next:
            raise ApiError(
                429,
                "queue_full",
                f"{self._longest} requests are waiting already. Try again later, or start "
                "Paceline with a longer --queue.",
                headers={"retry-after": str(RETRY_S)},
            )

    async def answer(self, command: Command, asker: str) -> Event:
        """Send a command that takes no time, and return its answer."""
        with self.asking(command, asker) as question:
            return await question.answer()

    async def load(self, load: LoadPair) -> None:
        """Load a pair, ahead of waiting requests.

        Raises:
            ApiError: It cannot be loaded. The log says why, since that may name a path.
        """
        with self.asking(load, "", Priority.PERSON) as question:
            answer = await question.answer()
        if isinstance(answer, LoadFailed):
            _logger.warning("models were not loaded for a program: %s", answer.message)
            raise not_loaded(f"It could not be loaded ({answer.code}).")
        if isinstance(answer, EngineDied):
            raise not_loaded(answer.reason)

    async def encode(
        self, prompt: Prompt, asker: str, fields: Mapping[str, str] = MappingProxyType({})
    ) -> Encoded:
        """Return the tokens of a prompt for the loaded model.

        Args:
            prompt: The prompt.
            asker: Name of the requesting program.
            fields: As `names` in `from_engine`.

        Raises:
            ApiError: There is no such prompt, or the engine cannot be asked.
        """
        answer = await self.answer(Encode(prompt), asker)
        match answer:
            case Encoded(code=code, problem=problem, hint=hint) if code:
                raise from_engine(code, problem, hint, fields)
            case EngineDied(reason, hint):
                raise from_engine("engine-died", reason, hint)
        assert isinstance(answer, Encoded)
        return answer

    def close(self, *, at_once: bool = False) -> None:
        """Refuse new requests and cancel the waiting ones; with `at_once` the running one, too."""
        self.is_closing = True
        for question in list(self._open):
            if at_once or question.ticket.state == "waiting":
                question.ticket.cancel()


def ending() -> ApiError:
    """Return the error for a server that ends."""
    return ApiError(503, "server_ending", "Paceline is ending. Try again when it is back.")
