"""Values of a plan of memory, which `memory` makes. Sizes in bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from typing import Literal

from paceline.engine.model.model_file import DryRun
from paceline.engine.model.states import GoingBack, state_memory
from paceline.messages import DeviceInfo, StateStorage
from paceline.params import Drafting, ModelParams

Saving = Literal[
    "windows",
    "draft-cache",
    "draft-on-cpu",
    "draft-context",
    "smaller-draft",
    "lookups",
    "no-head",
    "none",
]


Measurement = DryRun
"""Memory that llama.cpp would use for one model, by a load that allocates nothing."""


@dataclass(frozen=True, slots=True)
class Share:
    """Memory that one model uses on one device.

    Attributes:
        weights: The model's weights.
        kv: Caches of keys, values and the present recurrent state.
        compute: Buffers, and llama.cpp's memory beside them (`compute.BASE_BYTES`).
        states: Earlier recurrent states, or copies of the present one, so that drafts can be taken
            back; of sliding windows, a copy from a prompt's end. As many as what is left has room
            for, so they need not fit.
        beyond_windows: Part of `kv` that layers with a sliding window keep beyond it.
        beside: Part of `compute` that is no buffer of llama.cpp.
        spare: Pages of the file whose weights were copied into another layout. They stay as long
            as no other program needs the memory, so they need not fit.
    """

    weights: int = 0
    kv: int = 0
    compute: int = 0
    spare: int = 0
    states: int = 0
    beyond_windows: int = 0
    beside: int = 0

    @property
    def total(self) -> int:
        """All that has to fit."""
        return self.weights + self.kv + self.compute


@dataclass(frozen=True, slots=True)
class DevicePlan:
    """Memory that both models use on one device.

    Attributes:
        device: Its name, as `EngineDescribed.devices` has it.
        title: Name for people, e.g. "Memory" or "NVIDIA RTX 4070".
        target: The target's share.
        draft: The share of the draft model, or of the target's head: its layers, its cache and the
            target's states that it reads.
        free: Free bytes, with those that the loaded pair would give back.
        total: Size of the device's memory.
        margin: Bytes that should stay free.
        prompts: Upper bound of the prompt cache's part of the remaining bytes.
        n_layers: Layers of the target that lie on it, its output counted as one.
        n_draft_layers: The same of the draft model.
        shares: Name of the device whose memory it is, or empty if it has its own.
    """

    device: str
    title: str
    target: Share
    draft: Share
    free: int
    total: int
    margin: int
    prompts: int = 0
    n_layers: int = 0
    n_draft_layers: int = 0
    shares: str = ""

    @property
    def missing(self) -> int:
        """Bytes that are missing for both models and the margin, or 0 if it fits."""
        return max(0, self.target.total + self.draft.total + self.margin - self.free)

    @property
    def fits(self) -> bool:
        """Return whether both models and the margin find room."""
        return self.missing == 0

    @property
    def states(self) -> int:
        """Bytes of both models' earlier states; where it is narrow, they come from the margin."""
        return self.target.states + self.draft.states

    @property
    def buffers(self) -> int:
        """Bytes that `DeviceMemory` will report once both are loaded.

        Copies of weights are among it, and of the CPU states as well that only fit where they are
        copied.
        """
        shares = self.target, self.draft
        return sum(each.total - each.beside + each.spare + each.states for each in shares)

    def with_guests(self, guests: Sequence[DevicePlan]) -> DevicePlan:
        """Return the plan with the use of the devices that share its memory."""
        taken = sum(guest.target.total + guest.draft.total for guest in guests)
        return replace(
            self,
            target=_together(self.target, *(guest.target for guest in guests)),
            draft=_together(self.draft, *(guest.draft for guest in guests)),
            free=self.free + taken,
        )

    @property
    def kept_free(self) -> int:
        """Bytes of the margin that stay free."""
        return min(self.margin, self.left - self.prompts) if self.fits else self.margin

    @property
    def left(self) -> int:
        """The memory that both models leave, states included."""
        return self.free - self.target.total - self.draft.total - self.states


def _together(*shares: Share) -> Share:
    return Share(*(sum(sizes) for sizes in zip(*map(astuple, shares), strict=True)))


@dataclass(frozen=True, slots=True)
class MemoryRemedy:
    """A way to make a pair fit; offered in a fixed order, the mildest first.

    Attributes:
        saving: The thing that it gives up. With "smaller-draft" and "none" another file has to be
            chosen: the sentence says so, and the parameters are those that did not fit.
        text: One sentence.
        target: Parameters of the target then.
        drafting: The drafter then, with its parameters.
    """

    saving: Saving
    text: str
    target: ModelParams
    drafting: Drafting


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """Memory that a pair uses, by device.

    Attributes:
        devices: The CPU's memory last.
        target: Parameters of the target, with automatic values resolved.
        drafting: The drafter, with automatic values resolved.
        remedies: Empty when it fits.
        is_measured: Whether caches and buffers were measured by a dry run, not estimated.
        going_back: The way in which the target takes tokens back, or None if it was not measured.
    """

    devices: tuple[DevicePlan, ...]
    target: ModelParams
    drafting: Drafting
    remedies: tuple[MemoryRemedy, ...] = ()
    is_measured: bool = False
    going_back: GoingBack | None = None

    @property
    def fits(self) -> bool:
        """Return whether it fits everywhere."""
        return all(device.fits for device in self.devices)

    def uses(self, device: DeviceInfo) -> bool:
        """Return whether a part of the models lies on a device."""
        found = next((each for each in self.devices if each.device == device.name), None)
        return found is not None and found.target.total + found.draft.total > 0

    def with_prompts(self, storage: StateStorage | None) -> MemoryPlan:
        """Return the plan with the prompt cache, which uses only memory that is left.

        Args:
            storage: The prompt cache's storage, or None if there is none.
        """
        if storage is None or not self.fits:
            return self
        *others, main = self.devices
        prompts = state_memory(main.left, storage.memory_bytes) if main.left > 0 else 0
        return replace(self, devices=(*others, replace(main, prompts=prompts)))

    @property
    def gives_back(self) -> dict[str, int]:
        """Return the bytes that both models give back when they are closed, by device name.

        Of the CPU's memory these are caches, buffers and the copies of weights, which are as large
        as the pages they leave to `Share.spare`. Other weights are clean pages of a mapped file;
        Linux counts them as free while they are used. Where a system does not, less is promised
        than there will be.
        """
        back = {
            each.device: each.target.total + each.draft.total + each.states
            for each in self.devices[:-1]
        }
        main = self.devices[-1]
        back[main.device] = main.states + sum(
            share.kv + share.compute + share.spare for share in (main.target, main.draft)
        )
        return back
