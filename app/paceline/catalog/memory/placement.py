"""Which device gets which layer, by llama.cpp's rule; also for machines that do not exist.

The last layers go to the GPUs, the output counting as the last of all, and several GPUs share them
in proportion to their free memory or to the shares that were given (src/llama-model.cpp,
`load_tensors`; which GPUs: src/llama.cpp). A layer's cache lies where the layer lies; the
embeddings stay in the CPU's memory. Pure functions.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paceline.messages import DeviceInfo
from paceline.params import ModelParams

_MARGIN = 512 * 2**20
_MOST_MARGIN = 2 * 2**30
_MARGIN_SHARE = 20
_GPU_KINDS = ("gpu", "igpu")


@dataclass(frozen=True, slots=True)
class Machine:
    """The devices and their available memory.

    Attributes:
        gpus: In llama.cpp's order.
        cpu: The CPU's memory.
        free: Bytes by name, with what the loaded pair would give back.
    """

    gpus: tuple[DeviceInfo, ...]
    cpu: DeviceInfo
    free: Mapping[str, int]

    @classmethod
    def of(cls, devices: Sequence[DeviceInfo], reclaimable: Mapping[str, int]) -> Machine:
        """Return the machine that has these devices; accelerators without memory are left out."""
        cpus = [device for device in devices if device.kind == "cpu"]
        cpu = cpus[0] if cpus else DeviceInfo("CPU", "", "cpu", 0, 0)
        gpus = tuple(device for device in devices if device.kind in _GPU_KINDS)
        free = {
            device.name: min(
                device.free_bytes + max(reclaimable.get(device.name, 0), 0), device.total_bytes
            )
            for device in (*gpus, cpu)
        }
        return cls(gpus, cpu, free)

    def margin(self, device: DeviceInfo) -> int:
        """Return what should stay free of a device, in bytes.

        A twentieth, at least 512 MiB and at most 2 GiB: a GPU's driver keeps a context, scratch
        memory grows at the first decodes, and the screen is drawn from the same memory; the system
        and other programs need some room in the CPU's, or it starts to swap. On a device on which
        nothing is placed, nothing has to stay free.
        """
        return min(max(_MARGIN, device.total_bytes // _MARGIN_SHARE), _MOST_MARGIN)


def gpus_for(params: ModelParams, machine: Machine) -> tuple[DeviceInfo, ...]:
    """Return the GPUs that llama.cpp would take for a model; none when it is for the CPU."""
    if params.device:
        wanted = params.device.lower()
        return tuple(gpu for gpu in machine.gpus if gpu.name.lower() == wanted)
    # Integrated ones only count where there is no other.
    gpus = tuple(gpu for gpu in machine.gpus if gpu.kind == "gpu") or machine.gpus[:1]
    if params.split_mode == "none":
        return gpus[params.main_gpu : params.main_gpu + 1]
    return gpus


def places(
    n_layers: int, params: ModelParams, machine: Machine, free: Mapping[str, int]
) -> tuple[str, ...]:
    """Return the name of each layer's device, and of the output's as the last.

    Args:
        n_layers: Layers without the output.
        params: `n_gpu_layers` -1 means all.
        machine: The devices.
        free: Bytes by name at the moment of the load, by which GPUs share.
    """
    gpus = gpus_for(params, machine)
    n_all = n_layers + 1
    n = n_all if params.n_gpu_layers < 0 else min(params.n_gpu_layers, n_all)
    if not gpus or n == 0:
        return (machine.cpu.name,) * n_all
    ends = _ends(gpus, params, free)
    on_gpus = tuple(gpus[min(bisect_right(ends, i / n), len(gpus) - 1)].name for i in range(n))
    return (machine.cpu.name,) * (n_all - n) + on_gpus


def _ends(gpus: Sequence[DeviceInfo], params: ModelParams, free: Mapping[str, int]) -> list[float]:
    """Return where each GPU's part of the layers ends, from 0 to 1."""
    shares = [*params.tensor_split, *[0.0] * len(gpus)][: len(gpus)]
    if not any(shares):
        shares = [max(free[gpu.name], 0) for gpu in gpus]
    if not any(shares):
        shares = [1.0] * len(gpus)
    total = sum(shares)
    return [end / total for end in itertools.accumulate(shares)]
