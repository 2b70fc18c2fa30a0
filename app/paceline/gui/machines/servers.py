"""The RPC servers of the settings: passed to the loader, and queried for their devices.

Main thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal, Slot

from paceline.chat.pair import PairLoader
from paceline.engine.model.rpc_servers import ServerAnswer, ask_servers
from paceline.gui.kit.background import Background
from paceline.gui.state.settings_store import SettingsStore
from paceline.messages import DeviceInfo
from paceline.settings import KeptServer


class RpcServers(QObject):
    """Passes the servers in use to the loader, and queries servers on demand.

    Servers with loaded models answer no other client; each query would wait in their queue, which
    is soon full.

    Attributes:
        answers: The newest answer of each server, by its HOST:PORT.
    """

    switched = Signal(bool)
    """The servers in use have changed; True if devices of the remaining ones have other names"""
    changed = Signal()
    """Servers or answers have changed."""

    def __init__(
        self,
        store: SettingsStore,
        loader: PairLoader,
        background: Background,
        described: Callable[[], Sequence[DeviceInfo]],
    ) -> None:
        """Follow the settings.

        Args:
            store: The settings.
            loader: Loads models on the servers in use.
            background: Runs the queries.
            described: Returns the devices that the engine described last.
        """
        super().__init__(store)
        self._described = described
        self._store, self._loader, self._background = store, loader, background
        self.answers: dict[str, ServerAnswer] = {}
        self._asked: set[str] = set()
        self._new: set[str] = set()
        loader.use_servers(store.settings.used_servers)
        store.changed.connect(self._on_changed)

    @property
    def kept(self) -> tuple[KeptServer, ...]:
        """All servers, in the order in which their devices are counted."""
        return self._store.settings.rpc_servers

    def is_asked(self, address: str) -> bool:
        """Return whether an answer of this server is awaited."""
        return address in self._asked

    def devices(self, address: str) -> tuple[DeviceInfo, ...]:
        """Return a server's devices, if the loaded models are on any of them."""
        taken = {each.device for each in self._loader.state.memory if each.total}
        devices = tuple(each for each in self._described() if each.server == address)
        return devices if any(each.name in taken for each in devices) else ()

    @Slot()
    def ask(self) -> None:
        """Query all servers but those with loaded models; `changed` follows."""
        addresses = [server.address for server in self.kept]
        self._ask([address for address in addresses if not self.devices(address)])

    def add(self, address: str) -> None:
        """Add a server, as `read_server` returns it; it is used if it answers."""
        self._new.add(address)
        self._put((*self.kept, KeptServer(address, is_used=False)))
        self._ask([address])

    def use(self, address: str, *, is_used: bool) -> None:
        """Allow or forbid models on a server's devices."""
        self._new.discard(address)
        self._put(
            replace(each, is_used=is_used) if each.address == address else each
            for each in self.kept
        )

    def remove(self, address: str) -> None:
        """Remove a server."""
        self._put(each for each in self.kept if each.address != address)

    def _put(self, servers: Iterable[KeptServer]) -> None:
        self._store.set("rpc_servers", tuple(servers))

    def _ask(self, addresses: Sequence[str]) -> None:
        self._asked.update(addresses)
        self.changed.emit()
        self._background.start(partial(ask_servers, addresses), self._on_answers)

    def _on_answers(self, answers: Sequence[ServerAnswer]) -> None:
        for answer in answers:
            self._asked.discard(answer.server)
            self.answers[answer.server] = answer
            if answer.server in self._new:
                self.use(answer.server, is_used=answer.problem is None)
        self.changed.emit()

    @Slot(str)
    def _on_changed(self, name: str) -> None:
        if name != "rpc_servers":
            return
        before, used = self._loader.servers, self._store.settings.used_servers
        if used != before:
            self._loader.use_servers(used)
            self.switched.emit(used[: len(before)] != before)
        self.changed.emit()
