"""The exact structures that llama.cpp gets, and what its contexts then report of themselves."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np
import pytest

import make_pairs
from inline_client import InlineClient
from integration.engine import GREEDY, native_context
from paceline.engine.cancel import CancelFlag
from paceline.engine.llama import LlamaBackend, LlamaModel
from paceline.engine.llama.devices import Device, Devices, cpu_buffer_type
from paceline.engine.llama.library import start
from paceline.engine.llama.native_params import (
    BufferOverride,
    NativeModelParams,
    native_context_params,
    native_model_params,
)
from paceline.engine.model.model_file import file_id
from paceline.errors import ModelError, ValueOutOfRangeError
from paceline.messages import (
    Chat,
    ChatMessage,
    DeviceInfo,
    LoadPair,
    ModelParams,
    PairLoaded,
    StartTurn,
)
from paceline.params import DraftModel
from strategies import strategy

DEVICES = [
    Device(DeviceInfo("CPU", "a processor", "cpu", 0, 0), partial(int, 0x1000)),
    Device(DeviceInfo("CUDA0", "a GPU", "gpu", 0, 0, splits_rows=True), partial(int, 0x2000)),
    Device(DeviceInfo("CUDA1", "another", "gpu", 0, 0, splits_rows=True), partial(int, 0x3000)),
]
SERVER = "192.168.1.5:50052"
REMOTE = [
    Device(DeviceInfo(f"RPC{i}", SERVER, "rpc", 0, 0, server=SERVER), partial(int, 0x4000 + i))
    for i in range(2)
]
# The parameters of a target and of its draft, which differ in everything.
TARGET = ModelParams(
    "t.gguf", n_cpu_moe=2, split_mode="row", tensor_split=(3.0, 1.0), main_gpu=1, n_gpu_layers=20
)
DRAFT = ModelParams("d.gguf", n_cpu_moe=-1, split_mode="none", main_gpu=0, device="cuda1")


def native(params: ModelParams, devices: Sequence[Device] = DEVICES) -> NativeModelParams:
    return native_model_params(params, devices)


def patterns(value: Any) -> list[bytes]:
    """Read the overrides as llama.cpp does: up to the entry without a pattern."""
    found: list[bytes] = []
    if not value.tensor_buft_overrides:
        return found
    entries = ctypes.cast(value.tensor_buft_overrides, ctypes.POINTER(BufferOverride))
    while entries[len(found)].pattern is not None:
        assert entries[len(found)].buffer_type == cpu_buffer_type()
        found.append(entries[len(found)].pattern)
    return found


def device_pointers(value: Any) -> list[int] | None:
    if not value.devices:
        return None
    pointers = ctypes.cast(value.devices, ctypes.POINTER(ctypes.c_void_p))
    found: list[int] = []
    while (pointer := pointers[len(found)]) is not None:
        found.append(pointer)
    return found


def test_the_defaults_are_llama_cpps_own() -> None:
    value, default = native(ModelParams("x")).value, llama_cpp.llama_model_default_params()
    value.n_gpu_layers = default.n_gpu_layers  # all there are, in other words
    for name, _ in value._fields_:
        mine, theirs = getattr(value, name), getattr(default, name)
        assert bool(mine) == bool(theirs), name
        if isinstance(mine, (int, bool)):
            assert mine == theirs, name


def test_the_targets_structure() -> None:
    made = native(TARGET)
    value = made.value
    experts = rb"\.ffn_(up|down|gate|gate_up)_(ch|)exps"
    assert patterns(value) == [rb"blk\.0" + experts, rb"blk\.1" + experts]
    assert value.split_mode == llama_cpp.LLAMA_SPLIT_MODE_ROW
    assert value.main_gpu == 1
    assert value.n_gpu_layers == 20
    assert device_pointers(value) is None
    n = llama_cpp.llama_max_devices()
    assert value.tensor_split[:n] == [3.0, 1.0] + [0.0] * (n - 2)
    assert not value.vocab_only


def test_weights_are_repacked_unless_that_is_switched_off() -> None:
    assert native(TARGET).value.use_extra_bufts
    assert not native(replace(TARGET, extra_bufts=False)).value.use_extra_bufts


def test_the_drafts_structure_is_its_own() -> None:
    made = native(DRAFT)
    value = made.value
    assert patterns(value) == [rb"\.ffn_(up|down|gate|gate_up)_(ch|)exps"]
    assert value.split_mode == llama_cpp.LLAMA_SPLIT_MODE_NONE
    assert value.main_gpu == 0
    assert value.n_gpu_layers > 500
    assert device_pointers(value) == [0x3000]
    assert not value.tensor_split


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("none", llama_cpp.LLAMA_SPLIT_MODE_NONE),
        ("layer", llama_cpp.LLAMA_SPLIT_MODE_LAYER),
        ("row", llama_cpp.LLAMA_SPLIT_MODE_ROW),
        ("tensor", llama_cpp.LLAMA_SPLIT_MODE_TENSOR),
    ],
)
def test_split_modes(name: str, number: int) -> None:
    assert native(ModelParams("x", split_mode=name)).value.split_mode == number


def test_shares_say_nothing_to_a_model_on_one_device() -> None:
    params = replace(TARGET, device="CUDA1", tensor_split=(0.0, 1.0))
    assert not native(params).value.tensor_split


def test_devices_by_name() -> None:
    assert device_pointers(native(ModelParams("x", device="cpu")).value) == []
    with pytest.raises(ValueOutOfRangeError, match="CUDA9") as caught:
        native(ModelParams("x", device="CUDA9"))
    assert "CUDA1" in caught.value.hint
    assert device_pointers(native(ModelParams("x", device="cuda1, CUDA0")).value) == [
        0x3000,
        0x2000,
    ]


def test_devices_of_servers_are_always_listed_and_come_first() -> None:
    everything = [*DEVICES, *REMOTE]
    assert device_pointers(native(ModelParams("x"), everything).value) == [
        0x4000,
        0x4001,
        0x2000,
        0x3000,
    ]
    assert device_pointers(native(ModelParams("x", device="RPC1"), everything).value) == [0x4001]
    one = native(ModelParams("x", split_mode="none", main_gpu=2), everything).value
    assert (device_pointers(one), one.main_gpu) == ([0x2000], 0)
    alone = native(ModelParams("x"), [DEVICES[0], *REMOTE])
    assert [gpu.name for gpu in alone.gpus] == ["RPC0", "RPC1"]


def test_the_patterns_match_experts_and_nothing_else() -> None:
    (pattern,) = patterns(native(DRAFT).value)
    names = list(make_pairs.tiny_moe("x").tensors)
    hits = {name for name in names if re.search(pattern.decode(), name)}
    assert hits == {name for name in names if "_exps" in name}
    assert len(hits) == 6
    first = patterns(native(replace(TARGET, n_cpu_moe=1)).value)[0].decode()
    assert re.search(first, "blk.0.ffn_up_exps.weight")
    assert not re.search(first, "blk.10.ffn_up_exps.weight")
    assert not re.search(first, "blk.0.ffn_gate_inp.weight")


def test_without_a_gpu_nothing_is_overridden() -> None:
    alone = replace(DRAFT, device="CPU", split_mode="")
    assert patterns(native(alone, DEVICES[:1]).value) == []


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("auto", llama_cpp.LLAMA_FLASH_ATTN_TYPE_AUTO),
        ("off", llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED),
        ("on", llama_cpp.LLAMA_FLASH_ATTN_TYPE_ENABLED),
    ],
)
def test_the_contexts_structure(name: str, number: int) -> None:
    params = ModelParams("x", kv_type_k="q8_0", kv_type_v="q4_0", flash_attn=name)
    value = native_context_params(params, 768, 96, 7)
    assert value.offload_kqv
    assert not native_context_params(replace(params, kv_offload=False), 768, 96, 7).offload_kqv
    assert (value.n_ctx, value.n_batch, value.n_ubatch, value.n_outputs_max) == (768, 96, 96, 7)
    assert value.type_k == llama_cpp.GGML_TYPE_Q8_0
    assert value.type_v == llama_cpp.GGML_TYPE_Q4_0
    assert value.flash_attn_type == number


def load(params: ModelParams) -> LlamaModel:
    model = LlamaBackend().load(params, n_rows=2, cancel=CancelFlag(), progress=lambda _: None)
    assert isinstance(model, LlamaModel)
    return model


def load_overridden(params: ModelParams) -> LlamaModel:
    """Load with the structure of a build that has GPUs."""
    start()
    made = native_model_params(params, DEVICES)
    assert made.overrides is not None
    made.value.n_gpu_layers = 0
    path = Path(params.path)
    pointer = llama_cpp.llama_model_load_from_file(os.fsencode(path), made.value)
    assert pointer
    return LlamaModel(pointer, params, path, 2, CancelFlag(), devices=Devices())


@pytest.mark.parametrize("name", ["tiny-moe", "tiny-target"])
@pytest.mark.parametrize("n_cpu_moe", [-1, 1])
@pytest.mark.parametrize("open_model", [load, load_overridden])
def test_experts_on_the_cpu_give_the_same_logits(
    name: str, n_cpu_moe: int, open_model: Callable[[ModelParams], LlamaModel]
) -> None:
    plain = ModelParams(str(make_pairs.path(name)), n_threads=1)
    rows = []
    for params, opener in ((plain, load), (replace(plain, n_cpu_moe=n_cpu_moe), open_model)):
        model = opener(params)
        try:
            rows.append(np.array(model.decode([5, 6, 7, 8, 9], 2)))
        finally:
            model.close()
    assert np.ptp(rows[0]) > 1
    np.testing.assert_array_equal(*rows)


def facts_key(params: ModelParams) -> str:
    model = load(params)
    model.close()
    return model.facts_key


def test_every_parameter_counts_for_measured_facts() -> None:
    plain = ModelParams(str(make_pairs.path("tiny-moe")), n_threads=1)
    changes: list[dict[str, Any]] = [
        {},
        {"path": str(make_pairs.path("tiny-target"))},
        {"n_threads": 2, "n_threads_batch": 1},
        {"n_threads_batch": 2},
        {"kv_type_k": "q8_0"},
        {"kv_type_v": "q8_0"},
        {"flash_attn": "on"},
        {"flash_attn": "off"},
        {"device": "CPU"},
        {"n_cpu_moe": -1},
        {"swa_full": False},
        {"extra_bufts": False},
    ]
    keys = [facts_key(replace(plain, **change)) for change in changes]
    assert facts_key(plain) == keys[0]
    assert len(set(keys)) == len(changes), keys


def test_facts_of_the_processor_alone_are_found_by_the_key_that_they_were_kept_under() -> None:
    params = ModelParams(str(make_pairs.path("tiny-target")), n_threads=1)
    file = file_id(Path(params.path))
    assert facts_key(params) == (
        f"{file}|{llama_cpp.__version__}|t1-1|f16|f16|fa-auto|gpu0||moe0|split--()-0"
    )


def test_another_build_has_measured_facts_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    params = ModelParams(str(make_pairs.path("tiny-target")), n_threads=1)
    before = facts_key(params)
    monkeypatch.setattr(llama_cpp, "__version__", "0.0.0")
    assert facts_key(params) != before


@pytest.fixture
def pair(demo_pair: tuple[Path, Path]) -> Iterator[InlineClient]:
    """A pair of which the draft shares no setting with its target."""
    target, draft = (str(path) for path in demo_pair)
    client = InlineClient()
    events: list[object] = []
    client.on_event = events.append
    client.request(
        LoadPair(
            ModelParams(target, n_ctx=768, n_threads=1, n_threads_batch=2),
            DraftModel(ModelParams(
                draft, n_ctx=512, n_threads=2, n_threads_batch=1, device="CPU", flash_attn="on",
                kv_type_k="q8_0", kv_type_v="q4_0",
            )),
        )
    )  # fmt: skip
    assert isinstance(events[-1], PairLoaded), events[-1]
    client.request(
        StartTurn(
            Chat((ChatMessage.of_text("user", "hello"),)), strategy=strategy("draft"),
            max_tokens=4, seed=1, sampling=GREEDY,
        )
    )  # fmt: skip
    yield client
    client.close()


def test_a_draft_has_its_own_settings(pair: InlineClient) -> None:
    loaded = pair.pair
    assert loaded.draft is not None
    contexts = [native_context(book.model) for book in (loaded.target, loaded.draft)]
    for getter, expected in (
        (llama_cpp.llama_n_ctx, [768, 512]),
        (llama_cpp.llama_n_threads, [1, 2]),
        (llama_cpp.llama_n_threads_batch, [2, 1]),
    ):
        assert [getter(context) for context in contexts] == expected


@pytest.fixture
def native_lines() -> Iterator[list[str]]:
    """Lines that llama.cpp prints while the test runs."""
    lines: list[str] = []
    start().listener = lines.append
    yield lines
    start().listener = None


@pytest.mark.parametrize(
    ("flash_attn", "kv_types", "words"),
    [
        ("off", ("q8_0", "f16"), "disabled"),
        ("on", ("f16", "q8_0"), "enabled"),
        ("auto", ("f16", "f16"), "auto"),
    ],
)
def test_a_context_says_which_cache_and_attention_it_has(
    native_lines: list[str], flash_attn: str, kv_types: tuple[str, str], words: str
) -> None:
    type_k, type_v = kv_types
    params = ModelParams(str(make_pairs.path("tiny-target")), n_threads=1, flash_attn=flash_attn)
    load(replace(params, kv_type_k=type_k, kv_type_v=type_v)).close()
    told = "".join(native_lines)
    assert re.findall(r"^llama_context: flash_attn += (\w+)$", told, re.MULTILINE) == [words]
    assert re.findall(r" ([KV]) \((\w+)\):", told) == [("K", type_k), ("V", type_v)]


def test_a_context_computes_with_the_threads_set_last() -> None:
    model = load(ModelParams(str(make_pairs.path("tiny-target")), n_threads=1))
    try:
        before = model.facts_key
        model.set_threads(2, 3)
        for _ in range(2):
            context = native_context(model)
            assert llama_cpp.llama_n_threads(context) == model.info.n_threads == 2
            assert llama_cpp.llama_n_threads_batch(context) == model.info.n_threads_batch == 3
            model.remake(64, 32)  # which must not bring the old ones back
        assert model.facts_key != before
    finally:
        model.close()


def test_a_vocabulary_needs_a_model_file(tmp_path: Path) -> None:
    for path, code in (
        (tmp_path / "none.gguf", "file-not-found"),
        (make_pairs.path("not-a-model"), "not-a-gguf"),
    ):
        with pytest.raises(ModelError) as caught:
            LlamaBackend().load_vocabulary(str(path))
        assert caught.value.code == code


# --------------------------------------------------------------------------- repacked weights
