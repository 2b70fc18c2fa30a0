"""Automatic GPU layers and context, on made-up machines of any size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec import structs

from catalog.made_machines import CPU, GIB, cpu, gpu, integrated, remote
from catalog.made_models import CARD, SMALL
from paceline.catalog.card import ModelCard
from paceline.catalog.memory.machine import Machine
from paceline.catalog.memory.plan import plan
from paceline.catalog.memory.values import MemoryPlan
from paceline.messages import DeviceInfo, ModelParams
from paceline.params import DraftModel, params_of

TARGET = ModelParams("target.gguf")
DRAFT = ModelParams("draft.gguf")
SIZES = st.floats(0, 24)
FEW = settings(max_examples=20, deadline=None)
ALL_OF_TARGET, ALL_OF_DRAFT = CARD.n_layers + 1, SMALL.n_layers + 1


def planned(
    devices: Sequence[DeviceInfo],
    target: ModelParams = TARGET,
    draft: ModelParams | None = DRAFT,
    card: ModelCard = CARD,
) -> MemoryPlan:
    drafting = DraftModel(draft) if draft else None
    return plan(card, target, SMALL if draft else None, drafting, devices)


def layers(found: MemoryPlan) -> tuple[int, int]:
    assert params_of(found.drafting) is not None
    return found.target.n_gpu_layers, params_of(found.drafting).n_gpu_layers


def test_a_gpu_that_has_room_for_both_models_gets_all_layers() -> None:
    found = planned([gpu(24), CPU])
    assert layers(found) == (ALL_OF_TARGET, ALL_OF_DRAFT)
    assert found.fits
    card, main = found.devices
    assert (card.device, main.device) == ("CUDA0", "CPU")
    # The target's embeddings stay with the CPU. The draft model has one matrix for embeddings and
    # output, and the GPU gets a copy of it as the output.
    assert main.target.weights == CARD.input_bytes
    assert card.target.weights == sum(CARD.layer_bytes) + CARD.output_bytes
    assert card.draft.weights == sum(SMALL.layer_bytes) + SMALL.input_bytes
    assert card.target.kv == 4096 * 32 * 2048 * 2
    assert main.target.kv == 0


def test_the_draft_model_comes_before_any_layer_of_the_target() -> None:
    assert layers(planned([gpu(2.2), CPU]))[1] == ALL_OF_DRAFT
    assert 0 < layers(planned([gpu(2.2), CPU]))[0] < ALL_OF_TARGET
    target, draft = layers(planned([gpu(0.9), CPU]))
    assert target == 0
    assert 0 < draft < ALL_OF_DRAFT


def test_a_gpu_without_any_room_is_not_used_at_all() -> None:
    found = planned([gpu(0.25), CPU])
    assert layers(found) == (0, 0)
    assert params_of(found.drafting) is not None
    # The plan names the CPU: otherwise llama.cpp computes large batches on the GPU even without
    # layers there.
    assert (found.target.device, params_of(found.drafting).device) == ("CPU", "CPU")
    assert found.fits


def test_numbers_of_layers_that_the_user_set_stay_even_where_they_do_not_fit() -> None:
    found = planned([gpu(1), CPU], replace(TARGET, n_gpu_layers=20), replace(DRAFT, n_gpu_layers=3))
    assert layers(found) == (20, 3)
    assert not found.fits
    assert found.remedies


def test_without_a_gpu_the_parameters_stay_as_they_are() -> None:
    found = planned([CPU])
    assert found.target.n_gpu_layers == -1
    assert found.target.device == ""


def test_the_context_becomes_shorter_only_when_all_memory_together_is_too_small() -> None:
    assert planned([cpu(64)]).target.n_ctx == 4096
    assert planned([gpu(0.25), cpu(64)]).target.n_ctx == 4096  # fewer layers come first
    tight = planned([cpu(6.5)])
    assert tight.fits
    assert 512 <= tight.target.n_ctx < 4096
    assert tight.target.n_ctx % 256 == 0
    given = planned([cpu(6.5)], replace(TARGET, n_ctx=4096))
    assert given.target.n_ctx == 4096
    hopeless = planned([cpu(2)])
    assert not hopeless.fits
    assert hopeless.target.n_ctx == 4096  # unchanged, so that the remedies can say what to change


def test_experts_on_the_cpu_leave_the_gpu_room_for_more_layers() -> None:
    moe = structs.replace(CARD, n_experts=8, expert_bytes=(100_000_000,) * 32)
    devices = [gpu(3), CPU]
    plain = planned(devices, card=moe)
    kept = planned(devices, replace(TARGET, n_cpu_moe=-1), card=moe)
    assert kept.target.n_gpu_layers > plain.target.n_gpu_layers
    some = planned([gpu(24), CPU], replace(TARGET, n_cpu_moe=3), card=moe)
    assert some.devices[-1].target.weights == CARD.input_bytes + 3 * 100_000_000


def test_an_integrated_gpu_takes_from_the_cpus_memory() -> None:
    found = planned([integrated(8), cpu(8)])
    chip, main = found.devices
    assert chip.target.total > 0
    assert main.free == 8 * GIB - chip.target.total - chip.draft.total


def test_a_server_is_used_where_this_machines_gpus_have_too_little_room() -> None:
    both = [remote(24), gpu(24), CPU]
    alone = planned(both)
    assert (alone.target.device, alone.devices[0].target.total) == ("CUDA0", 0)
    assert alone.target.n_gpu_layers == ALL_OF_TARGET
    small = [remote(24), gpu(3), CPU]
    shared = planned(small)
    assert shared.target.device == ""
    assert shared.target.n_gpu_layers == CARD.n_layers + 1
    assert all(device.target.total for device in shared.devices)
    assert planned([gpu(3), CPU]).target.n_gpu_layers < ALL_OF_TARGET
    assert layers(planned([remote(24), CPU])) == (ALL_OF_TARGET, ALL_OF_DRAFT)  # without a GPU here


@pytest.mark.parametrize(
    "given", [{"device": "RPC0"}, {"tensor_split": (1.0, 1.0)}, {"split_mode": "layer"}]
)
def test_devices_and_shares_that_the_user_set_stay(given: dict[str, Any]) -> None:
    wanted = replace(TARGET, n_ctx=512, **given)
    found = planned([remote(24), gpu(24), CPU], wanted)
    assert found.target == replace(wanted, n_gpu_layers=ALL_OF_TARGET)
    assert found.devices[0].target.total


@pytest.mark.parametrize("owner", [0, 1, 2])
def test_memory_of_one_machine_is_counted_once(owner: int) -> None:
    devices = [remote(12, i, "" if i == owner else f"RPC{owner}") for i in range(3)]
    found = planned([*devices, CPU], replace(TARGET, n_gpu_layers=99))
    first, others = (
        found.devices[owner],
        [d for d in found.devices[:3] if d.device != f"RPC{owner}"],
    )
    used = sum(device.target.total + device.draft.total for device in others)
    assert first.free == 12 * GIB - used
    assert [device.free for device in others] == [12 * GIB] * 2


def test_a_device_without_layers_keeps_its_margin_for_those_that_share_its_memory() -> None:
    devices = [remote(12, 0), remote(12, 1, "RPC0"), CPU]
    found = planned(devices, replace(TARGET, device="RPC1", n_gpu_layers=99))
    assert found.devices[0].target.total == 0
    assert found.devices[0].margin == found.devices[1].margin > 0


def test_memory_that_a_device_frees_counts_for_the_device_it_shares_it_with() -> None:
    busy = structs.replace(CPU, free_bytes=GIB)
    it = Machine.of([remote(64, shares="CPU"), busy], {"RPC0": 3 * GIB, "CPU": GIB})
    assert it.free["CPU"] == 5 * GIB


@FEW
@given(
    n=st.integers(1, 3),
    size=st.floats(1, 24),
    owner=st.sampled_from(("RPC0", "CPU")),
    limit=st.floats(0.5, 24),
)
def test_devices_that_share_a_memory_never_take_more_than_it_has(
    n: int, size: float, owner: str, limit: float
) -> None:
    host = cpu(size if owner == "CPU" else 64)
    guests = [remote(min(limit, size), i, owner) for i in range(n)]
    if owner == "RPC0":
        guests[0] = remote(size)
    found = planned([*guests, host])
    shared = [d for d in found.devices if d.device != ("CPU" if owner == "RPC0" else "")]
    used = sum(device.target.total + device.draft.total for device in shared)
    if found.fits and used:
        assert used + shared[0].margin <= size * GIB


@FEW
@given(
    sizes=st.lists(SIZES, max_size=3),
    main=st.floats(0, 32),
    n_ctx=st.sampled_from((0, 512, 5000, 32768)),
    kind=st.sampled_from(("f16", "q8_0", "q4_0")),
)
def test_a_plan_never_takes_more_of_a_gpu_than_there_is(
    sizes: list[float], main: float, n_ctx: int, kind: str
) -> None:
    devices = [*(gpu(size, i) for i, size in enumerate(sizes)), cpu(main)]
    how = {"n_ctx": n_ctx, "kv_type_k": kind, "kv_type_v": kind}
    found = planned(devices, replace(TARGET, **how), replace(DRAFT, **how))  # type: ignore[arg-type]
    for device in found.devices[:-1]:
        assert device.fits
        assert device.target.total + device.draft.total <= max(device.free - device.margin, 0)
    used = sum(d.target.weights + d.draft.weights for d in found.devices)
    assert used >= CARD.n_bytes - 10_000_000  # nothing is left out
    if found.fits:
        assert not found.remedies


@FEW
@given(size=SIZES, more=st.floats(0, 24), n_ctx=st.sampled_from((512, 4096, 16384)))
def test_more_memory_never_gives_fewer_layers(size: float, more: float, n_ctx: int) -> None:
    target, draft = replace(TARGET, n_ctx=n_ctx), replace(DRAFT, n_ctx=n_ctx)
    less_target, less_draft = layers(planned([gpu(size), CPU], target, draft))
    more_target, more_draft = layers(planned([gpu(size + more), CPU], target, draft))
    assert more_draft >= less_draft
    if more_draft == less_draft:
        assert more_target >= less_target


@FEW
@given(main=st.floats(1, 32), more=st.floats(0, 32))
def test_more_memory_never_gives_a_shorter_context(main: float, more: float) -> None:
    less = planned([cpu(main)])
    assume(less.fits)
    assert planned([cpu(main + more)]).target.n_ctx >= less.target.n_ctx


@FEW
@given(sizes=st.lists(SIZES, min_size=1, max_size=3))
def test_no_layer_of_the_target_is_on_a_gpu_before_the_draft_model_is(sizes: list[float]) -> None:
    found = planned([*(gpu(size, i) for i, size in enumerate(sizes)), CPU])
    target, draft = layers(found)
    if target > 0:
        alone = planned([*(gpu(size, i) for i, size in enumerate(sizes)), CPU],
                        replace(TARGET, n_gpu_layers=0, device="CPU"))  # fmt: skip
        assert draft == layers(alone)[1]  # as if the target were not there
