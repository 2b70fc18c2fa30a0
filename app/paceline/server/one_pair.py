"""One pair for all programs, loaded again after the engine died."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import TYPE_CHECKING

from paceline.server.errors import not_loaded
from paceline.server.served import Current, Served, model_id

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from paceline.messages import LoadPair
    from paceline.server.asking import Desk


class OnePair:
    """Implements `served.Models` for a server with an engine of its own.

    Args:
        desk: Asks the engine.
        current: The loaded pair.
        load: The load of the pair.
    """

    def __init__(self, desk: Desk, current: Current, load: LoadPair) -> None:
        self._desk = desk
        self._current = current
        self._load = load
        self._loading = asyncio.Lock()

    @property
    def loaded(self) -> Served | None:
        """The pair, unless its engine has died."""
        return self._current.served

    def request(self) -> AbstractContextManager[None]:
        """Return a context without effect: there is no other pair for programs."""
        return nullcontext()

    async def wanted(self, name: str) -> Served:
        """Return the pair, whatever the request calls it; see `served.Models`."""
        del name
        if self._current.served is None:
            async with self._loading:
                if self._current.served is None:
                    await self._desk.load(self._load)
        served = self._current.served
        if served is None:  # it died again at once
            raise not_loaded("The engine ended.")
        return served

    async def names(self) -> tuple[str, ...]:
        """Return the pair's name."""
        return (model_id(self._load.target.path),)
