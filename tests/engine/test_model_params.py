"""Model parameters that are refused, and the words for it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from paceline.engine.model.model_params import check_params, no_context
from paceline.engine.model.placement import cannot_place, devices_for
from paceline.errors import ValueOutOfRangeError
from paceline.messages import DeviceInfo, ModelParams

CPU = DeviceInfo("CPU", "a processor", "cpu", 2**34, 2**33)
GPUS = tuple(
    DeviceInfo(f"CUDA{i}", "a GPU", "gpu", 2**33, 2**33, splits_rows=True) for i in range(4)
)
CHIPS = tuple(DeviceInfo(f"Vulkan{i}", "in it", "igpu", 2**34, 2**33, "CPU") for i in range(2))
REMOTE = DeviceInfo("RPC0", "b:1", "rpc", 2**34, 2**33, server="b:1")


def check(devices: Sequence[DeviceInfo] = (*GPUS, CPU), **values: object) -> tuple[str, ...]:
    params = ModelParams("x.gguf", **values)  # type: ignore[arg-type]
    check_params(params)
    return tuple(device.name for device in devices_for(params, devices))


def refusal(devices: Sequence[DeviceInfo] = (*GPUS, CPU), **values: object) -> ValueOutOfRangeError:
    with pytest.raises(ValueOutOfRangeError) as caught:
        check(devices, **values)
    assert caught.value.code in ("value-out-of-range", "no-such-device")
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"n_cpu_moe": -1},
        {"n_cpu_moe": 1000},
        {"split_mode": "none", "main_gpu": 3},
        {"split_mode": "row", "tensor_split": (1.0, 0.0, 2.5, 3.0)},
        {"split_mode": "tensor"},
        {"n_gpu_layers": 12},
    ],
)
def test_with_gpus_these_are_fine(values: dict[str, object]) -> None:
    assert check(**values)


def test_experts_may_stay_on_the_cpu_where_there_is_nothing_else() -> None:
    assert check((CPU,), n_cpu_moe=-1) == check((CPU,), n_cpu_moe=7) == ()


def test_devices_are_chosen_as_llama_cpp_chooses_them() -> None:
    twice = DeviceInfo("Vulkan9", "CUDA0 again", "gpu", 2**33, 2**33, "CUDA0")
    assert check((CPU, *CHIPS, *GPUS, twice, REMOTE)) == (
        "RPC0", "CUDA0", "CUDA1", "CUDA2", "CUDA3",
    )  # fmt: skip
    assert check((CPU, *CHIPS, REMOTE)) == ("RPC0", "Vulkan0", "Vulkan1")
    other = DeviceInfo("Other0", "in it", "igpu", 2**34, 2**33, "CPU")
    assert check((CPU, CHIPS[0], other)) == ("Vulkan0",)
    assert check(device="cuda2, CUDA0") == ("CUDA2", "CUDA0")
    assert check(device="CUDA1,CPU") == ("CUDA1",)
    assert check(device="cpu", n_gpu_layers=9) == ()
    assert check(split_mode="none", main_gpu=2) == ("CUDA2",)
    assert check(device="CUDA3,CUDA1", split_mode="none", main_gpu=1) == ("CUDA1",)
    # Shares are given once, for a target on several devices and a draft model on one or on none.
    assert check(device="CUDA3", tensor_split=(3.0, 1.0)) == ("CUDA3",)
    assert check(device="CPU", tensor_split=(3.0, 1.0)) == ()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"tensor_split": (1.0,) * 5}, "5 shares"),
        ({"tensor_split": (1.0,) * 3, "device": "CUDA1,CUDA0"}, "CUDA1, CUDA0"),
        ({"tensor_split": (1.0, -0.5)}, "out of range"),
        ({"tensor_split": (1.0, math.nan)}, "out of range"),
        ({"tensor_split": (math.inf,)}, "out of range"),
        ({"tensor_split": (1e300,)}, "out of range"),
        ({"tensor_split": (0.0, 0.0)}, "is 0"),
        ({"split_mode": "none", "main_gpu": 4}, "number 4"),
        ({"device": "CUDA4"}, "CUDA4"),
        ({"device": "CUDA0,CUDA0"}, "twice"),
    ],
)
def test_values_that_no_build_can_serve(values: dict[str, object], words: str) -> None:
    assert words in refusal(**values).message


def test_a_servers_device_that_is_not_there_says_where_servers_are_chosen() -> None:
    assert "CUDA0" in refusal(device="CUDA9").hint
    assert "--rpc" not in refusal(device="CUDA9").hint
    assert "--rpc" in refusal(device="rpc0").hint


def test_rows_are_split_where_every_device_can() -> None:
    assert "Vulkan0" in refusal((CPU, *CHIPS), split_mode="row").message
    assert "RPC0" in refusal((*GPUS, REMOTE, CPU), split_mode="row").message


def test_no_more_devices_are_taken_than_llama_cpp_can() -> None:
    remote = tuple(replace(REMOTE, name=f"RPC{i}") for i in range(16))
    assert len(check((CPU, *remote[:15]))) == 15
    assert "15 devices at most, and these are 16: RPC0, " in refusal((CPU, *remote)).message
    blas = DeviceInfo("BLAS", "a library", "accel", 0, 0)
    assert "14 devices at most" in refusal((CPU, blas, *remote[:15])).message
    assert check((CPU, *remote), device="RPC9,RPC15") == ("RPC9", "RPC15")
    assert check((CPU, *remote), split_mode="none", main_gpu=15) == ("RPC15",)


@pytest.mark.parametrize(
    "values",
    [
        {"n_gpu_layers": 1},
        {"split_mode": "none"},
        {"split_mode": "layer"},
        {"tensor_split": (1.0,)},
        {"main_gpu": 1},
    ],
)
def test_a_build_without_gpus_refuses_what_needs_one(values: dict[str, object]) -> None:
    assert "no GPU here" in refusal((CPU,), **values).message


@pytest.mark.parametrize(
    "why",
    [
        "LLAMA_SPLIT_MODE_TENSOR needs >= 1 devices",
        "LLAMA_SPLIT_MODE_TENSOR not implemented for architecture 'mamba'",
        "device Vulkan0 does not support split buffers",
        "device Vulkan0 not found in its backend reg",
        "invalid value for main_gpu: 3 (available devices: 1)",
        "failed to initialize CUDA0 backend",
        "failed to find a compatible buffer type for tensor blk.0.attn_q.weight",
        "no CPU backend found",
        "vk::Queue::submit: ErrorDeviceLost",
    ],
)
def test_complaints_about_devices_do_not_blame_the_file(why: str) -> None:
    for error in (
        cannot_place("x.gguf", why),
        no_context(ModelParams("/y/x.gguf"), 4096, None, why),
    ):
        assert error is not None
        assert error.code == "cannot-place"
        assert error.message == f"llama.cpp cannot put “x.gguf” on these devices: {why}."


@pytest.mark.parametrize(
    "why",
    [
        "unknown model architecture: 'devices'",
        "missing tensor 'blk.0.attn_q.weight'",
        "failed to read magic",
        "invalid split file idx: 2 (file: x.gguf), expected 1",
        "SPLIT_MODE_TENSOR requires flash_attn to be enabled",
        "failed to initialize the memory module",
    ],
)
def test_other_complaints_are_not_about_devices(why: str) -> None:
    assert cannot_place("x.gguf", why) is None
