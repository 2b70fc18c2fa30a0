"""The devices of a machine and of its servers, and which layers of a model lie on each.

Which device gets which layer follows llama.cpp's rule, also for machines that do not exist: the
last layers go to the GPUs, the output counting as the last of all, and several GPUs share them in
proportion to their free memory or to the shares that were given (src/llama-model.cpp,
`load_tensors`; which GPUs: `engine.model.placement`). Pure functions; sizes in bytes.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from paceline.engine.model.placement import devices_for, shares_of
from paceline.errors import ValueOutOfRangeError
from paceline.messages import DeviceInfo
from paceline.params import ModelParams

_MIN_MARGIN_BYTES = 512 * 2**20
_MAX_MARGIN_BYTES = 2 * 2**30
_MARGIN_SHARE = 20


@dataclass(frozen=True, slots=True)
class Machine:
    """The devices and their available memory.

    Attributes:
        gpus: GPUs in llama.cpp's order.
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
        gpus = tuple(device for device in devices if device.takes_layers)
        back: dict[str, int] = {}  # what shares a memory gives it back, too
        for device in (*gpus, cpu):
            for name in filter(None, {device.name, device.shares}):
                back[name] = back.get(name, 0) + max(reclaimable.get(device.name, 0), 0)
        free = {
            device.name: min(device.free_bytes + back[device.name], device.total_bytes)
            for device in (*gpus, cpu)
        }
        return cls(gpus, cpu, free)

    def margin(self, device: DeviceInfo) -> int:
        """Return what should stay free of a device, in bytes.

        A twentieth, at least 512 MiB and at most 2 GiB: a GPU's driver keeps a context, scratch
        memory grows at the first decodes, and the screen is drawn from the same memory; the system
        and other programs need some room in the CPU's, or it starts to swap. On a device on which
        nothing is placed, nothing has to stay free. A server may lend little of a large memory, so
        it is a twentieth of that.
        """
        size = self.free[device.name] if device.server else device.total_bytes
        return min(max(_MIN_MARGIN_BYTES, size // _MARGIN_SHARE), _MAX_MARGIN_BYTES)


def without_servers(params: ModelParams, devices: Sequence[DeviceInfo]) -> ModelParams:
    """Return how a model is measured by what may not connect to servers.

    If it would be put on a server's device, the processor has all of it.

    Raises:
        ValueOutOfRangeError: It cannot be loaded on these devices.
    """
    if not any(device.server for device in devices):
        return params
    if not any(gpu.server for gpu in devices_for(params, devices)):
        return params
    main = Machine.of(devices, {}).cpu.name
    return replace(params, device=main, n_gpu_layers=0, split_mode="", tensor_split=(), main_gpu=0)


def gpus_for(params: ModelParams, machine: Machine) -> tuple[DeviceInfo, ...]:
    """Return the devices that a model's layers are put on; empty if all are on the CPU.

    Also empty if the load would be refused, which the load itself reports.
    """
    try:
        return devices_for(params, (*machine.gpus, machine.cpu))
    except ValueOutOfRangeError:
        return ()


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
    shares = shares_of(params, gpus, free)
    total = sum(shares)
    ends = [end / total for end in itertools.accumulate(shares)]
    on_gpus = tuple(gpus[min(bisect_right(ends, i / n), len(gpus) - 1)].name for i in range(n))
    return (machine.cpu.name,) * (n_all - n) + on_gpus
