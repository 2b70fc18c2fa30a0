"""The models of `paceline serve --load-on-request`: all of this computer, loaded by its options."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import structs

from paceline.errors import UserError
from paceline.params import OWN_HEAD
from paceline.server.errors import not_loaded
from paceline.server.on_request import usable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paceline.catalog.local.library import Library
    from paceline.messages import LoadPair
    from paceline.server.asking import Desk
    from paceline.server.served import Current, Served


class InstalledModels:
    """Implements `server.on_request.Loads`.

    Args:
        desk: Asks the engine.
        current: The loaded pair.
        library: The models of this computer.
        given: The load of the command line, with automatic values unresolved.
        checked: Returns a load with automatic values resolved; raises `UserError` for a file that
            is no model.
    """

    def __init__(
        self,
        desk: Desk,
        current: Current,
        library: Library,
        given: LoadPair,
        checked: Callable[[LoadPair], LoadPair],
    ) -> None:
        self._desk = desk
        self._current = current
        self._library = library
        self._given = given
        self._checked = checked

    @property
    def loaded(self) -> Served | None:
        """The pair that is loaded at present, or None."""
        return self._current.served

    def find(self) -> Sequence[str]:
        """Return the paths of the models that are installed, and of the one that was given."""
        return (self._given.target.path, *usable(self._library.current()))

    async def load(self, path: str) -> None:
        """Load this model; see `server.on_request.Loads`.

        The model of the command line is loaded as the options say. Another model has no draft model
        except its own head, and the target's options for the rest.
        """
        load = self._given
        if path != load.target.path:
            load = structs.replace(
                load, target=replace(load.target, path=path), drafting=OWN_HEAD, lookup_cache=""
            )
        try:
            load = await asyncio.to_thread(self._checked, load)
        except UserError as error:
            raise not_loaded(f"It is no model that can be loaded ({error.code}).") from None
        await self._desk.load(load)
