"""Measuring the memory of a model and its context by a load that allocates hardly anything.

With `no_alloc` llama.cpp reads only the header, builds the graphs of a real context and computes
every buffer, and logs how large they would be; the C interface does not return these numbers. The
first measurement costs about as much as reading the header, another context some 20 ms. It also
works on a file that has a header and a hole. The context of an MTP head refers to its target's, so
both are made, and only the head's numbers count.

Besides the buffers (`buffers.py`) the log names, at its most verbose level, the device of every
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
from paceline.engine.model.states import MAX_STATES
from paceline.messages import ModelParams

_MAX_OPEN = 2
_LOAD_MODE_NONE = 0  # enum llama_load_mode
_LAYER = re.compile(r"\blayer +(\d+): dev = (.+?)\s*$")
_CACHE = re.compile(r"^llama_(kv_cache|memory).*(?<!buffer )size = +([\d.]+) MiB")
_MAX_ALLOCATED_BYTES = 256 * MIB
"""Maximum bytes of recurrent states up to which all `MAX_STATES` are measured, since they are
really allocated; of larger ones a single state is measured."""


class DryRuns:
    """Keeps the last models open, so that measuring further contexts costs little.

    One thread at a time, since llama.cpp's log belongs to the process.
    """

    def __init__(self) -> None:
        self._models: OrderedDict[tuple[object, ...], _Model] = OrderedDict()

    def measure(self, params: ModelParams, n_rows: int = 63, target: str = "") -> DryRun:
        """Return the memory that a load with these parameters would allocate.

        Args:
            params: Parameters of the load.
            n_rows: Maximum number of rows of logits per decode.
            target: Path of the target whose MTP head is measured, possibly the same file; empty to
                measure the model itself.

        Raises:
            ModelError: The model cannot be loaded, or such a context cannot be made.
            ValueOutOfRangeError: A parameter is invalid.
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
            while len(self._models) >= _MAX_OPEN:
                self._models.popitem(last=False)[1].close()
            model = _Model(path, params, with_head=with_head)
        self._models[key] = model
        return model

    def close(self) -> None:
        """Free all open models."""
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
        # A GPU's memory is preferred to other layouts.
        is_plain = not params.extra_bufts or bool(native.gpus)
        self._repacked = 0 if is_plain else repacked_bytes(all_tensors(path))

    def measure(self, params: ModelParams, n_rows: int) -> DryRun:
        run, n_kept = self._measure(params, n_rows), 1
        if run.n_states and MAX_STATES * sum(run.state_layers) <= _MAX_ALLOCATED_BYTES:
            n_kept = MAX_STATES
            run = self._measure(params, n_rows, n_kept)  # buffers for computing grow as well
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
        return self._measured(lines, native.n_outputs_max, n_states)

    def measure_head(self, params: ModelParams, n_rows: int, target: _Model) -> DryRun:
        """Return the memory that this model's MTP head would allocate beside a target."""
        other, _ = target._context(params, target._native(params, n_rows))
        native = self._native(params, n_rows)
        native.ctx_type, native.ctx_other = llama_cpp.LLAMA_CONTEXT_TYPE_MTP, other
        try:
            context, lines = self._context(params, native)
            is_shared = shares_memory(context, other)
            llama_cpp.llama_free(context)
        finally:
            llama_cpp.llama_free(other)
        run = self._measured(lines, native.n_outputs_max, 0)
        return (
            structs.replace(run, kv=(), kv_layers=(0,) * len(run.kv_layers)) if is_shared else run
        )

    def _native(self, params: ModelParams, n_rows: int, n_kept: int = 0) -> Any:
        n_ctx = choose_ctx(params, llama_cpp.llama_model_n_ctx_train(self._pointer))
        return native_context_params(params, n_ctx, N_BATCH, min(n_rows, N_BATCH), n_kept)

    def _context(self, params: ModelParams, native: Any) -> tuple[Any, list[str]]:
        """Make a context; return it with llama.cpp's log lines."""
        log = start()
        log.lines.clear()
        with log.collected() as lines:
            context = llama_cpp.llama_init_from_model(self._pointer, native)
        if not context:
            raise no_context(params, native.n_ctx, None, log.why())
        return context, lines

    def _measured(self, lines: list[str], n_rows: int, n_states: int) -> DryRun:
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
            MAX_STATES if n_states else 0,
            narrow=narrow,
        )

    def close(self) -> None:
        if self._pointer:
            llama_cpp.llama_model_free(self._pointer)
            self._pointer = None


def read_caches(
    lines: Iterable[str], n_layers: int, n_states: int = 0
) -> tuple[dict[str, int], tuple[int, ...], tuple[int, ...]]:
    """Return caches by device, and caches and recurrent states by layer.

    Args:
        lines: llama.cpp's log lines from making a context.
        n_layers: Number of the model's layers.
        n_states: Number of earlier states in a recurrent cache, besides the present one.
    """
    kv: dict[str, int] = {}
    layers, state_layers = [0] * n_layers, [0] * n_layers
    waiting: list[tuple[int, str]] = []
    for line in lines:
        if found := _LAYER.search(line):
            waiting.append((int(found[1]), found[2]))
        elif found := _CACHE.search(line):  # the cache of all layers since the last such line
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
