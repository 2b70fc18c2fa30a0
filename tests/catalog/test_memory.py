"""The plan for a pair: measurements go before estimates, and remedies come in their order."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from catalog.made_machines import CPU, GIB, MIB, cpu, gpu
from catalog.made_models import CARD, SMALL
from paceline.catalog.memory.plan import plan
from paceline.catalog.memory.values import Measurement, MemoryPlan
from paceline.messages import DeviceInfo, ModelParams
from paceline.params import Drafting, DraftModel, params_of

TARGET = ModelParams("target.gguf", n_ctx=4096)
DRAFT = ModelParams("draft.gguf", n_ctx=4096)
DRAFTING = DraftModel(DRAFT)
MEASURED = Measurement(
    kv=(("CPU", 320 * MIB),), compute=(("CPU", 77 * MIB),), kv_layers=(10 * MIB,) * 32, repacked=0
)


def planned(*devices: DeviceInfo, **how: Any) -> MemoryPlan:
    return plan(CARD, TARGET, SMALL, DRAFTING, devices, **how)


def savings(found: MemoryPlan) -> list[str]:
    return [remedy.saving for remedy in found.remedies]


def test_what_was_measured_counts() -> None:
    found = planned(CPU, measured_target=MEASURED)
    (main,) = found.devices
    assert main.target.kv == 320 * MIB
    assert main.target.compute - 77 * MIB < 20 * MIB  # what llama.cpp keeps beside its buffers
    assert not found.is_measured  # the draft model is not
    assert planned(CPU, measured_target=MEASURED, measured_draft=MEASURED).is_measured


def test_a_measurement_follows_the_layers_to_the_gpu() -> None:
    all_of_it = planned(gpu(24), CPU, measured_target=MEASURED).devices
    assert (all_of_it[0].target.kv, all_of_it[1].target.kv) == (320 * MIB, 0)
    half = replace(TARGET, n_gpu_layers=17)
    found = plan(CARD, half, None, None, [gpu(24), CPU], measured_target=MEASURED).devices
    assert (found[0].target.kv, found[1].target.kv) == (160 * MIB, 160 * MIB)


def test_embeddings_that_serve_as_the_output_are_copied_to_the_gpu() -> None:
    tied = structs.replace(CARD, output_bytes=0, tied_bytes=CARD.input_bytes)
    on_gpu, main = plan(tied, TARGET, None, None, [gpu(24), CPU]).devices
    assert on_gpu.target.weights == sum(CARD.layer_bytes) + CARD.input_bytes
    assert main.target.weights == CARD.input_bytes
    others = structs.replace(tied, tied_bytes=0)  # embeddings of another kind stay where they are
    assert plan(others, TARGET, None, None, [gpu(24), CPU]).devices[0].target.weights == sum(
        CARD.layer_bytes
    )


def test_a_measurement_is_scaled_to_the_context_that_is_decided() -> None:
    left_open = replace(TARGET, n_ctx=0)
    measured = structs.replace(MEASURED, kv_layers=(64 * MIB,) * 32)
    found = plan(CARD, left_open, None, None, [cpu(6.5)], measured_target=measured)
    assert found.fits
    (main,) = found.devices
    assert main.target.kv == pytest.approx(64 * MIB * 32 * found.target.n_ctx / 4096, rel=1e-6)
    assert found.target.n_ctx < 4096


def test_states_that_no_context_makes_larger_stay() -> None:
    states = structs.replace(CARD, kv_elements=((0, 0),) * 32)
    left_open = replace(TARGET, n_ctx=0)
    found = plan(states, left_open, None, None, [CPU], measured_target=MEASURED)
    assert found.devices[0].target.kv == 320 * MIB
    assert plan(states, TARGET, None, None, [CPU]).devices[0].target.kv == 0


def test_copied_weights_are_no_reason_not_to_load() -> None:
    copied = structs.replace(MEASURED, repacked=4 * GIB)
    (main,) = planned(CPU, measured_target=copied).devices
    (plain,) = planned(CPU, measured_target=MEASURED).devices
    assert main.target.spare == 4 * GIB
    assert main.target.total == plain.target.total
    assert planned(gpu(24), CPU, measured_target=copied).devices[-1].target.spare == 0


def test_what_the_loaded_pair_gives_back_can_be_taken() -> None:
    full = structs.replace(CPU, free_bytes=2 * GIB)
    assert not planned(full).fits
    assert planned(full, reclaimable={"CPU": 30 * GIB}).fits
    ours = planned(full, reclaimable={"CPU": 30 * GIB})
    assert (ours.target, ours.drafting) == (TARGET, DRAFTING)


def test_a_plan_says_what_a_loaded_pair_would_give_back() -> None:
    first = planned(gpu(5), CPU)
    card, main = first.devices
    taken = {"CPU": sum(share.kv + share.compute for share in (main.target, main.draft))}
    taken[card.device] = card.target.total + card.draft.total
    assert first.gives_back == taken
    left = [
        structs.replace(device, free_bytes=device.free_bytes - taken[device.name])
        for device in (gpu(5), CPU)
    ]
    assert planned(*left, reclaimable=first.gives_back) == first
    assert planned(*left).target.n_gpu_layers < first.target.n_gpu_layers


def test_mapped_weights_are_free_already_and_their_copies_are_given_back() -> None:
    copied = structs.replace(MEASURED, repacked=4 * GIB)
    plain = planned(CPU, measured_target=MEASURED).gives_back["CPU"]
    assert planned(CPU, measured_target=copied).gives_back["CPU"] - plain == 4 * GIB
    assert plain < 2 * GIB < CARD.n_bytes


def test_a_quantised_cache_takes_less() -> None:
    quantised = replace(TARGET, kv_type_k="q8_0", kv_type_v="q8_0")
    (plain,) = planned(CPU).devices
    (small,) = plan(CARD, quantised, None, None, [CPU]).devices
    assert small.target.kv * 32 == plain.target.kv * 17


def test_contexts_are_padded_and_masks_grow() -> None:
    short, padded = (
        plan(CARD, replace(TARGET, n_ctx=n), None, None, [CPU]).devices[0].target
        for n in (1024, 1025)
    )
    assert padded.kv == short.kv * 5 // 4
    plain = plan(CARD, TARGET, None, None, [CPU]).devices[0].target.compute
    scores = replace(TARGET, flash_attn="off")
    assert plan(CARD, scores, None, None, [CPU]).devices[0].target.compute > plain + 256 * MIB


def test_the_states_of_a_hybrid_stand_beside_its_cache() -> None:
    state = (MIB,) * 16 + (0,) * 16
    hybrid = structs.replace(MEASURED, state_layers=state, n_states=16)
    free = plan(CARD, TARGET, None, None, [CPU], measured_target=MEASURED).devices[0]
    (main,) = plan(CARD, TARGET, None, None, [CPU], measured_target=hybrid).devices
    assert (main.target.states, main.target.kv) == (16 * 16 * MIB, free.target.kv)
    assert main.missing == free.missing
    narrow = main_memory(main.target.total + 800 * MIB - 16 * GIB // 20)
    (main,) = plan(CARD, TARGET, None, None, [narrow], measured_target=hybrid).devices
    assert main.target.states == 5 * 16 * MIB, "a tenth of what is free after the load"
    as_draft = planned(CPU, measured_draft=hybrid)
    assert as_draft.devices[0].draft.states == 2 * 16 * MIB, "copies"
    without = planned(CPU, measured_draft=MEASURED)
    assert as_draft.gives_back["CPU"] - without.gives_back["CPU"] == 2 * 16 * MIB
    on_gpu, main = plan(CARD, TARGET, None, None, [gpu(24), CPU], measured_target=hybrid).devices
    assert (on_gpu.target.states, main.target.states) == (16 * 16 * MIB, 0)
    none = structs.replace(hybrid, n_states=0)
    on_gpu, main = plan(CARD, TARGET, None, None, [gpu(24), CPU], measured_target=none).devices
    assert (on_gpu.target.states, main.target.states) == (0, 2 * 16 * MIB)


def test_states_are_planned_for_the_devices_that_a_model_uses() -> None:
    hybrid = structs.replace(MEASURED, state_layers=(MIB,) * 32, n_states=16)
    first = gpu(24)
    second = structs.replace(first, name="second")
    built_in = structs.replace(first, name="built-in", kind="igpu")
    for params, devices, where in (
        (replace(TARGET, device="CPU"), [first, CPU], 1),
        (replace(TARGET, device="second"), [first, second, CPU], 1),
        (replace(TARGET, split_mode="none"), [first, second, CPU], 0),
        (replace(TARGET, tensor_split=(1.0, 0.0)), [first, second, CPU], 0),
        (TARGET, [first, built_in, CPU], 0),
    ):
        found = plan(CARD, params, None, None, devices, measured_target=hybrid).devices
        assert [bool(device.target.states) for device in found].index(True) == where


def test_a_plan_says_how_the_target_goes_back() -> None:
    hybrid = structs.replace(MEASURED, state_layers=(MIB,) * 32, n_states=16)
    windowed = structs.replace(MEASURED, window_layers=(2 * MIB, 10 * MIB) * 16)
    alone = replace(TARGET, swa_full=False)

    def way(
        measured: Measurement | None, params: ModelParams = TARGET, n_left: int = 16 * GIB
    ) -> str | None:
        (main,) = plan(CARD, params, None, None, [CPU], measured_target=measured).devices
        free = structs.replace(CPU, free_bytes=main.target.total + n_left)
        back = plan(CARD, params, None, None, [free], measured_target=measured).going_back
        assert back is None or back.sentence
        return back and back.way

    assert (way(MEASURED), way(windowed), way(windowed, alone)) == ("cells", "cells", "windows")
    assert way(None) is None
    assert (way(hybrid), way(hybrid, n_left=GIB), way(hybrid, n_left=GIB // 4)) == (
        "states", "copies", "none",
    )  # fmt: skip


def test_layers_with_a_sliding_window_show_what_they_keep_beyond_it() -> None:
    windowed = structs.replace(MEASURED, window_layers=(2 * MIB, 10 * MIB) * 16)
    (main,) = plan(CARD, TARGET, None, None, [CPU], measured_target=windowed).devices
    assert (main.target.kv, main.target.beyond_windows) == (320 * MIB, 128 * MIB)
    assert main.target.states == 0
    alone = replace(TARGET, swa_full=False)
    (main,) = plan(CARD, alone, None, None, [CPU], measured_target=windowed).devices
    assert (main.target.kv, main.target.beyond_windows) == (192 * MIB, 0)
    assert main.target.states == 12 * MIB, "a copy of the windows, from a prompt's end"
    short = structs.replace(CPU, free_bytes=main.target.total + 200 * MIB)
    (main,) = plan(CARD, alone, None, None, [short], measured_target=windowed).devices
    assert main.target.states == 0


# ------------------------------------------------------------------------------------- remedies


def needed(drafting: Drafting = DRAFTING) -> int:
    """Return the bytes that the CPU's memory must have free for the pair."""
    (main,) = plan(CARD, TARGET, SMALL if drafting else None, drafting, [CPU]).devices
    return main.target.total + main.draft.total


