"""The memory that a load takes on each device: reported after the load, and near the plan.

The devices are those of one to three servers on loopback. Each claims 2 GB, since what is really
free there changes while the test runs. With ``--long`` over more models.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

import make_pairs
import real_models
from paceline.catalog.models import Models
from paceline.engine.cancel import CancelFlag
from paceline.engine.llama import LlamaBackend
from paceline.engine.model.rpc_servers import ask_servers
from paceline.engine.service import EngineService
from paceline.messages import (
    DescribeEngine,
    DeviceMemory,
    DraftModel,
    EngineDescribed,
    LoadPair,
    ModelParams,
    PairLoaded,
    Unload,
)
from paceline.params import OWN_HEAD
from paceline.paths import Paths
from rpc_servers import rpc_servers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from paceline.messages import DeviceInfo, Event
    from paceline.params import Drafting

MIB = 2**20
AIM = 0.08
SMALL = 4 * MIB
"""Tolerance in bytes: for tiny models, llama.cpp's rounding exceeds the relative one."""


class Rig:
    """An engine with its servers."""

    def __init__(self, endpoints: list[str]) -> None:
        self.events: list[Event] = []
        self.engine = EngineService(
            self.events.append, take_between=lambda: None, cancel=CancelFlag()
        )
        self.endpoints = tuple(endpoints)

    def devices(self, n: int = 1) -> tuple[DeviceInfo, ...]:
        self.engine.handle(Unload())
        self.engine.handle(DescribeEngine(self.endpoints[:n]))
        described = self.events[-1]
        assert isinstance(described, EngineDescribed)
        return described.devices

    def load(
        self, n: int, target: ModelParams, drafting: Drafting = None
    ) -> dict[str, DeviceMemory]:
        self.engine.handle(LoadPair(target, drafting, servers=self.endpoints[:n]))
        loaded = self.events[-1]
        assert isinstance(loaded, PairLoaded), loaded
        assert loaded.memory[-1].device == "CPU"
        return {each.device: each for each in loaded.memory}


@pytest.fixture
def models(tmp_path: Path) -> Iterator[Models]:
    with closing(Models(Paths(*[tmp_path] * 4), offline=True)) as made:
        yield made


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    with rpc_servers(3, "--memory", "2GB") as servers:
        made = Rig([server.endpoint for server in servers])
        yield made
        made.engine.handle(Unload())


# ------------------------------------------------------------------------------------------- found


def test_both_models_are_counted_together_on_each_device(rig: Rig) -> None:
    path = str(make_pairs.path("twin-70m"))
    params = ModelParams(path, n_ctx=512, n_gpu_layers=99, device="RPC0,RPC1")
    alone = ModelParams(path, n_ctx=512, n_gpu_layers=99, device="RPC1")
    first, both = rig.load(2, params), rig.load(2, params, DraftModel(alone))
    whole = rig.load(2, alone)
    assert list(first) == list(both) == ["RPC0", "RPC1", "CPU"]
    assert list(whole) == ["RPC1", "CPU"]
    assert both["RPC0"] == first["RPC0"]
    assert both["RPC1"].weights == first["RPC1"].weights + whole["RPC1"].weights
    assert both["RPC1"].kv == first["RPC1"].kv + whole["RPC1"].kv
    assert both["RPC1"].compute > first["RPC1"].compute
    shared = first["RPC0"].weights + first["RPC1"].weights
    assert abs(shared - whole["RPC1"].weights) <= 0.05 * MIB


def test_a_server_that_no_model_is_put_on_stays_free(rig: Rig) -> None:
    path = str(make_pairs.path("twin-70m"))
    found = rig.load(2, ModelParams(path, n_ctx=512, n_gpu_layers=99, device="RPC1"))
    assert "RPC0" not in found
    first, second = ask_servers(rig.endpoints[:2], 0.2)
    assert first.problem is None
    assert second.problem is not None  # it serves the model
    assert [device.name for device in rig.devices(2)] == ["CPU", "RPC0", "RPC1"]


def test_a_context_made_anew_counts_in_the_place_of_the_one_before() -> None:
    params = ModelParams(str(make_pairs.path("twin-70m")), n_ctx=1024, device="CPU")
    load = LlamaBackend().load(params, n_rows=8, cancel=CancelFlag(), progress=lambda _: None)
    (before,) = load.memory
    load.remake(512, 256)
    (after,) = load.memory
    load.close()
    assert after.weights == before.weights
    assert after.kv == before.kv // 2
    assert 0 < after.compute < before.compute


# ------------------------------------------------------------------------------ planned and found


class Case(NamedTuple):
    """A load over several servers.

    Attributes:
        n: Number of servers.
        model: A name of `make_pairs`, or of `real_models` with a type after a blank.
        how: Parameters of the model.
        draft: Parameters of the same model as the draft model, or None for a head or no drafts.
        head: True if the head in the model's file drafts.
    """

    n: int
    model: str
    how: dict[str, Any]
    draft: dict[str, Any] | None = None
    head: bool = False


