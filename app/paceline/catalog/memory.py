"""Plans the memory of a pair, device by device, and says what to give up when it does not fit.

What is predicted is how much the memory of the engine's process grows from before the load to
after a decode that fills the context. For the CPU that is the process's PSS, pages of the model
file included; `tests/integration/test_memory_prediction.py` checks it. For a GPU it is what
`ggml_backend_dev_memory` (`engine.llama.library.devices`) calls free before the load and after such
a decode, on a machine on which nothing else uses the GPU: the difference, less the driver's context
that the first model of a process brings along, is to be compared with `DevicePlan.target` and
`draft` of that device.

Pure functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paceline.catalog.card import ModelCard
from paceline.catalog.fitting import device_plans, fit_loads, loads_of
from paceline.catalog.memory_remedies import remedies
from paceline.catalog.memory_values import Measurement, MemoryPlan
from paceline.catalog.placement import Machine
from paceline.messages import DeviceInfo
from paceline.params import ModelParams


def plan(
    target: ModelCard,
    target_params: ModelParams,
    draft: ModelCard | None,
    draft_params: ModelParams | None,
    devices: Sequence[DeviceInfo],
    *,
    measured_target: Measurement | None = None,
    measured_draft: Measurement | None = None,
    reclaimable: Mapping[str, int] | None = None,
) -> MemoryPlan:
    """Return what a pair takes of each device; the arguments are those of `fitting.fit`."""
    machine = Machine.of(devices, reclaimable or {})
    wanted = loads_of(
        (target, target_params, measured_target), (draft, draft_params, measured_draft)
    )
    first, second = fit_loads(*wanted, machine)
    plans = device_plans(first, second, machine)
    return MemoryPlan(
        devices=plans,
        target=first.params,
        draft=second.params if second else None,
        remedies=() if all(device.fits for device in plans) else remedies(*wanted, machine),
        is_measured=measured_target is not None and (second is None or measured_draft is not None),
    )
