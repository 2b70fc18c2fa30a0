"""The window's models for other programs: the loaded pair, and loads that they request."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial

from PySide6.QtCore import QObject, Signal, Slot

from paceline.catalog.local.library import Library
from paceline.chat.pair import PairState
from paceline.hosting.client import EngineClient
from paceline.server.errors import not_loaded
from paceline.server.on_request import usable
from paceline.server.served import Current, Served, model_id

PATIENCE_S = 30.0
"""Time limit in seconds for a requested load to begin."""
_WHY = "It could not be loaded; Paceline's window says why."


class WindowModels(QObject):
    """Implements `server.served.Models`, and `server.on_request.Loads` where models are known.

    Created on the main thread, where it also receives the state of the pair. The window carries out
    all loads: a program's request is passed to it where nothing is loaded, or another model is
    wanted.

    Args:
        client: The engine itself, whose events arrive on its own thread.
        library: The local models, or None if they are unknown.
        parent: Owns this object.
    """

    load_wanted = Signal()
    """A program waits for models, and none are loaded; emitted on the server's thread."""
    model_wanted = Signal(str)
    """A program waits for the model of this path; emitted on the server's thread."""

    def __init__(self, client: EngineClient, library: Library | None, parent: QObject) -> None:
        super().__init__(parent)
        self._library = library
        self._current = Current()
        client.watch(self._current.on_engine_event)
        self._state = PairState()
        self._given_up: PairState | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: set[asyncio.Event] = set()

    @Slot(object)
    def show_state(self, state: PairState) -> None:
        """Set the state of the pair."""
        self._state = state
        if self._loop is not None:
            # The loop has ended, and with it all waiting requests.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._wake)

    @property
    def loaded(self) -> Served | None:
        """The loaded pair, or None without one or while another is being loaded. Any thread."""
        return self._current.served if self._state.status == "ready" else None

    def find(self) -> Sequence[str]:
        """Return the paths of the local models; see `server.on_request.Loads`."""
        return usable(self._library.current()) if self._library is not None else ()

    async def load(self, path: str) -> None:
        """Let the window load this model; see `server.on_request.Loads`."""
        state = await self._settled()
        if state.status == "ready" and _target(state) == path:
            return  # the user has loaded it meanwhile
        await self._changed(state, PATIENCE_S, ask=partial(self.model_wanted.emit, path))
        state = await self._settled()
        if state.status != "ready" or _target(state) != path:
            raise not_loaded(_WHY)

    async def _settled(self) -> PairState:
        """Wait until nothing is being loaded."""
        while (state := self._state).status == "loading":
            await self._changed(state)
        return state

    def request(self) -> AbstractContextManager[None]:
        """Return a context without effect: there is no other pair for programs."""
        return nullcontext()

    async def wanted(self, name: str) -> Served:
        """Return the loaded pair, whatever the request calls it; see `server.served.Models`."""
        del name
        has_asked = False
        while True:
            state, served = self._state, self._current.served
            if state.status == "ready" and served is not None:
                return served
            if state.status not in ("loading", "ready"):
                if has_asked or state is self._given_up:
                    self._given_up = state  # until the state of the pair changes
                    raise not_loaded(_WHY)
                has_asked = True
                await self._changed(state, PATIENCE_S, ask=self.load_wanted.emit)
            else:
                await self._changed(state)

    async def names(self) -> tuple[str, ...]:
        """Return the name of the pair that is loaded or would be."""
        pair = self._state.pair
        return (model_id(pair.target.path),) if pair is not None else ()

    async def _changed(
        self,
        before: PairState,
        timeout: float | None = None,
        *,
        ask: Callable[[], object] = lambda: None,
    ) -> None:
        """Wait until the pair stands otherwise than before, or for so many seconds.

        Raises:
            ApiError: It does not.
        """
        self._loop = asyncio.get_running_loop()
        change = asyncio.Event()
        self._waiting.add(change)
        ask()
        try:
            if self._state is before:
                await asyncio.wait_for(change.wait(), timeout)
        except TimeoutError:
            raise not_loaded(_WHY) from None
        finally:
            self._waiting.discard(change)

    def _wake(self) -> None:
        for change in self._waiting:
            change.set()


def _target(state: PairState) -> str:
    return state.pair.target.path if state.pair is not None else ""
