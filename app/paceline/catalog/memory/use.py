"""What one model takes of each device's memory: measured if possible, otherwise estimated.

Which device gets which layer follows llama.cpp's rule, also for machines that do not exist: the
last layers go to the GPUs, the output counting as the last of all, and several GPUs share them in
proportion to their free memory or to the shares that were given (src/llama-model.cpp,
`load_tensors`; which GPUs: src/llama.cpp). A layer's cache lies where the layer lies; the
embeddings stay in the CPU's memory.

Weights follow from the header and the layers' places. Caches are measured, or follow from the
header, too. Buffers for computing are measured, or estimated by fits to dry runs of llama.cpp
0.3.36's CPU backend over six shapes from 0.5B to 70B and contexts from 2k to 32k: they grow with
the model's width and a batch of 512, with the vocabulary, and by 1 KiB per token of context for the
mask (0.95 to 1.3 times what was measured); without flash attention by the scores of all heads
besides, whose number is taken for the largest (0.99 to 2.3 times). Those on devices of RPC servers
follow from a measurement on the CPU (`_Work`), since what measures may not connect to servers.

A measurement may be of the same model with another context or cache type: then it is changed by
what the estimates differ. Pure functions; sizes in bytes.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from msgspec import structs

from paceline.catalog.card import ModelCard
from paceline.catalog.memory.values import Measurement, Share
from paceline.engine.draft.heads import head_kind
from paceline.engine.model.memory_hints import CTX_STEP
from paceline.engine.model.model_params import DEFAULT_CTX, KV_TYPES, MOST_HIDDEN_BYTES
from paceline.engine.model.placement import devices_for, shares_of
from paceline.engine.model.states import N_COPIES, GoingBack, has_copies, states_in
from paceline.errors import ValueOutOfRangeError
from paceline.messages import DeviceInfo
from paceline.params import ModelParams

_MARGIN = 512 * 2**20
_MOST_MARGIN = 2 * 2**30
_MARGIN_SHARE = 20
_BATCH = 512
_FLOAT = 4
_DENSE_ROWS, _EXPERT_ROWS = 16, 22  # rows of the model's width that a batch's token needs
_MASK = 2  # bytes per token of the batch and of the context
_COPIES = 4  # GGML_SCHED_MAX_COPIES
_ATTENTION = 5  # states of a batch, at most
_PLACE = 8  # bytes; without flash attention each element of the values has one
_HEAD = 64  # elements; more only make the estimate too high
BASE = 4 * 2**20
"""What llama.cpp keeps per model, measured as growth of PSS: beside this, `_PER_TOKEN` bytes for
each token of the vocabulary, `_PER_LAYER` for each layer's nodes in graphs, and a buffer in which
the CPU quantises a batch's rows before it multiplies them."""
_PER_TOKEN = 300
_PER_LAYER = 80 * 1024
_PER_WIDTH = 2176
_MANY_NODES = (
    "qwen3next", "qwen35", "qwen35moe", "qwen4exp", "kimi-linear", "bailingmoe3", "deepseek4",
)  # fmt: skip
_GRAPHS = 16 * 2**20
"""For these kinds llama.cpp makes room for 20,480 nodes in each of two graphs
(`llama_context::graph_max_nodes`)."""


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
        nothing is placed, nothing has to stay free.
        """
        return min(max(_MARGIN, device.total_bytes // _MARGIN_SHARE), _MOST_MARGIN)


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
    """Return the devices that a model's layers are put on; none when it is for the CPU.

    Where the load would be refused, which it says itself, none are.
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


@dataclass(frozen=True, slots=True)
class Load:
    """A model and how it is loaded.

    Attributes:
        card: The model.
        params: How it is loaded.
        n_rows: Rows of logits that one decode gives at most.
        measured: What a dry run told; None: there was none.
        measured_for: With which parameters that was.
        n_states: Earlier states of a recurrent memory that it keeps at most.
        head: The target's head, which is loaded as the target is; None: it has none.
        n_hidden: Of a head, the width of the target's states that are kept for it.
    """

    card: ModelCard
    params: ModelParams
    n_rows: int
    measured: Measurement | None = None
    measured_for: ModelParams | None = None
    n_states: int = 0
    head: Load | None = None
    n_hidden: int = 0

    @property
    def n_ctx(self) -> int:
        """Tokens of its context, as the engine chooses them."""
        return n_ctx_of(self.params, self.card)

    def changed(self, **params: Any) -> Load:
        """Return the same model, loaded with these parameters in place of its own."""
        changed = replace(self.params, **params)
        return replace(self, params=changed, head=self.head and self.head.changed(**params))

    def with_head(self, card: ModelCard, measured: Measurement | None) -> Load:
        """Return the same target with a head, which may be in the same file."""
        params = self.params
        head = Load(_heads_of(card), params, 1, measured, params, n_hidden=self.card.n_embd)
        return replace(self, head=head)


