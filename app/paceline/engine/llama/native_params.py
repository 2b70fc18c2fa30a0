"""Conversion of `ModelParams` to llama.cpp's structures, with everything they point to.

A real context and one that is only measured get their parameters here, so that the measurement
matches.

Experts on the CPU work as in llama.cpp's ``--n-cpu-moe`` (common/common.h): patterns name the
tensors of the experts and assign them to the CPU's buffers. Nothing here needs hardware, so that
every field of the structure can be tested without it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paceline.engine.llama.devices import Device, cpu_buffer_type
from paceline.engine.llama.library import llama_cpp
from paceline.engine.model.model_params import FLASH_ATTN, KV_TYPES, SPLIT_MODES, gpu_layers
from paceline.engine.model.placement import devices_for, shares_of
from paceline.messages import DeviceInfo, ModelParams

EXPERTS = r"\.ffn_(up|down|gate|gate_up)_(ch|)exps"
"""llama.cpp's pattern for the weights of experts."""


class BufferOverride(ctypes.Structure):
    """`llama_model_tensor_buft_override`, which llama-cpp-python does not declare."""

    _fields_ = (("pattern", ctypes.c_char_p), ("buffer_type", ctypes.c_void_p))


@dataclass(frozen=True, slots=True)
class NativeModelParams:
    """The structure and the arrays that its pointers refer to; keep it until the load returns.

    Attributes:
        value: The structure for llama.cpp.
        gpus: Devices that layers are placed on; empty if the processor has all.
        devices: NULL-terminated device pointers, or None for llama.cpp's choice.
        overrides: `BufferOverride`s that end with an empty one, or None.
        tensor_split: `llama_max_devices()` shares, or None for llama.cpp's choice.
    """

    value: Any
    gpus: tuple[DeviceInfo, ...]
    devices: Any
    overrides: Any
    tensor_split: Any


def native_model_params(params: ModelParams, devices: Sequence[Device]) -> NativeModelParams:
    """Return the structure for `llama_model_load_from_file`, without a progress callback.

    Args:
        params: Parameters that `check_params` accepts.
        devices: All devices.

    Raises:
        ValueOutOfRangeError: They cannot be used as requested; see `devices_for`.
    """
    gpus = devices_for(params, [device.info for device in devices])
    value = llama_cpp.llama_model_default_params()
    value.n_gpu_layers = gpu_layers(params)
    value.main_gpu = params.main_gpu
    value.use_extra_bufts = params.extra_bufts
    if params.split_mode:
        value.split_mode = SPLIT_MODES[params.split_mode]
    listed = None
    # Otherwise llama.cpp chooses the same ones; it does not know those of servers.
    if params.device or any(device.info.server for device in devices):
        known = {device.info.name: device for device in devices}
        listed = (ctypes.c_void_p * (len(gpus) + 1))(*(known[gpu.name].pointer for gpu in gpus))
        value.devices = ctypes.cast(listed, ctypes.c_void_p)
        value.main_gpu = 0 if params.split_mode == "none" else params.main_gpu
    # Without a GPU the experts are on the CPU anyway, and an override would only prevent llama.cpp
    # from using the layouts of the CPU's faster kernels.
    overrides = _overrides(params.n_cpu_moe) if gpus else None
    if overrides is not None:
        value.tensor_buft_overrides = ctypes.cast(overrides, ctypes.c_void_p)
    split = None
    shares = params.tensor_split if len(gpus) > 1 else ()
    if listed is not None and len(gpus) > 1 and params.split_mode in ("", "layer"):
        shares = shares_of(params, gpus, {gpu.name: gpu.free_bytes for gpu in gpus})
    if shares:
        split = (ctypes.c_float * llama_cpp.llama_max_devices())(*shares)
        value.tensor_split = ctypes.cast(split, ctypes.POINTER(ctypes.c_float))
    return NativeModelParams(value, gpus, listed, overrides, split)


def native_context_params(
    params: ModelParams,
    n_ctx: int,
    n_batch: int,
    max_rows: int,
    n_states: int = 0,
    *,
    with_blocks: bool = False,
) -> Any:
    """Return the structure for `llama_init_from_model`; threads and callbacks are the caller's.

    Args:
        params: Parameters that `check_params` accepts; types, windows and place of the cache and
            flash attention are used.
        n_ctx: Size of the context in tokens.
        n_batch: Maximum number of tokens per decode.
        max_rows: Maximum number of rows of logits per decode.
        n_states: Number of earlier states that a recurrent memory keeps, one for each token that
            can be removed; clamped to 0 for kinds of models without that.
        with_blocks: Whether a second sequence shares the cells, which is needed to copy blocks of
            them; see `state_copies.py`.
    """
    p = llama_cpp.llama_context_default_params()
    p.n_ctx = n_ctx
    p.n_batch = p.n_ubatch = n_batch
    p.n_seq_max, p.kv_unified = (2, True) if with_blocks else (1, False)
    p.n_rs_seq = n_states
    p.n_outputs_max = max(max_rows, p.n_seq_max)  # llama.cpp ends the process with fewer
    p.swa_full = params.swa_full
    p.offload_kqv = params.kv_offload
    p.flash_attn_type = FLASH_ATTN[params.flash_attn]
    p.type_k, p.type_v = KV_TYPES[params.kv_type_k][0], KV_TYPES[params.kv_type_v][0]
    p.no_perf = True
    return p


def _overrides(n_layers: int) -> Any:
    """Return the overrides for the experts of the first layers, for all with -1, or None for 0."""
    if n_layers == 0:
        return None
    patterns = [EXPERTS] if n_layers < 0 else [rf"blk\.{i}{EXPERTS}" for i in range(n_layers)]
    cpu = cpu_buffer_type()
    entries = [BufferOverride(pattern.encode(), cpu) for pattern in patterns]
    return (BufferOverride * (len(entries) + 1))(*entries)
