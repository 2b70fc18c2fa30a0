"""Places of layers by llama.cpp's rule, with its own examples, and limits of each device."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from catalog.made_machines import CPU, GIB, MIB, gpu, integrated, machine, remote
from paceline.catalog.memory.machine import Machine, gpus_for, places
from paceline.messages import DeviceInfo, ModelParams

PARAMS = ModelParams("m.gguf")


def layers(n: int, *devices: DeviceInfo, n_layers: int = 4, **given: object) -> str:
    """The places of four layers and the output, a letter each: C for the CPU, else the number."""
    params = ModelParams("m.gguf", n_gpu_layers=n, **given)  # type: ignore[arg-type]
    it = machine(*devices)
    names = places(n_layers, params, it, it.free)
    return "".join("C" if name == "CPU" else name[-1] for name in names)


@pytest.mark.parametrize(
    ("n", "expected"),
    [(0, "CCCCC"), (1, "CCCC0"), (2, "CCC00"), (4, "C0000"), (5, "00000"), (99, "00000"),
     (-1, "00000")],
)  # fmt: skip
def test_the_last_layers_go_to_the_gpu_and_the_output_is_the_last_of_them(
    n: int, expected: str
) -> None:
    assert layers(n, gpu(8)) == expected


def test_without_a_gpu_all_is_the_cpus() -> None:
    assert layers(-1) == "CCCCC"
    assert layers(3, DeviceInfo("BLAS", "", "accel", GIB, GIB)) == "CCCCC"


def test_several_gpus_share_by_free_memory_or_by_given_shares() -> None:
    both = gpu(8, 0), gpu(8, 1)
    assert layers(-1, *both) == "00011"  # 0, 1/5 and 2/5 lie below a half
    assert layers(4, *both) == "C0011"
    assert layers(-1, gpu(12, 0), gpu(4, 1)) == "00001"
    assert layers(-1, *both, tensor_split=(1.0, 3.0)) == "00111"
    assert layers(-1, *both, tensor_split=(0.0, 1.0)) == "11111"
    assert layers(-1, gpu(0, 0), gpu(0, 1)) == "00011"  # nothing is known: equal parts


def test_one_gpu_may_be_named_or_numbered() -> None:
    both = gpu(8, 0), gpu(8, 1)
    assert layers(-1, *both, device="cuda1") == "11111"
    assert layers(-1, *both, device="CPU") == "CCCCC"
    assert layers(-1, *both, split_mode="none") == "00000"
    assert layers(-1, *both, split_mode="none", main_gpu=1) == "11111"
    assert layers(-1, *both, split_mode="none", main_gpu=7) == "CCCCC"


def test_integrated_gpus_count_where_there_is_no_other() -> None:
    assert [d.name for d in gpus_for(PARAMS, machine(integrated(8), gpu(8)))] == ["CUDA0"]
    assert [d.name for d in gpus_for(PARAMS, machine(integrated(8)))] == ["Vulkan0"]


def test_what_the_loaded_pair_gives_back_counts_as_free_up_to_what_there_is() -> None:
    busy = DeviceInfo("CUDA0", "A card", "gpu", 8 * GIB, GIB)
    it = Machine.of([busy, CPU], {"CUDA0": 3 * GIB, "elsewhere": GIB})
    assert it.free["CUDA0"] == 4 * GIB
    assert Machine.of([busy, CPU], {"CUDA0": 30 * GIB}).free["CUDA0"] == 8 * GIB


def test_the_margin_is_a_twentieth_within_bounds() -> None:
    it = machine()
    assert [it.margin(gpu(n)) for n in (1, 20, 400)] == [512 * MIB, GIB, 2 * GIB]


def test_the_margin_of_a_server_is_of_what_it_lends() -> None:
    little = structs.replace(remote(64), free_bytes=GIB)
    assert machine(little).margin(little) == 512 * MIB
    loaded = Machine.of([little, CPU], {"RPC0": 39 * GIB})
    assert loaded.margin(little) == 2 * GIB


def test_a_list_without_a_cpu_still_makes_a_machine() -> None:
    assert Machine.of([gpu(8)], {}).free["CPU"] == 0


@given(
    n_layers=st.integers(0, 100),
    n=st.integers(-1, 120),
    sizes=st.lists(st.integers(0, 64), max_size=4),
)
def test_every_layer_has_a_place_and_the_devices_come_in_order(
    n_layers: int, n: int, sizes: list[int]
) -> None:
    gpus = [gpu(size, i) for i, size in enumerate(sizes)]
    it = machine(*gpus)
    found = places(n_layers, ModelParams("m.gguf", n_gpu_layers=n), it, it.free)
    assert len(found) == n_layers + 1
    order = ["CPU", *(g.name for g in gpus)]
    ranks = [order.index(name) for name in found]
    assert all(a <= b for a, b in pairwise(ranks))
    wanted = n_layers + 1 if n < 0 else min(n, n_layers + 1)
    assert sum(name != "CPU" for name in found) == (wanted if gpus else 0)
