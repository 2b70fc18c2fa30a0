"""The devices as of now: what is free of them, asked again whenever a plan or a picker needs it.

Of the main memory the system tells at once, in this process. Of GPUs only the engine's process can
tell what it sees itself; its answer may have to wait behind a reply, and until it comes what was
known last serves, together with the pair that was loaded then.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from paceline.engine.model_params import free_memory
from paceline.gui.viewmodels.room import Room

if TYPE_CHECKING:
    from collections.abc import Callable

    from paceline.chat.pair import Pair, PairState
    from paceline.messages import EngineDescribed

LOOK_EVERY_MS = 2000
STEP_BYTES = 32 * 2**20
"""Changes below this are nobody's business: free memory is never quite still."""


class Holder(Protocol):
    """Who knows what is loaded; `chat.pair.PairLoader` does."""

    @property
    def held(self) -> Pair | None:
        """What the engine holds, automatic values decided."""


class CurrentDevices(QObject):
    """Main thread; never waits. It knows nothing before the engine has been described once."""

    changed = Signal(object)
    """Room; free bytes have changed by more than a step, or another pair holds the rest"""
    described = Signal()
    """The engine has answered"""

    def __init__(
        self,
        describe: Callable[[], None],
        holder: Holder,
        parent: QObject | None = None,
        *,
        main_memory: Callable[[], int] = free_memory,
    ) -> None:
        """Ask nothing yet.

        Args:
            describe: Asks the engine, whose answer comes to `show_engine`.
            holder: Knows what is loaded.
            parent: Owns this.
            main_memory: Tells how many bytes of the main memory are free.
        """
        super().__init__(parent)
        self._describe = describe
        self._holder = holder
        self._main_memory = main_memory
        self._description: EngineDescribed | None = None
        self._n_free = 0
        self._held: Pair | None = None
        self._held_on_gpus: Pair | None = None
        self._room = Room()
        self._is_asked = self._is_dead = self._is_loading = False
        self._again = QTimer(self)
        self._again.setInterval(LOOK_EVERY_MS)
        self._again.timeout.connect(self._on_time)

    @property
    def description(self) -> EngineDescribed | None:
        """What the engine said of itself last; None: nothing yet."""
        return self._description

    @property
    def room(self) -> Room:
        """What is known now."""
        return self._room

    def look(self) -> Room:
        """Return what is free, as far as it can be told at once; `changed` tells of the rest."""
        if self._description is not None and not self._is_loading:
            self._look_at_main_memory()
            self._tell()
            if self._description.supports_gpu and not (self._is_asked or self._is_dead):
                self._is_asked = True
                self._describe()
        return self._room

    def watch(self, *, is_watched: bool) -> None:
        """Look at once and every few seconds from now on; or no more."""
        if is_watched:
            self.look()
            self._again.start()
        else:
            self._again.stop()

    @Slot(object)
    def show_engine(self, description: EngineDescribed) -> None:
        """Take an answer of the engine's."""
        self._is_asked = False
        self._description = description
        self._held_on_gpus = self._holder.held
        if not self._is_loading:
            self._look_at_main_memory()
        self._tell()
        self.described.emit()

    @Slot(object)
    def show_pair(self, state: PairState) -> None:
        """Know how the pair stands: while one is loaded, no number means anything."""
        was_loading, self._is_loading = self._is_loading, state.has_begun
        self._is_dead = state.status == "dead"
        if self._is_dead:
            self._is_asked = False  # nobody answers any more
        if was_loading and not self._is_loading:
            self.look()

    def _look_at_main_memory(self) -> None:
        self._n_free, self._held = self._main_memory(), self._holder.held

    def _tell(self) -> None:
        devices = self._description.devices if self._description is not None else ()
        free = [self._n_free if each.kind == "cpu" else each.free_bytes for each in devices]
        holders = [
            (each.name, self._held if each.kind == "cpu" else self._held_on_gpus)
            for each in devices
        ]
        known = {each.name: each.free_bytes for each in self._room.devices}
        given_back = self._room.given_back if known.keys() == {d.name for d in devices} else {}
        room = Room(
            tuple(replace(d, free_bytes=n) for d, n in zip(devices, free, strict=True)),
            tuple((name, pair) for name, pair in holders if pair is not None),
            given_back,
        )
        if (
            room.holders != self._room.holders
            or given_back is not self._room.given_back
            or any(abs(d.free_bytes - known[d.name]) >= STEP_BYTES for d in room.devices)
        ):
            self._room = room
            self.changed.emit(room)

    @Slot()
    def _on_time(self) -> None:
        self.look()
