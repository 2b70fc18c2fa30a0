"""Memory that one model takes of each device: measured if possible, otherwise estimated.

Weights follow from the header and the layers' places. A layer's cache lies where the layer lies, or
all caches are kept in the CPU's memory, where the embeddings are. Pure functions; sizes in bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paceline.catalog.memory.compute import beside, buffers
from paceline.catalog.memory.load import BATCH, Load, caches_of, cells_of, windows_of
from paceline.catalog.memory.machine import Machine, gpus_for, places
from paceline.catalog.memory.values import Share
from paceline.engine.model.states import N_COPIES, GoingBack, has_copies, states_in


def shares(load: Load, machine: Machine, free: Mapping[str, int]) -> dict[str, Share]:
    """Return what a model takes of each device, by name.

    Args:
        load: The model.
        machine: The devices.
        free: Bytes by name at the moment of the load, by which several GPUs share.
    """
    where = places(load.card.n_layers, load.params, machine, free)
    cpu = machine.cpu.name
    weights = _weights(load, where, cpu)
    kept = where if load.params.kv_offload else (cpu,) * len(where)
    caches = caches_of(load)
    windows, beyond = windows_of(load, caches), {}
    if load.params.swa_full:
        beyond = _sum(kept, [whole - part for whole, part in zip(caches, windows, strict=True)])
    kv = _sum(kept, caches if load.params.swa_full else windows)
    compute = buffers(load, where, machine)
    taken = {
        name: sum(part.get(name, 0) for part in (weights, kv, compute))
        for name in (*weights, *kv, *compute)
    }
    left = {name: n - taken.get(name, 0) for name, n in free.items()}
    states = _states(load, kept, cpu, _going_back(load, machine, left))
    if not load.params.swa_full and not states:
        size = _copy_of_windows(load, caches, windows)
        states = {cpu: size} if has_copies(left[cpu], size) else {}
    # A GPU's own memory comes before other layouts; a server has none on this machine.
    is_plain = any(not gpu.server for gpu in gpus_for(load.params, machine))
    spare = 0 if load.measured is None or is_plain else load.measured.repacked
    spare = round(spare * where[:-1].count(cpu) / max(len(where) - 1, 1))
    return {
        name: Share(
            weights.get(name, 0),
            kv.get(name, 0),
            compute.get(name, 0),
            spare if name == cpu else 0,
            states.get(name, 0),
            beyond.get(name, 0),
            beside(load) if name == cpu else 0,
        )
        for name in taken
    }


def _sum(where: Sequence[str], sizes: Sequence[int]) -> dict[str, int]:
    total: dict[str, int] = {}
    for name, size in zip(where, sizes, strict=False):
        total[name] = total.get(name, 0) + size
    return total


def going_back(load: Load, machine: Machine, free: Mapping[str, int]) -> GoingBack:
    """Return how a target would take tokens back; arguments as for `shares`."""
    taken = shares(load, machine, free)
    return _going_back(
        load, machine, {name: n - taken.get(name, Share()).total for name, n in free.items()}
    )


def _going_back(load: Load, machine: Machine, left: Mapping[str, int]) -> GoingBack:
    """Decide as `LlamaModel.keep_states` does.

    Args:
        load: The model; without a measurement its states are not known.
        machine: The devices.
        left: Bytes that are free once it is loaded, by name.
    """
    run, cpu = load.measured, machine.cpu.name
    if run is None or not any(run.state_layers):
        caches = caches_of(load)
        keeps_less = not load.params.swa_full and windows_of(load, caches) != caches
        return GoingBack("windows" if keeps_less else "cells")
    size = sum(run.state_layers)
    is_there = load.params.n_gpu_layers and load.params.kv_offload
    gpus = gpus_for(load.params, machine) if is_there else ()
    room = min((left[gpu.name] for gpu in gpus), default=left[cpu])
    if n := states_in(room, size, min(load.n_states, run.n_states)):
        return GoingBack("states", n)
    return GoingBack("copies" if has_copies(left[cpu], size) else "none")


def _states(load: Load, kept: Sequence[str], cpu: str, back: GoingBack) -> dict[str, int]:
    """Return the states that a model keeps beside the present one."""
    one = _sum(kept, load.measured.state_layers) if load.measured is not None else {}
    if back.way == "states":
        return {name: back.n_tokens * share for name, share in one.items()}
    return {cpu: N_COPIES * sum(one.values())} if back.way == "copies" else {}


def _weights(load: Load, where: Sequence[str], cpu: str) -> dict[str, int]:
    card, n_cpu_moe = load.card, load.params.n_cpu_moe
    total = {cpu: card.input_bytes}
    for i, (size, experts) in enumerate(zip(card.layer_bytes, card.expert_bytes, strict=True)):
        kept = experts if n_cpu_moe < 0 or i < n_cpu_moe else 0
        total[cpu] += kept
        total[where[i]] = total.get(where[i], 0) + size - kept
    output = card.output_bytes
    if where[-1] != cpu:
        output += card.tied_bytes  # a GPU needs its own copy
    total[where[-1]] = total.get(where[-1], 0) + output
    return total


def _copy_of_windows(load: Load, caches: list[int], windows: list[int]) -> int:
    """Return the size of a copy of the cells that a prompt's last token sees.

    A window's cache has room for a batch besides, and is rounded up: so it may be 255 cells less.
    """
    cells = cells_of(load.params, load.card)
    pairs = zip(caches, windows, strict=True)
    return sum(max(n - BATCH * whole // cells, 0) for whole, n in pairs if n < whole)