MADE = (
    Case(2, "twin-70m", {"n_ctx": 2048}),
    Case(3, "twin-70m", {"n_ctx": 1024, "n_gpu_layers": 7, "flash_attn": "off"}),
    Case(1, "short-qwen35", {"n_ctx": 1024}),
    Case(2, "tiny-moe", {"n_ctx": 512, "n_cpu_moe": -1}),
    Case(2, "twin-70m", {"n_ctx": 1024, "device": "RPC0"}, {"n_ctx": 512, "device": "RPC1"}),
    Case(1, "twin-350m", {"n_ctx": 512, "n_gpu_layers": 0}),
    Case(3, "tiny-swa", {"n_ctx": 512, "swa_full": False}),
    Case(3, "tiny-lfm2", {"n_ctx": 512}),
    Case(3, "twin-350m", {"n_ctx": 1024, "kv_type_k": "q8_0", "kv_type_v": "q8_0"}),
    Case(3, "short-qwen35", {"n_ctx": 2048}),
    Case(2, "tiny-mtp", {"n_ctx": 1024}, head=True),
    Case(2, "twin-70m", {"n_ctx": 2048, "kv_offload": False}),
    Case(1, "short-qwen35", {"n_ctx": 1024, "kv_offload": False}),
)
REAL = (
    *(
        Case(n, model, how)
        for n in (1, 2, 3)
        for model in ("smollm2-135m q8_0", "smollm2-135m q4_k_m", "gemma3-270m q8_0")
        for how in (
            {"n_ctx": 512},
            {"n_ctx": 8192},
            {"n_ctx": 4096, "n_gpu_layers": 9, "swa_full": False},
            {"n_ctx": 4096, "n_gpu_layers": 15, "kv_type_k": "q4_0", "kv_type_v": "q4_0"},
            {"n_ctx": 2048, "tensor_split": (1.0, 3.0, 2.0)[:n], "flash_attn": "off"},
        )
    ),
    Case(2, "smollm2-135m q8_0", {"n_ctx": 2048}, {"n_ctx": 2048, "device": "CPU"}),
)


@pytest.mark.grid(short=5)
@pytest.mark.parametrize("case", MADE, ids=lambda case: f"{case.n}-{case.model}")
def test_each_device_gives_what_was_planned(rig: Rig, models: Models, case: Case) -> None:
    check(rig, models, case, str(make_pairs.path(case.model)))


@pytest.mark.long
@pytest.mark.parametrize("case", REAL, ids=lambda case: f"{case.n}-{case.model}")
def test_each_device_gives_what_was_planned_of_real_models(
    rig: Rig, models: Models, case: Case
) -> None:
    check(rig, models, case, str(real_models.path_or_skip(*case.model.split())))


def check(rig: Rig, models: Models, case: Case, path: str) -> None:
    head = OWN_HEAD if case.head else None
    drafting = DraftModel(ModelParams(path, **case.draft)) if case.draft else head
    plan = models.plan(ModelParams(path, **case.how), drafting, rig.devices(case.n))
    assert plan.fits
    assert plan.is_measured
    found = rig.load(case.n, plan.target, plan.drafting)
    for device in plan.devices:
        given = found[device.device].total if device.device in found else 0
        print(
            f"{case.n} {case.model} {case.how} {device.device}: planned "
            f"{device.buffers / MIB:.1f} MiB, found {given / MIB:.1f} MiB"
        )
        assert given - SMALL <= device.buffers * (1 + AIM)
        # Of a file that is mapped, what lies between the parts that are used counts as found; and
        # copies of windows come with the first prompt.
        if device.device != "CPU":
            assert device.buffers <= given * (1 + AIM) + SMALL


# -------------------------------------------------------------------------------------- narrow ones


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("room", [40, 12, 70, 100])
def test_what_fits_into_a_servers_limit_can_be_loaded(models: Models, room: int) -> None:
    """The limit leaves so many MiB beside the margin."""
    limit = f"{(512 + room) * MIB / 1e6:.3f}MB"
    params = ModelParams(str(make_pairs.path("twin-70m")), n_ctx=2048)
    with rpc_servers(1, "--memory", limit) as (server,):
        narrow = Rig([server.endpoint])
        devices = narrow.devices()
        plan = models.plan(params, None, devices)
        assert plan.fits
        found = narrow.load(1, plan.target)
        assert 0 < found["RPC0"].total <= room * MIB
        assert 0 < plan.target.n_gpu_layers < 20
        whole = models.plan(replace(params, n_gpu_layers=99), None, devices)
        assert not whole.fits
        assert whole.devices[0].missing > 0
        assert "automatic GPU layers" in whole.remedies[-1].text
        narrow.engine.handle(Unload())
