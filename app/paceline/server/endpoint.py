"""The endpoint as one object, for the command and for the window: started, watched, stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paceline.server.application import make_application
from paceline.server.asking import Desk
from paceline.server.context import Context
from paceline.server.http.guard import Access
from paceline.server.journal import Journal
from paceline.server.metrics import Metrics
from paceline.settings import SERVER_QUEUE

if TYPE_CHECKING:
    from collections.abc import Callable

    from paceline.hosting.client import EngineClient
    from paceline.server.listener import Listener
    from paceline.server.served import Defaults, ServedModels


class Endpoint:
    """Other programs' way to the engine. Any thread, one at a time.

    Args:
        client: The engine.
        listener: The bound port.
        models: Makes the models that programs may request, from the desk.
        defaults: Values for fields that a request leaves out.
        key: Key that programs must send, or empty if they need none.
        origins: Origins of web pages that may send requests.
        queue: Upper bound of the requests that wait.
        journal: Keeps the last requests; None means one of its own.

    Attributes:
        journal: The last requests.
        desk: Access to the engine.
    """

    def __init__(
        self,
        client: EngineClient,
        listener: Listener,
        models: Callable[[Desk], ServedModels],
        defaults: Defaults,
        *,
        key: str = "",
        origins: tuple[str, ...] = (),
        queue: int = SERVER_QUEUE,
        journal: Journal | None = None,
    ) -> None:
        self._listener = listener
        self.journal = journal or Journal()
        self.desk = Desk(client, queue)
        metrics = Metrics()
        self._leave_journal = self.journal.follow(metrics.take)
        self._context = Context(self.desk, models(self.desk), defaults, self.journal, metrics)
        self._access = Access(listener.host, listener.port, key, origins)
        self._application = make_application(self._context, self._access)

    @property
    def url(self) -> str:
        """The address that programs reach it at."""
        return self._listener.url

    def change(self, defaults: Defaults, key: str) -> None:
        """Replace defaults and key for later requests."""
        self._context.defaults = defaults
        self._access.key = key

    def start(self) -> None:
        """Start answering."""
        self._listener.start(self._application)

    def stop(self, *, at_once: bool = False) -> None:
        """Refuse new requests, and end when the running reply is complete. Never waits.

        Args:
            at_once: Stop that reply, too.
        """
        self.desk.close(at_once=at_once)
        self._listener.stop(at_once=at_once)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it has ended; return False if it has not within the timeout."""
        has_ended = self._listener.wait(timeout)
        if has_ended:
            self._leave_journal()
        return has_ended