def without_heads(card: ModelCard) -> ModelCard:
    """Return a model whose heads are not loaded, or are counted for themselves."""
    n = card.n_layers - card.n_heads
    return card if card.sidecar or not card.n_heads else _with_layers(card, range(n))


def _heads_of(card: ModelCard) -> ModelCard:
    """Return what a file's heads alone take; they share the target's embeddings and output."""
    kind = head_kind(card.sidecar)
    if kind is not None and not kind.has_cache:
        return structs.replace(card, kv_elements=((0, 0),) * card.n_layers)
    if card.sidecar:
        return card
    heads = _with_layers(card, range(card.n_layers - card.n_heads, card.n_layers))
    return structs.replace(heads, input_bytes=0, output_bytes=0, tied_bytes=0)


def _with_layers(card: ModelCard, kept: range) -> ModelCard:
    """Return a model of which only these layers are loaded; the others keep their places."""
    kv = card.kv_elements
    return structs.replace(
        card,
        layer_bytes=tuple(n if i in kept else 0 for i, n in enumerate(card.layer_bytes)),
        expert_bytes=tuple(n if i in kept else 0 for i, n in enumerate(card.expert_bytes)),
        kv_elements=tuple(n if i in kept else (0, 0) for i, n in enumerate(kv)),
    )


def n_ctx_of(params: ModelParams, card: ModelCard) -> int:
    """Return the context in tokens that the engine would choose; see `choose_ctx`."""
    return params.n_ctx or min(DEFAULT_CTX, card.n_ctx_train or DEFAULT_CTX)


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
    caches = _caches(load)
    windows, beyond = _windows(load, caches), {}
    if load.params.swa_full:
        beyond = _sum(where, [whole - part for whole, part in zip(caches, windows, strict=True)])
    kv = _sum(where, caches if load.params.swa_full else windows)
    compute = _buffers(load, where, machine)
    taken = {
        name: sum(part.get(name, 0) for part in (weights, kv, compute))
        for name in (*weights, *kv, *compute)
    }
    left = {name: n - taken.get(name, 0) for name, n in free.items()}
    states = _states(load, where, cpu, _going_back(load, machine, left))
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
            _beside(load) if name == cpu else 0,
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
        keeps_less = not load.params.swa_full and _windows(load, _caches(load)) != _caches(load)
        return GoingBack("windows" if keeps_less else "cells")
    size = sum(run.state_layers)
    gpus = gpus_for(load.params, machine) if load.params.n_gpu_layers else ()
    room = min((left[gpu.name] for gpu in gpus), default=left[cpu])
    if n := states_in(room, size, min(load.n_states, run.n_states)):
        return GoingBack("states", n)
    return GoingBack("copies" if has_copies(left[cpu], size) else "none")


def _states(load: Load, where: Sequence[str], cpu: str, back: GoingBack) -> dict[str, int]:
    """Return the states that a model keeps beside the present one."""
    one = _sum(where, load.measured.state_layers) if load.measured is not None else {}
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


def _windows(load: Load, caches: list[int]) -> list[int]:
    """Return the size of each layer's cache where no more than its sliding window is kept.

    Args:
        load: The model.
        caches: Their sizes with the whole text in them.
    """
    if load.measured is None or load.measured_for is None or not load.measured.window_layers:
        return caches
    then, now = load.measured_for, load.params
    windows = (*load.measured.window_layers, *(0,) * len(caches))
    change = _bytes_per_element(now) / _bytes_per_element(then)
    return [min(whole, round(n * change)) for whole, n in zip(caches, windows, strict=False)]


