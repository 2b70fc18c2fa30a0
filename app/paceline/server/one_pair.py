"""One pair for all programs, loaded again after the engine died."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from paceline.hosting.broker import Priority
from paceline.messages import EngineDied, LoadFailed, LoadPair
from paceline.server.errors import ApiError
from paceline.server.served import Current, Served, model_id

if TYPE_CHECKING:
    from paceline.server.asking import Desk

_logger = logging.getLogger(__name__)


class OnePair:
    """Implements `served.Models` for a server with an engine of its own.

    Args:
        desk: Asks the engine.
        current: Follows it.
        load: What is loaded.
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

    async def wanted(self, name: str) -> Served:
        """Return the pair, whatever the request calls it; see `served.Models`."""
        del name
        if self._current.served is None:
            async with self._loading:
                if self._current.served is None:
                    await self._reload()
        served = self._current.served
        if served is None:  # it died again at once
            raise _not_loaded("The engine ended.")
        return served

    async def names(self) -> tuple[str, ...]:
        """Return the pair's name."""
        return (model_id(self._load.target.path),)

    async def _reload(self) -> None:
        with self._desk.asking(self._load, "", Priority.PERSON) as question:
            answer = await question.answer()
        if isinstance(answer, LoadFailed):
            _logger.warning("the models were not loaded again: %s", answer.message)
            raise _not_loaded(f"It could not be loaded again ({answer.code}).")
        if isinstance(answer, EngineDied):
            raise _not_loaded(answer.reason)


def _not_loaded(why: str) -> ApiError:
    return ApiError(503, "no_model", f"No model is loaded. {why}")
