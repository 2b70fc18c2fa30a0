"""Memory of a dry run and of the real load, compared by llama.cpp's reports on both."""

from __future__ import annotations

import ctypes
import re
import struct
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import make_pairs
from gguf_file import Gguf, read
from paceline.engine.cancel import CancelFlag
from paceline.engine.llama import LlamaBackend
from paceline.engine.llama.buffers import Buffers
from paceline.engine.llama.dry_run import DryRuns, read_caches
from paceline.engine.llama.library import declared, libggml, start
from paceline.errors import ModelError, ValueOutOfRangeError
from paceline.messages import DeviceMemory, ModelParams
from quantised_model import quantised

if TYPE_CHECKING:
    from collections.abc import Iterator

MIB = 2**20
ROUNDING = 0.02 * MIB  # of one number in llama.cpp's log, and a bit
_BUFFER = re.compile(r"(\S+) +(KV|RS|compute|model) buffer size = +([\d.]+) MiB")
U16 = 2


@pytest.fixture
def dry_runs() -> Iterator[DryRuns]:
    runs = DryRuns()
    yield runs
    runs.close()


def really(params: ModelParams, n_rows: int = 63) -> dict[str, float]:
    """Load a model and return the sizes of its buffers by kind; "copies" are repacked weights."""
    lines: list[str] = []
    log = start()
    log.listener = lines.append
    try:
        model = LlamaBackend().load(
            params, n_rows=n_rows, cancel=CancelFlag(), progress=lambda _: None
        )
    finally:
        log.listener = None
    model.close()
    found = dict.fromkeys(("KV", "RS", "compute", "model", "copies"), 0.0)
    for line in lines:
        if buffer := _BUFFER.search(line):
            name, kind, size = buffer[1], buffer[2], float(buffer[3]) * MIB
            is_copy = kind == "model" and not name.startswith(("CPU_Mapped", "CPU_PINNED"))
            found["copies" if is_copy and name != "CPU" else kind] += size
    return found


def check(dry_runs: DryRuns, params: ModelParams, n_vocab: int = 8192) -> None:
    told, found = dry_runs.measure(params), really(params)
    kv, compute = dict(told.kv), dict(told.compute)
    assert kv["CPU"] == pytest.approx(found["KV"] + found["RS"], abs=2 * ROUNDING)
    assert sum(told.kv_layers if params.swa_full else told.window_layers) == kv["CPU"]
    # The buffer of a decode's rows is made for one row at first.
    assert compute["CPU"] - 63 * n_vocab * 4 == pytest.approx(found["compute"], abs=ROUNDING)
    assert told.repacked == pytest.approx(found["copies"], abs=ROUNDING)


@pytest.mark.parametrize("name", ["tiny-target", "tiny-swa", "tiny-moe", "tiny-mamba"])
def test_a_dry_run_reports_the_memory_of_a_load(dry_runs: DryRuns, name: str) -> None:
    params = ModelParams(str(make_pairs.path(name)), n_ctx=1024)
    check(dry_runs, params)
    check(dry_runs, replace(params, n_ctx=700))
    if name != "tiny-mamba":
        check(dry_runs, replace(params, kv_type_k="q8_0", kv_type_v="q8_0"))
        check(dry_runs, replace(params, flash_attn="off"))
    if name == "tiny-swa":
        check(dry_runs, replace(params, swa_full=False))
        check(dry_runs, replace(params, swa_full=False, n_ctx=300))


def test_the_rows_of_a_decode_count(dry_runs: DryRuns, target_path: Path) -> None:
    params = ModelParams(str(target_path))
    many, one = (dict(dry_runs.measure(params, n).compute)["CPU"] for n in (63, 1))
    assert many - one >= 62 * 8192 * 4


def test_two_models_are_kept_open_and_each_gets_its_own_answer(dry_runs: DryRuns) -> None:
    names = "tiny-target", "tiny-swa", "tiny-mamba"
    params = [ModelParams(str(make_pairs.path(name)), n_ctx=512) for name in names]
    first = [dry_runs.measure(each) for each in params]
    assert [dry_runs.measure(each) for each in (*params, *reversed(params))] == [
        *first,
        *reversed(first),
    ]
    assert len({run.kv for run in first}) == 3


