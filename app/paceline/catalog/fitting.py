"""Decides what was left to the program: GPU layers of both models, and the context.

The draft model goes first, since each of its small decodes waits for memory alone; then as many
layers of the target as find room, from the last to the first; and only when even the CPU's memory
does not suffice is the context made shorter, if its length was left open. llama.cpp by itself takes
all layers or fails. Pure functions.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from paceline.catalog.card import ModelCard
from paceline.catalog.memory_use import Load, shares
from paceline.catalog.memory_values import DevicePlan, Measurement, Share
from paceline.catalog.placement import Machine, gpus_for
from paceline.engine.control.costs import MAX_WIDTH
from paceline.engine.proposals import CTX_STEP, MIN_PROPOSAL
from paceline.messages import DeviceInfo
from paceline.params import ModelParams

T = TypeVar("T")
AUTO_LAYERS = -1
AUTO_CTX = 0
_NOTHING = Share()


def fit(
    target: ModelCard,
    target_params: ModelParams,
    draft: ModelCard | None,
    draft_params: ModelParams | None,
    devices: Sequence[DeviceInfo],
    *,
    measured_target: Measurement | None = None,
    measured_draft: Measurement | None = None,
    reclaimable: Mapping[str, int] | None = None,
) -> tuple[ModelParams, ModelParams | None]:
    """Return how to load both models, with GPU layers and context decided.

    Args:
        target: The target.
        target_params: How it is to be loaded; -1 GPU layers and a context of 0 are decided here.
        draft: The draft model; None: none.
        draft_params: The same for the draft model.
        devices: What there is, as the engine tells.
        measured_target: A dry run of the target with these parameters, if there was one.
        measured_draft: The same of the draft model.
        reclaimable: What the loaded pair would give back, by device name.
    """
    loads = loads_of(
        (target, target_params, measured_target), (draft, draft_params, measured_draft)
    )
    pair = fit_loads(*loads, Machine.of(devices, reclaimable or {}))
    return pair[0].params, pair[1].params if pair[1] else None


def loads_of(
    target: tuple[ModelCard, ModelParams, Measurement | None],
    draft: tuple[ModelCard | None, ModelParams | None, Measurement | None],
) -> tuple[Load, Load | None]:
    """Return the models and how they are to be loaded; what was measured is of that."""
    card, params, measured = target
    first = Load(card, params, MAX_WIDTH, measured, params)
    other, others_params, others_measured = draft
    if other is None or others_params is None:
        return first, None
    return first, Load(other, others_params, 1, others_measured, others_params)


def fit_loads(target: Load, draft: Load | None, machine: Machine) -> tuple[Load, Load | None]:
    """Decide for both models; when nothing fits, with the longest context that was possible."""

    def placed(n_ctx: int) -> tuple[Load, Load | None]:
        return _place(_with_ctx(target, n_ctx), draft and _with_ctx(draft, n_ctx), machine)

    left_open = [
        load.n_ctx for load in (target, draft) if load is not None and load.params.n_ctx == AUTO_CTX
    ]
    longest = max(left_open, default=AUTO_CTX)
    lengths = [longest, *shorter_contexts(longest)]
    n_ctx = first_that(lengths, lambda n: fits(*placed(n), machine))
    return placed(longest if n_ctx is None else n_ctx)


def fits(target: Load, draft: Load | None, machine: Machine) -> bool:
    """Whether both models, as they are placed, find room everywhere."""
    return all(device.fits for device in device_plans(target, draft, machine))


def shorter_contexts(n_ctx: int) -> range:
    """Return the contexts to try instead of one that does not fit, the longest first."""
    return range((n_ctx - 1) // CTX_STEP * CTX_STEP, MIN_PROPOSAL - 1, -CTX_STEP)


def first_that(options: Sequence[T], suits: Callable[[T], bool]) -> T | None:
    """Return the first option that suits, by halves; None when none does.

    Args:
        options: Each takes less than the one before it, so that behind one that suits all do.
        suits: Asked a few times.
    """
    if suits(options[0]):
        return options[0]
    i = bisect_left(options, True, lo=1, key=suits)  # noqa: FBT003
    return options[i] if i < len(options) else None


def device_plans(target: Load, draft: Load | None, machine: Machine) -> tuple[DevicePlan, ...]:
    """Return what both models take of each device, the CPU's memory last."""
    first = shares(target, machine, machine.free)
    rest = {  # the target is loaded first, and several GPUs share by what is free then
        name: free - first[name].total if name in first else free
        for name, free in machine.free.items()
    }
    second = shares(draft, machine, rest) if draft else {}
    plans = []
    shared = 0
    for device in (*machine.gpus, machine.cpu):
        mine, drafts = first.get(device.name, _NOTHING), second.get(device.name, _NOTHING)
        free = machine.free[device.name]
        used = mine.total + drafts.total
        if device.kind == "igpu":  # it has no memory of its own
            shared += used
        if device.kind == "cpu":
            free = max(free - shared, 0)
        plans.append(
            DevicePlan(
                device=device.name,
                title="Memory" if device.kind == "cpu" else device.description or device.name,
                target=mine,
                draft=drafts,
                free=free,
                total=device.total_bytes,
                margin=machine.margin(device) if used else 0,
            )
        )
    return tuple(plans)


def _with_ctx(load: Load, most: int) -> Load:
    """Return the model with its context decided, at most so long."""
    if load.params.n_ctx != AUTO_CTX:
        return load
    return load.with_params(replace(load.params, n_ctx=min(load.n_ctx, most)))


def _place(target: Load, draft: Load | None, machine: Machine) -> tuple[Load, Load | None]:
    """Decide the layers of both at these contexts."""
    if draft is not None:
        away = _on_cpu(target, machine) if target.params.n_gpu_layers == AUTO_LAYERS else target
        ways = _candidates(draft, machine)
        draft = first_that(ways, lambda way: _gpus_suffice(away, way, machine)) or ways[-1]
    ways = _candidates(target, machine)
    return first_that(ways, lambda way: _gpus_suffice(way, draft, machine)) or ways[-1], draft


def _candidates(load: Load, machine: Machine) -> list[Load]:
    """Return the ways to place a model, the one with most on GPUs first."""
    params = load.params
    if params.n_gpu_layers != AUTO_LAYERS or not gpus_for(params, machine):
        return [load]
    ways = [
        load.with_params(replace(params, n_gpu_layers=n))
        for n in range(load.card.n_layers + 1, -1, -1)
    ]
    return [*ways, _on_cpu(load, machine)]


def _on_cpu(load: Load, machine: Machine) -> Load:
    """Return the model without any GPU, which would compute large batches even for no layer."""
    return load.with_params(replace(load.params, device=machine.cpu.name, n_gpu_layers=0))


def _gpus_suffice(target: Load, draft: Load | None, machine: Machine) -> bool:
    return all(device.fits for device in device_plans(target, draft, machine)[:-1])
