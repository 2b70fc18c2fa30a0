"""A loaded model and its one context.

llama.cpp aborts the process unless these conditions hold: a decode has at most `n_batch` tokens and
outputs at most `n_outputs_max` rows; rows are read before the next decode; the abort callback lives
as long as the context.
"""

from __future__ import annotations

import ctypes
import logging
import os
import struct
import time
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NoReturn

import numpy as np
from msgspec import structs

from paceline.engine.cancel import CancelFlag
from paceline.engine.llama import state_copies
from paceline.engine.llama.buffers import Buffers
from paceline.engine.llama.devices import Devices
from paceline.engine.llama.hidden_rows import HiddenRows, give_hidden_rows, last_rows, n_columns
from paceline.engine.llama.kernels import OwnKernels, uses_of
from paceline.engine.llama.library import llama_cpp, meta, read_text, start
from paceline.engine.llama.native_params import native_context_params
from paceline.engine.llama.state_copies import SavedStates, state_bytes
from paceline.engine.llama.vocabulary import LlamaVocabulary, vocabulary_pointer
from paceline.engine.model.backend import Place, Rows, Vocabulary
from paceline.engine.model.memory_hints import what_to_do
from paceline.engine.model.model_file import file_id, title_with_type
from paceline.engine.model.model_params import (
    check_kv_memory,
    choose_ctx,
    free_memory,
    gpu_layers,
    kv_bytes_per_token,
    no_context,
)
from paceline.engine.model.states import has_copies, states_in
from paceline.engine.model.threads import default_threads
from paceline.engine.model.tokens import Gap, Gaps
from paceline.errors import (
    BatchRefusedError,
    CancelledError,
    ComputeFailedError,
    ContextFullError,
    DecodeMemoryError,
    EngineError,
    ModelError,
)
from paceline.messages import DeviceInfo, DeviceMemory, KernelUse, ModelInfo, ModelParams
from paceline.names import visible
from paceline.sizes import one_line

N_BATCH = 512

_log = logging.getLogger(__name__)
_monotonic = time.monotonic


