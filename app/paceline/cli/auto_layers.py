"""GPU layers that were left to the program (``--gpu-layers auto``), decided before the load.

llama.cpp by itself puts all layers on the GPU or fails. Where a GPU is, the engine is asked what is
free, and both models are planned; without one nothing is asked and nothing changes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paceline.errors import UserError
from paceline.messages import DescribeEngine, EngineDescribed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paceline.catalog.memory_values import MemoryPlan
    from paceline.hosting.client import EngineClient
    from paceline.messages import DeviceInfo, Event, LoadPair
    from paceline.params import ModelParams
    from paceline.paths import Paths

    Planner = Callable[[ModelParams, ModelParams | None, Sequence[DeviceInfo]], MemoryPlan]

_AUTO = -1


def planner(paths: Paths) -> Planner:
    """Return what plans a pair whose files are here; nothing is made before it is called."""

    def plan(
        target: ModelParams, draft: ModelParams | None, devices: Sequence[DeviceInfo]
    ) -> MemoryPlan:
        from paceline.catalog.models import Models

        models = Models(paths, offline=True)
        try:
            return models.plan(target, draft, devices)
        finally:
            models.close()

    return plan


def decide_layers(
    load: LoadPair, client: EngineClient, plan: Planner
) -> tuple[LoadPair, tuple[str, ...]]:
    """Return the load with the layers decided, and what is to be said about it.

    Args:
        load: What is wanted.
        client: Asked for its devices; it has no listener afterwards.
        plan: From `planner`.
    """
    models = [load.target, load.draft] if load.draft else [load.target]
    if all(params.n_gpu_layers != _AUTO for params in models):
        return load, ()
    answers: list[Event] = []
    client.set_listener(answers.append)
    client.submit(DescribeEngine())
    client.set_listener(None)
    devices = [d for a in answers if isinstance(a, EngineDescribed) for d in a.devices]
    if not any(device.kind in {"gpu", "igpu"} for device in devices):
        return load, ()
    try:
        planned = plan(load.target, load.draft, devices)
    except UserError:  # the load will say what is wrong with the file
        return load, ()
    notes = () if planned.fits else (f"Memory may not suffice. {planned.remedies[0].text}",)
    return replace(load, target=planned.target, draft=planned.draft), notes