def _copy_of_windows(load: Load, caches: list[int], windows: list[int]) -> int:
    """Return the size of a copy of what a prompt's last token sees; see `LlamaModel.save`.

    A window's cache has room for a batch besides, and is rounded up: so it may be 255 cells less.
    """
    cells = _cells(load.params, load.card)
    pairs = zip(caches, windows, strict=True)
    return sum(max(n - _BATCH * whole // cells, 0) for whole, n in pairs if n < whole)


def _bytes_per_element(params: ModelParams) -> float:
    return KV_TYPES[params.kv_type_k][1] + KV_TYPES[params.kv_type_v][1]


def _caches(load: Load) -> list[int]:
    """Return the size of each layer's cache, with the whole text in it."""
    wanted = _estimated_caches(load.params, load.card)
    if load.measured is None or load.measured_for is None:
        return wanted
    then = _estimated_caches(load.measured_for, load.card)
    # llama.cpp does not count layers that predict several tokens, which come last.
    measured = (*load.measured.kv_layers, *(0,) * len(wanted))[: len(wanted)]
    # A recurrent state is as large for any context, and has no elements per token.
    return [
        round(size * now / before) if before else size
        for size, now, before in zip(measured, wanted, then, strict=True)
    ]


def _estimated_caches(params: ModelParams, card: ModelCard) -> list[int]:
    cells = _cells(params, card)
    of_k, of_v = KV_TYPES[params.kv_type_k][1], KV_TYPES[params.kv_type_v][1]
    return [round(cells * (k * of_k + v * of_v)) for k, v in card.kv_elements]


def _cells(params: ModelParams, card: ModelCard) -> int:
    """Return how many tokens a cache with the whole text has room for."""
    return -(-n_ctx_of(params, card) // CTX_STEP) * CTX_STEP


def _buffers(load: Load, where: Sequence[str], machine: Machine) -> dict[str, int]:
    cpu = machine.cpu.name
    measured = dict(load.measured.compute) if load.measured else {}
    gpus = gpus_for(load.params, machine)
    # Batches are computed on the first GPU even where all layers are the CPU's.
    used = {gpu.name for gpu in gpus if gpu.name in where} or {gpu.name for gpu in gpus[:1]}
    if used and used <= measured.keys():
        total = {name: max(measured[name] + _change(load), 0) for name in used}
        total[cpu] = measured.get(cpu, 0)
        if cpu in where[:-1]:
            rows = load.n_rows * load.card.n_vocab * _FLOAT
            total[cpu] = max(total[cpu], _estimated_buffer(load.params, load) + rows)
    elif not used and measured.keys() == {cpu}:
        total = {cpu: max(measured[cpu] + _change(load), 0)}
    else:
        total = _Work.of(load, where, machine).buffers(cpu)
    total[cpu] += _beside(load)
    return total


def _change(load: Load) -> int:
    """Return how much larger a buffer is than the one that was measured."""
    if load.measured_for is None:
        return 0
    now = _estimated_buffer(load.params, load)
    return now - _estimated_buffer(load.measured_for, load)


def _beside(load: Load) -> int:
    """Return what the CPU keeps beside buffers.

    That is `BASE` and the like, and the target's states for a head: kept, given by a decode, read.
    """
    row = load.n_hidden * _FLOAT
    return _base(load.card) + min(load.n_ctx * row, MOST_HIDDEN_BYTES) + 2 * _BATCH * row


def _estimated_buffer(params: ModelParams, load: Load) -> int:
    card = load.card
    n_ctx = n_ctx_of(params, card)
    rows = _EXPERT_ROWS if card.n_experts else _DENSE_ROWS
    batch = min(_BATCH, n_ctx)
    computed = batch * _FLOAT * card.n_embd * rows
    scores = 0
    if params.flash_attn == "off":
        scores = batch * n_ctx * _FLOAT * max(card.n_embd // _HEAD, 1)
    return max(computed + scores, load.n_rows * card.n_vocab * _FLOAT) + batch * n_ctx * _MASK


@dataclass(frozen=True, slots=True)
class _Work:
    """What devices take for computing that no dry run was of, such as those of RPC servers.

    llama.cpp's scheduler (ggml/src/ggml-backend.cpp) gives a device room for the largest step
    within its layers, and for what it is handed: masks, and the state between two layers. Where
    several devices have all layers, it keeps each of these four times, so that one device can
    begin with a batch while another one ends the batch before (src/llama-context.cpp).

    Attributes:
        where: The device of each layer that is computed, of the output as the last.
        kinds: The mask that each of these layers needs, by its place in `masks`.
        on_cpu: All that the CPU takes where it computes some layers, or experts; 0: it does not.
        state: A batch's rows between two layers.
        masks: What else a device is handed.
        layers: The largest step within a layer.
        attention: The same of its first half, with which the last layer needs all rows of a batch.
        last: The device that has the last layer and no other one; empty: none has.
        logits: The rows of logits, computed and given.
        handed: What the output is handed where it is on a device of its own.
        whole: All that the CPU takes where it computes everything, without the rows that it gives.
        n_copies: How many times a device keeps what it is handed.
        helper: A device that computes large batches for the CPU's layers; empty: there is none.
        copied: The largest weight that is copied there for that, about.
    """

    where: tuple[str, ...]
    kinds: tuple[int, ...]
    on_cpu: int
    state: int
    masks: tuple[int, int]
    layers: int
    attention: int
    last: str
    logits: int
    handed: int
    whole: int
    n_copies: int
    helper: str
    copied: int

    @classmethod
    def of(cls, load: Load, where: Sequence[str], machine: Machine) -> _Work:
        """Return it for a model on these devices, by a dry run on the CPU if there was one."""
        card, params, run = load.card, load.params, load.measured
        cpu, gpus = machine.cpu.name, gpus_for(params, machine)
        state = min(_BATCH, load.n_ctx) * card.n_embd * _FLOAT
        kinds, masks = _masks(load)
        logits = load.n_rows * card.n_vocab * _FLOAT
        if run is not None and run.narrow and dict(run.compute).keys() == {cpu}:
            layers = run.narrow + _change(load) - state - sum(masks)
            whole = max(dict(run.compute)[cpu] + _change(load) - logits, 0)
        else:
            layers = _estimated_buffer(params, load) - sum(masks)
            whole = layers + sum(masks)
        layers = attention = max(layers, state)
        is_plain = run is None or not any(run.state_layers)
        if is_plain and params.flash_attn != "off":  # scores, or a state, would be larger
            attention = min(layers, _ATTENTION * state)
        parts = [i for i, n in enumerate(card.layer_bytes) if n]
        output = (card.output_bytes or card.tied_bytes) if where[-1] == cpu else 0
        on_devices = [where[i] for i in parts]
        has_experts = params.n_cpu_moe != 0 and card.n_experts > 0
        is_helped = cpu in on_devices or has_experts
        on_cpu = layers + state + sum(masks) if is_helped else 0
        is_piped = len(gpus) > 1 and cpu not in where and not params.n_cpu_moe
        return cls(
            where=(*on_devices, where[-1]),
            kinds=tuple(kinds[i] for i in parts),
            on_cpu=on_cpu,
            state=state,
            masks=masks,
            layers=attention if has_experts and params.n_cpu_moe < 0 else layers,
            attention=attention,
            last=on_devices[-1] if on_devices and on_devices.count(on_devices[-1]) == 1 else "",
            logits=logits,
            handed=load.n_rows * card.n_embd * _FLOAT if is_plain else state,
            whole=whole,
            n_copies=_COPIES if is_piped and params.split_mode in ("", "layer") else 1,
            helper=next((gpu.name for gpu in gpus if is_helped and not gpu.server), ""),
            copied=max(output, max(card.layer_bytes) // 2),
        )

    def buffers(self, cpu: str) -> dict[str, int]:
        """Return the bytes by device."""
        total = {name: self._device(name) for name in {*self.where, self.helper} - {cpu, ""}}
        if self.helper:
            total[self.helper] += self.copied
        if self.where[-1] == cpu:
            main = self.whole
        elif self.on_cpu:
            main = self.on_cpu
        else:
            main = self.state + self.n_copies * (self.state + sum(self.masks))
        return {**total, cpu: main + self.logits}

    def _device(self, name: str) -> int:
        *layers, output = self.where
        kinds = {kind for kind, place in zip(self.kinds, layers, strict=True) if place == name}
        logits = self.logits if output == name else 0
        if not kinds and logits:
            return logits + self.n_copies * self.handed
        masks = sum(self.masks[kind] for kind in kinds)
        step = self.attention if self.last == name else self.layers
        if self.n_copies == 1:
            return max(step + masks, logits)
        return max(step, logits) + self.n_copies * (self.state + masks)


def _masks(load: Load) -> tuple[tuple[int, ...], tuple[int, int]]:
    """Return the kind of each layer's mask, and the sizes of both kinds, with places in caches.

    The second kind is that of sliding windows.
    """
    card, params, run = load.card, load.params, load.measured
    caches = _caches(load)
    parts = _windows(load, caches)
    kinds = tuple(int(part < whole) for whole, part in zip(caches, parts, strict=True))
    if not any(map(sum, card.kv_elements)):
        return kinds, (0, 0)
    cells = _cells(params, card)
    windows = 0
    if run is not None and run.window_layers:
        shares = (cells * part // whole for whole, part in zip(caches, parts, strict=True) if whole)
        windows = cells if params.swa_full else min(shares, default=0)
    per_cell, places = _MASK, 0
    if params.flash_attn == "off":
        per_cell, places = _FLOAT, _PLACE * max(v for _, v in card.kv_elements)
    batch = min(_BATCH, load.n_ctx)
    whole, part = (batch * (n * per_cell + places) if n else 0 for n in (cells, windows))
    return kinds, (whole, part)


def _base(card: ModelCard) -> int:
    base = BASE + (_GRAPHS if card.architecture in _MANY_NODES else 0)
    return base + card.n_vocab * _PER_TOKEN + card.n_layers * _PER_LAYER + card.n_embd * _PER_WIDTH
