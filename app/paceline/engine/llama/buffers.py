"""The memory that llama.cpp takes for a model and its context, as it says in its log.

A plain number is nowhere to be had from C. A load names every buffer, in MiB with two digits
(src/llama-model.cpp, llama-context.cpp, llama-kv-cache.cpp, llama-memory-recurrent.cpp).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from paceline.figures import DeviceMemory

MAIN = "CPU"
"""ggml's name of the processor."""
MIB = 2**20
_ROW_BYTES = 4  # logits are f32
_BUFFER = re.compile(r"(\S+) +(model|KV|RS|compute|DSV4 \w+ state) buffer size = +([\d.]+) MiB")
_Part = Literal["weights", "kv", "compute"]
_PARTS: dict[str, _Part] = {"model": "weights", "compute": "compute"}


@dataclass
class Buffers:
    """Bytes of each device, by its name; caches are with all states that are kept."""

    weights: dict[str, int] = field(default_factory=dict)
    kv: dict[str, int] = field(default_factory=dict)
    compute: dict[str, int] = field(default_factory=dict)

    def read(self, lines: Iterable[str], devices: Mapping[str, str]) -> None:
        """Add the buffers that llama.cpp tells of.

        Args:
            lines: What it said.
            devices: Name of each device by that of its buffers; see `Devices.by_buffer`.
        """
        for line in lines:
            if found := _BUFFER.search(line):
                device = _owner(found[1], devices)
                sizes: dict[str, int] = getattr(self, _PARTS.get(found[2], "kv"))
                sizes[device] = sizes.get(device, 0) + round(float(found[3]) * MIB)

    def add_rows(self, n_rows: int, n_vocab: int) -> None:
        """Add the rows of logits of the widest decode, which lie where the CPU can read them."""
        self.compute[MAIN] = self.compute.get(MAIN, 0) + n_rows * n_vocab * _ROW_BYTES

    @property
    def told(self) -> tuple[DeviceMemory, ...]:
        """All of it, by device."""
        names = dict.fromkeys((*self.weights, *self.kv, *self.compute))
        parts = self.weights, self.kv, self.compute
        return tuple(DeviceMemory(name, *(part.get(name, 0) for part in parts)) for name in names)


def _owner(buffer: str, devices: Mapping[str, str]) -> str:
    """Return the device of a buffer, which may be of another kind, e.g. “MTL0_Mapped”.

    What is no device's own is memory of the CPU, which a GPU may read.
    """
    return devices.get(buffer) or devices.get(buffer.rpartition("_")[0]) or MAIN
