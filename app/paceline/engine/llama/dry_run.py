"""Measures what a model and its context would take, by a load that allocates hardly anything.

With `no_alloc` llama.cpp reads the header alone, builds the graphs of a real context and works out
every buffer, and says in its log how large they would be; a plain number is nowhere to be had from
C. A first look costs about as much as reading the header, another context some 20 ms. It works on
a file that holds a header and a hole, too. The context of an MTP head refers to its target's, so
both are made, and only what the head's tells counts.

Beside the buffers (`buffers.py`) the log names, at its most talkative level, the device of every
layer's cache (src/llama-kv-cache.cpp and llama-memory-recurrent.cpp), which is not allocated.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec import structs

from paceline.engine.llama.backend import open_model
from paceline.engine.llama.buffers import MAIN, MIB, Buffers
from paceline.engine.llama.devices import Devices
from paceline.engine.llama.gguf import all_tensors
from paceline.engine.llama.hidden_rows import shares_memory
from paceline.engine.llama.library import llama_cpp, start
from paceline.engine.llama.model import N_BATCH
from paceline.engine.llama.native_params import native_context_params, native_model_params
from paceline.engine.llama.repacking import repacked_bytes
from paceline.engine.model.model_file import DryRun, check_whole_model
from paceline.engine.model.model_params import check_params, choose_ctx, no_context
from paceline.engine.model.states import MOST_STATES
from paceline.messages import ModelParams

_N_OPEN = 2
_LOAD_MODE_NONE = 0  # enum llama_load_mode
_LAYER = re.compile(r"\blayer +(\d+): dev = (.+?)\s*$")
_CACHE = re.compile(r"^llama_(kv_cache|memory).*(?<!buffer )size = +([\d.]+) MiB")
_MOST_ALLOCATED = 256 * MIB
"""Recurrent states are allocated for real; where they are large, one tells whether they stay."""


class DryRuns:
    """Keeps the models that were asked about last open, so that other contexts cost little.

    One thread at a time: llama.cpp's log is the process's.
    """

    def __init__(self) -> None:
        self._models: OrderedDict[tuple[object, ...], _Model] = OrderedDict()

    def measure(self, params: ModelParams, n_rows: int = 63, target: str = "") -> DryRun:
        """Return what a load with these parameters would take.

        Args:
            params: How the model would be loaded.
            n_rows: Rows of logits that one decode gives at most.
            target: The file of the target whose MTP head is measured, which may be the same;
                empty: the model itself is.

        Raises:
            ModelError: It cannot be loaded, or no such context be made.
            ValueOutOfRangeError: A parameter makes no sense.
        """
        start()
        if not target:
            return self._opened(params, with_head=False).measure(params, n_rows)
        model = self._opened(replace(params, path=target), with_head=target == params.path)
        head = model if target == params.path else self._opened(params, with_head=True)
        return head.measure_head(params, n_rows, model)

    def _opened(self, params: ModelParams, *, with_head: bool) -> _Model:
        check_params(params)
        path = check_whole_model(params.path)
        stat = path.stat()
        key = (
            str(path), with_head, stat.st_size, stat.st_mtime_ns, params.n_gpu_layers,
            params.device, params.n_cpu_moe, params.split_mode, params.tensor_split,
            params.main_gpu, params.extra_bufts,
        )  # fmt: skip
        model = self._models.pop(key, None)
        if model is None:
            while len(self._models) >= _N_OPEN:
                self._models.popitem(last=False)[1].close()
            model = _Model(path, params, with_head=with_head)
        self._models[key] = model
        return model

    def close(self) -> None:
        """Free every model that is open."""
        while self._models:
            self._models.popitem()[1].close()


class _Model:
    """A model without weights."""

    def __init__(self, path: Path, params: ModelParams, *, with_head: bool) -> None:
        devices = Devices()
        known = devices.all()
        native = native_model_params(params, known)
        native.value.no_alloc = True
        native.value.load_mode = _LOAD_MODE_NONE
        native.value.load_mtp = with_head
        self._pointer: Any = open_model(path, native.value, params)
        self._by_buffer = devices.by_buffer()
        # A GPU's memory comes before other layouts.
        is_plain = not params.extra_bufts or bool(native.gpus)
        self._repacked = 0 if is_plain else repacked_bytes(all_tensors(path))

    def measure(self, params: ModelParams, n_rows: int) -> DryRun:
        run, n_kept = self._measure(params, n_rows), 1
        if run.n_states and MOST_STATES * sum(run.state_layers) <= _MOST_ALLOCATED:
            n_kept = MOST_STATES
            run = self._measure(params, n_rows, n_kept)  # buffers for computing grow, too
        run = structs.replace(run, narrow=self._measure(params, 0, n_kept).narrow)
        if not llama_cpp.llama_model_n_swa(self._pointer):
            return run
        other = self._measure(replace(params, swa_full=not params.swa_full), n_rows)
        whole, windows = (run, other) if params.swa_full else (other, run)
        return structs.replace(run, kv_layers=whole.kv_layers, window_layers=windows.kv_layers)

    def _measure(self, params: ModelParams, n_rows: int, n_kept: int = 1) -> DryRun:
        native = self._native(params, n_rows, n_kept)
        context, lines = self._context(params, native)
        n_states = llama_cpp.llama_n_rs_seq(context)
        llama_cpp.llama_free(context)
        return self._told(lines, native.n_outputs_max, n_states)

    def measure_head(self, params: ModelParams, n_rows: int, target: _Model) -> DryRun:
        """Return what this model's MTP head would take beside a target."""
        other, _ = target._context(params, target._native(params, n_rows))
        native = self._native(params, n_rows)
        native.ctx_type, native.ctx_other = llama_cpp.LLAMA_CONTEXT_TYPE_MTP, other
        try:
            context, lines = self._context(params, native)
            is_shared = shares_memory(context, other)
            llama_cpp.llama_free(context)
        finally:
            llama_cpp.llama_free(other)
        run = self._told(lines, native.n_outputs_max, 0)
        return (
            structs.replace(run, kv=(), kv_layers=(0,) * len(run.kv_layers)) if is_shared else run
        )

    def _native(self, params: ModelParams, n_rows: int, n_kept: int = 0) -> Any:
        n_ctx = choose_ctx(params, llama_cpp.llama_model_n_ctx_train(self._pointer))
        return native_context_params(params, n_ctx, N_BATCH, min(n_rows, N_BATCH), n_kept)

    def _context(self, params: ModelParams, native: Any) -> tuple[Any, list[str]]:
        """Make a context; returns what llama.cpp said meanwhile, too."""
        log = start()
        log.lines.clear()
        with log.heard() as lines:
            context = llama_cpp.llama_init_from_model(self._pointer, native)
        if not context:
            raise no_context(params, native.n_ctx, None, log.why())
        return context, lines

    def _told(self, lines: list[str], n_rows: int, n_states: int) -> DryRun:
        n_vocab = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self._pointer))
        n_layers = llama_cpp.llama_model_n_layer(self._pointer)
        n_layers += llama_cpp.llama_model_n_layer_nextn(self._pointer)  # heads come after them
        kv, kv_layers, state_layers = read_caches(lines, n_layers, n_states)
        buffers = Buffers()
        buffers.read(lines, self._by_buffer)
        narrow = buffers.compute.get(MAIN, 0)
        buffers.add_rows(n_rows, n_vocab)
        return DryRun(
            tuple(kv.items()),
            tuple(buffers.compute.items()),
            kv_layers,
            self._repacked,
            state_layers,
            MOST_STATES if n_states else 0,
            narrow=narrow,
        )

    def close(self) -> None:
        if self._pointer:
            llama_cpp.llama_model_free(self._pointer)
            self._pointer = None


def read_caches(
    lines: Iterable[str], n_layers: int, n_states: int = 0
) -> tuple[dict[str, int], tuple[int, ...], tuple[int, ...]]:
    """Return caches per device, and caches and recurrent states per layer.

    Args:
        lines: What llama.cpp said while it made a context.
        n_layers: Of the model.
        n_states: Earlier states in a recurrent cache, beside the present one that is told.
    """
    kv: dict[str, int] = {}
    layers, state_layers = [0] * n_layers, [0] * n_layers
    waiting: list[tuple[int, str]] = []
    for line in lines:
        if found := _LAYER.search(line):
            waiting.append((int(found[1]), found[2]))
        elif found := _CACHE.search(line):  # that of all layers since the last such line
            size = float(found[2]) * MIB / max(len(waiting), 1)
            is_state = found[1] == "memory"
            if is_state:
                size /= 1 + n_states
            for layer, device in waiting or ((0, MAIN),):
                kv[device] = kv.get(device, 0) + round(size)
                if layer < n_layers:
                    layers[layer] += round(size)
                    state_layers[layer] += round(size) * is_state
            waiting = []
    return kv, tuple(layers), tuple(state_layers)
