"""Sizes of a model's compute buffers on each device, and of the CPU's memory beside them.

Buffers are measured, or estimated by fits to dry runs of llama.cpp 0.3.36's CPU backend over six
shapes from 0.5B to 70B and contexts from 2k to 32k: they grow with the model's width and a batch of
512, with the vocabulary, and by 1 KiB per token of context for the mask (0.95 to 1.3 times what was
measured); without flash attention by the scores of all heads besides, whose number is taken for the
largest (0.99 to 2.3 times). Those on devices of RPC servers follow from a measurement on the CPU,
since what measures may not connect to servers. Pure functions; sizes in bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paceline.catalog.card import ModelCard
from paceline.catalog.memory.load import BATCH, Load, caches_of, cells_of, n_ctx_of, windows_of
from paceline.catalog.memory.machine import Machine, gpus_for
from paceline.engine.model.model_params import MAX_HIDDEN_BYTES
from paceline.params import ModelParams

_FLOAT_BYTES = 4
_DENSE_ROWS, _EXPERT_ROWS = 16, 22  # rows of the model's width that a batch's token needs
_MASK_BYTES = 2  # bytes per token of the batch and of the context
_HANDED_STATES = 3  # of all that are kept; 2.6 were found with 17 of a small hybrid
_MAX_COPIES = 4  # GGML_SCHED_MAX_COPIES
_MAX_ATTENTION_STATES = 5  # states of a batch, at most
_POSITION_BYTES = 8  # bytes; without flash attention each element of the values has one
_HEAD_ELEMENTS = 64  # elements; more only make the estimate too high
BASE_BYTES = 4 * 2**20
"""Bytes that llama.cpp keeps per model, measured as growth of PSS. Beside them it keeps
`_PER_TOKEN` bytes for each token of the vocabulary, `_PER_LAYER` for each layer's nodes in graphs,
and a buffer in which the CPU quantises a batch's rows before it multiplies them."""
_PER_TOKEN = 300
_PER_LAYER = 80 * 1024
_PER_WIDTH = 2176
_MANY_NODES = (
    "qwen3next", "qwen35", "qwen35moe", "qwen4exp", "kimi-linear", "bailingmoe3", "deepseek4",
)  # fmt: skip
_GRAPHS_BYTES = 16 * 2**20
"""Bytes of graphs: for these architectures llama.cpp reserves 20,480 nodes in each of two graphs
(`llama_context::graph_max_nodes`)."""


def buffers(load: Load, where: Sequence[str], machine: Machine) -> dict[str, int]:
    """Return the bytes of compute buffers by device, with the CPU's memory beside them.

    Args:
        load: The model.
        where: From `places`.
        machine: The devices.
    """
    cpu = machine.cpu.name
    measured = dict(load.measured.compute) if load.measured else {}
    gpus = gpus_for(load.params, machine)
    # Batches are computed on the first GPU even where all layers are the CPU's.
    used = {gpu.name for gpu in gpus if gpu.name in where} or {gpu.name for gpu in gpus[:1]}
    if used and used <= measured.keys():
        total = {name: max(measured[name] + _change(load), 0) for name in used}
        total[cpu] = measured.get(cpu, 0)
        if cpu in where[:-1]:
            rows = load.n_rows * load.card.n_vocab * _FLOAT_BYTES
            total[cpu] = max(total[cpu], _estimated_buffer(load.params, load) + rows)
    elif not used and measured.keys() == {cpu}:
        total = {cpu: max(measured[cpu] + _change(load), 0)}
    else:
        total = _Work.of(load, where, machine).buffers(cpu)
    total[cpu] += beside(load)
    return total


def _change(load: Load) -> int:
    """Return the difference in bytes between a buffer and the measured one."""
    if load.measured_for is None:
        return 0
    now = _estimated_buffer(load.params, load)
    return now - _estimated_buffer(load.measured_for, load)


def beside(load: Load) -> int:
    """Return the bytes that the CPU keeps beside buffers.

    These are `BASE_BYTES`, the terms beside it, and three buffers of the target's states: those
    kept for the head, those that a decode returns, and those that the head reads.
    """
    row = load.n_hidden * _FLOAT_BYTES
    return _base(load.card) + min(load.n_ctx * row, MAX_HIDDEN_BYTES) + 2 * BATCH * row


