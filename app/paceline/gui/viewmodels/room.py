"""Where models find room: what is free of each device, and what the loaded pair would give back.

A pair is loaded in place of another, so that what the other gives back is there for it. Free bytes
mean something only together with who held the rest when they were told; a `Room` keeps both.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from paceline.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from paceline.catalog.memory_values import MemoryPlan
    from paceline.chat.pair import Pair
    from paceline.gui.viewmodels.pair_judgement import Judge
    from paceline.messages import DeviceInfo, ModelParams


@dataclass(frozen=True, slots=True)
class Room:
    """The devices at one moment.

    Attributes:
        devices: With what was free of them.
        holders: Device name, and the pair that was loaded when its free bytes were told; a device
            that held none is not in it.
        given_back: What pairs would give back, once somebody has planned with them; rooms of the
            same devices share it.
    """

    devices: tuple[DeviceInfo, ...] = ()
    holders: tuple[tuple[str, Pair], ...] = ()
    given_back: dict[Pair, Mapping[str, int]] = field(default_factory=dict, compare=False)

    @property
    def n_free(self) -> int:
        """Bytes that a pair may take, all devices together, as far as is known without planning."""
        back = sum(self.given_back.get(pair, {}).get(name, 0) for name, pair in self.holders)
        # What a built-in GPU has is the memory of the processor, counted once more.
        return back + sum(each.free_bytes for each in self.devices if each.kind != "igpu")

    def plan(
        self,
        models: Judge,
        target: ModelParams,
        draft: ModelParams | None,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> MemoryPlan:
        """Return what a pair takes in this room; for a worker thread.

        Raises:
            UserError: As `Models.plan`.
        """
        back = {name: self._of(models, pair).get(name, 0) for name, pair in self.holders}
        return models.plan(target, draft, self.devices, back, is_stopped)

    def _of(self, models: Judge, pair: Pair) -> Mapping[str, int]:
        """Return what a loaded pair would give back; nothing where nobody can tell."""
        if pair not in self.given_back:
            # It found room, so nothing about it is to be decided by what is free now.
            empty = tuple(replace(each, free_bytes=each.total_bytes) for each in self.devices)
            try:
                back = models.plan(pair.target, pair.draft, empty).gives_back
            except UserError:  # its file may be gone since
                back = {}
            self.given_back[pair] = back
        return self.given_back[pair]