class LlamaModel:
    """Implements `backend.LanguageModel`: a native model and its one context.

    Attributes:
        devices: All devices.
        gpus: Devices that its layers are placed on; empty if the processor has all.
    """

    drafter = "draft"

    def __init__(
        self,
        model: Any,
        params: ModelParams,
        path: Path,
        n_rows: int,
        cancel: CancelFlag,
        *,
        devices: Devices,
        gpus: tuple[DeviceInfo, ...] = (),
        lines: Iterable[str] = (),
        kernels: OwnKernels | None = None,
        head_bytes: int = 0,
    ) -> None:
        self.devices, self.gpus = devices, gpus
        self._by_buffer = devices.by_buffer(gpus)
        self._weights = Buffers()
        self._weights.read(lines, self._by_buffer)
        self.head_bytes = head_bytes
        self._kernels = kernels or OwnKernels()
        self._model: Any = model
        self._cancel = cancel
        self._context: Any = None
        self._batch: Any = None
        self._n_states = self._n_past = 0
        self._gaps = Gaps()
        self._saved = SavedStates()
        self._hidden: HiddenRows | None = None
        self._assistant: LlamaModel | None = None
        try:
            self._open(params, path, n_rows)
        except BaseException:
            self.close()
            raise

    def _open(self, params: ModelParams, path: Path, n_rows: int) -> None:
        model = self._model
        self.vocab: Vocabulary = LlamaVocabulary(vocabulary_pointer(model, path))
        self.template, self.tool_template = (
            (llama_cpp.llama_model_chat_template(model, name) or b"").decode("utf-8", "replace")
            for name in (None, b"tool_use")
        )
        self.native_s = 0.0
        self.clock = time.perf_counter
        self.decoding: tuple[int, float, float] | None = None
        self.last_decode = 0, 0.0
        self.n_firsts, self._slowest_s = 0, 0.0
        self._decoded: set[tuple[int, ...]] = set()  # kinds of batches that a device has computed
        self.n_batch = N_BATCH
        self.max_rows = min(n_rows, N_BATCH)
        self.n_ctx = choose_ctx(params, llama_cpp.llama_model_n_ctx_train(model))
        self._kv_bytes = None if self.gpus else _kv_bytes_per_token(model, params)
        if self._kv_bytes:  # a device's own allocator refuses by itself
            check_kv_memory(params, self.n_ctx, self._kv_bytes)
        n_threads = params.n_threads or default_threads()
        n_threads_batch = params.n_threads_batch or n_threads
        self._wanted_context = params, n_threads, n_threads_batch
        self._architecture = meta(model, "general.architecture")
        self._context = self._new_context(*self._wanted_context)
        self._memory = llama_cpp.llama_get_memory(self._context)
        self._make_batch()
        self.can_rollback, self.max_rollback = True, self.n_ctx  # until `self_test` knows
        self.needs_copies = self._has_copies = False
        self._window = llama_cpp.llama_model_n_swa(model)
        description = read_text(llama_cpp.llama_model_desc, model)
        self.info = ModelInfo(
            path=str(path),
            name=title_with_type(
                one_line(visible(meta(model, "general.name") or path.stem)), description
            ),
            architecture=self._architecture,
            description=description,
            n_params=llama_cpp.llama_model_n_params(model),
            size_bytes=llama_cpp.llama_model_size(model),
            n_ctx=self.n_ctx,
            n_ctx_train=llama_cpp.llama_model_n_ctx_train(model),
            n_vocab=self.vocab.n_tokens,
            n_layers=llama_cpp.llama_model_n_layer(model),
            n_threads=n_threads,
            n_threads_batch=n_threads_batch,
            n_gpu_layers=gpu_layers(params) if self.gpus else 0,
            can_rollback=True,
            has_template=bool(self.template),
            file_id=file_id(path),
        )
        self.facts_key = self._make_facts_key()

    def _make_facts_key(self) -> str:
        params, n_threads, n_threads_batch = self._wanted_context
        return "|".join(
            (
                self.info.file_id, llama_cpp.__version__, f"t{n_threads}-{n_threads_batch}",
                params.kv_type_k, params.kv_type_v, f"fa-{params.flash_attn}",
                f"gpu{self.info.n_gpu_layers}", params.device, f"moe{params.n_cpu_moe}",
                *(f"{gpu.name}={gpu.description}" for gpu in self.gpus),
                f"split-{params.split_mode}-{params.tensor_split}-{params.main_gpu}",
                *(() if params.extra_bufts else ("plain-weights",)),
                *(() if params.swa_full else ("windows",)),
                *(("cache-in-main-memory",) if self.gpus and not params.kv_offload else ()),
                *(("copies",) if self.needs_copies else ()),
                *(("hidden",) if self._hidden is not None else ()),
                *((self._kernels.fact,) if self._kernels.fact else ()),
            )
        )  # fmt: skip

    def _new_context(self, params: ModelParams, n_threads: int, n_threads_batch: int) -> Any:
        p = self._native_params(params)
        p.n_threads, p.n_threads_batch = n_threads, n_threads_batch
        # `strlen` on the flag's buffer needs no GIL when llama.cpp polls, which it does often.
        libc = ctypes.cdll.msvcrt if os.name == "nt" else ctypes.CDLL(None)
        self._abort = ctypes.cast(libc.strlen, llama_cpp.ggml_abort_callback)
        p.abort_callback = self._abort
        p.abort_callback_data = self._cancel.address
        start().lines.clear()
        with start().collected() as lines:
            context = llama_cpp.llama_init_from_model(self._model, p)
        if not context:
            raise no_context(params, self.n_ctx, self._kv_bytes, start().why())
        self._buffers = replace(self._weights, kv={}, compute={})
        self._buffers.read(lines, self._by_buffer)
        self._buffers.add_rows(p.n_outputs_max, self.vocab.n_tokens)
        if self._hidden is not None:
            give_hidden_rows(context, of_outputs=False)
        return context

    def _native_params(self, params: ModelParams) -> Any:
        return native_context_params(
            params,
            self.n_ctx,
            self.n_batch,
            self.max_rows,
            self._n_states,
            with_blocks=self._has_blocks,
        )

    @property
    def _has_blocks(self) -> bool:
        keeps_windows = not self._wanted_context[0].swa_full
        return state_copies.has_blocks(self._model, self._architecture, keeps_windows=keeps_windows)

    @property
    def memory(self) -> tuple[DeviceMemory, ...]:
        """The memory that it uses on each device; see `backend.LanguageModel`."""
        return self._buffers.by_device

    def give_hidden_rows(self) -> HiddenRows:
        """Store the hidden state at each place from now on, for a head; see `hidden_rows.py`.

        Raises:
            ModelError: This build of llama.cpp does not support it.
        """
        give_hidden_rows(self._context, of_outputs=False)
        self._hidden = HiddenRows(n_columns(self._model), self.n_ctx)
        self._n_rows_seen = 0  # the output buffer grows with the next decode, and so moves
        self.facts_key = self._make_facts_key()
        return self._hidden

    def _make_batch(self) -> None:
        self._batch = batch = self._new_batch()
        # Setting a number in a memoryview takes a third of the time of an array of numpy.
        self._tokens, self._positions = _numbers(batch.token, "i"), _numbers(batch.pos, "i")
        self._wanted = _numbers(batch.logits, "B")
        for i in range(N_BATCH):
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = 0
        self._n_past = 0
        self._n_new = 0  # tokens of the last decode among these
        # A prototype of our own with a plain address as result: llama-cpp-python's would build a
        # ctypes pointer object for every call.
        prototype = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
        self._get_logits = prototype(("llama_get_logits", llama_cpp.llama_cpp._lib))
        self._output = 0
        self._n_rows_seen = 0
        # llama.cpp may use a device for wide batches even if the processor has all layers.
        self.computes_here = not self.gpus
        self._views: dict[int, Rows] = {}

    def _new_batch(self) -> Any:
        return llama_cpp.llama_batch_init(N_BATCH, 0, 1)

    # ---------------------------------------------------------------------------- decoding

    @property
    def n_past(self) -> int:
        """The number of cells in the context."""
        return self._n_past

    def decode(self, tokens: Sequence[int], n_rows: int) -> Rows:
        """Append tokens, return the logits of the last `n_rows`; see `backend.LanguageModel`."""
        n = len(tokens)
        self._check(n, n_rows)
        position = self._n_past + self._gaps.shift
        if n == 1:
            self._tokens[0], self._positions[0], self._wanted[0] = tokens[0], position, n_rows
        else:
            self._tokens[:n] = array("i", tokens)
            self._positions[:n] = array("i", range(position, position + n))
            self._wanted[:n] = bytes(n - n_rows) + b"\x01" * n_rows
        self._batch.n_tokens = n
        return self._compute(self._batch, n, n_rows)

    def decode_gap(self, gap: Gap) -> None:
        """Append a gap; see `backend.LanguageModel`."""
        past, n = self._n_past, gap.n_cells
        self._check(n, 0)
        places = Gaps(self._gaps)
        places.add(past, gap)
        rows = np.zeros((n, llama_cpp.llama_model_n_embd(self._model)), np.float32)
        rows[:] = gap.rows
        positions = np.zeros((4, n), np.int32)  # M-RoPE has four per cell, the last one unused
        positions[:3] = [places.position(past + i) for i in range(n)]
        is_wanted = np.zeros(n, np.int8)
        batch = llama_cpp.llama_batch(
            n_tokens=n,
            embd=np.ctypeslib.as_ctypes(rows.ravel()),
            pos=np.ctypeslib.as_ctypes(positions.ravel()),
            logits=np.ctypeslib.as_ctypes(is_wanted),
        )
        try:
            self._compute(batch, n, 0)
        except BaseException:
            llama_cpp.llama_memory_seq_rm(self._memory, 0, past + self._gaps.shift, -1)
            self._n_past = past
            raise
        self._gaps.add(past, gap)

    def _check(self, n: int, n_rows: int) -> None:
        """Refuse a batch without room, and one at which llama.cpp would abort; see `decode`."""
        if self._n_past + n > self.n_ctx:
            raise ContextFullError(
                "context-full", "The context of {n_ctx:,} tokens is full.",
                "Start a new chat, or load the model with a longer context.",
                n_ctx=self.n_ctx,
            )  # fmt: skip
        if not (0 < n <= self.n_batch and n_rows <= self.max_rows):
            raise EngineError(
                "batch-too-large",
                "{n:,} tokens with {n_rows:,} rows are too many.",
                n=n,
                n_rows=n_rows,
            )
        if self._cancel.is_set():
            raise CancelledError

    def _compute(self, batch: Any, n: int, n_rows: int) -> Rows:
        """Decode a batch of `n` cells; see `decode`."""
        past, clock = self._n_past, self.clock
        # The numbers of tokens and rows determine a device's programs, above 64 in large steps.
        kind = () if self.computes_here else (_step(n), _step(n_rows))
        is_first = bool(kind) and kind not in self._decoded
        self.decoding = n, _monotonic(), 0.0 if is_first else self._slowest_s
        began = clock()
        code = llama_cpp.llama_decode(self._context, batch)
        address = self._output
        if code == 0 and (not self.computes_here or n_rows > self._n_rows_seen):
            # On a GPU the decode is still running, and reading the logits waits for it. On a CPU
            # they
            # stay at the same address, as long as their buffer does not grow.
            address = self._get_logits(self._context)
            self._n_rows_seen = max(self._n_rows_seen, n_rows)
        seconds = clock() - began
        self.decoding = None
        self.native_s += seconds
        self.last_decode = n, seconds
        if is_first:
            self.n_firsts += 1
        elif seconds > n * self._slowest_s:
            self._slowest_s = seconds / n
        if code != 0:
            self._fail(code, n, past, n_rows)
        if is_first:
            self._decoded.add(kind)
        if self._hidden is not None:
            self._hidden.put(past, last_rows(self._context, n, self._hidden.n_columns))
        self._n_past = past + n
        self._n_new = n
        view = self._views.get(n_rows) if address == self._output else None
        return self._new_view(address, n_rows) if view is None else view

    def _new_view(self, address: int, n_rows: int) -> Rows:
        """Return the output buffer as an array; it moves only when llama.cpp enlarges it."""
        if n_rows == 0:
            return np.empty((0, self.vocab.n_tokens), np.float32)
        if address != self._output:
            self._output = address
            self._views.clear()
        shape = n_rows, self.vocab.n_tokens
        buffer = (ctypes.c_float * (shape[0] * shape[1])).from_address(address)
        view: Rows = np.frombuffer(buffer, dtype=np.float32).reshape(shape)  # type: ignore[call-overload]
        self._views[n_rows] = view
        return view

    def _fail(self, code: int, n: int, past: int, n_rows: int) -> NoReturn:
        """Convert a return code of `llama_decode` (include/llama.h) into an exception."""
        last = llama_cpp.llama_memory_seq_pos_max(self._memory, 0)
        self._n_past = self._gaps.index(last + 1)
        self._n_new = 0
        self._n_rows_seen = 0  # the buffer may have been enlarged, and so moved, before the failure
        if code == 2 and self._cancel.is_set():
            raise CancelledError
        if code == 1:
            raise ContextFullError(
                "context-full", "The context has no room left.",
                "Start a new chat, or load the model with a longer context.",
            )  # fmt: skip
        why = start().why()
        _log.warning(
            "llama_decode gave %d for %d tokens after %d with %d rows, n_ctx %d",
            code, n, past, n_rows, self.n_ctx,
        )  # fmt: skip
        if code == -1:  # llama.cpp's message may contain a token of a private text
            raise BatchRefusedError(
                "batch-refused",
                "llama.cpp refused a batch of {n:,} tokens after {past:,} others.",
                "This is a fault of Paceline, please report it. Asking again may help.",
                n=n,
                past=past,
            )
        if code in {-2, 2}:  # aborted without a request
            raise DecodeMemoryError(
                "out-of-memory",
                "There is too little memory for a decode of {n:,} tokens: {why}.",
                what_to_do(self._wanted_context[0], self.n_ctx),
                n=n,
                why=why,
            )
        raise ComputeFailedError(
            "compute-failed",
            "llama.cpp could not compute (code {code}): {why}.",
            "The models are loaded again with the next message. If it fails once more, restart "
            "Paceline, or choose a smaller model or another device.",
            code=code,
            why=why,
        )

    def rollback(self, n_past: int) -> bool:
        """Shorten the context; return False if this kind of model cannot.

        A decode of a recurrent memory leaves the states before each of its tokens except the first.
        llama.cpp would go back further without an error, to a state of an earlier time.
        """
        position = self._gaps.position(n_past)
        if n_past and self.can_rollback and not self._has_window_of(position):
            return False
        n_removed = self._n_past - n_past
        if n_removed > 0 and not self.can_rollback:
            if n_removed >= self._n_new:
                return False
            self._n_new = 0
        began = self.clock()
        done: bool = llama_cpp.llama_memory_seq_rm(self._memory, 0, position, -1)
        self.native_s += self.clock() - began
        if done:
            self._n_past = min(self._n_past, n_past)
            self._gaps.cut(self._n_past)
            self._saved.forget(n_past)
        return done

    def _has_window_of(self, position: int) -> bool:
        """Return whether sliding windows still hold all tokens that this position attends to.

        llama.cpp overwrites cells outside a later token's window, and removes those of earlier
        positions (`apply_ubatch` of src/llama-kv-cache.cpp), but never those that the first token
        of a decode attended to.
        """
        if not self._window:
            return True
        first = llama_cpp.llama_memory_seq_pos_min(self._memory, 0)
        return bool(first <= max(position - self._window + 1, 0))

    @property
    def forgets(self) -> bool:
        """Return whether going far back needs a copy; see `backend.LanguageModel`."""
        return not self.can_rollback or self._keeps_windows_alone

    @property
    def _keeps_windows_alone(self) -> bool:
        """Return whether window and batch take less than the context (llama-kv-cache-iswa.cpp)."""
        is_wanted = self._window and not self._wanted_context[0].swa_full
        return bool(is_wanted) and self._window + self.n_batch < self.n_ctx

    def save(self, place: Place) -> None:
        """Copy a recurrent state, or the windows of a prompt; see `backend.LanguageModel`."""
        is_wanted = self._has_copies
        if self.can_rollback and self._keeps_windows_alone:
            is_wanted = has_copies(free_memory(), state_bytes(self._context))
        if not is_wanted:
            return
        began = self.clock()
        self._saved.save(place, self._context, self._n_past, self._n_past + self._gaps.shift)
        self.native_s += self.clock() - began

    def restore(self, n_past: int) -> int:
        """Go back to the place of a copied state; see `backend.LanguageModel`."""
        began = self.clock()
        held = self._saved.restore(self._context, n_past)
        self.native_s += self.clock() - began
        self._n_past, self._n_new = max(held, 0), 0
        self._gaps.cut(self._n_past)
        return held

    @property
    def n_block(self) -> int:
        """The number of tokens whose cells can be copied alone; see `backend.LanguageModel`."""
        if self.forgets or not self._has_blocks:
            return 0
        return state_copies.block_size(self._window)

    def copy_cells(self, first: int, n: int) -> bytearray | None:
        """Copy the content of cells; see `backend.LanguageModel`."""
        began = self.clock()
        if self.n_block:
            places = self._gaps.position(first), self._gaps.position(first + n)
            data = state_copies.copy_part(self._context, *places)
        else:
            data = state_copies.copy_whole(self._context)
        self.native_s += self.clock() - began
        return data

    def put_cells(self, n: int, data: bytes | bytearray) -> bool:
        """Append copied cells; see `backend.LanguageModel`."""
        began = self.clock()
        put = state_copies.put_part if self.n_block else state_copies.put_whole
        wanted = self._n_past + n
        done = put(self._context, data)
        has_all = llama_cpp.llama_memory_seq_pos_max(self._memory, 0) == wanted - 1
        if done and not has_all:
            llama_cpp.llama_memory_seq_rm(self._memory, 0, self._n_past, -1)
        elif done:
            if self._hidden is not None:
                self._hidden.cut(self._n_past)
            self._n_past, self._n_new = wanted, 0
        self.native_s += self.clock() - began
        return done and has_all

    def clear(self, *, wipe: bool = False) -> None:
        """Remove everything; `wipe` also zeroes the cells, which takes 60 ms for 600 MB."""
        llama_cpp.llama_memory_clear(self._memory, wipe)
        self._saved.forget()
        self._gaps.cut(0)
        self._n_past = self._n_new = 0

    def remake(self, n_ctx: int, n_batch: int) -> None:
        """Free the context and make another one; see `backend.LanguageModel`."""
        self._n_states = 0
        if not self._keeps_windows_alone:  # otherwise smaller batches would make it so
            params, n_threads, n_threads_batch = self._wanted_context
            self._wanted_context = replace(params, swa_full=True), n_threads, n_threads_batch
        self._make_anew(n_ctx, n_batch)
        self._limit_rollback()

    def _make_anew(self, n_ctx: int, n_batch: int) -> None:
        self._free_context()
        self.n_ctx, self.n_batch = n_ctx, min(n_batch, self.n_batch)
        self.max_rows = min(self.max_rows, self.n_batch)
        try:
            self._context = self._new_context(*self._wanted_context)
        except BaseException:
            self.n_ctx = 0  # so that no decode reaches llama.cpp
            raise
        self._memory = llama_cpp.llama_get_memory(self._context)
        self.info = structs.replace(self.info, n_ctx=n_ctx)
        if self._assistant is not None:  # now, since it clears the cells that it shares
            self._assistant._make_anew(n_ctx, n_batch)

    def keep_states(self, n_most: int) -> None:
        """Keep as many earlier states as useful, and copies, as far as memory is free.

        llama.cpp restores one of them when the last tokens are removed (`n_rs_seq`, for the kinds
        that `llm_arch_supports_rs_rollback` of src/llama-arch.cpp names), once between two decodes.
        """
        kinds = llama_cpp.llama_model_is_recurrent, llama_cpp.llama_model_is_hybrid
        if not any(is_kind(self._model) for is_kind in kinds):
            return
        self.decode([0], 1)
        size = state_bytes(self._context)
        self.clear()
        room = free_memory()
        self._has_copies = has_copies(room, size)
        if self.info.n_gpu_layers and self.gpus and self._wanted_context[0].kv_offload:
            used = {gpu.name for gpu in self.gpus}
            there = (device.info for device in self.devices.all({gpu.server for gpu in self.gpus}))
            room = min(info.free_bytes for info in there if info.name in used)
        n_before, self._n_states = self._n_states, states_in(room, size, n_most)
        if self._n_states != n_before:
            try:
                self._make_anew(self.n_ctx, self.n_batch)
            except ModelError:  # less memory was free than reported
                self.remake(self.info.n_ctx, self.n_batch)
        self._limit_rollback()

    def give_up_copies(self) -> None:
        """Restore no copies from now on; see `backend.LanguageModel`."""
        self._has_copies = False
        self._saved.forget()
        self._limit_rollback()

    def _limit_rollback(self) -> None:
        if self.can_rollback:
            self.max_rollback = self.n_ctx
        else:
            self._n_states = llama_cpp.llama_n_rs_seq(self._context)  # llama.cpp clamps it silently
            self.needs_copies = self._has_copies and not self._n_states
            self.max_rollback = self.n_batch if self.needs_copies else self._n_states
            self.facts_key = self._make_facts_key()

    def set_threads(self, n_threads: int, n_threads_batch: int) -> None:
        """Set the numbers of threads; see `backend.LanguageModel`."""
        llama_cpp.llama_set_n_threads(self._context, n_threads, n_threads_batch)
        self._wanted_context = self._wanted_context[0], n_threads, n_threads_batch
        self.info = structs.replace(self.info, n_threads=n_threads, n_threads_batch=n_threads_batch)
        self.facts_key = self._make_facts_key()

    def kernel_uses(self) -> tuple[KernelUse, ...]:
        """Return whose kernels have computed since they were chosen; see `backend`."""
        called = self._kernels.called()
        has_experts = self._wanted_context[0].n_cpu_moe > 0
        if not called and not has_experts and self.info.n_gpu_layers >= self.info.n_layers:
            return ()  # the CPU computes hardly anything
        try:
            return uses_of(Path(self.info.path), called)
        except ModelError:  # the file has changed meanwhile, which must not fail the load
            return ()

    def _free_context(self) -> None:
        if self._assistant is not None:  # it refers to this one's memory
            self._assistant._free_context()
        if self._context:
            llama_cpp.llama_free(self._context)
        # llama.cpp treats a null memory as an empty one.
        self._context = self._memory = None
        self._saved.forget()
        self._gaps.cut(0)
        self._n_past = self._n_new = self._n_rows_seen = self._output = 0
        self._views = {}

    @property
    def is_open(self) -> bool:
        """Return whether it was not closed yet."""
        return self._model is not None

    def close(self) -> None:
        """Free batch, context and model, in this order; a second call does nothing."""
        if self._batch is not None:
            llama_cpp.llama_batch_free(self._batch)
            self._batch = None
        self._free_context()
        if self._model:
            llama_cpp.llama_model_free(self._model)
            self._model = None


def _kv_bytes_per_token(model: Any, params: ModelParams) -> float:
    arch = meta(model, "general.architecture")
    head = llama_cpp.llama_model_n_embd(model) // max(llama_cpp.llama_model_n_head(model), 1)
    return kv_bytes_per_token(
        params,
        llama_cpp.llama_model_n_head_kv(model) * llama_cpp.llama_model_n_layer(model),
        int(meta(model, f"{arch}.attention.key_length") or head),
        int(meta(model, f"{arch}.attention.value_length") or head),
    )


def _numbers(pointer: Any, kind: Literal["i", "B"]) -> memoryview:
    """Return a view of a batch's numbers at a pointer; `kind` is a format of `struct`."""
    size = N_BATCH * struct.calcsize(kind)
    held = (ctypes.c_char * size).from_address(ctypes.addressof(pointer.contents))
    return memoryview(held).cast("B").cast(kind)


def _step(n: int) -> int:
    """Return a number of tokens or rows up to 64, and above that one per doubling."""
    return n if n <= 64 else 64 + (n - 1).bit_length()
