"""The memory that llama.cpp allocates for a model and its context, parsed from its log.

The C interface does not return these numbers. A load logs every buffer, in MiB with two digits
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
    """Bytes by device name; caches include all kept states."""

    weights: dict[str, int] = field(default_factory=dict)
    kv: dict[str, int] = field(default_factory=dict)
    compute: dict[str, int] = field(default_factory=dict)

    def read(self, lines: Iterable[str], devices: Mapping[str, str]) -> None:
        """Add the buffers in llama.cpp's log.

        Args:
            lines: Lines of the log.
            devices: Name of each device by the name of its buffers; see `Devices.by_buffer`.
        """
        for line in lines:
            if found := _BUFFER.search(line):
                device = _owner(found[1], devices)
                sizes: dict[str, int] = getattr(self, _PARTS.get(found[2], "kv"))
                sizes[device] = sizes.get(device, 0) + round(float(found[3]) * MIB)

    def add_rows(self, n_rows: int, n_vocab: int) -> None:
        """Add the rows of logits of the widest decode, which lie in memory readable by the CPU."""
        self.compute[MAIN] = self.compute.get(MAIN, 0) + n_rows * n_vocab * _ROW_BYTES

    @property
    def by_device(self) -> tuple[DeviceMemory, ...]:
        """The memory by device."""
        names = dict.fromkeys((*self.weights, *self.kv, *self.compute))
        parts = self.weights, self.kv, self.compute
        return tuple(DeviceMemory(name, *(part.get(name, 0) for part in parts)) for name in names)


def _owner(buffer: str, devices: Mapping[str, str]) -> str:
    """Return the device of a buffer, whose name may have a suffix, such as “MTL0_Mapped”.

    A buffer that belongs to no device is memory of the CPU, which a GPU may read.
    """
    return devices.get(buffer) or devices.get(buffer.rpartition("_")[0]) or MAIN
