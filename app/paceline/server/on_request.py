"""Models that are loaded on request: one at a time, each for all requests that wait for it.

A request keeps its model loaded until it is over. Requests for another model wait; when no request
keeps the loaded one any longer, the model of the oldest waiting request is loaded, and all requests
for it are admitted. So two programs that request two models in turn cost one load for each round of
waiting requests, however many these are, and neither waits forever.
"""

from __future__ import annotations

import asyncio
import contextlib
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from paceline.server.asking import ending
from paceline.server.errors import ApiError, fault, log_fault, not_loaded
from paceline.server.served import model_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from paceline.catalog.local.library import LibraryEntry
    from paceline.server.asking import Desk
    from paceline.server.served import Served


class Loads(Protocol):
    """The source of models: finds and loads them."""

    @property
    def loaded(self) -> Served | None:
        """The pair that is loaded at present, or None."""

    def find(self) -> Sequence[str]:
        """Return the paths of the models that are installed; on any thread, may take long."""

    async def load(self, path: str) -> None:
        """Load this model in place of the other one. On the server's event loop.

        Raises:
            ApiError: It cannot be loaded.
        """


def usable(entries: Iterable[LibraryEntry]) -> tuple[str, ...]:
    """Return the paths of models that can be loaded by themselves."""
    return tuple(
        str(entry.file.path)
        for entry in entries
        if entry.card is not None and not entry.problem and entry.sidecar is None
    )


def named(paths: Iterable[str]) -> dict[str, str]:
    """Return paths by names of their own: that of the file, with a number where it is taken."""
    found: dict[str, str] = {}
    for path in sorted(set(paths)):
        stem = name = model_id(path)
        number = 1
        while name in found:
            number += 1
            name = f"{stem} ({number})"
        found[name] = path
    return found


@dataclass(slots=True, eq=False)
class _Lease:
    """The hold of one request on a model; `path` is empty before it was given one."""

    path: str = ""


_LEASE: ContextVar[_Lease] = ContextVar("lease")


class OnRequest:
    """Implements `served.Models` for several models. On the server's event loop.

    Args:
        desk: The engine's queue; its limit holds for both queues together.
        loads: Finds and loads the models.
    """

    def __init__(self, desk: Desk, loads: Loads) -> None:
        self._desk = desk
        self._loads = loads
        self._n_kept = 0
        self._waiting: dict[str, list[tuple[_Lease, asyncio.Future[None]]]] = {}
        self._loading: asyncio.Task[None] | None = None
        self._last = ""

    @property
    def loaded(self) -> Served | None:
        """The pair that is loaded at present, or None."""
        return self._loads.loaded

    @property
    def n_waiting(self) -> int:
        """Requests that wait for a model."""
        return sum(map(len, self._waiting.values()))

    async def names(self) -> tuple[str, ...]:
        """Return the names of all that is installed."""
        return tuple(await self._files())

    @contextlib.contextmanager
    def request(self) -> Iterator[None]:
        """Return the context of a request, which keeps its model loaded; see `served.Models`."""
        lease = _Lease()
        token = _LEASE.set(lease)
        try:
            yield
        finally:
            _LEASE.reset(token)
            if lease.path:
                self._n_kept -= 1
                self._advance()

    async def wanted(self, name: str) -> Served:
        """Return the pair of this name, loaded; see `served.Models`."""
        lease = _LEASE.get()
        if not lease.path:
            await self._admit(lease, await self._path_of(name))
        loaded = self._loads.loaded
        if loaded is None:  # the engine has died since
            raise not_loaded("The engine ended.")
        return replace(loaded, id=name) if name else loaded

    async def _path_of(self, name: str) -> str:
        loaded = self._loads.loaded
        if loaded is not None and name in ("", loaded.id):
            return loaded.target.path
        files = await self._files()
        if not name and files:
            return self._last or next(iter(files.values()))
        if name not in files:
            known = ", ".join(files) or "none"
            raise ApiError(
                404, "model_not_found", f"There is no model “{name:.80}” here. There are {known}."
            )
        return files[name]

    async def _files(self) -> dict[str, str]:
        found = await asyncio.to_thread(self._loads.find)
        loaded = self._loads.loaded
        return named((*found, loaded.target.path) if loaded is not None else found)

    # ------------------------------------------------------------------------------ one at a time

    async def _admit(self, lease: _Lease, path: str) -> None:
        """Wait until this model is loaded, and keep it for the request."""
        if self._is_loaded(path) and not self._waiting and self._loading is None:
            self._give(lease, path)
            return
        self._desk.refuse_if_full(self.n_waiting)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(path, []).append((lease, turn))
        self._advance()
        try:
            await turn
        except asyncio.CancelledError:
            still = [each for each in self._waiting.get(path, ()) if each[1] is not turn]
            if still:
                self._waiting[path] = still
            else:
                self._waiting.pop(path, None)
            self._advance()
            raise

    def _is_loaded(self, path: str) -> bool:
        loaded = self._loads.loaded
        return loaded is not None and Path(loaded.target.path) == Path(path)

    def _give(self, lease: _Lease, path: str) -> None:
        lease.path = self._last = path
        self._n_kept += 1

    def _advance(self) -> None:
        """Load the model of the oldest waiting request, once no request keeps another one."""
        if self._n_kept or self._loading is not None or not self._waiting:
            return
        path = next(iter(self._waiting))
        if self._desk.is_closing:
            self._turn_away(path, ending())
        elif self._is_loaded(path):
            self._let_in(path)
        else:
            self._loading = asyncio.ensure_future(self._load(path))

    async def _load(self, path: str) -> None:
        try:
            await self._loads.load(path)
        except ApiError as error:
            self._turn_away(path, error)
        except Exception as error:  # noqa: BLE001 - they would wait for ever
            log_fault("a load", error)
            self._turn_away(path, fault())
        else:
            if self._is_loaded(path):
                self._let_in(path)
            else:
                self._turn_away(path, not_loaded("Another one was loaded meanwhile."))
        finally:
            self._loading = None
        self._advance()

    def _let_in(self, path: str) -> None:
        for lease, turn in self._waiting.pop(path, ()):
            if not turn.done():
                self._give(lease, path)
                turn.set_result(None)

    def _turn_away(self, path: str, error: ApiError) -> None:
        for _, turn in self._waiting.pop(path, ()):
            if not turn.done():
                turn.set_exception(error)
        self._advance()
