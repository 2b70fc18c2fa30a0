"""Free memory of the devices, and plans of what a pair would take of it.

Free bytes mean something only together with the pair that was loaded when they were read: the next
pair replaces that one and may use its memory, too. A `Room` keeps both. `CurrentDevices` keeps the
newest one, and `RoomPlanner` plans with it.

Free main memory is read at once, in this process. Free memory of a GPU is known to the engine's
process alone; its answer may have to wait until a reply is written, and until then the last known
value is used, together with the pair that was loaded at that time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from msgspec import structs
from PySide6.QtCore import QObject, QTimer, Signal, Slot

from paceline.catalog.card import ModelCard
from paceline.catalog.memory.values import MemoryPlan
from paceline.chat.pair import Pair, PairState
from paceline.engine.model.model_params import free_memory
from paceline.errors import UserError
from paceline.messages import DeviceInfo, EngineDescribed, Reading, StateStorage
from paceline.params import Drafting, ModelParams, with_params

UPDATE_EVERY_MS = 2000
STEP_BYTES = 32 * 2**20
"""Smaller changes are not reported, since free memory changes all the time."""
UNNOTICED_SHARE = 1 / 16
"""Relative change of a device's free memory that a user would not notice."""


@dataclass(frozen=True, slots=True)
class Room:
    """The devices at one moment.

    Attributes:
        devices: All devices, with the bytes that were free.
        holders: The pair that was loaded when a device's free bytes were read, by the device's
            name. Devices that held no pair are left out.
    """

    devices: tuple[DeviceInfo, ...] = ()
    holders: tuple[tuple[str, Pair], ...] = ()

    @property
    def n_free(self) -> int:
        """Free bytes of all devices, not counting what the loaded pair would free."""
        # A built-in GPU uses the processor's memory, which must not be counted twice.
        return sum(each.free_bytes for each in self.devices if not each.shares)

    @property
    def has_gpu(self) -> bool:
        """Return whether there is a GPU, built-in ones included."""
        return any(each.takes_layers for each in self.devices)

    def is_about(self, other: Room) -> bool:
        """Return whether another room has the same devices and pairs, and nearly as much free."""
        pairs = zip(self.devices, other.devices, strict=False)
        return (
            len(self.devices) == len(other.devices)
            and self.holders == other.holders
            and all(
                one.name == two.name
                and abs(one.free_bytes - two.free_bytes) <= one.total_bytes * UNNOTICED_SHARE
                for one, two in pairs
            )
        )


class Planner(Protocol):
    """Plans memory; implemented by `catalog.models.Models`."""

    def plan(
        self,
        target: ModelParams,
        drafting: Drafting,
        devices: Sequence[DeviceInfo],
        reclaimable: Mapping[str, int] | None = ...,
        is_stopped: Callable[[], bool] = ...,
    ) -> MemoryPlan:
        """Return the bytes that a pair takes of every device. Worker threads; may take seconds."""

    def card(self, reference: str, is_stopped: Callable[[], bool] = ...) -> ModelCard:
        """Return the facts in a model's header. Worker threads."""