def _estimated_buffer(params: ModelParams, load: Load) -> int:
    card = load.card
    n_ctx = n_ctx_of(params, card)
    rows = _EXPERT_ROWS if card.n_experts else _DENSE_ROWS
    batch = min(BATCH, n_ctx)
    computed = batch * _FLOAT_BYTES * card.n_embd * rows
    scores = 0
    if params.flash_attn == "off":
        scores = batch * n_ctx * _FLOAT_BYTES * max(card.n_embd // _HEAD_ELEMENTS, 1)
    return (
        max(computed + scores, load.n_rows * card.n_vocab * _FLOAT_BYTES)
        + batch * n_ctx * _MASK_BYTES
    )


@dataclass(frozen=True, slots=True)
class _Work:
    """Sizes of compute buffers on devices without a dry run, e.g. an RPC server's.

    llama.cpp's scheduler (ggml/src/ggml-backend.cpp) gives a device room for the largest step
    within its layers, and for what it is handed: masks, and the state between two layers. Where
    several devices have all layers, it keeps each of these four times, so that one device can
    begin with a batch while another one ends the batch before (src/llama-context.cpp).

    Attributes:
        where: The device of each layer that is computed, of the output as the last.
        kinds: The mask that each of these layers needs, by its place in `masks`.
        on_cpu: Bytes of the CPU if it computes some layers or experts, else 0.
        state: A batch's rows between two layers.
        masks: Sizes of the masks that a device gets.
        layers: The largest step within a layer.
        attention: The largest step within a layer's attention, for which the last layer, too, needs
            all rows of a batch.
        last: The device that has the last layer and no other one, or empty if none has.
        logits: The rows of logits, computed and given.
        handed: Bytes that the output gets if it is on a device of its own.
        whole: Bytes of the CPU if it computes everything, without the output rows.
        n_copies: Number of copies that a device keeps of its inputs.
        helper: A device that computes large batches for the CPU's layers, or empty if there is
            none.
        copied: Approximate size of the largest weight that is copied there for it.
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
        state = min(BATCH, load.n_ctx) * card.n_embd * _FLOAT_BYTES
        if load.n_hidden:  # a head reads the target's, too
            state *= 2
        kinds, masks = _masks(load)
        logits = load.n_rows * card.n_vocab * _FLOAT_BYTES
        if run is not None and run.narrow and dict(run.compute).keys() == {cpu}:
            layers = run.narrow + _change(load) - state - sum(masks)
            whole = max(dict(run.compute)[cpu] + _change(load) - logits, 0)
        else:
            layers = _estimated_buffer(params, load) - sum(masks)
            whole = layers + sum(masks)
        layers = attention = max(layers, state)
        is_plain = run is None or not any(run.state_layers)
        if is_plain and params.flash_attn != "off":  # scores, or a state, would be larger
            attention = min(layers, _MAX_ATTENTION_STATES * state)
        parts = [i for i, n in enumerate(card.layer_bytes) if n]
        output = (card.output_bytes or card.tied_bytes) if where[-1] == cpu else 0
        on_devices = [where[i] for i in parts]
        has_experts = params.n_cpu_moe != 0 and card.n_experts > 0
        # Attention is computed where the cache is.
        is_helped = cpu in on_devices or has_experts or not params.kv_offload
        on_cpu = layers + state + sum(masks) if is_helped else 0
        if run is not None and not params.kv_offload:  # states are handed over, and back
            on_cpu += _HANDED_STATES * (1 + run.n_states) * sum(run.state_layers)
        is_piped = len(gpus) > 1 and cpu not in where and not params.n_cpu_moe
        is_piped &= params.kv_offload
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
            handed=load.n_rows * card.n_embd * _FLOAT_BYTES if is_plain else state,
            whole=whole,
            n_copies=_MAX_COPIES if is_piped and params.split_mode in ("", "layer") else 1,
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
    caches = caches_of(load)
    parts = windows_of(load, caches)
    kinds = tuple(int(part < whole) for whole, part in zip(caches, parts, strict=True))
    states = (*(run.state_layers if run is not None else ()), *(0,) * len(caches))
    if not any(n > state for n, state in zip(caches, states, strict=False)):
        return kinds, (0, 0)
    cells = cells_of(params, card)
    windows = 0
    if run is not None and run.window_layers:
        shares = (cells * part // whole for whole, part in zip(caches, parts, strict=True) if whole)
        windows = cells if params.swa_full else min(shares, default=0)
    per_cell, places = _MASK_BYTES, 0
    if params.flash_attn == "off":
        per_cell, places = _FLOAT_BYTES, _POSITION_BYTES * max(v for _, v in card.kv_elements)
    batch = min(BATCH, load.n_ctx)
    whole, part = (batch * (n * per_cell + places) if n else 0 for n in (cells, windows))
    return kinds, ((whole, part) if any(kinds) else (whole + part, 0))


def _base(card: ModelCard) -> int:
    base = BASE_BYTES + (_GRAPHS_BYTES if card.architecture in _MANY_NODES else 0)
    return base + card.n_vocab * _PER_TOKEN + card.n_layers * _PER_LAYER + card.n_embd * _PER_WIDTH
