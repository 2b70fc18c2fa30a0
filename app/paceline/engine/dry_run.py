"""What a dry run of a load tells; no native code needed to hold it. Sizes in bytes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DryRun:
    """What llama.cpp would take for one model and its context.

    Attributes:
        kv: Per device name: caches of keys, values and recurrent states.
        compute: Per device name: buffers for computing, and for the rows that a decode gives.
        kv_layers: The caches of each layer, 0 for one without any.
        repacked: Weights that the CPU copies into another layout.
    """

    kv: tuple[tuple[str, int], ...]
    compute: tuple[tuple[str, int], ...]
    kv_layers: tuple[int, ...]
    repacked: int