def main_memory(n_bytes: int) -> DeviceInfo:
    return structs.replace(CPU, total_bytes=16 * GIB, free_bytes=n_bytes + 16 * GIB // 20)


def test_the_remedies_come_in_their_order_each_only_if_it_helps() -> None:
    found = planned(main_memory(needed() - MIB))
    assert savings(found) == ["draft-cache", "draft-context", "smaller-draft", "lookups"]
    cache, context, smaller, lookups = found.remedies
    assert params_of(cache.drafting) == replace(DRAFT, kv_type_k="q8_0", kv_type_v="q8_0")
    assert params_of(context.drafting) == replace(DRAFT, n_ctx=3840)
    assert "3,840 tokens" in context.text
    assert smaller.drafting == DRAFTING
    assert lookups.drafting is None
    assert found.target == TARGET


def test_windows_alone_are_the_mildest_remedy() -> None:
    windowed = structs.replace(MEASURED, window_layers=(2 * MIB, 10 * MIB) * 16)
    (main,) = planned(CPU, measured_target=windowed).devices
    total = main.target.total + main.draft.total
    found = planned(main_memory(total - 100 * MIB), measured_target=windowed)
    assert savings(found)[0] == "windows"
    assert found.remedies[0].target == replace(TARGET, swa_full=False)
    assert found.remedies[0].drafting == DRAFTING
    assert "134 MB less" in found.remedies[0].text
    found = planned(main_memory(total - 200 * MIB), measured_target=windowed)
    assert "windows" not in savings(found)


def test_a_remedy_that_does_not_help_is_not_offered() -> None:
    (main,) = planned(CPU).devices
    found = planned(main_memory(needed() - main.draft.kv * 3 // 4))
    assert savings(found) == ["draft-context", "smaller-draft", "lookups"]
    assert params_of(found.remedies[0].drafting) == replace(DRAFT, n_ctx=1024)
    assert savings(planned(main_memory(needed(None)))) == ["lookups"]


@pytest.mark.parametrize("free", [6, 7, 7.5, 8, 8.5])
def test_every_remedy_that_can_be_taken_makes_the_pair_fit(free: float) -> None:
    found = planned(gpu(0.9), cpu(free - 1.5))
    for remedy in found.remedies:
        if remedy.saving in {"smaller-draft", "none"}:
            continue
        card = SMALL if remedy.drafting else None
        again = plan(CARD, remedy.target, card, remedy.drafting, [gpu(0.9), cpu(free - 1.5)])
        assert again.fits


def test_a_draft_model_that_was_put_on_a_gpu_may_leave_it() -> None:
    wanted = replace(TARGET, n_gpu_layers=33), DraftModel(replace(DRAFT, n_gpu_layers=21))
    (card, _) = plan(CARD, wanted[0], SMALL, wanted[1], [gpu(64), CPU]).devices
    tight = gpu((card.target.total + 100 * MIB) / GIB + 0.5)
    found = plan(CARD, wanted[0], SMALL, wanted[1], [tight, CPU])
    assert "draft-on-cpu" in savings(found)
    remedy = next(r for r in found.remedies if r.saving == "draft-on-cpu")
    assert params_of(remedy.drafting) == replace(wanted[1].params, device="CPU", n_gpu_layers=0)


def test_a_target_that_finds_no_room_says_what_would() -> None:
    found = planned(main_memory(needed(None) - MIB))
    (remedy,) = found.remedies
    assert remedy.saving == "none"
    assert remedy.text == (
        "The model does not fit, even without a draft model. Missing: 1 MB (memory). "
        "What can help: a context of 3,840 tokens or fewer, a quantised cache, a smaller model, "
        "fewer other programs at the same time."
    )
    assert remedy.target == replace(TARGET, n_ctx=3840)
    (hopeless,) = planned(main_memory(GIB)).remedies
    assert hopeless.target == TARGET
    assert "What can help: a smaller model, " in hopeless.text


def test_what_is_missing_is_reported_of_each_device() -> None:
    wanted = replace(TARGET, n_gpu_layers=17)
    (remedy,) = plan(CARD, wanted, None, None, [gpu(0.6), cpu(0.6)]).remedies
    sizes = r"[\d.]+ [MG]B \([^()]+\)"
    assert re.search(rf"Missing: {sizes}, {sizes}\. ", remedy.text), remedy.text


def test_layers_that_do_not_fit_may_be_left_to_the_program() -> None:
    wanted = replace(TARGET, n_gpu_layers=33)
    found = plan(CARD, wanted, SMALL, DraftModel(replace(DRAFT, device="CPU")), [gpu(2), CPU])
    (remedy,) = found.remedies
    assert "What can help: automatic GPU layers, " in remedy.text
    assert plan(CARD, remedy.target, SMALL, remedy.drafting, [gpu(2), CPU]).fits