class RoomPlanner:
    """Planner of memory in a room; remembers what loaded pairs would free.

    Attributes:
        usual_ctx: Context in tokens for models with automatic context, where memory suffices and
            they were trained for it; 0 to leave it to `ModelParams`.
        states: Number of prompt states that are kept; None for none.
    """

    def __init__(self, models: Planner) -> None:
        self._models = models
        self.usual_ctx = 0
        self.states: StateStorage | None = None
        self._given_back: dict[object, Mapping[str, int]] = {}

    def n_free(self, room: Room) -> int:
        """Return the bytes that a pair may take on all devices, as far as known; any thread."""
        back = (self._given_back.get(_key(room, pair), {}).get(at, 0) for at, pair in room.holders)
        return room.n_free + sum(back)

    def plan(
        self,
        room: Room,
        pair: Pair,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> MemoryPlan:
        """Return the bytes that a pair takes in a room; for a worker thread.

        Raises:
            UserError: As `Models.plan`.
        """
        back = {name: self._of(room, held).get(name, 0) for name, held in room.holders}
        wished = self._wished(pair, is_stopped) if self.usual_ctx else pair
        for each in dict.fromkeys((wished, pair)):  # a context that does not fit is shortened
            plan = self._models.plan(each.target, each.drafting, room.devices, back, is_stopped)
            if plan.fits:
                break
        return plan.with_prompts(self.states)

    def _wished(self, pair: Pair, is_stopped: Callable[[], bool]) -> Pair:
        """Return a pair with the usual context where its own is automatic."""

        def with_ctx(params: ModelParams, n_ctx: int) -> ModelParams:
            trained = self._models.card(params.path, is_stopped).n_ctx_train or n_ctx
            return params if params.n_ctx else replace(params, n_ctx=min(n_ctx, trained))

        target, draft = with_ctx(pair.target, self.usual_ctx), pair.draft
        if draft is not None:  # a shorter one would end drafting in the middle of a chat
            draft = with_ctx(draft, target.n_ctx)
        return replace(pair, target=target, drafting=with_params(pair.drafting, draft))

    def _of(self, room: Room, pair: Pair) -> Mapping[str, int]:
        """Return the bytes that a loaded pair would free per device; empty if that is unknown."""
        key = _key(room, pair)
        if key not in self._given_back:
            # The pair did fit, so the present free memory must not decide any automatic value.
            empty = tuple(
                structs.replace(each, free_bytes=each.total_bytes) for each in room.devices
            )
            try:
                plan = self._models.plan(pair.target, pair.drafting, empty)
                self._given_back[key] = plan.gives_back
            except UserError:  # its file may have been removed
                self._given_back[key] = {}
        return self._given_back[key]


def _key(room: Room, pair: Pair) -> object:
    return pair, tuple((each.name, each.total_bytes) for each in room.devices)


class Holder(Protocol):
    """Access to the loaded pair; implemented by `chat.pair.PairLoader`."""

    @property
    def held(self) -> Pair | None:
        """The loaded pair with its automatic values decided, or None if none is loaded."""


class CurrentDevices(QObject):
    """State of the devices for the widgets; unknown until the engine has been described once.

    Main thread; never waits.

    Attributes:
        planner: Plans memory on these devices; None without models.
        description: The engine's last description; None before the first one.
        room: The newest state of the devices.
        reading: Speed at which the processor reads weights; None while it is not known.
    """

    changed = Signal(object)
    """`Room`, after free bytes changed by more than `STEP_BYTES` or another pair was loaded."""
    described = Signal()
    """The engine has answered."""
    read = Signal()
    """`reading` is known."""

    def __init__(
        self,
        describe: Callable[[], None],
        holder: Holder,
        models: Planner | None = None,
        parent: QObject | None = None,
        *,
        main_memory: Callable[[], int] = free_memory,
    ) -> None:
        """Keep the arguments; the engine is not asked yet.

        Args:
            describe: Asks the engine; its answer arrives at `show_engine`.
            holder: Knows what is loaded.
            models: Plans memory; None for no plans.
            parent: Owns this.
            main_memory: Returns the free bytes of main memory.
        """
        super().__init__(parent)
        self._describe = describe
        self._holder = holder
        self.planner = RoomPlanner(models) if models is not None else None
        self._main_memory = main_memory
        self.description: EngineDescribed | None = None
        self._n_free = 0
        self._held: Pair | None = None
        self._held_on_gpus: Pair | None = None
        self.room = Room()
        self.reading: Reading | None = None
        self._is_asked = self._is_dead = self._is_loading = False
        self._again = QTimer(self, interval=UPDATE_EVERY_MS)
        self._again.timeout.connect(self.refresh)

    @property
    def n_free(self) -> int:
        """Bytes that a pair may take on all devices, or 0 if that is not known."""
        return self.planner.n_free(self.room) if self.planner is not None else self.room.n_free

    @property
    def is_asked(self) -> bool:
        """Return whether an answer of the engine is awaited."""
        return self._is_asked

    @Slot()
    def refresh(self) -> Room:
        """Return the room as it is known without waiting; `changed` reports later news."""
        if self.description is not None and not self._is_loading:
            self._look_at_main_memory()
            self._emit_changes()
            if self.description.supports_gpu and not self._is_dead:
                self.ask()
        return self.room

    def ask(self) -> None:
        """Request a description of the engine, which is started if necessary."""
        if not self._is_asked:
            self._is_asked = True
            self._describe()

    def ask_anew(self) -> None:
        """Discard the engine's answer and the awaited one, after a change of the RPC servers."""
        self.description = None
        self._is_asked = False
        self.ask()

    def watch(self, *, is_watched: bool) -> None:
        """Start or stop to update the room every few seconds."""
        if is_watched:
            self.refresh()
            self._again.start()
        else:
            self._again.stop()

    @Slot(object)
    def show_engine(self, description: EngineDescribed) -> None:
        """Apply the engine's answer."""
        self._is_asked = False
        self.description = description
        self._held_on_gpus = self._holder.held
        if not self._is_loading:
            self._look_at_main_memory()
        self._emit_changes()
        self.described.emit()

    @Slot(object)
    def show_reading(self, reading: Reading) -> None:
        """Apply the measured speed at which the processor reads weights."""
        self.reading = reading
        self.read.emit()

    @Slot(object)
    def show_pair(self, state: PairState) -> None:
        """Follow the state of the pair; no value is valid while one is being loaded."""
        was_loading, self._is_loading = self._is_loading, state.has_begun
        self._is_dead = state.status == "dead"
        if self._is_dead:
            self._is_asked = False  # no answer will come
        if was_loading and not self._is_loading:
            self.refresh()

    def _look_at_main_memory(self) -> None:
        self._n_free, self._held = self._main_memory(), self._holder.held

    def _emit_changes(self) -> None:
        devices = self.description.devices if self.description is not None else ()
        free = [self._n_free if each.kind == "cpu" else each.free_bytes for each in devices]
        holders = [
            (each.name, self._held if each.kind == "cpu" else self._held_on_gpus)
            for each in devices
        ]
        known = {each.name: each.free_bytes for each in self.room.devices}
        room = Room(
            tuple(structs.replace(d, free_bytes=n) for d, n in zip(devices, free, strict=True)),
            tuple((name, pair) for name, pair in holders if pair is not None),
        )
        if (
            room.holders != self.room.holders
            or known.keys() != {each.name for each in devices}
            or any(abs(d.free_bytes - known[d.name]) >= STEP_BYTES for d in room.devices)
        ):
            self.room = room
            self.changed.emit(room)