def test_a_file_that_has_changed_is_read_again(dry_runs: DryRuns, tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(make_pairs.path("tiny-target").read_bytes())
    before = dry_runs.measure(ModelParams(str(file), n_ctx=512))
    file.write_bytes(make_pairs.path("tiny-draft").read_bytes())
    assert len(dry_runs.measure(ModelParams(str(file), n_ctx=512)).kv_layers) < len(
        before.kv_layers
    )


def test_a_header_with_a_hole_after_it_is_enough(dry_runs: DryRuns, tmp_path: Path) -> None:
    whole = make_pairs.path("tiny-target")
    hole = tmp_path / "hole.gguf"
    with hole.open("wb") as file:
        file.write(whole.read_bytes()[:600_000])
        file.truncate(whole.stat().st_size)
    params = ModelParams(str(whole), n_ctx=1024)
    assert dry_runs.measure(replace(params, path=str(hole))) == dry_runs.measure(params)


def test_what_cannot_be_loaded_is_refused(dry_runs: DryRuns, tmp_path: Path) -> None:
    target = str(make_pairs.path("tiny-target"))
    with pytest.raises(ModelError) as failure:
        dry_runs.measure(ModelParams(str(tmp_path / "gone.gguf")))
    assert failure.value.code == "file-not-found"
    with pytest.raises(ModelError) as failure:
        dry_runs.measure(ModelParams(str(make_pairs.path("truncated"))))
    assert failure.value.code == "cannot-load"
    with pytest.raises(ValueOutOfRangeError):
        dry_runs.measure(ModelParams(target, n_ctx=100_000))
    with pytest.raises(ValueOutOfRangeError):
        dry_runs.measure(ModelParams(target, kv_type_v="q4_0", flash_attn="off"))
    assert dry_runs.measure(ModelParams(target)).kv  # and goes on


# ------------------------------------------------------------------------------ repacked weights


def written(model: Gguf, file: Path) -> ModelParams:
    with file.open("wb") as out:
        model.write(out)
    return ModelParams(str(file), n_ctx=512)


@pytest.mark.parametrize("name", ["tiny-target", "tiny-moe", "tiny-swa"])
@pytest.mark.parametrize("embedding", [False, True])
def test_copies_of_weights_in_another_layout_are_counted(
    dry_runs: DryRuns, tmp_path: Path, name: str, embedding: bool
) -> None:
    model = quantised(read(make_pairs.path(name)), embedding=embedding)
    params = written(model, tmp_path / "model.gguf")
    check(dry_runs, params)
    check(dry_runs, replace(params, extra_bufts=False))
    assert dry_runs.measure(replace(params, extra_bufts=False)).repacked == 0


def test_all_parts_of_a_split_model_are_counted(dry_runs: DryRuns, tmp_path: Path) -> None:
    model = quantised(read(make_pairs.path("tiny-target")))
    whole = dry_runs.measure(written(model, tmp_path / "whole.gguf"))
    names = list(model.tensors)
    parts = []
    for i, mine in enumerate((names[:7], names[7:])):
        part = Gguf(dict(model.metadata) if i == 0 else {}, {n: model.tensors[n] for n in mine})
        part.metadata["split.no"] = struct.pack("<IH", U16, i)
        part.metadata["split.count"] = struct.pack("<IH", U16, 2)
        part.metadata["split.tensors.count"] = struct.pack("<Ii", 5, len(names))
        parts.append(written(part, tmp_path / f"split-{i + 1:05}-of-00002.gguf"))
    assert dry_runs.measure(parts[0]) == whole


# -------------------------------------------------------------------------------- llama.cpp's log


def test_each_layers_cache_is_where_the_log_says() -> None:
    lines = """\
llama_context:  CUDA_Host  output buffer size =     0.58 MiB
llama_kv_cache_iswa: creating non-SWA KV cache, size = 4096 cells
llama_kv_cache: layer   0: filtered
llama_kv_cache: layer   1: dev = CUDA0
llama_kv_cache: layer   2: dev = CUDA1
llama_kv_cache:      CUDA0 KV buffer size =     0.00 MiB
llama_kv_cache: size =   32.00 MiB (  4096 cells,   2 layers,  1/1 seqs), K (f16):   16.00 MiB
llama_kv_cache: layer   0: dev = CPU
llama_kv_cache: size =    3.00 MiB (  1024 cells,   1 layers,  1/1 seqs), K (f16):    1.50 MiB
llama_memory_recurrent, layer   3: dev = CUDA1
llama_memory_recurrent:      CUDA1 RS buffer size =     0.50 MiB
llama_memory_recurrent: size =    1.50 MiB (     1 cells,   4 layers, 2 rs_seq), R (f32): 0.30 MiB
sched_reserve:      CUDA0 compute buffer size =   100.50 MiB
sched_reserve:      CUDA1 compute buffer size =    50.00 MiB
sched_reserve:  CUDA_Host compute buffer size =     9.00 MiB
sched_reserve:        CPU compute buffer size =     1.00 MiB
""".splitlines()
    kv, layers, states = read_caches(lines, 4, n_states=2)
    assert kv == {"CUDA0": 16 * MIB, "CUDA1": 16 * MIB + MIB // 2, "CPU": 3 * MIB}
    buffers = Buffers()
    buffers.read(lines, {name: name for name in ("CUDA0", "CUDA1", "CPU")})
    assert buffers.compute == {"CUDA0": 100 * MIB + MIB // 2, "CUDA1": 50 * MIB, "CPU": 10 * MIB}
    assert layers == (3 * MIB, 16 * MIB, 16 * MIB, MIB // 2)
    assert states == (0, 0, 0, MIB // 2)


def test_buffers_of_a_load_are_their_devices() -> None:
    lines = """\
load_tensors:   CPU_Mapped model buffer size =    17.00 MiB
load_tensors:   CPU_REPACK model buffer size =     3.00 MiB
load_tensors:  MTL0_Mapped model buffer size =     5.50 MiB
load_tensors: RPC0[10.0.0.5:50052] model buffer size =   123.25 MiB
load_tensors: RPC1[10.0.0.5:50052] model buffer size =    78.50 MiB
load_tensors: RPC0[10.0.0.6:50052] model buffer size =    10.00 MiB
llama_kv_cache: RPC1[10.0.0.5:50052] KV buffer size =     8.00 MiB
llama_memory_recurrent: RPC1[10.0.0.5:50052] RS buffer size =     1.50 MiB
sched_reserve:        CPU compute buffer size =    28.00 MiB
~llama_context:        CPU compute buffer size is  28.0479 MiB, matches expectation of  28.0 MiB
""".splitlines()
    remote = [("RPC0", "5", 0), ("RPC1", "5", 1), ("RPC2", "6", 0)]
    names = {f"RPC{i}[10.0.0.{host}:50052]": name for name, host, i in remote}
    buffers = Buffers()
    buffers.read(lines, {"CPU": "CPU", "MTL0": "MTL0", **names})
    buffers.add_rows(4, MIB)
    told = {each.device: each for each in buffers.by_device}
    assert set(told) == {"MTL0", "RPC0", "RPC1", "RPC2", "CPU"}
    assert told["CPU"] == DeviceMemory("CPU", 20 * MIB, 0, 44 * MIB)
    assert told["RPC1"] == DeviceMemory("RPC1", 157 * MIB // 2, 19 * MIB // 2, 0)
    assert [told[name].total for name in ("MTL0", "RPC2")] == [11 * MIB // 2, 10 * MIB]


def test_a_head_has_a_cache_of_its_own_and_an_assistant_has_none(dry_runs: DryRuns) -> None:
    path = str(make_pairs.path("tiny-mtp"))
    model, head = dry_runs.measure(ModelParams(path)), dry_runs.measure(ModelParams(path), 1, path)
    assert [bool(n) for n in model.kv_layers] == [True] * 4 + [False]
    assert [bool(n) for n in head.kv_layers] == [False] * 4 + [True]
    target, assistant = (
        str(make_pairs.path(name)) for name in ("tiny-gemma4", "tiny-gemma4-assistant")
    )
    run = dry_runs.measure(ModelParams(assistant), 1, target)
    assert (sum(run.kv_layers), run.kv) == (0, ())
    assert dict(run.compute)["CPU"] > 0


def test_a_files_declarations_are_its_own() -> None:
    one = declared(libggml, "ggml_", (("free", None, (ctypes.c_void_p,)),))
    declared(libggml, "ggml_", (("free", ctypes.c_int, ()),))
    assert (one.ggml_free.restype, one.ggml_free.argtypes) == (None, (ctypes.c_void_p,))
